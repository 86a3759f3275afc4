//! Stories about going home by magic.

use crate::stage;

use insta::assert_snapshot;
use serde_json::json;
use stage::{BEGIN, Land, Stage};
use world::{Region, Rules, Tick, World};

fn told(stage: &mut Stage, script: &str) -> String {
    let told = stage.play(script);
    let lines: Vec<&str> = told.lines().filter(|l| l.trim().contains(' ')).collect();
    lines.join("\n")
}

#[test]
fn one_who_stands_still_for_17_ticks_is_home() {
    let mut stage = Stage::new(&Land::default());
    let told = told(
        &mut stage,
        "ann joins at 100 100
         ann goes home
         wait 20
         ann belongs to 0 0
         wait 2
         ann goes to 4 4
         ann goes home
         wait 1",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 100,100
     2 ann is home at 19
    19 ann may go home at 1519; ann teleported 6,1; ann 6,1; ann to 0,0
    20 ann to 0,0
    21 ann to 0,0
    22 ann to 0,0
    26 ann 4,3
    27 ann refused Cooldown; ann 4,4
    ");
}

#[test]
fn one_who_moves_or_turns_to_something_else_does_not_get_home() {
    let mut stage = Stage::new(&Land::default());
    let told = told(
        &mut stage,
        "ann joins at 30 30 with logs 1 logs 1
         ann goes to 40 30
         ann goes home
         ann goes home
         ann drops 0
         ann goes to 31 30
         ann goes home
         ann stops
         ann goes home
         wait 3
         ann takes #1
         wait 30",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 30,30
     2 ann 32,30
     3 ann is home at 20
     4 ann refused Busy
     5 ann 0=nothing; #1 32,30 logs 1 ann
     6 ann may go home; ann 31,30
     7 ann is home at 24
     8 ann may go home
     9 ann is home at 26
    13 ann may go home; ann 0=logs 1; ann 32,30; #1 gone
    ");
}

#[test]
fn nobody_goes_home_twice_in_15_minutes() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 30 30\nann goes home\nwait 17\nwait 1498");
    assert_snapshot!(stage.play("ann goes home\nann goes home"), @r"
    1518 ann refused Cooldown
    1519 ann is home at 1536
    ");
}

/// The store keeps the record only, without the pending action.
#[test]
fn who_logs_out_and_in_again_waits_as_long() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 30 30\nann goes home\nwait 17");
    let ann = world::CharacterId::from("ann");
    let (record, hot) = stage.world.leave(&ann).expect("she is there");
    let ready = hot.homeward.ready_at;
    assert!(ready > Tick(BEGIN + 1_500), "{ready:?}");
    let inbox = world::Inbox {
        arrivals: vec![world::Arrival {
            record,
            hot: world::PlayerHot::default(),
            region: Region { x: 0, z: 0 },
            look: "".into(),
        }],
        ..world::Inbox::default()
    };
    stage.world.tick(Tick(BEGIN + 100), inbox, &mut ());
    let again = stage.world.player(&ann).expect("she is back");
    assert_eq!(again.hot().homeward.ready_at, ready);
}

#[test]
fn whom_an_operator_puts_elsewhere_is_there_at_once_and_however_often() {
    let mut stage = Stage::new(&Land::default());
    let told = told(
        &mut stage,
        "ann joins at 30 30
         ann goes to 40 30
         ann is put at 100 100
         ann is put at 31 30
         ann is put at 100000 0",
    );
    let ann = world::CharacterId::from("ann");
    assert!(told.contains("ann teleported 100,100"), "{told}");
    assert!(told.contains("ann teleported 31,30"), "{told}");
    assert!(told.contains("ann refused Unreachable"), "{told}");
    let (record, _) = stage.world.leave(&ann).expect("she is there");
    assert_eq!(record.tile, world::Tile::new(31, 30), "she stopped walking");
}

#[test]
fn whom_an_operator_puts_where_others_play_is_to_be_brought_there() {
    let mut stage = away_from_home();
    let told = told(
        &mut stage,
        "ann joins at 100 100
         ann is put at 5 5
         wait 1",
    );
    assert!(told.contains("ann to 0,0 at 5,5"), "{told}");
}

/// Returns a stage with all regions but that of the spawn.
fn away_from_home() -> Stage {
    let mut stage = Stage::new(&Land::default());
    assert!(stage.world.region_out(Region { x: 0, z: 0 }).is_some());
    stage
}

#[test]
fn one_whose_home_others_play_is_to_be_brought_there_and_stands_still() {
    let mut stage = away_from_home();
    let told = told(
        &mut stage,
        "ann joins at 100 100
         ann goes home
         wait 17
         ann goes to 99 99 / ann drops 0 / ann goes home
         ann held
         wait 1
         ann free",
    );
    let told = told.split_once('\n').expect("lines").1;
    assert_snapshot!(told, @r"
     2 ann is home at 19
    19 ann may go home at 1519; ann to 0,0 at 6,1
    20 ann refused Busy; ann refused Busy; ann refused Busy; ann to 0,0 at 6,1
    23 ann to 0,0 at 6,1
    ");
    let ann = world::CharacterId::from("ann");
    let (mut record, hot) = stage.world.leave(&ann).expect("she is there");
    assert_eq!(record.tile, world::Tile::new(100, 100), "not there yet");
    record.tile = world::Tile::new(6, 1);
    let land = Land::default();
    let mut there = World::new(land.content(), Rules::default(), 1, 2);
    let region = Region { x: 0, z: 0 };
    there
        .region_in(region, Tick(BEGIN + 30), None)
        .expect("a region");
    let inbox = world::Inbox {
        arrivals: vec![world::Arrival {
            record,
            hot,
            region,
            look: "".into(),
        }],
        ..world::Inbox::default()
    };
    let outcome = there.tick(Tick(BEGIN + 31), inbox, &mut ());
    let tile = world::Tile::new(6, 1);
    assert_eq!(
        outcome.events[..2],
        [
            world::Event::Arrivals(world::arrivals::Event::Joined { who: ann.clone() }),
            world::Event::Movement(world::movement::Event::Teleported {
                who: ann.clone(),
                tile
            })
        ]
    );
    assert_eq!(outcome.crossings, []);
    let again = there.player(&ann).expect("she is there").hot();
    assert_eq!(again.homeward.ready_at, Tick(BEGIN + 19 + 1_500));
}

#[test]
fn one_who_cannot_be_brought_home_stays_and_may_try_again() {
    let mut stage = away_from_home();
    stage.play("ann joins at 100 100\nann goes home\nwait 17");
    assert_snapshot!(stage.play("ann stays\nann goes home\nwait 16"), @r"
    20 ann may go home; ann failed Unreachable
    21 ann is home at 38
    22
    23
    24
    25
    26
    27
    28
    29
    30
    31
    32
    33
    34
    35
    36
    37
    ");
    stage.play("wait 50");
    assert_snapshot!(stage.play("wait 1\nann goes home"), @r"
    88 ann may go home; ann failed Unreachable
    89 ann is home at 106
    ");
}

#[test]
fn one_whose_home_comes_to_be_played_here_meanwhile_is_there_at_once() {
    let mut stage = away_from_home();
    stage.play("ann joins at 100 100\nann goes home\nwait 17");
    let home = Region { x: 0, z: 0 };
    let now = stage.world.now();
    stage.world.region_in(home, now, None).expect("a region");
    assert_snapshot!(stage.play("ann belongs to 0 0\nwait 1"), @r"
    20 ann teleported 6,1; ann 6,1
    21
    ");
}

#[test]
fn nobody_goes_home_out_of_a_fight() {
    let rat = json!({"id": "rat", "name": "Rat", "category": "mob",
        "stats": {"level": 1, "health": 10_000, "attack": 1, "strength": 1, "defense": 1},
        "combat": {"attackable": true, "retaliates": false, "leashRange": 20},
        "movement": {"type": "stationary"}});
    let mut stage = Stage::new(&Land::default().beast(rat, (55, 55)));
    let told = stage.play(
        "ann joins at 54 55
         ann attacks npc:field:rat:55,55:0
         ann stops
         ann goes home
         wait 13
         ann goes home
         ann goes home
         wait 17",
    );
    let told: Vec<&str> = told
        .lines()
        .filter(|l| l.contains("ann") && !l.contains("hits"))
        .collect();
    assert_snapshot!(told.join("\n"), @r"
     1 ann joined; ann 54,55; npc:field:rat:55,55:0 55,55
     4 ann refused InCombat
    18 ann refused InCombat
    19 ann is home at 36
    36 ann may go home at 1536; ann teleported 6,1; ann 6,1
    ");
}
