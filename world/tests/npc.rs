//! Stories about people and beasts.

use crate::stage;

use std::collections::BTreeSet;

use insta::assert_snapshot;
use serde_json::json;
use stage::{Land, Stage};
use world::{EntityId, Inbox, Region, Rules, Tick, Tile, World};

fn at(stage: &Stage, id: &str) -> Tile {
    stage
        .world
        .look(&EntityId::from(id))
        .expect("it is there")
        .tile
}

#[test]
fn who_is_stationary_stands() {
    let land = Land::default().npc("guard", (3, 3), json!({"type": "stationary"}), 7);
    let told = Stage::new(&land).play("wait 40");
    assert_eq!(
        told.matches("npc:field:guard").count(),
        1,
        "seen once, when it appears:\n{told}"
    );
}

#[test]
fn a_wanderer_stays_within_its_radius_and_its_leash() {
    for (radius, leash, most) in [(5, 9, 5), (9, 4, 4)] {
        let movement = json!({"type": "wander", "wanderRadius": radius, "speed": 3.33});
        let land = Land::default().npc("hen", (10, 10), movement, leash);
        let mut stage = Stage::new(&land);
        let home = at(&stage, "npc:field:hen");
        let mut seen = BTreeSet::new();
        for _ in 0..2_000 {
            let before = at(&stage, "npc:field:hen");
            stage.step(Inbox::default());
            let tile = at(&stage, "npc:field:hen");
            assert!(
                before.steps_to(tile) <= 2,
                "3.33 units a second are 2 tiles a tick"
            );
            assert!(
                tile.steps_to(home) <= most,
                "{tile:?} is too far from {home:?}"
            );
            seen.insert(tile);
        }
        assert!(seen.len() > 20, "it gets about: {} tiles", seen.len());
    }
}

#[test]
fn a_wanderer_rests_five_to_thirteen_ticks_between_walks() {
    let movement = json!({"type": "wander", "wanderRadius": 3, "speed": 20});
    let land = Land::default().npc("hen", (10, 10), movement, 9);
    let mut stage = Stage::new(&land);
    let mut moves = Vec::new();
    for tick in 0..3_000 {
        let before = at(&stage, "npc:field:hen");
        stage.step(Inbox::default());
        if at(&stage, "npc:field:hen") != before {
            moves.push(tick);
        }
    }
    // At that speed each walk is one tick; a throw for its own tile rests once more.
    let rests: BTreeSet<i32> = moves.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(rests.first(), Some(&5), "{rests:?}");
    assert!((5..=13).all(|rest| rests.contains(&rest)), "{rests:?}");
}

#[test]
fn timers_stand_still_while_a_region_is_not_played() {
    let movement = json!({"type": "wander", "wanderRadius": 3, "speed": 20});
    let land = Land::default().npc("hen", (10, 10), movement, 9);
    let mut stage = Stage::new(&land);
    let region = Region { x: 0, z: 0 };
    let start = at(&stage, "npc:field:hen");
    while at(&stage, "npc:field:hen") == start {
        stage.step(Inbox::default());
    }
    let bytes = stage.world.region_bytes(region);
    let rest = |world: &mut World| {
        let from = world.now().0;
        let hen = EntityId::from("npc:field:hen");
        let home = world.look(&hen).expect("it is there").tile;
        for tick in 1..40 {
            world.tick(Tick(from + tick), Inbox::default(), &mut ());
            if world.look(&hen).expect("it is there").tile != home {
                return tick;
            }
        }
        40
    };
    let mut later = World::new(land.content(), Rules::default(), 1, 1);
    let now = Tick(stage.world.now().0 + 10_000);
    later
        .region_in(region, now, bytes.as_deref())
        .expect("its own bytes");
    let rests = (rest(&mut stage.world), rest(&mut later));
    assert!(rests.0 > 4, "else nothing is shown: {rests:?}");
    assert_eq!(rests.0, rests.1);
}

