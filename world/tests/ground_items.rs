//! Stories about dropping and picking up.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::{Cause, CharacterId, Event, Holder, Inbox, Refusal, request};

fn play(script: &str) -> String {
    Stage::new(&Land::default()).play(script)
}

#[test]
fn what_one_drops_lies_where_one_stands() {
    let told = play(
        "ann joins at 3 4 with logs 1 candle 7
         ann drops 0
         ann drops 2 of 1
         ann drops 1 of 1
         ann drops 1",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 3,4
    2 ann 0=nothing; #1 3,4 logs 1 ann
    3 ann 1=candle 5; #2 3,4 candle 2 ann
    4 ann 1=candle 4; #2 3,4 candle 3 ann
    5 ann 1=nothing; #2 3,4 candle 7 ann
    ");
}

#[test]
fn nobody_drops_what_is_not_there() {
    let told = play(
        "ann joins at 3 4 with logs 1 candle 7
         ann drops 2
         ann drops 28
         ann drops 255
         ann drops 8 of 1
         ann drops 0 of 1
         ann drops 2147483648 of 1
         ann drops 2 of 0",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 3,4
    2 ann refused EmptySlot
    3 ann refused EmptySlot
    4 ann refused EmptySlot
    5 ann refused NotEnough
    6 ann refused NotEnough
    7 ann refused NotEnough
    8 ann refused NotEnough
    ");
}

#[test]
fn another_takes_it_once_it_is_anybodys() {
    let told = play(
        "ann joins at 3 4 with logs 1 / bob joins at 3 4
         ann drops 0
         bob takes #1
         ann goes to 13 4
         wait 5
         wait 92
         bob takes #1
         bob takes #1",
    );
    let quiet = |line: &&str| line.contains(' ') && line.trim().len() > 3;
    let told: Vec<&str> = told.lines().filter(quiet).collect();
    assert_snapshot!(told.join("\n"), @r"
     1 ann joined; bob joined; ann 3,4; bob 3,4
     2 ann 0=nothing; #1 3,4 logs 1 ann
     3 bob refused Protected
     4 ann 5,4
     5 ann 7,4
     6 ann 9,4
     7 ann 11,4
     8 ann 13,4
    102 bob 0=logs 1; #1 gone
    103 bob refused NotFound
    ");
}

#[test]
fn what_nobody_takes_is_gone_after_300_ticks() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1\nann drops 0\nwait 298");
    assert_snapshot!(stage.play("wait 3"), @r"
    301
    302 #1 gone
    303
    ");
}

#[test]
fn one_walks_to_it_and_takes_it() {
    let told = play(
        "ann joins at 3 4 with logs 1 / bob joins at 9 4
         ann drops 0
         ann goes to 9 4
         wait 2
         ann takes #1
         wait 3
         ann takes #1",
    );
    assert_snapshot!(told, @r"
     1 ann joined; bob joined; ann 3,4; bob 9,4
     2 ann 0=nothing; #1 3,4 logs 1 ann
     3 ann 5,4
     4 ann 7,4
     5 ann 9,4
     6 ann 7,4
     7 ann 5,4
     8 ann 0=logs 1; ann 3,4; #1 gone
     9
    10 ann refused NotFound
    ");
}

#[test]
fn stacks_that_are_as_much_ones_own_merge_and_lie_for_longer() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 3 4 with candle 9 logs 1 logs 1 / bob joins at 3 4 with candle 5
         ann drops 2 of 0
         bob drops 1 of 0
         ann drops 3 of 0
         ann drops 1
         ann drops 2",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 3,4; bob 3,4
    2 ann 0=candle 7; #1 3,4 candle 2 ann
    3 bob 0=candle 4; #2 3,4 candle 1 bob
    4 ann 0=candle 4; #1 3,4 candle 5 ann
    5 ann 1=nothing; #3 3,4 logs 1 ann
    6 ann 2=nothing; #4 3,4 logs 1 ann
    ");
    stage.play("wait 110");
    assert_snapshot!(stage.play("ann drops 1 of 0\nwait 1"), @r"
    117 ann 0=candle 3; #5 3,4 candle 1 ann
    118
    ");
    let first = stage.thing("#1");
    let lies = stage.world.ground_item(&first).expect("it lies there");
    assert_eq!(lies.expires_at.0, stage::BEGIN + 4 + 300);
}

#[test]
fn a_full_pack_takes_no_more_and_leaves_it_there() {
    let full = "logs 1 ".repeat(28);
    let told = play(&format!(
        "ann joins at 3 4 with candle 3 logs 1 / bob joins at 3 4 with {full}
         ann drops 0 / ann drops 1
         wait 100
         bob takes #1
         bob goes to 9 4
         wait 4
         bob takes #2
         wait 3
         bob drops 0
         bob takes #2
         wait 3"
    ));
    let told: Vec<&str> = told
        .lines()
        .filter(|l| l.contains("bob") || l.contains('#'))
        .collect();
    assert_snapshot!(told.join("\n"), @r"
     1 ann joined; bob joined; ann 3,4; bob 3,4
     2 ann 0=nothing; ann 1=nothing; #1 3,4 candle 3 ann; #2 3,4 logs 1 ann
    102 #1 3,4 candle 3; #2 3,4 logs 1
    103 bob refused InventoryFull
    104 bob 5,4
    105 bob 7,4
    106 bob 9,4
    109 bob 7,4
    110 bob 5,4
    111 bob failed InventoryFull; bob 3,4
    113 bob 0=nothing; #3 3,4 logs 1 bob
    114 bob 0=logs 1; #2 gone
    ");
}

#[test]
fn coins_go_to_the_pouch_and_past_its_end_into_the_pack() {
    let told = play(
        "ann joins at 3 4 pouch 2147483640 with coins 7 coins 5
         ann drops 0
         ann drops 1
         ann takes #1
         ann takes #1
         ann withdraws 1000
         ann drops 2 of 0",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 3,4
    2 ann 0=nothing; #1 3,4 coins 7 ann
    3 ann 1=nothing; #1 3,4 coins 12 ann
    4 ann 0=coins 12; #1 gone
    5 ann refused NotFound
    6 ann 0=coins 1012; ann coins 2147482640
    7 ann 0=coins 1010; #2 3,4 coins 2 ann
    ");
}

/// Returns a stage on which ann has dropped #1 at 3,4.
fn one_thing() -> Stage {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1\nann drops 0");
    stage
}

/// Lets fifty players do the same in one tick.
fn all_50(action: &str) -> String {
    let actions: Vec<String> = (0..50).map(|n| format!("p{n} {action}")).collect();
    actions.join(" / ")
}

#[test]
fn of_50_who_want_the_same_thing_in_one_tick_just_one_gets_it() {
    let mut stage = one_thing();
    stage.play(&format!("{}\nwait 100", all_50("joins at 3 4")));
    let told = stage.play(&all_50("takes #1"));
    assert_eq!(told.matches("0=logs 1").count(), 1, "{told}");
    assert_eq!(told.matches("refused NotFound").count(), 49, "{told}");
    assert_eq!(told.matches("#1 gone").count(), 1, "{told}");
}

#[test]
fn of_50_who_come_to_the_same_thing_in_one_tick_just_one_gets_it() {
    let mut stage = one_thing();
    stage.play(&format!("{}\nwait 100", all_50("joins at 6 4")));
    let told = stage.play(&format!("{}\nwait 1", all_50("takes #1")));
    assert!(!told.contains("refused"), "{told}");
    assert_eq!(told.matches("0=logs 1").count(), 1, "{told}");
    assert_eq!(told.matches("failed NotFound").count(), 49, "{told}");
}

#[test]
fn one_who_does_something_else_on_the_way_does_not_get_it() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1 logs 1\nann drops 0\nann goes to 13 4\nwait 5");
    let told = stage.play(
        "ann takes #1
         ann goes to 13 9
         ann takes #1
         ann stops
         ann takes #1
         ann drops 1
         ann takes #1
         ann takes #2
         wait 4
         ann takes #1
         ann goes home",
    );
    assert_snapshot!(told, @r"
     9 ann 11,4
    10 ann 13,6
    11 ann 11,4
    12
    13 ann 9,4
    14 ann 1=nothing; ann 7,4; #2 9,4 logs 1 ann
    15 ann 5,4
    16 ann 7,4
    17 ann 0=logs 1; ann 9,4; #2 gone
    18
    19
    20
    21 ann 7,4
    22 ann is home at 39
    ");
}

#[test]
fn one_who_comes_too_late_is_told() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1\nann drops 0\nann goes to 23 4\nwait 10");
    let told = stage.play("wait 284\nann takes #1\nwait 6");
    let told: Vec<&str> = told.lines().skip(284).collect();
    assert_snapshot!(told.join("\n"), @r"
    298 ann 21,4
    299 ann 19,4
    300 ann 17,4
    301 ann 15,4
    302 ann 13,4; #1 gone
    303 ann failed NotFound; ann 11,4
    304
    ");
}

#[test]
fn one_sets_out_for_what_can_be_reached_only() {
    let land = Land::default().rect("water", (20, 0), (22, 63));
    let mut stage = Stage::new(&land);
    let told = stage.play(
        "ann joins at 23 4 with logs 1 / bob joins at 19 4 / cat joins at 56 4 / dan joins at 55 4
         ann drops 0
         wait 99
         bob takes #1
         cat takes #1
         dan takes #1
         dan stops
         bob takes item:1-1
         bob takes bob
         bob takes nobody",
    );
    let told: Vec<&str> = told.lines().filter(|l| l.len() > 4).collect();
    assert_snapshot!(told.join("\n"), @r"
     1 ann joined; bob joined; cat joined; dan joined; ann 23,4; bob 19,4; cat 56,4; dan 55,4
     2 ann 0=nothing; #1 23,4 logs 1 ann
    102 bob 19,2; #1 23,4 logs 1
    103 cat refused TooFar; bob 19,0
    104 bob 20,-1; dan 53,4
    105 bob 22,-1
    106 bob refused NotFound; bob 23,0
    107 bob refused Unsupported; bob 23,2
    108 bob refused NotFound; bob 0=logs 1; bob 23,4; #1 gone
    ");
}

#[test]
fn exchanges_can_be_frozen_and_storage_can_be_away() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 pouch 9 with logs 1 logs 1 coins 4\nann drops 0");
    let all = "ann drops 1 / ann takes #1 / ann puts 1 into 5 / ann withdraws 1 / \
               ann deposits all / ann goes to 5 4";
    let told = stage.play(&format!(
        "ann may not trade / {all}\nann may not save / {all}"
    ));
    assert_snapshot!(told, @r"
    3 ann refused ExchangesFrozen; ann refused ExchangesFrozen; ann 1=nothing 5=logs 1; ann refused ExchangesFrozen; ann refused ExchangesFrozen; ann 5,4
    4 ann refused StorageUnavailable; ann refused StorageUnavailable; ann refused StorageUnavailable; ann refused StorageUnavailable; ann refused StorageUnavailable
    ");
    let told = stage.play("ann goes to 9 4\nwait 3\nann takes #1\nann may not trade");
    assert!(!told.contains("failed"), "she is not there yet: {told}");
    let told = stage.play("ann may not trade\nann may not save\nann takes #1");
    assert_snapshot!(told, @r"
    11 ann failed ExchangesFrozen; ann 3,4
    12
    13 ann 0=logs 1; #1 gone
    ");
}

#[test]
fn nothing_expires_while_it_cannot_be_saved() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1\nann drops 0\nwait 299");
    assert_snapshot!(stage.play("ann may not save\nann may not save\nann may not trade"), @r"
    302
    303
    304 #1 gone
    ");
}

#[test]
fn a_pile_has_128_things_and_the_first_to_go_makes_room() {
    let mut stage = Stage::new(&Land::default());
    for n in 0..129 {
        let told = stage.play(&format!("p{n} joins at 3 4 with logs 1\np{n} drops 0"));
        let gone: Vec<&str> = told.split("; ").filter(|p| p.contains("gone")).collect();
        assert_eq!(gone.len(), usize::from(n == 128), "{n}: {told}");
        if n == 128 {
            assert!(told.contains("#1 gone"), "{told}");
        }
    }
    let mut inbox = Inbox::default();
    inbox.inputs.push(world::PlayerInput {
        who: CharacterId::from("p1"),
        number: 1,
        intent: world::Intent::GroundItems(world::ground_items::Intent::Pickup {
            target: stage.thing("#2"),
        }),
    });
    let outcome = stage.step(inbox);
    let ledger = outcome.changes.ledger.iter();
    let ledger: Vec<_> = ledger
        .map(|e| (e.holder.clone(), e.cause, e.delta))
        .collect();
    let p1 = Holder::Character(CharacterId::from("p1"));
    assert_eq!(
        ledger,
        [(p1, Cause::Pickup, 1), (Holder::Ground, Cause::Pickup, -1)]
    );
}

#[test]
fn what_tells_of_value_says_so() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1 logs 1\nann drops 0\nann goes to 9 4\nwait 3");
    let mut number = 0;
    let mut ask = |intents: &[world::Intent]| {
        let inputs = intents.iter().map(|intent| {
            number += 1;
            world::PlayerInput {
                who: CharacterId::from("ann"),
                number,
                intent: intent.clone(),
            }
        });
        let inbox = Inbox {
            inputs: inputs.collect(),
            ..Inbox::default()
        };
        stage.step(inbox).events
    };
    let drop = |slot| {
        world::Intent::GroundItems(world::ground_items::Intent::Drop {
            slot,
            quantity: None,
        })
    };
    let told = |event: &Event| match event {
        Event::Request(request::Event::Done { value, .. }) => Some(("done", *value)),
        Event::Request(request::Event::Refused { refusal, value, .. }) => Some((
            match refusal {
                Refusal::EmptySlot => "empty",
                Refusal::Unreachable => "unreachable",
                _ => "other",
            },
            *value,
        )),
        _ => None,
    };
    let far = world::Intent::Movement(world::movement::Intent::Walk {
        to: world::Tile::new(99_999, 0),
        run: None,
    });
    let events = ask(&[
        drop(1),
        drop(1),
        far,
        world::Intent::Movement(world::movement::Intent::Stop),
    ]);
    let told: Vec<_> = events.iter().filter_map(told).collect();
    assert_eq!(
        told,
        [
            ("done", true),
            ("empty", true),
            ("other", false),
            ("done", false)
        ]
    );
}

#[test]
fn everybody_sees_what_lies_there_and_can_look_at_it() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 3 4 with logs 1 lost_sword 1 / bob joins at 4 4
         ann drops 0 / ann drops 1
         bob examines #1
         bob examines #2",
    );
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 3,4; bob 4,4
    2 ann 0=nothing; ann 1=nothing; #1 3,4 logs 1 ann; #2 3,4 lost_sword 1 ann
    3 bob sees item:1-1050673152: Wood.
    4 bob sees item:1-1050673153: lost_sword
    ");
    let name = |thing| {
        let look = stage.world.look(&stage.thing(thing)).expect("it is seen");
        assert_eq!(look.kind, world::Kind::Item);
        format!("{:?}", look.field("name").expect("a name"))
    };
    assert_eq!(name("#1"), r#"Text("Logs")"#);
    assert_eq!(name("#2"), r#"Text("lost_sword")"#);
}

#[test]
fn one_who_is_held_takes_nothing_until_it_is_free() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 with logs 1\nann drops 0\nann goes to 6 4\nwait 1");
    let told = stage.play("ann takes #1\nann held\nwait 3\nann takes #1\nann free\nwait 1");
    assert_snapshot!(told, @r"
     5 ann 4,4
     6
     7
     8
     9
    10 ann refused Busy
    11 ann 0=logs 1; ann 3,4; #1 gone
    12
    ");
}
