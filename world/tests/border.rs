//! Stories about the edges of regions.

use crate::stage;

use insta::assert_snapshot;
use serde_json::json;
use stage::{Land, Stage};
use world::CharacterId;

#[test]
fn a_crossing_is_reported_four_tiles_past_the_border_until_it_is_done() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 61 0
         wait 3
         ann walks to 72 0
         wait 5
         ann belongs to 1 0
         wait 1",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 61,0
     2
     3
     4
     5 ann 63,0
     6 ann 65,0
     7 ann 67,0; ann to 1,0
     8 ann 69,0; ann to 1,0
     9 ann 71,0; ann to 1,0
    10 ann 72,0; ann to 1,0
    11
    12
    ");
}

#[test]
fn nobody_changes_region_twice_within_three_ticks() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 70 0 of 0 0
         wait 4",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 70,0
    2
    3
    4 ann to 1,0
    5 ann to 1,0
    ");
}

#[test]
fn one_who_walks_along_a_border_does_not_flicker() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 60 0
         wait 3
         ann runs to 66 10
         wait 2
         ann runs to 62 20
         wait 2",
    );
    assert!(!told.contains(" to "), "{told}");
}

#[test]
fn one_whom_nobody_takes_over_stops_within_sight_of_its_region() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 62 0 of 0 0
         ann runs to 120 0
         wait 30",
    );
    let last = told
        .lines()
        .rev()
        .find(|l| l.contains("ann 8"))
        .expect("she walks");
    assert!(last.contains("ann 87,0; ann to 1,0"), "{last}");
    let told = stage.play("ann belongs to 1 0");
    assert!(
        told.contains("ann 91,0") || told.contains("ann 89,0"),
        "and goes on: {told}"
    );
}

#[test]
fn one_who_is_being_handed_over_is_not_reported() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 70 0 of 0 0
         wait 3
         ann held
         ann free",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 70,0
    2
    3
    4 ann to 1,0
    5
    6 ann to 1,0
    ");
}

#[test]
fn a_player_can_only_belong_to_a_region_that_is_here() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 0 0");
    let ann = world::CharacterId::from("ann");
    assert!(!stage.world.set_region(&ann, world::Region { x: 7, z: 7 }));
    assert_eq!(
        stage.world.player(&ann).map(|p| p.region()),
        Some(world::Region { x: 0, z: 0 })
    );
}

#[test]
fn one_who_is_about_something_of_its_region_belongs_to_it_until_that_is_done() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 60 0 with logs 1 / bob joins at 80 0 of 0 0
         ann goes to 66 0
         wait 3
         ann drops 0
         ann goes to 60 0
         wait 3",
    );
    let told = stage.play(
        "bob goes to 82 0
         wait 100
         bob belongs to 0 0
         bob takes #1
         wait 8",
    );
    let told: Vec<&str> = told.lines().skip(100).collect();
    assert_snapshot!(told.join("\n"), @r"
    111 bob to 1,0
    112
    113 bob 80,0
    114 bob 78,0
    115 bob 76,0
    116 bob 74,0
    117 bob 72,0
    118 bob 70,0
    119 bob 68,0
    120 bob 0=logs 1; bob 66,0; #1 gone
    121
    ");
}

#[test]
fn one_who_is_about_something_of_another_region_here_belongs_there_soon() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 75 0 with logs 1 / bob joins at 60 0
         ann drops 0
         wait 100",
    );
    let told = stage.play("bob takes #1\nwait 3\nbob belongs to 1 0\nwait 4");
    assert_snapshot!(told, @r"
    103 bob 62,0
    104 bob 64,0
    105 bob 66,0
    106 bob 68,0; bob to 1,0
    107 bob 70,0
    108 bob 72,0
    109 bob 74,0
    110 bob 0=logs 1; bob 75,0; #1 gone
    111
    ");
}

#[test]
fn what_belongs_to_a_region_goes_with_it_wherever_it_lies() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 66 0 of 0 0 with logs 1 logs 1 / bob joins at 66 0 with logs 1
         ann drops 0 / bob drops 0
         wait 3",
    );
    let region = world::Region { x: 0, z: 0 };
    let bytes = stage.world.region_out(region).expect("it was here");
    let told = stage.play("bob takes #1\nbob takes #2\nbob goes to 100 0\nwait 17\nbob takes #1");
    assert_snapshot!(told, @r"
     6 bob wants item:1-1050673152 elsewhere; ann gone; #1 gone
     7 bob 0=logs 1; #2 gone
     8 bob 68,0
     9 bob 70,0
    10 bob 72,0
    11 bob 74,0
    12 bob 76,0
    13 bob 78,0
    14 bob 80,0
    15 bob 82,0
    16 bob 84,0
    17 bob 86,0
    18 bob 88,0
    19 bob 90,0
    20 bob 92,0
    21 bob 94,0
    22 bob 96,0
    23 bob 98,0
    24 bob 100,0
    25
    26 bob wants item:1-1050673152 elsewhere
    ");
    let now = world::Tick(stage.world.now().0 + 50);
    stage
        .world
        .region_in(region, now, Some(&bytes))
        .expect("its own bytes");
    let lies = stage.world.ground(region).next().expect("it lies there");
    assert_eq!(lies.tile, world::Tile::new(66, 0));
    // A world gave it away after tick 5, and another took it in 50 ticks after tick 26.
    assert_eq!(lies.expires_at.0, stage::BEGIN + 2 + 300 + 50 + 21);
}

