//! A player who acts on a thing of another zone comes to that zone first.

#![allow(clippy::unwrap_used)]

use proto::rpc::zone::v1::Private;
use world::{CharacterId, Content, Region, Tile};

use crate::{
    border::{Scene, scene},
    stage::{self, store::key, until},
};

/// Puts a hatchet in the east, just over the border.
fn something_lies_in_the_east(scene: &Scene, at: Tile) {
    let thing = proto::rpc::persistence::v1::GroundItem {
        id: "item:9-1".to_owned(),
        region: Some(stage::store::rpc(scene.east)),
        x: at.x,
        z: at.z,
        item_id: "bronze_hatchet".to_owned(),
        quantity: 1,
        owner_id: String::new(),
        public_tick: 1,
        expires_tick: u64::MAX / 2,
        grave_id: String::new(),
    };
    scene.store.change(|state| {
        state.ground.insert(thing.id.clone(), thing);
        // It comes with the region.
        let epoch = &mut state.owners.get_mut(&scene.east).unwrap().1;
        *epoch += 1;
    });
}

async fn picks_up(scene: &Scene, number: u64, what: &str) {
    let data = format!(r#"{{"action":"pickup","target":"{what}"}}"#);
    scene
        .gateway
        .input(scene.run_a, "ann", number, "player:action", data)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_picks_up_something_over_the_border_is_brought_to_it_and_has_it() {
    let scene = scene(&["ann"], true).await;
    let edge = scene.east.bounds().min_x;
    let at = Tile {
        x: edge + 2,
        ..scene.from
    };
    something_lies_in_the_east(&scene, at);
    until("the east is played again", || {
        let dumped = scene.store.read(|state| state.owners[&scene.east].1);
        dumped == 2 && scene.gateway.read(|seen| seen.entered.contains("item:9-1"))
    })
    .await;
    picks_up(&scene, 1, "item:9-1").await;
    until("ann has it", || {
        let carries = |slot: &proto::rpc::persistence::v1::Slot| slot.item_id == "bronze_hatchet";
        let ann = scene.store.read(|state| state.characters["ann"].clone());
        ann.record.inventory.iter().any(carries)
    })
    .await;
    let ann = scene.store.read(|state| state.characters["ann"].clone());
    assert_eq!(key(ann.record.region), scene.east);
    assert!(scene.store.read(|state| state.ground.is_empty()));
    until("the input is answered", || {
        let messages = scene.gateway.messages("ann");
        messages.iter().any(|m| m.event == "ack")
    })
    .await;
    scene.all_is_well(&["ann"]);
    scene.a.stop().await;
    scene.b.stop().await;
}

/// Returns the answers to the requests of `ann` by their ids, in the order in which they came.
fn answers(scene: &Scene) -> Vec<String> {
    let messages = scene.gateway.messages("ann").into_iter();
    let answers = messages.filter(|message| !message.re.is_empty());
    let id = |message: Private| String::from_utf8_lossy(&message.re).into_owned();
    answers.map(id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_requests_of_a_tick_at_a_border_are_answered_once_in_order() {
    let scene = scene(&["ann"], true).await;
    let edge = scene.east.bounds().min_x;
    let at = Tile {
        x: edge + 2,
        ..scene.from
    };
    something_lies_in_the_east(&scene, at);
    until("the east is played again", || {
        let dumped = scene.store.read(|state| state.owners[&scene.east].1);
        dumped == 2 && scene.gateway.read(|seen| seen.entered.contains("item:9-1"))
    })
    .await;
    for number in 1..=5 {
        picks_up(&scene, number, "item:9-1").await;
    }
    until("all are answered", || answers(&scene).len() >= 5).await;
    // A later request gets a later answer.
    picks_up(&scene, 6, "item:9-9").await;
    until("so is the last", || answers(&scene).len() >= 6).await;
    assert_eq!(answers(&scene), ["1", "2", "3", "4", "5", "6"]);
    assert!(scene.gateway.read(|seen| seen.lost.is_empty()));
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_has_is_not_found() {
    let scene = scene(&["ann"], true).await;
    picks_up(&scene, 1, "item:9-9").await;
    until("the input is answered", || {
        let messages = scene.gateway.messages("ann");
        let not_found = |m: &Private| {
            m.event == "error" && String::from_utf8_lossy(&m.data).contains("not_found")
        };
        messages.iter().any(not_found)
    })
    .await;
    assert_eq!(scene.store.read(|state| state.transfers), 0);
    // The run plays the next inputs as ever.
    scene.gateway.walk(scene.run_a, "ann", 2, scene.to).await;
    scene.all_arrive(&["ann"]).await;
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_goes_home_to_a_region_of_another_zone_stands_there() {
    let scene = scene(&["ann"], true).await;
    let home = Content::embedded().home_of(&CharacterId::from("ann"));
    scene.store.assign(Region::from(home), scene.run_b);
    let data = r#"{"action":"home-teleport"}"#.to_owned();
    scene
        .gateway
        .input(scene.run_a, "ann", 1, "player:action", data)
        .await;
    until("ann belongs to the other zone", || {
        let ann = scene.store.read(|state| state.characters["ann"].clone());
        ann.record.ownership_sequence == 2
    })
    .await;
    let ann = scene.store.read(|state| state.characters["ann"].clone());
    assert_eq!(key(ann.record.region), Region::from(home));
    let near = |x: i32, z: i32| (x - home.x).abs() <= 2 && (z - home.z).abs() <= 2;
    assert!(near(ann.record.x, ann.record.z), "{:?}", ann.record);
    until("ann stands at home", || {
        scene
            .gateway
            .position("ann")
            .is_some_and(|p| near(p.x, p.z))
    })
    .await;
    scene.a.stop().await;
    scene.b.stop().await;
}
