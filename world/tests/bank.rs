//! Stories about the bank.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};

const CHEST: &str = "sta:field:bank";

fn land() -> Land {
    Land::default().station("bank", (4, 0))
}

/// Plays a story of ann, who opens the bank in its first tick; leaves that tick out.
fn at_the_bank(has: &str, script: &str) -> String {
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 3 0 {has} / ann opens bank at {CHEST}"
    ));
    stage.play(script)
}

#[test]
fn a_bank_is_walked_to_and_closes_behind_one() {
    let mut stage = Stage::new(&land());
    let told = stage.play(&format!(
        "ann joins at 20 0
         ann opens bank at {CHEST}
         wait 8
         ann banks 1 of 0
         ann walks to 20 0
         wait 2
         ann closes bank
         ann opens bank at {CHEST}
         ann stops
         ann opens bank at {CHEST}
         wait 3
         ann closes bank"
    ));
    let told: Vec<&str> = told.lines().filter(|l| l.contains("ed ")).collect();
    assert_snapshot!(told.join("\n"), @r"
     8 ann opened Bank; ann 6,0
    11 ann refused EmptySlot
    12 ann closed Bank; ann 8,0
    15 ann refused NotOpen; ann 14,0
    20 ann opened Bank; ann 6,0
    22 ann closed Bank
    ");
}

#[test]
fn a_banker_keeps_a_bank_and_others_do_not() {
    let land = land()
        .banker("teller", (0, 3))
        .npc(
            "guard",
            (1, 3),
            serde_json::json!({"type": "stationary"}),
            0,
        )
        .station("furnace", (-6, 0));
    let mut stage = Stage::new(&land);
    let told = stage.play(
        "ann joins at 0 1
         ann opens bank at npc:field:teller
         ann opens bank at npc:field:guard
         ann opens bank at sta:field:furnace
         ann opens bank at nobody
         ann goes to 100 100
         wait 30
         ann opens bank at npc:field:teller",
    );
    let told: Vec<&str> = told.lines().filter(|l| l.contains("ed ")).collect();
    assert_snapshot!(told.join("\n"), @r"
     2 ann opened Bank
     3 ann refused Unsupported
     4 ann refused Unsupported
     5 ann refused NotFound
     7 ann closed Bank; ann 4,5
    37 ann refused TooFar; ann 64,65
    ");
}

#[test]
fn all_of_an_item_lies_in_one_place() {
    let told = at_the_bank(
        "with logs 1 candle 9 logs 1 logs 1",
        "ann banks 2 of 2
         ann banks 2147483647 of 0 in 3
         ann banks 4 of 1 in 3
         ann banks 1 of 0
         ann banks all
         ann banks all",
    );
    assert_snapshot!(told, @r"
    2 ann 0=nothing 2=nothing; ann banks logs=2 0:0
    3 ann refused EmptySlot
    4 ann 1=candle 5; ann banks candle=4 3:0
    5 ann refused EmptySlot
    6 ann 1=nothing 3=nothing; ann banks candle=9 3:0 logs=3 0:0
    7 ann refused EmptySlot
    ");
}

#[test]
fn notes_stand_for_things_and_come_back_as_notes() {
    let told = at_the_bank(
        "with logs_noted 5 logs 1",
        "ann banks 9 of 0 / ann banks 9 of 1
         ann gets 2 logs / ann gets 2 logs noted
         ann gets 9 logs_noted
         ann banks all
         ann gets 2147483647 logs noted
         ann banks 1 of 0
         ann gets 1 hood noted",
    );
    assert_snapshot!(told, @r"
    2 ann 0=nothing; ann banks logs=6 0:0; ann 1=nothing; ann banks logs=6 0:0
    3 ann 0=logs 1 1=logs 1; ann banks logs=2 0:0; ann 2=logs_noted 2; ann banks logs=2 0:0
    4 ann refused NotEnough
    5 ann 0=nothing 1=nothing 2=nothing; ann banks logs=6 0:0
    6 ann 0=logs_noted 6; ann banks logs=gone
    7 ann 0=logs_noted 5; ann banks logs=1 0:0
    8 ann refused NoNote
    ");
}

#[test]
fn a_thing_without_a_note_is_not_noted() {
    let told = at_the_bank(
        "with candle 5 hood 1",
        "ann banks all
         ann gets 1 candle noted
         ann gets 1 hood noted
         ann gets 0 hood
         ann gets 1 nothing_like_it
         ann gets 1 hood",
    );
    assert_snapshot!(told, @r"
    2 ann 0=nothing 1=nothing; ann banks candle=5 0:0 hood=1 0:1
    3 ann refused NoNote
    4 ann refused NoNote
    5 ann refused NotEnough
    6 ann refused NotEnough
    7 ann 0=hood 1; ann banks hood=gone
    ");
}

#[test]
fn what_does_not_fit_into_the_pack_stays_in_the_bank() {
    let logs = "logs 1 ".repeat(28);
    let told = at_the_bank(
        &format!("with {logs}"),
        "ann banks all
         ann gets 3 logs noted
         ann gets 100 logs
         ann gets 1 logs
         ann gets 1 logs noted
         ann banks 1 of 0 / ann gets 1 logs",
    );
    let short = told.replace("=logs 1", "");
    assert_snapshot!(short, @r"
    2 ann 0=nothing 1=nothing 2=nothing 3=nothing 4=nothing 5=nothing 6=nothing 7=nothing 8=nothing 9=nothing 10=nothing 11=nothing 12=nothing 13=nothing 14=nothing 15=nothing 16=nothing 17=nothing 18=nothing 19=nothing 20=nothing 21=nothing 22=nothing 23=nothing 24=nothing 25=nothing 26=nothing 27=nothing; ann banks logs=28 0:0
    3 ann 0=logs_noted 3; ann banks logs=25 0:0
    4 ann 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; ann banks logs=gone
    5 ann refused NotEnough
    6 ann refused NotEnough
    7 ann 0=logs_noted 2; ann banks logs=gone; ann 26; ann banks logs=gone
    ");
}

#[test]
fn coins_lie_in_the_bank_too() {
    let told = at_the_bank(
        "pouch 100 with coins 7",
        "ann banks coins 60
         ann banks all
         ann pockets 68
         ann pockets 7
         ann gets 50 coins
         ann banks coins 999
         ann pockets 0",
    );
    assert_snapshot!(told, @r"
    2 ann banks coins=60 0:0; ann coins 40
    3 ann 0=nothing; ann banks coins=67 0:0
    4 ann refused NotEnough
    5 ann banks coins=60 0:0; ann coins 47
    6 ann 0=coins 50; ann banks coins=10 0:0
    7 ann refused NotEnough
    8 ann refused NotEnough
    ");
}

#[test]
fn no_stack_in_a_bank_overflows() {
    let told = at_the_bank(
        "pouch 2147483647 with coins 2147483647 candle 2147483647",
        "ann banks 2147483647 of 0
         ann banks coins 1
         ann pockets 1
         ann gets 1 coins
         ann banks coins 1 / ann banks coins 1
         ann banks all / ann banks all",
    );
    assert_snapshot!(told, @r"
    2 ann 0=nothing; ann banks coins=2147483647 0:0
    3 ann refused BankFull
    4 ann refused InventoryFull
    5 ann 0=coins 1; ann banks coins=2147483646 0:0
    6 ann banks coins=2147483647 0:0; ann coins 2147483646; ann refused BankFull
    7 ann 1=nothing; ann banks candle=2147483647 0:1; ann refused BankFull
    ");
}

#[test]
fn clothes_go_to_the_bank() {
    let told = at_the_bank(
        "with shield 1 hood 1 arrow 5",
        "ann wears 0 / ann wears 1 / ann wears 2
         ann banks clothes in 2
         ann banks clothes",
    );
    assert_snapshot!(told, @r"
    2 ann 0=nothing; ann wears shield=shield 1; ann 1=nothing; ann wears helmet=hood 1; ann 2=nothing; ann wears arrows=arrow 5; ann 3,0
    3 ann wears shield=nothing helmet=nothing arrows=nothing; ann banks arrow=5 2:2 hood=1 2:1 shield=1 2:0; ann 3,0
    4 ann refused EmptySlot
    ");
}

#[test]
fn a_place_is_kept_for_what_comes_back() {
    let told = at_the_bank(
        "with candle 5 arrow 5 iron_arrow 5",
        "ann keeps places
         ann banks all
         ann gets 5 arrow
         ann swaps iron_arrow with arrow
         ann shifts iron_arrow before candle
         ann shifts candle to 8
         ann banks 5 of 0 in 4
         ann gets 5 arrow / ann frees arrow
         ann frees arrow
         ann keeps no places
         ann gets 5 iron_arrow",
    );
    assert_snapshot!(told, @r"
     2 ann banks
     3 ann 0=nothing 1=nothing 2=nothing; ann banks arrow=5 0:1 candle=5 0:0 iron_arrow=5 0:2
     4 ann 0=arrow 5; ann banks arrow=0 0:1
     5 ann banks arrow=0 0:2 iron_arrow=5 0:1
     6 ann banks candle=5 0:1 iron_arrow=5 0:0
     7 ann banks candle=5 8:0
     8 ann 0=nothing; ann banks arrow=5 0:2
     9 ann 0=arrow 5; ann banks arrow=gone; ann banks arrow=gone
    10 ann refused NotFound
    11 ann banks
    12 ann 1=iron_arrow 5; ann banks iron_arrow=gone
    ");
}

#[test]
fn nothing_is_banked_from_afar() {
    let mut stage = Stage::new(&land());
    let told = stage.play(&format!(
        "ann joins at 30 0 with logs 1 / bob joins at 3 0 with logs 1
         bob opens bank at {CHEST}
         ann banks 1 of 0 / ann gets 1 logs / ann banks all / ann banks coins 1
         ann swaps logs with logs / ann closes bank / bob banks 1 of 0
         ann gets 1 logs"
    ));
    assert_snapshot!(told, @r"
    1 ann joined; bob joined; ann 30,0; bob 3,0; sta:field:bank 4,0
    2 bob opened Bank
    3 ann refused NotOpen; ann refused NotOpen; ann refused NotOpen; ann refused NotOpen
    4 ann refused NotOpen; ann refused NotOpen; bob 0=nothing; bob banks logs=1 0:0
    5 ann refused NotOpen
    ");
}

#[test]
fn while_nothing_can_be_saved_nothing_is_banked() {
    let told = at_the_bank(
        "with logs 1 shield 1",
        "ann may not trade / ann banks 1 of 0 / ann keeps places / ann wears 1
         ann may not save / ann banks 1 of 0 / ann keeps no places / ann removes shield",
    );
    assert_snapshot!(told, @r"
    2 ann refused ExchangesFrozen; ann banks; ann 1=nothing; ann wears shield=shield 1; ann 3,0
    3 ann refused StorageUnavailable; ann refused StorageUnavailable; ann refused StorageUnavailable
    ");
}

#[test]
fn two_requests_in_a_tick_share_what_there_is() {
    let told = at_the_bank(
        "with candle 5",
        "ann banks 3 of 0 / ann banks 3 of 0 / ann gets 9 candle / ann drops 0 / ann gets 1 candle",
    );
    assert_snapshot!(told, @r"
     2 ann 0=nothing; ann banks candle=gone; ann 0=nothing; ann banks candle=gone; ann 0=nothing; ann banks candle=gone; ann 0=nothing; ann refused NotEnough; #1 3,0 candle 5 ann
    ");
}
