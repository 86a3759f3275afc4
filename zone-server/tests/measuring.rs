//! What a zone server counts of the economy, and of those who come and go.

#![allow(clippy::unwrap_used)]

use proto::rpc::persistence::v1::Slot;

use crate::{
    border::{Scene, scene_of},
    stage::{Zone, store::Store, until},
};

/// Returns a scene in which each character has bones.
async fn with_bones(names: &[&str]) -> Scene {
    let bones = || Slot {
        slot: 0,
        item_id: "bones".to_owned(),
        quantity: 1,
    };
    let prepare = |store: &Store| {
        store.change(|state| {
            for held in state.characters.values_mut() {
                held.record.inventory = vec![bones()];
            }
        });
    };
    scene_of(names, false, prepare).await
}

/// Lets a character bury its bones, as its first input.
async fn bury(scene: &Scene, who: &str) {
    let asked = r#"{"action":"bury","option":"bones"}"#.to_owned();
    let (gateway, run) = (&scene.gateway, scene.run_a);
    gateway.input(run, who, 1, "player:action", asked).await;
}

async fn answered(scene: &Scene, who: &str) {
    until("the burial is answered", || {
        let messages = scene.gateway.messages(who).into_iter();
        messages.filter(|m| *m.re == *b"1").count() == 1
    })
    .await;
}

fn buried(zone: &Zone) -> f64 {
    zone.measured("zone_items_destroyed_total", "cause=\"bury\"")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_counts_once_and_not_before_the_store_has_it() {
    let scene = with_bones(&["ann", "bob"]).await;
    let (zone, store) = (&scene.a, &scene.store);

    // The store applies the batch, and its answers get lost: the zone sends it three times.
    store.change(|state| state.faults.replies_lost = 2);
    let before = store.read(|state| state.commits_come);
    bury(&scene, "ann").await;
    answered(&scene, "ann").await;
    let sent = store.read(|state| state.commits_come) - before;
    assert!(sent >= 3, "sent {sent} times only");
    assert_eq!(buried(zone), 1.0);
    let made = zone.measured("zone_items_made_total", "cause=\"bury\"");
    assert_eq!(made, 0.0);

    // While the store looks at nothing, the burial and its messages wait.
    let age = || zone.measured("zone_held_age_seconds", "");
    store.change(|state| state.faults.commits_held = true);
    bury(&scene, "bob").await;
    until("a message waits for the store", || age() > 0.0).await;
    assert_eq!(buried(zone), 1.0, "it is not durable");
    store.change(|state| state.faults.commits_held = false);
    answered(&scene, "bob").await;
    assert_eq!(buried(zone), 2.0);
    until("nothing waits", || age() == 0.0).await;
    let problems = store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_the_store_refuses_counts_nothing_and_ends_a_run_with_its_characters() {
    let scene = with_bones(&["ann"]).await;
    let zone = &scene.a;
    assert_eq!(zone.measured("zone_entries_total", "from=\"store\""), 1.0);
    assert_eq!(zone.measured("zone_departures_total", ""), 0.0);
    let refuse = Some("ann".to_owned());
    scene.store.change(|state| state.faults.refused = refuse);
    bury(&scene, "ann").await;
    until("the run has ended", || {
        zone.measured("zone_runs_total", "end=\"refused\"") == 1.0
    })
    .await;
    assert_eq!(buried(zone), 0.0);
    let gone = zone.measured("zone_departures_total", "reason=\"run_ended\"");
    assert_eq!(gone, 1.0);
    scene.a.stop().await;
    scene.b.stop().await;
}
