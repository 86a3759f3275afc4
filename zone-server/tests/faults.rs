//! Faults that end a run or make it give its regions away, and the witnesses of a dead run.

#![allow(clippy::unwrap_used)]

use proto::rpc::persistence::v1::{Slot, ended_request::Reason};

use crate::{
    border::{Scene, scene_of},
    stage::{TICK_MS, Zone, border, gateway::Gateway, store::Store, until},
};

/// Gives ann something that she can drop.
fn logs(store: &Store) {
    store.change(|state| {
        let ann = state.characters.get_mut("ann").unwrap();
        ann.record.inventory = vec![Slot {
            slot: 0,
            item_id: "logs".to_owned(),
            quantity: 1,
        }];
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_batch_is_refused_ends_and_names_whom_it_is_about() {
    let scene = scene_of(&["ann", "bob"], false, logs).await;
    let (store, run, gateway) = (&scene.store, scene.run_a, &scene.gateway);
    store.change(|state| state.faults.refused = Some("ann".to_owned()));
    let drop = r#"{"slot":0}"#.to_owned();
    gateway.input(run, "ann", 1, "inventory:drop", drop).await;
    until("the run says how it ended", || {
        store.read(|state| !state.ended.is_empty())
    })
    .await;
    let ended = store.read(|state| state.ended.clone());
    assert_eq!(ended.len(), 1);
    assert_eq!((ended[0].run_id, ended[0].reason()), (run, Reason::Refused));
    assert_eq!(ended[0].character_ids, ["ann"]);
    let told = gateway.messages("ann");
    assert!(
        told.iter().all(|message| message.event != "ack"),
        "{told:?}"
    );
    assert!(store.read(|state| state.ground.is_empty()));
    until("the process lives on in a new run", || {
        store.run_at(&scene.a.address).is_some_and(|now| now > run)
    })
    .await;
    scene.a.stop().await;
    scene.b.stop().await;
}

/// Lets ann drop her logs, and waits until the store has that and she knows it.
async fn ann_drops_her_logs(scene: &Scene) {
    let drop = r#"{"slot":0}"#.to_owned();
    let gateway = &scene.gateway;
    gateway
        .input(scene.run_a, "ann", 1, "inventory:drop", drop)
        .await;
    until("she knows that her logs lie there", || {
        let told = gateway.messages("ann");
        told.iter().any(|message| message.event == "ack")
    })
    .await;
    scene.store.read(|state| {
        assert_eq!(state.ground.len(), 1);
        assert_eq!(state.problems, Vec::<String>::new());
    });
}

/// A store of a newer release knows states of runs and outcomes of commits that this one does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_a_newer_store_says_ends_no_run() {
    let scene = scene_of(&["ann"], false, logs).await;
    let (store, run) = (&scene.store, scene.run_a);
    let renewed = store.change(|state| {
        state.faults.newer_states = true;
        state.renewals
    });
    until("both runs renewed their leases twice", || {
        store.read(|state| state.renewals) >= renewed + 4
    })
    .await;
    store.change(|state| state.faults.newer_outcomes = 2);
    ann_drops_her_logs(&scene).await;
    store.read(|state| {
        assert_eq!(state.faults.newer_outcomes, 0);
        assert!(state.ended.is_empty(), "{:?}", state.ended);
        assert_eq!((&state.released, &state.fenced), (&vec![], &vec![]));
    });
    assert_eq!(store.run_at(&scene.a.address), Some(run));
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_a_newer_gateway_says_is_passed_over() {
    let scene = scene_of(&["ann"], false, logs).await;
    scene.gateway.say_what_is_newer(scene.run_a).await;
    ann_drops_her_logs(&scene).await;
    assert!(scene.gateway.read(|seen| seen.closed.is_empty()));
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_clock_is_off_gives_its_regions_away() {
    let scene = scene_of(&["ann"], true, |_| {}).await;
    let (store, run) = (&scene.store, scene.run_a);
    let west = border().0;
    store.change(|state| {
        let ahead = &mut state.faults.clock_ahead_ms;
        ahead.insert(run, 6 * TICK_MS);
    });
    until("the run has ended in order", || {
        store.read(|state| state.released.contains(&run))
    })
    .await;
    store.read(|state| {
        assert_eq!(state.draining, [run]);
        assert_eq!(state.gives, [(west, run, scene.run_b)]);
        assert!(state.ended.is_empty(), "{:?}", state.ended);
        assert!(state.characters["ann"].online);
        assert_eq!(state.problems, Vec::<String>::new());
    });
    until("ann is played on", || {
        scene.gateway.read(|seen| {
            let there = seen.standing.get(&scene.run_b);
            let last = there.and_then(|ticks| ticks.last_key_value());
            last.is_some_and(|(_, players)| players.contains("ann"))
        })
    })
    .await;
    scene.a.stop().await;
    scene.b.stop().await;
}

/// The store that answers now may lack committed changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_ends_when_another_incarnation_of_the_store_answers() {
    let scene = scene_of(&["ann"], false, |_| {}).await;
    let (store, run) = (&scene.store, scene.run_a);
    store.change(|state| state.promotions = 1);
    let next = || {
        let now = store.run_at(&scene.a.address);
        now.filter(|now| *now > run && store.read(|state| state.released.contains(&run)))
    };
    until("the run ends and another begins", || next().is_some()).await;
    let next = next().unwrap();
    assert!(store.read(|state| state.ended.is_empty()));
    // The next one knows the store as it is, and plays on what that has.
    let west = border().0;
    store.assign(west, next);
    let gateway = Gateway::new("another");
    gateway.link(next, &scene.a.address, 1, &[west]).await;
    gateway.enter(next, "ann").await;
    scene.a.stop().await;
    scene.b.stop().await;
}

/// The store was restored to a moment before her last login, which a gateway still has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_a_restored_store_does_not_know_plays_nobody() {
    let scene = scene_of(&["ann"], false, |_| {}).await;
    let (store, run) = (&scene.store, scene.run_a);
    store.change(|state| state.promotions = 8);
    let next = || store.run_at(&scene.a.address).filter(|now| *now > run);
    until("another run begins", || next().is_some()).await;
    let next = next().unwrap();
    let west = border().0;
    store.assign(west, next);
    let gateway = Gateway::new("another");
    gateway.link(next, &scene.a.address, 1, &[west]).await;
    gateway.enter(next, "ann").await;
    let code = |code: &str| {
        gateway.read(|seen| seen.refused.iter().any(|(_, refused)| refused.code == code))
    };
    assert!(!code("not_in_world"));
    gateway.attach(next, "ann", 5, 1).await;
    until("she is sent out", || code("not_in_world")).await;
    // A login since then plays her.
    gateway.attach(next, "ann", 9, 7).await;
    until("she is played again", || {
        gateway.read(|seen| {
            seen.attached
                .get("ann")
                .is_some_and(|(_, said)| said.attach == 7)
        })
    })
    .await;
    scene.a.stop().await;
    scene.b.stop().await;
}

/// A process whose runtime is gone has lost its sockets and its port, as one that was killed.
#[test]
fn a_run_whose_process_is_gone_is_said_to_the_store_and_one_that_ended_is_not() {
    let here = tokio::runtime::Runtime::new().unwrap();
    let store = here.block_on(Store::start());
    let registered = |address: &str| {
        let known = || store.run_at(address).is_some();
        here.block_on(until("the zone registers", known));
        store.run_at(address).unwrap()
    };
    let stays = here.block_on(Zone::start(&store.address, |_| {}));
    let witness = format!("run:{}", registered(&stays.address));
    let ends = here.block_on(Zone::start(&store.address, |_| {}));
    let ended = registered(&ends.address);
    here.block_on(ends.stop());
    // A zone that has not met the run yet misses nobody; meeting it takes as long as it takes.
    let told = (0..6).any(|attempt| {
        let time_limit = TICK * 2_u32.pow(attempt);
        let there = tokio::runtime::Runtime::new().unwrap();
        let dies = there.block_on(Zone::start(&store.address, |_| {}));
        let run = registered(&dies.address);
        here.block_on(async { tokio::time::sleep(time_limit).await });
        there.shutdown_background();
        let said = || store.read(|state| state.suspects.contains(&(run, witness.clone())));
        let begun = std::time::Instant::now();
        while !said() && begun.elapsed() < TICK * 10 + time_limit {
            here.block_on(async { tokio::time::sleep(TICK / 10).await });
        }
        said()
    });
    assert!(told, "{:?}", store.read(|state| state.suspects.clone()));
    let suspects = store.read(|state| state.suspects.clone());
    assert!(
        suspects.iter().all(|(run, _)| *run != ended),
        "{suspects:?}"
    );
    here.block_on(stays.stop());
}

const TICK: std::time::Duration = std::time::Duration::from_millis(TICK_MS);