#[test]
fn a_patrol_goes_from_point_to_point_and_round_again() {
    let points = json!([{"x": 0, "y": 0, "z": 0}, {"x": 6, "y": 0, "z": 0}]);
    let movement = json!({"type": "patrol", "patrolPath": points, "speed": 3.3});
    let land = Land::default().npc("guard", (3, 0), movement, 1);
    let mut stage = Stage::new(&land);
    let mut ends = Vec::new();
    for _ in 0..120 {
        stage.step(Inbox::default());
        let tile = at(&stage, "npc:field:guard");
        if [0, 6].contains(&tile.x) && ends.last() != Some(&tile.x) {
            ends.push(tile.x);
        }
    }
    assert!(
        ends.len() >= 6 && ends.starts_with(&[0, 6, 0, 6]),
        "{ends:?}"
    );
}

#[test]
fn nobody_steps_onto_another() {
    let land = Land::default()
        .rect("wall", (-4, -4), (4, 4))
        .rect("grass", (-2, -2), (2, 2))
        .beasts("rat", (0, 0), 12, 3);
    let mut stage = Stage::new(&land);
    stage.play("ann joins at 0 0");
    let mut walked = false;
    for _ in 0..400 {
        let outcome = stage.step(Inbox::default());
        walked |= !outcome.touched.is_empty();
        let looks: Vec<_> = stage
            .world
            .entities()
            .filter_map(|id| stage.world.look(id))
            .collect();
        let rats = looks.iter().filter(|l| l.kind == world::Kind::Npc);
        let rats: Vec<Tile> = rats.map(|l| l.tile).collect();
        assert_eq!(rats.len(), 12);
        assert_eq!(rats.iter().collect::<BTreeSet<_>>().len(), 12, "{rats:?}");
        assert!(
            rats.iter().all(|t| t.x.abs() <= 2 && t.z.abs() <= 2),
            "{rats:?}"
        );
        assert!(
            outcome
                .touched
                .iter()
                .all(|id| at(&stage, id.as_str()) != Tile::new(0, 0))
        );
    }
    assert!(walked);
}

#[test]
fn things_look_like_what_they_are() {
    let stands = json!({"type": "stationary"});
    let land = Land::default()
        .npc("cat", (3, 3), stands, 7)
        .tree((5, 0))
        .fishing_spot((7, 0))
        .station("furnace", (20, 0));
    let mut stage = Stage::new(&land);
    stage.play("ann joins at 0 0");
    let looks: Vec<String> = stage
        .world
        .entities()
        .filter_map(|id| stage.world.look(id))
        .map(|l| {
            format!(
                "{} {} {},{} {:?}",
                l.id,
                l.kind.wire(),
                l.tile.x,
                l.tile.z,
                l.fields
            )
        })
        .collect();
    assert_snapshot!(looks.join("\n"), @r#"
    ann player 0,0 [("name", Text("ann")), ("combatLevel", Int(3)), ("health", Int(10)), ("maxHealth", Int(10)), ("run", Bool(false))]
    npc:field:cat npc 3,3 [("name", Text("cat")), ("npcId", Text("cat")), ("level", Int(1)), ("health", Int(10)), ("maxHealth", Int(10)), ("category", Text("neutral")), ("attackable", Bool(true)), ("service", Text("villager"))]
    res:oak:5,0 resource 5,0 [("name", Text("Oak")), ("resourceId", Text("oak")), ("resourceType", Text("tree")), ("level", Int(15))]
    res:trout:7,0 resource 7,0 [("name", Text("Trout")), ("resourceId", Text("trout")), ("resourceType", Text("fishing_spot")), ("level", Int(1))]
    sta:field:furnace station 20,0 [("name", Text("Furnace")), ("stationType", Text("furnace"))]
    "#);
    let chunk = world::Chunk { x: 0, z: 0 };
    let ids: Vec<&str> = stage
        .world
        .entities_in(chunk)
        .map(EntityId::as_str)
        .collect();
    assert_eq!(
        ids,
        ["ann", "npc:field:cat", "res:oak:5,0", "res:trout:7,0"]
    );
}
