//! Stories about what outlives whoever plays it: stumps that stand for long, and fires.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use world::{Chunk, Inbox, Kind, PersistentObjects, Region, Rules, Tick, Tile, World};

use crate::stage::{BEGIN, Land, Stage};

const ROCK: &str = "res:monolith:5,0";
const HOME: Region = Region { x: 0, z: 0 };

fn land() -> Land {
    Land::default()
        .resource("ore", "monolith", (5, 0))
        .resource("ore", "copper", (0, 5))
}

/// Plays until `ticks` after the beginning; in which chunks something came that lasts.
fn played(stage: &mut Stage, script: &str, ticks: u64) -> BTreeSet<Chunk> {
    let mut chunks = BTreeSet::new();
    stage.play(script);
    while stage.world.now() < Tick(BEGIN + ticks) {
        chunks.extend(stage.step(Inbox::default()).changes.persistent_objects);
    }
    chunks
}

fn empty(world: &World, id: &str) -> bool {
    world.look(&id.into()).unwrap().field("depleted").is_some()
}

fn fires(world: &World) -> usize {
    let looks = world.entities().filter_map(|id| world.look(id));
    looks.filter(|look| look.kind == Kind::Fire).count()
}

#[test]
fn a_long_stump_and_a_fire_are_brought_back_with_the_time_they_had() {
    let land = land();
    let mut stage = Stage::new(&land);
    let script = "ann joins at 4 0 trained firemaking=503390 with bronze_pickaxe 1 tinderbox 1 logs 1 / bob joins at 0 4 with bronze_pickaxe 1
         ann gathers res:monolith:5,0 / bob gathers res:copper:0,5";
    let mut chunks = played(&mut stage, script, 10);
    assert!(empty(&stage.world, ROCK) && empty(&stage.world, "res:copper:0,5"));
    chunks.extend(played(&mut stage, "ann stops / ann light logs", 20));
    assert_eq!(fires(&stage.world), 1);
    let chunk = Chunk::from(Tile::new(4, 0));
    assert_eq!(chunks, BTreeSet::from([chunk]), "copper is back too soon");
    let objects = stage.world.persistent_objects(chunk);
    assert_eq!((objects.empty.len(), objects.fires.len()), (1, 1));
    assert_eq!(
        stage.world.persistent_objects(Chunk { x: 0, z: 1 }),
        PersistentObjects::default()
    );
    // The run that plays it falls, and another takes the region up a thousand ticks later.
    let (last, later) = (stage.world.now(), BEGIN + 1_020);
    let mut world = World::new(Arc::clone(stage.world.content()), Rules::default(), 7, 2);
    world.region_in(HOME, Tick(later), None).unwrap();
    assert!(world.persistent_objects_in(HOME, last, vec![objects.clone()]));
    assert!(empty(&world, ROCK) && !empty(&world, "res:copper:0,5"));
    assert_eq!(fires(&world), 1);
    let ticks = 1..400;
    let back = ticks.map(|n| {
        world.tick(Tick(later + n), Inbox::default(), &mut ());
        (empty(&world, ROCK), fires(&world))
    });
    let back: Vec<(bool, usize)> = back.collect();
    let left = objects.empty[0].1.since(last) as usize;
    assert_eq!(back.iter().filter(|(empty, _)| *empty).count(), left - 1);
    let burns = objects.fires[0].out_at.since(last) as usize;
    assert_eq!(
        back.iter().filter(|(_, fires)| *fires > 0).count(),
        burns - 1
    );
}

#[test]
fn what_was_over_when_it_was_last_played_is_not_brought_back() {
    let land = land();
    let mut stage = Stage::new(&land);
    let script = "ann joins at 4 0 trained firemaking=503390 with tinderbox 1 logs 1
         ann light logs";
    played(&mut stage, script, 10);
    let objects = stage.world.persistent_objects(Chunk::from(Tile::new(4, 0)));
    let mut world = World::new(Arc::clone(stage.world.content()), Rules::default(), 7, 2);
    let out = objects.fires[0].out_at;
    assert!(
        !world.persistent_objects_in(HOME, out, vec![objects.clone()]),
        "not here"
    );
    world.region_in(HOME, out, None).unwrap();
    assert!(world.persistent_objects_in(HOME, out, vec![objects]));
    assert_eq!(fires(&world), 0);
}

#[test]
fn a_beast_that_is_dead_for_long_is_not_back_at_once() {
    let beast = |id: &str, ticks: u32| {
        json!({"id": id, "name": id, "stats": {"level": 1, "health": 1},
            "combat": {"attackable": true, "respawnTicks": ticks}})
    };
    let land = Land::default()
        .beast(beast("boss", 500), (5, 0))
        .beast(beast("rat", 50), (0, 5));
    let (boss, rat) = ("npc:field:boss:5,0:0", "npc:field:rat:0,5:0");
    let mut stage = Stage::new(&land);
    let strong = "trained attack=50000000,strength=50000000";
    let chunks = played(
        &mut stage,
        &format!(
            "ann joins at 4 0 {strong} / bob joins at 0 4 {strong}
             ann attacks {boss} / bob attacks {rat}"
        ),
        30,
    );
    let gone = |world: &World, id: &str| world.look(&id.into()).is_none();
    assert!(gone(&stage.world, boss) && gone(&stage.world, rat));
    let chunk = Chunk::from(Tile::new(5, 0));
    assert!(chunks.len() <= 1 && !chunks.contains(&Chunk::from(Tile::new(0, 9))));
    let objects = stage.world.persistent_objects(chunk);
    assert_eq!(objects.dead.len(), 1, "the rat is back too soon");
    let (last, later) = (stage.world.now(), BEGIN + 1_020);
    let mut world = World::new(Arc::clone(stage.world.content()), Rules::default(), 7, 2);
    world.region_in(HOME, Tick(later), None).unwrap();
    assert!(world.persistent_objects_in(HOME, last, vec![objects.clone()]));
    assert!(gone(&world, boss) && !gone(&world, rat));
    let left = objects.dead[0].1.since(last);
    for n in 1..left {
        world.tick(Tick(later + n), Inbox::default(), &mut ());
        assert!(gone(&world, boss), "{n} of {left}");
    }
    for n in left..left + 3 {
        world.tick(Tick(later + n), Inbox::default(), &mut ());
    }
    assert!(!gone(&world, boss));
}
