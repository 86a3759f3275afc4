//! Stories about walking and running.

use std::collections::BTreeSet;

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::{CharacterId, Event, Inbox, Rules, Tile};

fn play(land: &Land, script: &str) -> String {
    Stage::new(land).play(script)
}

#[test]
fn walking_takes_two_tiles_a_tick_and_running_four() {
    let told = play(
        &Land::default(),
        "ann joins at 0 0 / bob joins at 0 5
         ann walks to 5 0 / bob runs to 9 5
         wait 4",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 0,0; bob 0,5
    2 ann 2,0; bob 4,5
    3 ann 4,0; bob 8,5
    4 ann 5,0; bob 9,5
    5
    6
    ");
}

#[test]
fn speeds_are_the_operators() {
    let rules = Rules {
        walk_tiles: 1,
        run_tiles: 2,
        ..Rules::default()
    };
    let told = Stage::with(&Land::default(), rules).play(
        "ann joins at 0 0 / bob joins at 0 5
         ann walks to 3 0 / bob runs to 3 5
         wait 3",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 0,0; bob 0,5
    2 ann 1,0; bob 2,5
    3 ann 2,0; bob 3,5
    4 ann 3,0
    5
    ");
}

#[test]
fn a_way_leads_around_walls_and_cuts_no_corner() {
    let land = Land::default().rect("wall", (2, -2), (2, 4));
    let told = play(
        &land,
        "ann joins at 0 0
         ann walks to 4 0
         wait 7",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann 1,-2
    3 ann 2,-3
    4 ann 3,-2
    5 ann 4,0
    6
    7
    8
    9
    ");
}

#[test]
fn who_clicks_on_something_solid_goes_to_its_near_side() {
    let land = Land::default().tree((6, 0)).station("furnace", (20, 0));
    let told = play(
        &land,
        "ann joins at 0 0 / bob joins at 14 0
         ann walks to 6 0 / bob walks to 20 0
         wait 3",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 0,0; bob 14,0; res:oak:6,0 6,0; sta:field:furnace 20,0
    2 ann 2,0; bob 16,1
    3 ann 4,0; bob 18,1
    4 ann 5,0; bob 19,1
    5
    ");
}

#[test]
fn a_fishing_spot_is_in_nobodys_way() {
    let land = Land::default().fishing_spot((2, 0));
    let told = play(
        &land,
        "ann joins at 0 0
         ann walks to 4 0
         wait 2",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0; res:trout:2,0 2,0
    2 ann 2,0
    3 ann 4,0
    4
    ");
}

#[test]
fn players_walk_through_each_other() {
    let told = play(
        &Land::default(),
        "ann joins at 0 0 / bob joins at 2 0
         ann walks to 4 0 / bob walks to 0 0
         wait 2",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 0,0; bob 2,0
    2 ann 2,0; bob 0,0
    3 ann 4,0
    4
    ");
}

#[test]
fn where_there_is_no_way_one_goes_as_near_as_there_is() {
    // An island of grass in a ring of water.
    let land = Land::default()
        .rect("water", (10, -5), (20, 5))
        .rect("grass", (14, -1), (16, 1));
    let told = play(
        &land,
        "ann joins at 8 0
         ann walks to 15 0
         wait 2
         ann walks to 15 0",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 8,0
    2 ann 9,0
    3
    4
    5 ann refused Unreachable
    ");
}

#[test]
fn too_far_is_too_far_and_the_end_of_the_world_too() {
    let told = play(
        &Land::default(),
        "ann joins at -100 0
         ann walks to 101 0
         ann walks to -2147483648 2147483647
         ann walks to -127 -127 / ann walks to -140 0
         bob walks to 0 0",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann -100,0
    2 ann refused TooFar
    3 ann refused TooFar
    4 ann -102,0
    5 bob refused NotFound; ann -104,0
    ");
}

#[test]
fn one_can_stop_and_change_the_mind() {
    let told = play(
        &Land::default(),
        "ann joins at 0 0
         ann walks to 9 0
         ann stops
         ann walks to 9 0
         ann walks to 0 0
         ann goes to 4 4 / ann runs
         ann goes to 4 4
         wait 1",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann 2,0
    3
    4 ann 4,0
    5 ann 2,0
    6 ann 4,4
    7
    8
    ");
}

#[test]
fn who_is_held_neither_moves_nor_is_heard() {
    let told = play(
        &Land::default(),
        "ann joins at 0 0
         ann walks to 9 0
         ann held
         ann walks to 0 0
         ann free
         wait 3",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann 2,0
    3
    4 ann refused Busy
    5 ann 4,0
    6 ann 6,0
    7 ann 8,0
    8 ann 9,0
    ");
}

#[test]
fn without_energy_one_walks() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 energy 360
         ann runs to 60 0
         wait 8",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 0,0
     2 ann 4,0
     3 ann 8,0
     4 ann 12,0
     5 ann 16,0
     6 ann 20,0
     7 ann 24,0
     8 ann 26,0
     9 ann 28,0
    10 ann 30,0
    ");
    let ann = stage
        .world
        .record(&CharacterId::from("ann"))
        .expect("she is there");
    assert!(!ann.running, "it stays so until she chooses");
}

/// Standing 2.4 %, walking 1.2 %, one part in a hundred more for agility 1; running -1.2 %.
#[test]
fn energy_comes_and_goes_at_its_rates() {
    let mut stage = Stage::new(&Land::default());
    let ann = CharacterId::from("ann");
    let energy = |stage: &mut Stage, line: &str| {
        stage.play(line);
        stage.world.record(&ann).expect("she is there").energy
    };
    assert_eq!(energy(&mut stage, "ann joins at 0 0 energy 5000"), 5_242);
    assert_eq!(energy(&mut stage, "wait 1"), 5_484);
    assert_eq!(energy(&mut stage, "ann walks to 40 0"), 5_605);
    assert_eq!(energy(&mut stage, "ann runs"), 5_485);
    assert_eq!(energy(&mut stage, "ann stops"), 5_727);
    assert_eq!(energy(&mut stage, "wait 30"), 10_000);
}

/// A client that says with every move whether it runs hears of its vitals only what is new.
#[test]
fn vitals_are_told_when_they_change_and_when_a_wish_to_run_fails() {
    let mut stage = Stage::new(&Land::default());
    let mut told = |command: &str| {
        let mut inbox = Inbox::default();
        if !command.is_empty() {
            stage.command(command, &mut inbox);
        }
        let events = stage.step(inbox).events;
        let vitals = |event: &&Event| matches!(event, Event::Vitals(..));
        events.iter().filter(vitals).count()
    };
    told("ann joins at 0 0");
    assert_eq!(told("ann walks to 1 0"), 0, "as before");
    assert_eq!(told("ann runs to 5 0"), 1, "something new");
    assert_eq!(told(""), 1, "full again, after she heard of less");
    assert_eq!(told("ann runs to 9 0"), 0, "as before");
    assert_eq!(told(""), 1, "full again");
    assert_eq!(told("ann walks"), 1, "something new");

    told("bob joins at 20 0 energy 0");
    for _ in 0..3 {
        told("bob runs to 60 0");
    }
    let bob = "bob runs to 80 0";
    assert_eq!(told(bob), 1, "he has no energy, and walks");
}

#[test]
fn nobody_comes_twice_or_to_a_region_that_is_not_here() {
    let told = play(
        &Land::default(),
        "ann joins at 0 0
         ann joins at 5 5
         bob joins at 0 0 of 9 9
         ann leaves",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0,0
    2 ann turned away Busy
    3 bob turned away NotFound
    4 ann gone
    ");
}

#[test]
fn who_comes_into_a_wall_is_put_beside_it() {
    let land = Land::default().rect("wall", (0, 0), (4, 4));
    let told = play(
        &land,
        "ann joins at 2 2 / bob joins at 100000 3 of 0 0
         wait 1",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann -1,2; bob -1,1
    2
    ");
}

/// Lets a character come that was never placed.
fn newcomer(id: &str) -> world::Arrival {
    let mut record = stage::record(id, Tile::new(77, -77));
    record.placed = false;
    record.health = 100;
    world::Arrival {
        record,
        hot: world::PlayerHot::default(),
        region: world::Region { x: 0, z: 0 },
        look: "".into(),
    }
}

#[test]
fn a_new_character_is_placed_near_the_spawn() {
    let mut stage = Stage::new(&Land::default());
    let outcome = stage.step(world::Inbox {
        arrivals: vec![newcomer("ann")],
        ..world::Inbox::default()
    });
    let ann = stage
        .world
        .record(&CharacterId::from("ann"))
        .expect("she is there");
    assert!(ann.tile.steps_to(Tile::new(1, 1)) <= 8, "{:?}", ann.tile);
    assert_eq!((ann.placed, ann.y), (true, 2));
    assert_eq!(ann.health, 10, "no more than she can have");
    let changes = outcome.changes;
    assert!(changes.altered.contains(&ann.id), "it is to be saved soon");
    assert!(!changes.walked.contains(&ann.id));
}

#[test]
fn newcomers_spread_over_the_tiles_around_the_spawn() {
    let mut stage = Stage::new(&Land::default());
    let ids: Vec<String> = (0..60).map(|n| format!("newcomer {n}")).collect();
    stage.step(world::Inbox {
        arrivals: ids.iter().map(|id| newcomer(id)).collect(),
        ..world::Inbox::default()
    });
    let tile = |id: &String| {
        stage
            .world
            .record(&CharacterId::from(id.as_str()))
            .map(|r| r.tile)
    };
    let tiles: BTreeSet<Tile> = ids.iter().filter_map(tile).collect();
    assert!(tiles.len() >= 30, "{} tiles for 60", tiles.len());
    let home = world::Region { x: 0, z: 0 };
    assert!(tiles.iter().all(|tile| world::Region::from(*tile) == home));
}

#[test]
fn a_good_look_tells_what_something_is() {
    let stands = serde_json::json!({"type": "stationary"});
    let land = Land::default().tree((5, 0)).npc("cat", (3, 3), stands, 7);
    let told = play(
        &land,
        "ann joins at 0 0 / bob joins at 1 1 / eve joins at -90 0
         ann examines res:oak:5,0 / bob examines npc:field:cat / eve examines npc:field:cat
         ann examines bob / bob examines nothing",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; eve joined; ann 0,0; bob 1,1; eve -90,0; npc:field:cat 3,3; res:oak:5,0 5,0
    2 ann sees res:oak:5,0: Old.; eve refused TooFar; bob sees npc:field:cat: It is cat.
    3 ann sees bob: bob, of combat level 3.; bob refused NotFound
    ");
}
