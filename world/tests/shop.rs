//! Stories about shops.

use crate::stage;

use insta::assert_snapshot;
use serde_json::json;
use stage::{Land, Stage};
use world::Region;
use world::item::QUANTITY_MAX;

const KEEPER: &str = "npc:field:stall_keeper";

fn land() -> Land {
    let goods = [("logs", 4, 3), ("candle", 3, -1), ("sword", 60, 2)];
    Land::default().shop("stall", (4, 0), &goods)
}

/// Plays a story of ann, who opens the shop in its first tick; leaves that tick out.
fn at_the_shop(has: &str, script: &str) -> String {
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 3 0 {has} / ann opens shop at {KEEPER}"
    ));
    stage.play(script)
}

#[test]
fn a_shop_is_walked_to_and_closes_behind_one() {
    let mut stage = Stage::new(&land());
    let told = stage.play(&format!(
        "ann joins at 20 0 pouch 100
         ann opens shop at {KEEPER}
         wait 8
         ann buys 1 candle
         ann walks to 20 0
         wait 2
         ann buys 1 candle
         ann opens shop at npc:field:nobody
         ann opens bank at {KEEPER}"
    ));
    let told: Vec<&str> = told
        .lines()
        .filter(|l| {
            ["sees", "closed", "refused"]
                .iter()
                .any(|word| l.contains(word))
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r"
     8 ann sees stall: 3 logs at 4 any candle at 3 2 sword at 60; ann 6,0
    12 ann closed Shop; ann 8,0
    15 ann refused NotOpen; ann 14,0
    16 ann refused NotFound; ann 16,0
    17 ann refused Unsupported; ann 18,0
    ");
}

#[test]
fn what_is_bought_is_paid_from_the_pouch() {
    let told = at_the_shop(
        "pouch 100",
        "ann buys 2 candle
         ann buys 2 logs
         ann buys 2 logs
         ann buys 1 sword
         ann buys 1 sword
         ann buys 1 arrow
         ann buys 0 candle
         ann buys 2147483647 candle
         ann buys 4294967295 candle",
    );
    assert_snapshot!(told, @r"
     2 ann 0=candle 2; ann coins 94
     3 ann 1=logs 1 2=logs 1; ann coins 85; ann sees stall: 1 logs at 5 any candle at 3 2 sword at 60
     4 ann refused OutOfStock
     5 ann 3=sword 1; ann coins 25; ann sees stall: 1 logs at 5 any candle at 3 1 sword at 62
     6 ann refused NoCoins
     7 ann refused NotFound
     8 ann refused InvalidQuantity
     9 ann refused NoCoins
    10 ann refused InvalidQuantity
    ");
}

#[test]
fn nobody_buys_what_does_not_fit() {
    let full = format!("pouch 9999 with {}candle 1", "logs 1 ".repeat(27));
    let told = at_the_shop(
        &full,
        "ann buys 1 logs
         ann buys 5 candle",
    );
    assert_snapshot!(told, @r"
    2 ann refused InventoryFull
    3 ann 27=candle 6; ann coins 9984
    ");
}

#[test]
fn a_shop_buys_what_is_worth_something_and_may_be_given() {
    let told = at_the_shop(
        "with sword 1 candle 9 hood 1 logs 1 coins 5 unheard_of 1 sword_noted 2",
        "ann sells 9 of 0
         ann sells 4 of 1
         ann sells 1 of 2
         ann sells 1 of 3
         ann sells 1 of 4
         ann sells 1 of 5
         ann sells 9 of 6
         ann sells 1 of 9",
    );
    assert_snapshot!(told, @r"
    2 ann 0=nothing; ann coins 13; ann sees stall: 3 logs at 4 any candle at 3 3 sword at 59
    3 ann 1=candle 5; ann coins 19
    4 ann refused NotBought
    5 ann refused NotBought
    6 ann refused NotBought
    7 ann refused NotBought
    8 ann 6=nothing; ann coins 42; ann sees stall: 3 logs at 4 any candle at 3 5 sword at 55
    9 ann refused EmptySlot
    ");
}

#[test]
fn what_others_sold_is_for_sale_until_it_fades() {
    let land = Land::default().shop("stall", (4, 0), &[("logs", 4, 3)]);
    let mut stage = Stage::new(&land);
    stage.play(&format!(
        "ann joins at 3 0 pouch 100 with sword 1 sword 1 / ann opens shop at {KEEPER}
         bob joins at 3 1 pouch 100 / bob opens shop at {KEEPER}"
    ));
    let told = stage.play(
        "ann sells 2 of 0
         bob buys 1 sword
         wait 99
         wait 2",
    );
    let told: Vec<&str> = told.lines().filter(|l| l.contains("sees")).collect();
    assert_snapshot!(told.join("\n"), @r"
     3 ann 0=nothing 1=nothing; ann coins 125; ann sees stall: 3 logs at 4 2 sword at 25; bob sees stall: 3 logs at 4 2 sword at 25
     4 bob 0=sword 1; bob coins 75; ann sees stall: 3 logs at 4 1 sword at 26; bob sees stall: 3 logs at 4 1 sword at 26
    103 ann sees stall: 3 logs at 4; bob sees stall: 3 logs at 4
    ");
}

#[test]
fn what_is_sold_out_comes_back_one_by_one() {
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 3 0 pouch 100 / ann opens shop at {KEEPER}
         ann buys 3 logs"
    ));
    let told = stage.play("wait 35");
    let told: Vec<&str> = told.lines().filter(|l| l.contains("sees")).collect();
    assert_snapshot!(told.join("\n"), @r"
    12 ann sees stall: 1 logs at 5 any candle at 3 2 sword at 60
    22 ann sees stall: 2 logs at 5 any candle at 3 2 sword at 60
    32 ann sees stall: 3 logs at 4 any candle at 3 2 sword at 60
    ");
}

#[test]
fn a_full_pouch_takes_no_more() {
    let told = at_the_shop(
        &format!("pouch {QUANTITY_MAX} with sword 1"),
        "ann sells 1 of 0",
    );
    assert!(told.contains("refused InventoryFull"), "{told}");
}

#[test]
fn nothing_is_sold_while_exchanges_are_stopped() {
    let told = at_the_shop(
        "pouch 100 with sword 1",
        "ann may not trade / ann buys 1 candle
         ann may not save / ann sells 1 of 0",
    );
    assert_snapshot!(told, @r"
    2 ann refused ExchangesFrozen
    3 ann refused StorageUnavailable
    ");
}

#[test]
fn the_stock_moves_along_with_the_region() {
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 3 0 pouch 100 / ann opens shop at {KEEPER}
         ann buys 3 logs"
    ));
    let (region, now) = (Region { x: 0, z: 0 }, stage.world.now());
    let bytes = stage.world.region_out(region).unwrap();
    stage.world.region_in(region, now, Some(&bytes)).unwrap();
    let told = stage.play("ann buys 1 logs\nwait 9");
    assert_snapshot!(told, @r"
     3 ann refused OutOfStock; ann 3,0; npc:field:stall_keeper 4,0
     4
     5
     6
     7
     8
     9
    10
    11
    12 ann sees stall: 1 logs at 5 any candle at 3 2 sword at 60
    ");
}

/// Manifests say it in milliseconds, ticks are 600 of them.
#[test]
fn goods_come_back_in_the_time_that_the_manifest_says() {
    let goods = [30_000, 900, 1, 0].map(|ms| {
        json!({"id": format!("of {ms}"), "itemId": "logs", "price": 1, "stockQuantity": 1,
            "restockTime": ms})
    });
    let unsaid = json!({"id": "unsaid", "itemId": "logs", "price": 1, "stockQuantity": 1});
    let goods: Vec<_> = goods.into_iter().chain([unsaid]).collect();
    let mut files = land().files();
    let stores = json!([{"id": "stall", "name": "Stall", "items": goods}]);
    files.insert("stores.json".to_owned(), stores.to_string());
    let content = world::Content::load(&files).unwrap().content;
    let goods = &content.stores().get("stall").unwrap().goods;
    let ticks: Vec<u32> = goods.iter().map(|good| good.restock_ticks).collect();
    assert_eq!(ticks, [50, 2, 1, 100, 100]);
}
