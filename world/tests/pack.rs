//! Stories about the pack, the pouch and the things that a new character begins with.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};

fn play(script: &str) -> String {
    Stage::new(&Land::default()).play(script)
}

#[test]
fn a_new_character_begins_with_what_the_content_knows() {
    let told = play(
        "ann joins at 0 0 new
         ann drops 0",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 0=bronze_hatchet 1 1=bronze_pickaxe 1 2=tinderbox 1 3=hammer 1 4=candle 5; ann coins 25; ann 6,1
    2 ann 0=nothing; #1 6,1 bronze_hatchet 1 ann
    ");
}

#[test]
fn a_new_character_waits_until_its_things_can_be_saved() {
    let told = play(
        "ann joins at 0 0 new / ann may not save / bob joins at 0 0
         ann joins at 0 0 new / ann may not trade",
    );
    assert_snapshot!(told, @r"
    1 ann turned away StorageUnavailable; bob joined; bob 0,0
    2 ann joined; ann 0=bronze_hatchet 1 1=bronze_pickaxe 1 2=tinderbox 1 3=hammer 1 4=candle 5; ann coins 25; ann 6,1
    ");
}

#[test]
fn slots_change_places() {
    let told = play(
        "ann joins at 3 4 with logs 1 candle 7
         ann puts 0 into 1
         ann puts 0 into 27
         ann puts 0 into 1
         ann puts 1 into 28
         ann puts 200 into 1
         ann puts 1 into 1",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 3,4
    2 ann 0=candle 7 1=logs 1
    3 ann 0=nothing 27=candle 7
    4 ann refused EmptySlot
    5 ann refused NotFound
    6 ann refused EmptySlot
    7
    ");
}

/// The content may change under those who have things of it.
#[test]
fn things_of_which_nothing_is_known_any_more_are_kept_and_move() {
    let told = play(
        "ann joins at 3 4 with relic 5 logs 1
         ann puts 0 into 9
         ann drops 9
         ann takes #1",
    );
    assert_snapshot!(told, @r"
    1 ann joined; ann 3,4
    2 ann 0=nothing 9=relic 5
    3 ann 9=nothing; #1 3,4 relic 5 ann
    4 ann 0=relic 5; #1 gone
    ");
}

#[test]
fn coins_go_from_pouch_to_pack_and_back() {
    let told = play(
        "ann joins at 3 4 pouch 100
         ann withdraws 101
         ann withdraws 0
         ann withdraws 4294967295
         ann withdraws 60
         ann withdraws 10
         ann deposits 71
         ann deposits 0
         ann deposits 20
         ann deposits all
         ann deposits all",
    );
    assert_snapshot!(told, @r"
     1 ann joined; ann 3,4
     2 ann refused NotEnough
     3 ann refused NotEnough
     4 ann refused NotEnough
     5 ann 0=coins 60; ann coins 40
     6 ann 0=coins 70; ann coins 30
     7 ann refused NotEnough
     8 ann refused NotEnough
     9 ann 0=coins 50; ann coins 50
    10 ann 0=nothing; ann coins 100
    11 ann refused NotEnough
    ");
}

#[test]
fn coins_need_a_free_slot_or_a_stack_with_room() {
    let full = "logs 1 ".repeat(28);
    let told = play(&format!(
        "ann joins at 3 4 pouch 5 with {full}
         bob joins at 3 4 pouch 5 with coins 2147483647
         cat joins at 3 4 pouch 2147483647 with coins 5
         ann withdraws 1
         bob withdraws 1
         bob deposits all
         cat deposits 1
         cat withdraws 6
         cat deposits 6"
    ));
    let told: Vec<&str> = told.lines().skip(3).collect();
    assert_snapshot!(told.join("\n"), @r"
    4 ann refused InventoryFull
    5 bob refused InventoryFull
    6 bob refused InventoryFull
    7 cat refused InventoryFull
    8 cat 0=coins 11; cat coins 2147483641
    9 cat 0=coins 5; cat coins 2147483647
    ");
}

#[test]
fn what_stays_with_its_holder_is_no_matter_for_the_ledger() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 3 4 pouch 100 with logs 1");
    let who = world::CharacterId::from("ann");
    let ask = |number, intent| world::PlayerInput {
        who: who.clone(),
        number,
        intent,
    };
    let outcome = stage.step(world::Inbox {
        inputs: vec![
            ask(
                1,
                world::Intent::Pack(world::pack::Intent::WithdrawCoins { amount: 5 }),
            ),
            ask(
                2,
                world::Intent::Pack(world::pack::Intent::MoveSlot { from: 0, to: 9 }),
            ),
        ],
        ..world::Inbox::default()
    });
    assert_eq!(outcome.changes.ledger, []);
    assert!(outcome.changes.valued.contains(&who));
}
