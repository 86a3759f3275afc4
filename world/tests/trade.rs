//! Stories about trades, and the known ways to duplicate things in them.

mod audit;

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::item::QUANTITY_MAX;

/// Returns a stage on which two players stand side by side, with their things, in a trade that they
/// have begun. Leaves those ticks out of the story.
fn trading(ann: &str, bob: &str) -> Stage {
    let mut stage = Stage::new(&Land::default());
    stage.play(&format!(
        "ann joins at 0 0 {ann} / bob joins at 1 0 {bob}
         ann trades bob
         bob agrees to trade"
    ));
    stage
}

/// Returns the story without the places of people.
fn said(told: &str) -> String {
    let place = |part: &&str| !matches!(part.split(' ').nth(1), Some(at) if at.contains(','));
    let lines = told.lines().map(|line| {
        let (tick, parts) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let parts: Vec<&str> = parts.split("; ").filter(place).collect();
        format!("{tick} {}", parts.join("; ")).trim().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn pack(stage: &Stage, who: &str) -> Vec<(u8, String, u32)> {
    let player = stage.world.player(&who.into()).unwrap();
    let pack = player.record().inventory.iter();
    pack.map(|(slot, stack)| (*slot, stack.item.to_string(), stack.quantity))
        .collect()
}

fn has(stage: &Stage, who: &str, item: &str) -> u64 {
    let pack = pack(stage, who).into_iter();
    let same = pack.filter(|(_, there, _)| there == item);
    same.map(|(_, _, many)| u64::from(many)).sum()
}

const AGREE_ALL: &str = "ann accepts offer / bob accepts offer
    ann accepts confirm / bob accepts confirm";

#[test]
fn two_agree_twice_and_swap() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 with sword 1 candle 9 / bob joins at 2 2 with logs 1
         ann trades bob
         bob agrees to trade
         ann offers 0
         ann offers 4 of 1
         bob offers 0
         ann accepts offer
         bob accepts offer
         bob accepts confirm
         ann accepts confirm",
    );
    assert_snapshot!(said(&told), @r"
    1 ann joined; bob joined
    2 ann asked for t1; bob hears ann ask for t1
    3 ann began t1 with bob free 27; bob began t1 with ann free 26
    4 ann sees [0=sword 1 of 0] for [] free 27; bob sees [] for [0=sword 1 of 0] free 26
    5 ann sees [0=sword 1 of 0, 1=candle 4 of 1] for [] free 27; bob sees [] for [0=sword 1 of 0, 1=candle 4 of 1] free 26
    6 ann sees [0=sword 1 of 0, 1=candle 4 of 1] for [0=logs 1 of 0] free 27; bob sees [0=logs 1 of 0] for [0=sword 1 of 0, 1=candle 4 of 1] free 26
    7 ann sees [0=sword 1 of 0, 1=candle 4 of 1]! for [0=logs 1 of 0] free 27; bob sees [0=logs 1 of 0] for [0=sword 1 of 0, 1=candle 4 of 1]! free 26
    8 ann confirms [0=sword 1 of 0, 1=candle 4 of 1] for [0=logs 1 of 0] worth 38 for 0; bob confirms [0=logs 1 of 0] for [0=sword 1 of 0, 1=candle 4 of 1] worth 0 for 38
    9 ann confirms [0=sword 1 of 0, 1=candle 4 of 1] for [0=logs 1 of 0]! worth 38 for 0; bob confirms [0=logs 1 of 0]! for [0=sword 1 of 0, 1=candle 4 of 1] worth 0 for 38
    10 ann 0=logs 1 1=candle 5; bob 0=sword 1 1=candle 4; ann got by t1 logs 1; bob got by t1 sword 1 candle 4
    ");
}

#[test]
fn whoever_is_asked_may_decline_and_whoever_asked_may_give_it_up() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 / bob joins at 1 0 / cid joins at 0 1
         ann trades bob
         cid declines in t1
         bob declines
         bob declines
         bob trades ann
         bob cancels
         wait 6
         bob trades ann
         ann cancels
         cid cancels in t3
         bob agrees to trade in t3",
    );
    assert_snapshot!(said(&told), @r"
    1 ann joined; bob joined; cid joined
    2 ann asked for t1; bob hears ann ask for t1
    3 cid refused InvalidTrade
    4 ann lost t1 Declined; bob lost t1 Declined
    5 bob refused InvalidTrade
    6 bob asked for t2; ann hears bob ask for t2
    7 bob lost t2 Cancelled; ann lost t2 Cancelled
    8
    9
    10
    11
    12
    13
    14 bob asked for t3; ann hears bob ask for t3
    15 bob lost t3 Cancelled; ann lost t3 Cancelled
    16 cid refused NotInTrade
    17 bob refused InvalidTrade
    ");
}

#[test]
fn nobody_trades_with_oneself_nobody_far_off_or_somebody_busy() {
    let land = Land::default()
        .banker("teller", (6, 0))
        .station("bank", (4, 0));
    let mut stage = Stage::new(&land);
    let told = stage.play(
        "ann joins at 0 0 / bob joins at 3 0 / cid joins at 2 0 / dan joins at 1 0
         ann trades ann
         ann trades bob
         ann trades nobody
         ann trades npc:field:teller
         bob opens bank at sta:field:bank
         cid trades bob
         bob trades cid
         bob closes bank
         cid trades dan
         dan agrees to trade
         ann trades dan
         cid trades ann
         dan opens bank at sta:field:bank",
    );
    assert_snapshot!(said(&told), @r"
    1 ann joined; bob joined; cid joined; dan joined
    2 ann refused SelfTrade
    3 ann refused TooFar
    4 ann refused PlayerOffline
    5 ann refused PlayerOffline
    6 bob opened Bank
    7 cid refused PlayerBusy
    8 bob refused InterfaceOpen
    9 bob closed Bank
    10 cid asked for t1; dan hears cid ask for t1
    11 cid began t1 with dan free 28; dan began t1 with cid free 28
    12 ann refused PlayerBusy
    13 cid refused InTrade
    14 dan refused InterfaceOpen
    ");
}

#[test]
fn the_same_player_is_not_asked_again_at_once() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 / bob joins at 1 0 / cid joins at 0 1
         ann trades bob
         ann trades bob / ann trades cid
         bob declines
         ann trades bob
         ann trades cid
         ann cancels
         ann trades bob",
    );
    assert_snapshot!(said(&told), @r"
    1 ann joined; bob joined; cid joined
    2 ann asked for t1; bob hears ann ask for t1
    3 ann refused InTrade; ann refused InTrade
    4 ann lost t1 Declined; bob lost t1 Declined
    5 ann refused Cooldown
    6 ann asked for t2; cid hears ann ask for t2
    7 ann lost t2 Cancelled; cid lost t2 Cancelled
    8 ann asked for t3; bob hears ann ask for t3
    ");
}

#[test]
fn an_offer_is_of_what_lies_in_a_slot_and_may_be_given() {
    let mut stage = trading("with sword 1 hood 1 candle 9 unheard_of 1 logs_noted 5", "");
    let told = stage.play(
        "ann offers 1
         ann offers 3
         ann offers 7
         ann offers 28
         ann offers 0 of 2
         ann offers 10 of 2
         ann offers 4294967295 of 2
         ann offers 9 of 2
         ann offers 5 of 2
         ann makes 7 at 0
         ann makes 10 at 0
         ann makes 1 at 4
         ann offers 4
         ann keeps 0
         ann keeps 0
         ann offers 0
         bob offers 0
         cid joins at 0 1 / cid offers 0",
    );
    assert_snapshot!(said(&told), @r"
    4 ann refused Untradeable
    5 ann refused InvalidItem
    6 ann refused EmptySlot
    7 ann refused EmptySlot
    8 ann refused InvalidQuantity
    9 ann refused InvalidQuantity
    10 ann refused InvalidQuantity
    11 ann sees [0=candle 9 of 2] for [] free 28; bob sees [] for [0=candle 9 of 2] free 23
    12 ann sees [0=candle 5 of 2] for [] free 28; bob sees [] for [0=candle 5 of 2] free 23
    13 ann sees [0=candle 7 of 2] for [] free 28; bob sees [] for [0=candle 7 of 2] free 23
    14 ann refused InvalidQuantity
    15 ann refused EmptySlot
    16 ann sees [0=candle 7 of 2, 1=logs_noted 5 of 4] for [] free 28; bob sees [] for [0=candle 7 of 2, 1=logs_noted 5 of 4] free 23
    17 ann sees [1=logs_noted 5 of 4] for [] free 28; bob sees [] for [1=logs_noted 5 of 4] free 23
    18 ann refused EmptySlot
    19 ann sees [0=sword 1 of 0, 1=logs_noted 5 of 4] for [] free 28; bob sees [] for [0=sword 1 of 0, 1=logs_noted 5 of 4] free 23
    20 bob refused EmptySlot
    21 cid joined; cid refused NotInTrade
    ");
}

#[test]
fn the_same_slot_twice_is_one_offer_and_never_more_than_lies_there() {
    let mut stage = trading("with candle 6", "");
    stage.play(
        "ann offers 6 of 0 / ann offers 6 of 0 / ann offers 5 of 0
         ann makes 6 at 0",
    );
    stage.play(AGREE_ALL);
    let candles = ["ann", "bob"].map(|who| has(&stage, who, "candle"));
    assert_eq!(candles, [0, 6]);
}

#[test]
fn any_change_takes_both_agreements_back() {
    let mut stage = trading("with candle 6", "with logs 1");
    let told = stage.play(
        "ann offers 3 of 0
         bob accepts offer
         ann offers 2 of 0
         ann accepts offer
         bob offers 0
         ann accepts offer / bob accepts offer
         ann accepts confirm
         bob keeps 0
         bob accepts confirm
         ann accepts offer / bob accepts offer
         ann accepts confirm
         ann revokes
         bob accepts confirm
         ann accepts confirm",
    );
    assert_snapshot!(said(&told), @r"
    4 ann sees [0=candle 3 of 0] for [] free 27; bob sees [] for [0=candle 3 of 0] free 27
    5 ann sees [0=candle 3 of 0] for []! free 27; bob sees []! for [0=candle 3 of 0] free 27
    6 ann sees [0=candle 2 of 0] for [] free 27; bob sees [] for [0=candle 2 of 0] free 27
    7 ann sees [0=candle 2 of 0]! for [] free 27; bob sees [] for [0=candle 2 of 0]! free 27
    8 ann sees [0=candle 2 of 0] for [0=logs 1 of 0] free 27; bob sees [0=logs 1 of 0] for [0=candle 2 of 0] free 27
    9 ann sees [0=candle 2 of 0]! for [0=logs 1 of 0] free 27; bob sees [0=logs 1 of 0] for [0=candle 2 of 0]! free 27; ann confirms [0=candle 2 of 0] for [0=logs 1 of 0] worth 6 for 0; bob confirms [0=logs 1 of 0] for [0=candle 2 of 0] worth 0 for 6
    10 ann confirms [0=candle 2 of 0]! for [0=logs 1 of 0] worth 6 for 0; bob confirms [0=logs 1 of 0] for [0=candle 2 of 0]! worth 0 for 6
    11 ann sees [0=candle 2 of 0] for [] free 27; bob sees [] for [0=candle 2 of 0] free 27
    12 bob refused ScreenChanged
    13 ann sees [0=candle 2 of 0]! for [] free 27; bob sees [] for [0=candle 2 of 0]! free 27; ann confirms [0=candle 2 of 0] for [] worth 6 for 0; bob confirms [] for [0=candle 2 of 0] worth 0 for 6
    14 ann confirms [0=candle 2 of 0]! for [] worth 6 for 0; bob confirms [] for [0=candle 2 of 0]! worth 0 for 6
    15 ann confirms [0=candle 2 of 0] for [] worth 6 for 0; bob confirms [] for [0=candle 2 of 0] worth 0 for 6
    16 ann confirms [0=candle 2 of 0] for []! worth 6 for 0; bob confirms []! for [0=candle 2 of 0] worth 0 for 6
    17 ann 0=candle 4; bob 1=candle 2; ann got by t1; bob got by t1 candle 2
    ");
}

/// A change that comes in the very tick of the last agreement.
#[test]
fn nobody_gets_less_than_was_on_the_last_screen() {
    for last in [
        "ann accepts confirm / bob keeps 0 / bob accepts confirm",
        "bob keeps 0 / bob accepts confirm / ann accepts confirm",
        "ann accepts confirm / bob makes 1 at 0 / bob accepts confirm",
    ] {
        let mut stage = trading("with candle 6", "with arrow 4");
        stage.play("ann offers 0 / bob offers 0");
        stage.play("ann accepts offer / bob accepts offer");
        stage.play(last);
        assert_eq!(has(&stage, "ann", "candle"), 6, "{last}");
        assert_eq!(has(&stage, "bob", "arrow"), 4, "{last}");
    }
}

#[test]
fn a_double_click_agrees_to_one_screen_only() {
    let mut stage = trading("with candle 6", "");
    stage.play("ann offers 0 / bob accepts offer");
    let told = stage.play(
        "ann accepts offer / ann accepts offer / bob accepts offer
         bob accepts offer / bob accepts confirm / bob accepts confirm",
    );
    assert_snapshot!(said(&told), @r"
    5 ann confirms [0=candle 6 of 0] for [] worth 18 for 0; bob confirms [] for [0=candle 6 of 0] worth 0 for 18; ann refused ScreenChanged; bob refused ScreenChanged
    6 bob refused ScreenChanged; ann confirms [0=candle 6 of 0] for []! worth 18 for 0; bob confirms []! for [0=candle 6 of 0] worth 0 for 18; ann confirms [0=candle 6 of 0] for []! worth 18 for 0; bob confirms []! for [0=candle 6 of 0] worth 0 for 18
    ");
    assert_eq!(has(&stage, "ann", "candle"), 6);
}

#[test]
fn full_packs_can_swap() {
    let logs = "logs 1 ".repeat(27);
    let full = |last: &str| format!("with {logs}{last} 1");
    let mut stage = trading(&full("sword"), &full("shield"));
    stage.play("ann offers 27 / bob offers 27");
    stage.play(AGREE_ALL);
    assert_eq!(pack(&stage, "ann")[27], (27, "shield".to_owned(), 1));
    assert_eq!(pack(&stage, "bob")[27], (27, "sword".to_owned(), 1));
}

#[test]
fn what_does_not_fit_is_not_agreed_to() {
    let logs = "logs 1 ".repeat(28);
    let mut stage = trading("with sword 1 shield 1", &format!("with {logs}"));
    let told = stage.play(
        "ann offers 0 / bob offers 5
         ann accepts offer
         ann offers 1
         ann accepts offer
         bob offers 6
         ann accepts offer / bob accepts offer",
    );
    let refused: Vec<&str> = told.lines().filter(|l| l.contains("refused")).collect();
    assert_snapshot!(refused.join("\n"), @" 7 ann refused InventoryFull");
}

/// If only a part of a slot's stack goes, the slot is not free.
#[test]
fn a_stack_that_is_given_in_part_keeps_its_slot() {
    let logs = "logs 1 ".repeat(27);
    let mut stage = trading("with sword 1", &format!("with {logs}candle 9"));
    let told = stage.play(
        "ann offers 0 / bob offers 8 of 27
         ann accepts offer",
    );
    assert!(told.contains("ann refused InventoryFull"), "{told}");
}

#[test]
fn what_stacks_goes_to_its_like_up_to_the_end_of_a_stack() {
    let most = QUANTITY_MAX - 3;
    let mut stage = trading("with candle 4", &format!("with candle {most}"));
    let told = stage.play(
        "ann offers 4 of 0
         ann accepts offer
         ann offers 3 of 0",
    );
    assert!(told.contains("ann refused InventoryFull"), "{told}");
    stage.play(AGREE_ALL);
    let max = QUANTITY_MAX;
    assert_eq!(pack(&stage, "bob"), [(0, "candle".to_owned(), max)]);
    assert_eq!(has(&stage, "ann", "candle"), 1);
}

#[test]
fn notes_and_coins_change_hands_as_they_are() {
    let mut stage = trading("with logs_noted 5 coins 70", "with logs_noted 2");
    stage.play("ann offers 3 of 0 / ann offers 1 / bob offers 0");
    stage.play(AGREE_ALL);
    let noted = ["ann", "bob"].map(|who| has(&stage, who, "logs_noted"));
    let coins = ["ann", "bob"].map(|who| has(&stage, who, "coins"));
    assert_eq!((noted, coins), ([4, 3], [0, 70]));
}

#[test]
fn neither_pack_changes_while_a_trade_is_open() {
    let land = Land::default().station("bank", (2, 0));
    let mut stage = Stage::new(&land);
    stage.play(
        "ann joins at 0 0 pouch 9 with sword 1 cake 1 coins 5 / bob joins at 1 0
         ann drops 0
         bob trades ann
         ann agrees to trade",
    );
    let told = stage.play(
        "ann drops 1
         ann takes #1
         ann puts 1 into 2
         ann withdraws 5
         ann deposits all
         ann uses 1
         ann wears 1
         ann removes weapon
         ann opens bank at sta:field:bank
         ann closes bank
         ann banks all
         bob drops 0",
    );
    assert_eq!(told.matches("refused InterfaceOpen").count(), 12, "{told}");
    let told = stage.play("bob cancels\nann drops 1");
    assert!(!told.contains("refused"), "{told}");
}

#[test]
fn who_walks_off_ends_the_trade() {
    let mut stage = trading("with candle 6", "");
    stage.play("ann offers 0 / bob accepts offer");
    let told = stage.play(
        "bob walks to 2 0
         bob walks to 9 0
         ann accepts offer",
    );
    assert_snapshot!(said(&told), @r"
    5
    6 ann lost t1 TooFar; bob lost t1 TooFar
    7 ann refused NotInTrade
    ");
}

#[test]
fn who_leaves_ends_the_trade_and_keeps_everything() {
    for step in [
        "",
        "ann accepts offer / bob accepts offer",
        "ann accepts confirm",
    ] {
        let mut stage = trading("with candle 6", "with logs 1");
        stage.play("ann offers 0 / bob offers 0");
        if !step.is_empty() {
            stage.play("ann accepts offer / bob accepts offer");
            stage.play(step);
        }
        let told = stage.play("ann leaves\nbob accepts confirm");
        assert!(told.contains("bob lost t1 Disconnected"), "{told}");
        assert!(told.contains("bob refused NotInTrade"), "{told}");
        assert_eq!(has(&stage, "bob", "logs"), 1);
    }
}

#[test]
fn what_nobody_does_anything_about_ends() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 with candle 1 / bob joins at 1 0
         ann trades bob
         wait 49
         wait 1
         bob trades ann
         wait 40
         ann agrees to trade
         wait 400
         ann offers 0
         wait 499
         wait 1",
    );
    let told: Vec<&str> = told.lines().filter(|l| l.contains(" t")).collect();
    assert_snapshot!(told.join("\n"), @r"
     2 ann asked for t1; bob hears ann ask for t1
    52 ann lost t1 Timeout; bob lost t1 Timeout
    53 bob asked for t2; ann hears bob ask for t2
    94 bob began t2 with ann free 27; ann began t2 with bob free 28
    995 bob lost t2 Timeout; ann lost t2 Timeout
    ");
}

#[test]
fn while_exchanges_are_stopped_a_trade_only_ends() {
    let mut stage = trading("with candle 6", "");
    let told = stage.play(
        "ann offers 0
         ann may not trade / ann accepts offer
         ann may not trade / ann offers 2 of 0
         ann may not save / ann accepts offer
         ann may not save / ann keeps 0
         ann may not save / ann cancels
         ann may not trade / bob trades ann",
    );
    assert_snapshot!(said(&told), @r"
    4 ann sees [0=candle 6 of 0] for [] free 28; bob sees [] for [0=candle 6 of 0] free 27
    5 ann refused ExchangesFrozen
    6 ann refused ExchangesFrozen
    7 ann refused StorageUnavailable
    8 ann sees [] for [] free 28; bob sees [] for [] free 27
    9 ann lost t1 Cancelled; bob lost t1 Cancelled
    10 bob refused ExchangesFrozen
    ");
}

#[test]
fn whoever_begins_a_trade_is_in_no_other() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 / bob joins at 1 0 / cid joins at 0 1 / dan joins at 1 1
         ann trades bob
         cid trades bob
         bob trades dan
         dan trades ann
         bob agrees to trade in t1
         bob agrees to trade in t2",
    );
    assert_snapshot!(said(&told), @r"
    1 ann joined; bob joined; cid joined; dan joined
    2 ann asked for t1; bob hears ann ask for t1
    3 cid asked for t2; bob hears cid ask for t2
    4 bob asked for t3; dan hears bob ask for t3
    5 dan asked for t4; ann hears dan ask for t4
    6 dan lost t4 Cancelled; ann lost t4 Cancelled; cid lost t2 Cancelled; bob lost t2 Cancelled; bob lost t3 Cancelled; dan lost t3 Cancelled; ann began t1 with bob free 28; bob began t1 with ann free 28
    7 bob refused InvalidTrade
    ");
}

#[test]
fn one_who_is_handed_over_gives_nothing() {
    let mut stage = trading("with candle 6", "");
    stage.play("ann offers 0 / bob accepts offer");
    let told = stage.play("bob held / ann accepts offer");
    assert!(told.contains("ann refused PlayerBusy"), "{told}");
}

#[test]
fn who_trades_belongs_where_it_belonged() {
    let land = Land::default();
    let mut stage = Stage::new(&land);
    stage.play(
        "ann joins at 66 0 of 0 0 / bob joins at 67 0 of 0 0
         ann trades bob
         bob agrees to trade",
    );
    let told = stage.play(
        "ann walks to 68 0 / bob walks to 68 1
         ann walks to 69 0 / bob walks to 69 1
         wait 6",
    );
    assert!(!told.contains(" to "), "nobody crosses: {told}");
    let told = stage.play("bob cancels\nwait 4");
    assert!(
        told.contains("ann to 1,0") && told.contains("bob to 1,0"),
        "{told}"
    );
}

#[test]
fn a_trade_moves_along_with_its_region_and_ends_where_one_of_both_stays() {
    for (bobs, ends) in [("0 0", false), ("1 0", true)] {
        let mut stage = Stage::new(&Land::default());
        stage.play(&format!(
            "ann joins at 62 0 of 0 0 with candle 6 / bob joins at 63 0 of {bobs}
             ann trades bob
             bob agrees to trade
             ann offers 0"
        ));
        let region = world::Region { x: 0, z: 0 };
        let now = stage.world.now();
        let bytes = stage.world.region_out(region).unwrap();
        if !ends {
            stage.world.region_in(region, now, Some(&bytes)).unwrap();
            stage.play(AGREE_ALL);
            assert_eq!(has(&stage, "bob", "candle"), 6);
            continue;
        }
        let told = stage.play("bob accepts offer");
        assert!(told.contains("bob lost t1 Server"), "{told}");
        stage.world.region_in(region, now, Some(&bytes)).unwrap();
        let told = stage.play("ann accepts offer");
        assert!(told.contains("ann lost t1"), "{told}");
        assert_eq!(has(&stage, "ann", "candle"), 6);
    }
}
