//! `player:action` by its words: things that players use, bury and open.

#![allow(clippy::unwrap_used)]

use proto::rpc::persistence::v1::Slot;

use crate::{
    border::scene_of,
    stage::{Zone, gateway::Gateway, npc, store::Store, until},
};

fn action(more: &str) -> String {
    format!(r#"{{"action":{more}}}"#)
}

/// Returns the answer to the input of that number: `ack`, or the code of the error.
async fn answer(gateway: &Gateway, who: &str, number: u64) -> String {
    let re = number.to_string();
    let answered = || {
        let mut told = gateway.messages(who).into_iter();
        told.find(|message| *message.re == *re.as_bytes())
    };
    until("the input is answered", || answered().is_some()).await;
    let data = answered().unwrap().data;
    let data: serde_json::Value = serde_json::from_slice(&data).unwrap();
    data["code"].as_str().unwrap_or("ack").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_used_or_buried_is_named_by_its_slot_or_as_an_item() {
    let scene = scene_of(&["ann", "bob"], false, |store| {
        store.change(|state| {
            for held in state.characters.values_mut() {
                held.record.health = 5;
                let slots = [(2, "bones"), (4, "bread")];
                let slots = slots.map(|(slot, item)| Slot {
                    slot,
                    item_id: item.to_owned(),
                    quantity: 1,
                });
                held.record.inventory = slots.into();
            }
        });
    })
    .await;
    let (run, gateway) = (scene.run_a, &scene.gateway);
    let table = [
        ("ann", 1, r#""bury","option":"bread""#, "unsupported"),
        ("ann", 2, r#""bury","option":"4""#, "unsupported"),
        ("ann", 3, r#""bury","option":"logs""#, "not_enough"),
        ("ann", 4, r#""use","option":"3""#, "empty_slot"),
        ("ann", 5, r#""use""#, "invalid_data"),
        ("ann", 6, r#""use","option":"bread""#, "ack"),
        ("bob", 1, r#""bury","option":"2""#, "ack"),
    ];
    for (who, number, asked, told) in table {
        let asked = action(asked);
        gateway
            .input(run, who, number, "player:action", asked)
            .await;
        assert_eq!(answer(gateway, who, number).await, told, "{who} {number}");
    }
    let left = |who: &str| {
        let held = scene.store.read(|state| state.characters[who].clone());
        let pack = held.record.inventory.into_iter();
        pack.map(|slot| slot.item_id).collect::<Vec<_>>()
    };
    assert_eq!(left("ann"), ["bones"]);
    assert_eq!(left("bob"), ["bread"]);
    scene.a.stop().await;
    scene.b.stop().await;
}

/// All three could be talked with, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_opens_is_what_the_target_offers() {
    let (banker, tile, region) = npc("sump_edda");
    let store = Store::start().await;
    store.log_in("ann", tile);
    let zone = Zone::start(&store.address, |config| config.tick_ms = 150).await;
    until("the zone registers", || {
        store.run_at(&zone.address).is_some()
    })
    .await;
    let run = store.run_at(&zone.address).unwrap();
    store.assign(region, run);
    let gateway = Gateway::new("g");
    gateway.link(run, &zone.address, 1, &[region]).await;
    gateway.enter(run, "ann").await;
    let opens = [
        (banker, "bank:state"),
        (npc("granny_sump").0, "shop:state"),
        (npc("gribble_bones").0, "dialogue:node"),
    ];
    for (number, (target, event)) in (1..).zip(opens) {
        let asked = action(&format!(r#""open","target":"{target}""#));
        let input = gateway.input(run, "ann", number, "player:action", asked);
        input.await;
        assert_eq!(answer(&gateway, "ann", number).await, "ack", "{event}");
        until(event, || {
            let told = gateway.messages("ann");
            told.iter().any(|message| message.event == event)
        })
        .await;
    }
    let told = gateway.messages("ann").into_iter();
    let talks = told.filter(|message| message.event == "dialogue:node");
    assert_eq!(talks.count(), 1);
    let nobody = action(r#""open","target":"nobody""#);
    gateway.input(run, "ann", 9, "player:action", nobody).await;
    assert_eq!(answer(&gateway, "ann", 9).await, "not_found");
    zone.stop().await;
}
