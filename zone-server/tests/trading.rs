//! Trades of players whom two zones play.

#![allow(clippy::unwrap_used)]

use proto::rpc::{persistence::v1::Slot, zone::v1::Private};
use world::Tile;

use crate::{
    border::{Scene, scene_of},
    stage::{store::key, until},
};

/// What the first message of that name says, once somebody has heard it.
async fn hears(scene: &Scene, who: &str, event: &str) -> serde_json::Value {
    let heard = || -> Option<Private> {
        let mut messages = scene.gateway.messages(who).into_iter();
        messages.find(|message| message.event == event)
    };
    until(&format!("{who} hears {event}"), || heard().is_some()).await;
    serde_json::from_slice(&heard().unwrap().data).unwrap()
}

fn has(scene: &Scene, who: &str) -> Vec<(String, u32)> {
    let held = scene.store.read(|state| state.characters[who].clone());
    let pack = held.record.inventory.into_iter();
    pack.map(|slot| (slot.item_id, slot.quantity)).collect()
}

/// Ann in the west and bob in the east, one step apart, with what ann has to give.
async fn beside_the_border() -> Scene {
    let scene = scene_of(&["ann", "bob"], true, |store| {
        store.change(|state| {
            let ann = state.characters.get_mut("ann").unwrap();
            ann.record.inventory = vec![Slot {
                slot: 0,
                item_id: "bronze_hatchet".to_owned(),
                quantity: 1,
            }];
        });
    })
    .await;
    let edge = scene.east.bounds().min_x;
    let stands = |who: &'static str, x: i32| {
        let scene = &scene;
        async move {
            let there = || scene.gateway.position(who).is_some_and(|p| p.x == x);
            until(&format!("{who} stands at {x}"), there).await;
        }
    };
    scene.gateway.walk(scene.run_a, "bob", 1, scene.to).await;
    stands("bob", scene.to.x).await;
    let at = |x| Tile { x, ..scene.to };
    scene.gateway.walk(scene.run_b, "bob", 2, at(edge)).await;
    scene
        .gateway
        .walk(scene.run_a, "ann", 1, at(edge - 1))
        .await;
    stands("bob", edge).await;
    stands("ann", edge - 1).await;
    scene
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_of_different_zones_trade_in_one_and_both_packs_are_saved_at_once() {
    let scene = beside_the_border().await;
    let (a, b, gateway) = (scene.run_a, scene.run_b, &scene.gateway);
    let ask = r#"{"targetPlayerId":"bob"}"#.to_owned();
    gateway.input(a, "ann", 2, "tradeRequest", ask).await;
    let incoming = hears(&scene, "bob", "tradeIncoming").await;
    assert_eq!(incoming["fromPlayerId"], "ann");
    let of = |more: &str| format!(r#"{{"tradeId":{}{more}}}"#, incoming["tradeId"]);
    let yes = of(r#","accept":true"#);
    gateway.input(b, "bob", 3, "tradeRequestRespond", yes).await;
    hears(&scene, "ann", "tradeStarted").await;
    let ann = scene.store.read(|state| state.characters["ann"].clone());
    assert_eq!(key(ann.record.region), scene.east, "ann was brought to bob");
    let offer = of(r#","inventorySlot":0"#);
    gateway.input(b, "ann", 3, "tradeAddItem", offer).await;
    hears(&scene, "bob", "tradeUpdated").await;
    gateway.input(b, "ann", 4, "tradeAccept", of("")).await;
    gateway.input(b, "bob", 4, "tradeAccept", of("")).await;
    hears(&scene, "ann", "tradeConfirmScreen").await;
    hears(&scene, "bob", "tradeConfirmScreen").await;
    let late = of(r#","screen":"offer""#);
    gateway.input(b, "bob", 5, "tradeAccept", late).await;
    let refused = hears(&scene, "bob", "tradeError").await;
    assert_eq!(refused["code"], "SCREEN_CHANGED");
    assert_eq!(has(&scene, "bob"), []);
    gateway.input(b, "ann", 5, "tradeAccept", of("")).await;
    gateway.input(b, "bob", 6, "tradeAccept", of("")).await;
    let got = hears(&scene, "bob", "tradeCompleted").await;
    assert_eq!(got["receivedItems"][0]["itemId"], "bronze_hatchet");
    hears(&scene, "ann", "tradeCompleted").await;
    // Whoever was told has it by the store's word.
    assert_eq!(has(&scene, "bob"), [("bronze_hatchet".to_owned(), 1)]);
    assert_eq!(has(&scene, "ann"), []);
    let problems = scene.store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whom_nobody_plays_is_asked_for_nothing() {
    let scene = beside_the_border().await;
    let ask = r#"{"targetPlayerId":"cid"}"#.to_owned();
    let gateway = &scene.gateway;
    gateway
        .input(scene.run_a, "ann", 2, "tradeRequest", ask)
        .await;
    let refused = hears(&scene, "ann", "tradeError").await;
    assert_eq!(refused["code"], "PLAYER_OFFLINE");
    scene.a.stop().await;
    scene.b.stop().await;
}