#[test]
fn things_that_come_from_the_store_lie_for_as_long_as_they_had() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1\nann drops 0\nwait 50");
    let region = world::Region { x: 0, z: 0 };
    let saved: Vec<world::GroundItem> = stage.world.ground(region).cloned().collect();
    let played = stage.world.now();
    stage.world.region_out(region).expect("it was here");
    let foreign = world::Region { x: 1, z: 0 };
    assert!(
        !stage.world.ground_in(region, played, saved.clone()),
        "it is not here"
    );
    let now = world::Tick(played.0 + 1_000);
    stage.world.region_in(region, now, None).expect("a region");
    assert!(stage.world.ground_in(foreign, played, saved.clone()));
    assert_eq!(
        stage.world.ground(foreign).count(),
        0,
        "it belongs elsewhere"
    );
    for _ in 0..2 {
        assert!(stage.world.ground_in(region, played, saved.clone()));
        let lies: Vec<_> = stage.world.ground(region).cloned().collect();
        assert_eq!(lies.len(), 1, "no thing is there twice");
        assert_eq!(lies[0].public_at.0, saved[0].public_at.0 + 1_000);
        assert_eq!(lies[0].expires_at.0, saved[0].expires_at.0 + 1_000);
    }
}

#[test]
fn one_who_is_handed_over_on_its_way_goes_on_or_is_told() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1\nann drops 0\nann goes to 23 4\nwait 9");
    stage.play("ann takes #1");
    let ann = world::CharacterId::from("ann");
    let (record, hot) = stage.world.leave(&ann).expect("she is there");
    assert_eq!(hot.pickup.as_ref().map(|p| p.number), Some(3));
    let arrive = |stage: &mut Stage, region| {
        let (record, hot) = (record.clone(), hot.clone());
        stage.step(world::Inbox {
            arrivals: vec![world::Arrival {
                record,
                hot,
                region,
                look: "".into(),
            }],
            ..world::Inbox::default()
        })
    };
    let here = world::Region { x: 0, z: 0 };
    let events = arrive(&mut stage, here).events;
    assert_eq!(
        events,
        [world::Event::Arrivals(world::arrivals::Event::Joined {
            who: ann.clone()
        })]
    );
    let told = stage.play("wait 9");
    assert!(told.contains("ann 0=logs 1"), "{told}");

    let mut other = Stage::new(&Land::default());
    other.world.region_out(here).expect("it was here");
    let events = arrive(&mut other, world::Region { x: 1, z: 0 }).events;
    let failed = world::Event::Request(world::request::Event::Failed {
        who: ann.clone(),
        refusal: world::Refusal::Interrupted,
        value: false,
    });
    assert_eq!(
        events,
        [
            world::Event::Arrivals(world::arrivals::Event::Joined { who: ann }),
            failed
        ]
    );
}

/// Returns a rat that never hits hard; bites whoever bites it.
fn rat() -> serde_json::Value {
    json!({"id": "rat", "name": "Rat", "category": "mob",
        "stats": {"level": 1, "health": 10_000, "attack": 1, "strength": 1, "defense": 1},
        "combat": {"attackable": true, "retaliates": true, "leashRange": 2,
            "attackSpeedTicks": 4},
        "movement": {"type": "stationary"}})
}

#[test]
fn who_fought_in_a_region_belongs_to_it_for_eight_ticks_more() {
    let mut stage = Stage::new(&Land::default().beast(rat(), (62, 0)));
    let told = stage.play(
        "ann joins at 61 0 health 10
         ann attacks npc:field:rat:62,0:0
         ann goes to 72 0
         wait 12",
    );
    let told: Vec<&str> = told.lines().filter(|line| line.contains("ann")).collect();
    assert_snapshot!(told.join("\n"), @r"
     1 ann joined; ann 61,0; npc:field:rat:62,0:0 62,0
     2 ann hits npc:field:rat:62,0:0 0 left 10000; npc:field:rat:62,0:0 62,0
     3 ann 63,0
     4 ann 65,0
     5 ann 67,0; npc:field:rat:62,0:0 63,0
     6 ann 69,0; npc:field:rat:62,0:0 62,0
     7 ann 71,0
     8 ann 72,0
    10 ann to 1,0
    11 ann to 1,0
    12 ann to 1,0
    13 ann to 1,0
    14 ann to 1,0
    15 ann to 1,0
    ");
}

#[test]
fn who_is_shot_at_does_not_get_away_over_a_border_and_the_dead_are_not_kept() {
    let mut stage = Stage::new(&Land::default().lawless().magic());
    stage.play(
        "ann joins at 62 0 health 10 / bob joins at 60 0 health 10
         bob attacks ann",
    );
    let pinned = |stage: &Stage, who: &str| {
        let player = stage.world.player(&CharacterId::from(who)).unwrap();
        player.pinned(stage.world.now())
    };
    assert!(pinned(&stage, "bob"), "he has an aim");
    let mut fought = 0;
    for _ in 0..12 {
        stage.play("bob stops / ann goes to 70 0");
        fought += u32::from(pinned(&stage, "ann"));
    }
    assert_eq!(
        (fought, pinned(&stage, "ann"), pinned(&stage, "bob")),
        (7, false, false)
    );
}
