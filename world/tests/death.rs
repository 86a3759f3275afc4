//! Stories about dying.

use std::collections::BTreeSet;

use crate::stage;

use serde_json::{Value, json};
use stage::{BEGIN, Land, Stage};
use world::{CharacterId, Event, Inbox, Region, Tick, Tile, World, death};

/// Returns a beast that kills at a blow or two.
fn ogre() -> Value {
    json!({"id": "ogre", "name": "Ogre",
        "stats": {"level": 90, "health": 9_000, "attack": 900, "strength": 900},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 5, "leashRange": 9}})
}

/// Plays until somebody dies: at which tick.
fn until_death(stage: &mut Stage) -> u64 {
    for _ in 0..60 {
        let outcome = stage.step(Inbox::default());
        let dies = |event: &Event| matches!(event, Event::Death(death::Event::Died { .. }));
        if outcome.events.iter().any(dies) {
            return stage.world.now().0 - BEGIN;
        }
    }
    panic!("nobody died");
}

fn ann(stage: &Stage) -> &world::Player {
    stage.world.player(&CharacterId::from("ann")).unwrap()
}

#[test]
fn the_dead_do_nothing_and_stand_up_at_home_after_seven_ticks() {
    let mut stage = Stage::new(&Land::default().beast(ogre(), (20, 20)));
    stage.play("ann joins at 24 20 with logs 1 cake 1\nann suffers");
    until_death(&mut stage);
    assert_eq!(
        (ann(&stage).lives(), ann(&stage).record().health),
        (false, 0)
    );
    let told = stage.play(
        "ann goes to 0 0 / ann uses 1 / ann drops 0 / ann examines ann
         ann rises",
    );
    assert_eq!(told.matches("refused Dead").count(), 4, "{told}");
    let told = stage.play("wait 4");
    assert!(!told.contains("rose") && !told.contains("hits"), "{told}");
    assert_eq!(ann(&stage).tile(), Tile::new(24, 20));
    let told = stage.play("wait 1");
    assert!(told.contains("ann rose 6,1"), "{told}");
    let now = ann(&stage);
    assert_eq!(
        (now.lives(), now.tile(), now.record().health),
        (true, Tile::new(6, 1), 10)
    );
    let told = stage.play("ann drops 0");
    assert!(!told.contains("refused"), "{told}");
}

#[test]
fn death_ends_all_that_one_was_about() {
    let land = Land::default()
        .beast(ogre(), (20, 20))
        .station("bank", (26, 22));
    let mut stage = Stage::new(&land);
    let told = stage.play(
        "ann joins at 25 21 devout 1
         ann suffers / ann prays skin
         ann opens bank at sta:field:bank",
    );
    assert!(told.contains("opened Bank"), "{told}");
    until_death(&mut stage);
    assert!(ann(&stage).open().is_none());
    assert!(ann(&stage).record().prayer.active.is_empty());
    let told = stage.play("wait 8");
    assert!(told.contains("ann rose"), "{told}");
    let told = stage.play("wait 20");
    assert!(!told.contains("ann"), "nobody is after it any more: {told}");
}

#[test]
fn who_left_the_world_dead_stands_up_when_it_comes_back() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play("ann joins at 40 40 health 0\nwait 2");
    assert!(told.contains("ann rose 6,1"), "{told}");
    assert_eq!(ann(&stage).record().health, 10);
}

#[test]
fn a_crowd_rises_on_the_tiles_around_the_spawn() {
    let mut stage = Stage::new(&Land::default());
    let ids: Vec<String> = (0..60).map(|n| format!("fallen{n}")).collect();
    let joins = ids.iter().map(|id| format!("{id} joins at 40 40 health 0"));
    stage.play(&joins.collect::<Vec<_>>().join(" / "));
    stage.play("wait 2");
    let fallen = |id: &String| stage.world.player(&CharacterId::from(id.as_str()));
    let tiles: BTreeSet<Tile> = ids.iter().filter_map(fallen).map(|p| p.tile()).collect();
    assert!(tiles.len() >= 30, "{} tiles for 60", tiles.len());
    let spawn = Tile::new(0, 0);
    let all_near = tiles.iter().all(|tile| tile.steps_to(spawn) <= 9);
    assert!(all_near, "{tiles:?}");
}

#[test]
fn who_dies_where_home_is_played_by_others_is_brought_there() {
    let land = Land::default().magic().beast(ogre(), (-20, -20));
    let content = land.content();
    let west = Region { x: -1, z: -1 };
    let mut stage = Stage::new(&land);
    for region in content.regions() {
        if region != west {
            stage.world.region_out(region).unwrap();
        }
    }
    stage.play("ann joins at -24 -20\nann suffers");
    until_death(&mut stage);
    let told = stage.play("wait 7");
    assert!(told.contains("ann to 0,0 at 6,1"), "{told}");
    assert!(!told.contains("rose"), "{told}");
    let who = CharacterId::from("ann");
    let (mut record, hot) = stage.world.leave(&who).unwrap();
    record.tile = Tile::new(6, 1);
    let mut home = World::new(content, world::Rules::default(), 1, 2);
    home.region_in(Region { x: 0, z: 0 }, stage.world.now(), None)
        .unwrap();
    let inbox = Inbox {
        arrivals: vec![world::Arrival {
            record,
            hot,
            region: Region { x: 0, z: 0 },
            look: "".into(),
        }],
        ..Inbox::default()
    };
    let outcome = home.tick(Tick(stage.world.now().0 + 1), inbox, &mut ());
    let rises = |event: &Event| matches!(event, Event::Death(death::Event::Respawned { .. }));
    assert!(outcome.events.iter().any(rises), "{:?}", outcome.events);
    assert_eq!(home.player(&who).unwrap().record().health, 10);
}

#[test]
fn the_hurt_get_better_by_a_point_in_a_hundred_ticks() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0 health 3");
    let told = |stage: &Stage| ann(stage).record().health;
    stage.play("wait 99");
    assert_eq!(told(&stage), 3);
    stage.play("wait 2");
    assert_eq!(told(&stage), 4);
    stage.play("wait 1000");
    assert_eq!(told(&stage), 10, "and no better than well");
}
