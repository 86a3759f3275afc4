//! The known ways to make two things of one, or none: two acts in one tick, and stacks of the
//! greatest size.

use crate::stage;

use serde_json::{Value, json};
use stage::{Land, Stage};
use world::item::QUANTITY_MAX;
use world::{CharacterId, Event, Inbox, TradeEnd, trade};

/// Returns the quantity of `item` in packs, worn, in banks and on the ground; of coins also in
/// pouches.
fn everywhere(stage: &Stage, item: &str) -> u64 {
    let world = &stage.world;
    let mut sum = 0;
    for player in world.players() {
        let record = player.record();
        let held = record.inventory.values().chain(record.equipment.values());
        let held = held.filter(|stack| &*stack.item == item);
        sum += held.map(|stack| u64::from(stack.quantity)).sum::<u64>();
        let banked = record.bank.items.get(item);
        sum += banked.map_or(0, |there| u64::from(there.quantity));
        if item == "coins" {
            sum += record.coins;
        }
    }
    let ground = world.regions().flat_map(|region| world.ground(region));
    let ground = ground.filter(|lying| &*lying.item == item);
    sum + ground.map(|lying| u64::from(lying.quantity)).sum::<u64>()
}

fn has(stage: &Stage, who: &str, item: &str) -> u64 {
    let player = stage.world.player(&CharacterId::from(who)).unwrap();
    let pack = player.record().inventory.values();
    let same = pack.filter(|stack| &*stack.item == item);
    same.map(|stack| u64::from(stack.quantity)).sum()
}

fn lives(stage: &Stage, who: &str) -> bool {
    let player = stage.world.player(&CharacterId::from(who));
    player.is_some_and(world::Player::lives)
}

/// Returns a beast that kills at a blow or two.
fn ogre() -> Value {
    json!({"id": "ogre", "name": "Ogre",
        "stats": {"level": 90, "health": 9_000, "attack": 900, "strength": 900},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 5, "leashRange": 12}})
}

/// Returns a stage on which ann, with candles, and bob, with logs, trade out of sight of an ogre.
/// They do what `agree` says, and come nearer.
fn lured(agree: &[&str]) -> Stage {
    let mut stage = Stage::new(&Land::default().beast(ogre(), (20, 20)));
    stage.play(
        "ann joins at 27 20 health 3 with candle 6 / bob joins at 28 20 with logs 1
         ann suffers / bob suffers
         ann trades bob
         bob agrees to trade
         ann offers 0 / bob offers 0",
    );
    for step in 0..3 {
        // As many ticks, however far they agree: the dice fall alike.
        stage.play(agree.get(step).copied().unwrap_or("wait 1"));
    }
    stage.play("ann walks to 25 20 / bob walks to 27 20");
    stage
}

const BOTH: &str = "ann accepts offer / bob accepts offer";

/// Returns the ticks until ann dies, and whether both then heard that her death ended the trade.
fn until_death(stage: &mut Stage) -> (u32, bool) {
    for tick in 0..60 {
        let outcome = stage.step(Inbox::default());
        if !lives(stage, "ann") {
            let ended = outcome.events.iter().filter(|event| {
                let Event::Trade(trade::Event::Cancelled(_, told)) = event else {
                    return false;
                };
                told.reason == TradeEnd::PlayerDied
            });
            return (tick, ended.count() == 2);
        }
    }
    panic!("nobody died");
}

#[test]
fn who_dies_in_a_trade_gives_nothing_on_whichever_screen() {
    for agree in [
        &[][..],
        &["ann accepts offer"],
        &[BOTH],
        &[BOTH, "ann accepts confirm"],
    ] {
        let mut stage = lured(agree);
        let (_, ended) = until_death(&mut stage);
        assert!(ended, "both are told: {agree:?}");
        let told = stage.play("bob accepts confirm");
        assert!(told.contains("bob refused NotInTrade"), "{told}");
        stage.play("wait 20");
        assert_eq!(
            (has(&stage, "bob", "logs"), has(&stage, "bob", "candle")),
            (1, 0)
        );
        assert_eq!(everywhere(&stage, "logs"), 1);
        assert_eq!(
            everywhere(&stage, "candle"),
            6,
            "they lie where she fell, or she has them"
        );
    }
}

