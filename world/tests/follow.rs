//! Stories about following other players.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::CharacterId;

fn at(stage: &Stage, who: &str) -> (i32, i32) {
    let player = stage.world.player(&CharacterId::from(who));
    let tile = player.expect("it is here").tile();
    (tile.x, tile.z)
}

#[test]
fn one_goes_from_the_next_tick_on_onto_the_tile_that_the_other_stepped_off_last() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 0 0 / bob joins at 6 0
         bob goes to 16 0
         ann follows bob
         wait 5
         bob goes to 16 5
         wait 4",
    );
    assert_snapshot!(told, @r"
     1 ann joined; bob joined; ann 0,0; bob 6,0
     2 bob 8,0
     3 bob 10,0
     4 ann 2,0; bob 12,0
     5 ann 4,0; bob 14,0
     6 ann 6,0; bob 16,0
     7 ann 8,0
     8 ann 10,0
     9 ann 12,0; bob 16,2
    10 ann 14,1; bob 16,4
    11 ann 16,3; bob 16,5
    12 ann 16,4
    13
    ");
}

#[test]
fn beside_one_who_has_not_moved_one_stops_a_tile_short() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 0 0 / bob joins at 6 2
         ann follows bob
         wait 10",
    );
    assert_eq!(at(&stage, "ann"), (5, 2));
}

#[test]
fn doing_something_else_ends_it() {
    for other in [
        "ann goes to 2 0",
        "ann stops",
        "ann gathers field:tree:0",
        "ann follows cat",
        "ann goes home",
    ] {
        let mut stage = Stage::new(&Land::default());
        stage.play("ann joins at 0 0 / bob joins at 1 0 / cat joins at 0 1");
        stage.play("ann follows bob");
        stage.play(other);
        stage.play("bob runs to 20 0 \n wait 12");
        let kept = other.contains("gathers");
        assert_eq!(at(&stage, "ann").0 > 15, kept, "{other}");
    }
}

#[test]
fn one_who_is_attacked_and_turns_round_follows_nobody() {
    let mut stage = Stage::new(&Land::default().lawless().crowded());
    let told = stage.play(
        "ann joins at 0 0 / bob joins at 1 0 / cat joins at 0 1
         ann follows bob
         cat attacks ann
         wait 8
         cat leaves
         bob runs to 20 0
         wait 12",
    );
    assert!(at(&stage, "ann").0 < 5, "{told}");
}

#[test]
fn what_cannot_be_followed_is_refused_and_what_one_was_about_goes_on() {
    let land = Land::default().npc(
        "guide",
        (3, 3),
        serde_json::json!({"type": "stationary"}),
        4,
    );
    let told = Stage::new(&land).play(
        "ann joins at 0 0 / bob joins at 40 0 / cat joins at 2 0 health 0
         ann goes to 0 8 / ann follows cat
         ann follows ann
         ann follows npc:field:guide
         ann follows bob
         ann follows dan",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; cat joined; ann 0,0; bob 40,0; cat 2,0; npc:field:guide 3,3
    2 ann refused PlayerBusy; cat teleported 0,5; cat rose 0,5; ann 0,2; cat 0,5
    3 ann refused Unsupported; ann 0,4
    4 ann refused Unsupported; ann 0,6
    5 ann refused TooFar; ann 0,8
    6 ann refused PlayerOffline
    ");
}

#[test]
fn it_ends_when_the_other_leaves_or_gets_away() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 0 0 / bob joins at 2 0
         ann follows bob
         bob leaves
         wait 1
         bob joins at 30 0
         ann walks / ann follows bob
         bob is put at 80 0
         wait 3
         ann goes to 50 50",
    );
    assert_snapshot!(told, @r"
     1 ann joined; bob joined; ann 0,0; bob 2,0
     2
     3 ann failed PlayerOffline; ann 1,0; bob gone
     4
     5 bob joined; bob 30,0
     6
     7 bob teleported 80,0; ann failed TooFar; ann 3,0; bob 80,0
     8 bob to 1,0
     9 bob to 1,0
    10 bob to 1,0
    11 ann 5,2; bob to 1,0
    ");
}

#[test]
fn it_ends_when_the_other_dies() {
    let told = Stage::new(&Land::default().lawless().crowded()).play(
        "ann joins at 0 0 / bob joins at 2 0 health 1
         cat joins at 3 0 trained attack=9000000,strength=9000000
         ann follows bob / cat attacks bob
         wait 30",
    );
    let died = told.lines().position(|line| line.contains("bob died"));
    let ended = told
        .lines()
        .position(|line| line.contains("ann failed PlayerBusy"));
    assert_eq!(ended, died.map(|at| at + 1), "{told}");
}

#[test]
fn borders_of_regions_do_not_matter() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 58 0 / bob joins at 60 0
         ann follows bob
         bob goes to 90 0
         wait 4
         bob belongs to 1 0
         wait 3
         ann belongs to 1 0
         wait 10",
    );
    assert!(told.contains("ann to 1,0"), "{told}");
    assert_eq!(at(&stage, "ann"), (89, 0));
}

#[test]
fn one_who_went_over_to_where_others_play_is_followed_there() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 60 0 / bob joins at 62 0
         ann follows bob
         bob goes to 90 0
         wait 3
         bob held
         wait 1
         bob leaves
         wait 4",
    );
    assert_snapshot!(told, @r"
     1 ann joined; bob joined; ann 60,0; bob 62,0
     2
     3 ann 61,0; bob 64,0
     4 ann 63,0; bob 66,0
     5 ann 65,0; bob 68,0; bob to 1,0
     6 ann 67,0; bob 70,0; bob to 1,0
     7 ann 69,0
     8
     9 bob gone; ann to 1,0
    10 ann 70,0; ann to 1,0
    11 ann to 1,0
    12 ann to 1,0
    13 ann to 1,0
    ");
    let ann = CharacterId::from("ann");
    let (record, hot) = stage.world.leave(&ann).expect("she is handed over too");
    let tile = record.tile;
    let mut other = Stage::new(&Land::default());
    other.play("bob joins at 72 0 \n bob goes to 90 0");
    let inbox = world::Inbox {
        arrivals: vec![world::Arrival {
            record,
            hot,
            region: world::Region::from(tile),
            look: "".into(),
        }],
        ..world::Inbox::default()
    };
    other.step(inbox);
    other.play("wait 15");
    assert_eq!(at(&other, "ann"), (89, 0));
}

#[test]
fn one_who_does_not_turn_up_beyond_the_border_is_given_up() {
    let told = Stage::new(&Land::default()).play(
        "ann joins at 60 0 / bob joins at 62 0
         ann follows bob
         bob goes to 90 0
         wait 3
         bob leaves
         wait 14",
    );
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[6], " 7 ann 69,0; bob gone; ann to 1,0");
    assert_eq!(lines[16], "17 ann failed PlayerOffline; ann to 1,0");
}