#[test]
fn who_dies_in_the_tick_of_the_last_agreement_has_given_and_loses_what_it_got() {
    let (dies, _) = until_death(&mut lured(&[BOTH, "ann accepts confirm"]));
    for (when, swapped) in [(dies, true), (dies + 1, false)] {
        let mut stage = lured(&[BOTH, "ann accepts confirm"]);
        for _ in 0..when {
            stage.step(Inbox::default());
        }
        assert_eq!(lives(&stage, "ann"), swapped);
        let told = stage.play("bob accepts confirm");
        assert!(!lives(&stage, "ann"), "{told}");
        assert_eq!(told.contains("ann got by t1 logs 1"), swapped, "{told}");
        assert_eq!(told.contains("bob refused NotInTrade"), !swapped, "{told}");
        assert_eq!(has(&stage, "bob", "candle"), if swapped { 6 } else { 0 });
        stage.play("wait 20");
        assert_eq!(
            (everywhere(&stage, "logs"), everywhere(&stage, "candle")),
            (1, 6)
        );
    }
}

#[test]
fn what_is_bought_and_dropped_in_one_tick_is_there_once() {
    let goods = [("candle", 3, 5), ("sword", 60, 1)];
    let land = Land::default().shop("stall", (4, 0), &goods);
    let mut stage = Stage::new(&land);
    let told = stage.play(
        "ann joins at 3 0 pouch 100
         ann opens shop at npc:field:stall_keeper
         ann buys 2 candle / ann drops 0 / ann drops 0 / ann buys 1 sword",
    );
    assert_eq!(
        (everywhere(&stage, "candle"), has(&stage, "ann", "candle")),
        (2, 0)
    );
    assert_eq!(everywhere(&stage, "sword"), 1, "there is one: {told}");
    let coins = everywhere(&stage, "coins");
    let told = stage.play("ann sells 1 of 0 / ann drops 0 / ann sells 1 of 0");
    assert!(told.contains("refused EmptySlot"), "{told}");
    assert_eq!(everywhere(&stage, "sword"), 0, "the shop has it");
    assert!(everywhere(&stage, "coins") > coins, "{told}");
}

#[test]
fn what_lies_there_is_taken_once_by_whoever_asks_in_the_same_tick() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 0 0 with candle 6 / bob joins at 0 0
         ann drops 0
         wait 200",
    );
    let told = stage.play("ann takes #1 / bob takes #1 / ann takes #1\nwait 3");
    assert_eq!(told.matches("=candle 6").count(), 1, "{told}");
    assert_eq!(everywhere(&stage, "candle"), 6);
}

#[test]
fn nobody_makes_or_gathers_more_than_a_stack_can_hold() {
    let mut files = Land::default()
        .station("anvil", (1, 0))
        .resource("ore", "monolith", (-1, 0))
        .files();
    let rocks = files.get_mut("gathering/mining.json").unwrap();
    *rocks = rocks.replace("\"coal\"", "\"feather\"");
    let mut stage = Stage::of(&files);
    let told = stage.play(&format!(
        "ann joins at 0 0 trained smithing=500000 with tip {} bronze_bar 1 hammer 1 feather {QUANTITY_MAX} bronze_pickaxe 1
         ann smith tip at sta:field:anvil
         wait 8
         ann gathers res:monolith:-1,0
         wait 20",
        QUANTITY_MAX - 3
    ));
    assert_eq!(told.matches("InventoryFull").count(), 2, "{told}");
    assert_eq!(
        has(&stage, "ann", "tip"),
        u64::from(QUANTITY_MAX) - 3,
        "{told}"
    );
    assert_eq!(has(&stage, "ann", "bronze_bar"), 1, "it is kept");
    assert_eq!(everywhere(&stage, "feather"), u64::from(QUANTITY_MAX));
}

#[test]
fn coins_come_out_of_no_full_stack() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(&format!(
        "ann joins at 3 4 pouch 500 with coins {}
         ann withdraws 3
         ann withdraws 2
         ann withdraws 1",
        QUANTITY_MAX - 2
    ));
    assert_eq!(told.matches("refused InventoryFull").count(), 2, "{told}");
    assert_eq!(has(&stage, "ann", "coins"), u64::from(QUANTITY_MAX));
    assert_eq!(everywhere(&stage, "coins"), u64::from(QUANTITY_MAX) + 498);
}
