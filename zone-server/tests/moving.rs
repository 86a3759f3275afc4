//! Two zones, one gateway: whole regions go from one to the other, with everybody in them.

#![allow(clippy::unwrap_used)]

use crate::stage;

use std::collections::{BTreeMap, BTreeSet};

use proto::rpc::zone::v1::{ForwardRequest, HandoverId, handover_client::HandoverClient};
use stage::{
    Zone, border,
    gateway::{Gateway, Seen},
    store::Store,
    until,
};
use world::{Region, Tile};

struct Scene {
    store: Store,
    a: Zone,
    b: Zone,
    run_a: u64,
    run_b: u64,
    gateway: Gateway,
    west: Region,
    east: Region,
    from: Tile,
}

/// Starts two zones. The first owns two regions, and `names` are attached in the western one.
async fn scene(names: &[&str]) -> Scene {
    let (west, east, from, _) = border();
    let store = Store::start().await;
    for name in names {
        store.log_in(name, from);
    }
    let a = Zone::start(&store.address, |_| {}).await;
    let b = Zone::start(&store.address, |_| {}).await;
    let registered = || store.run_at(&a.address).is_some() && store.run_at(&b.address).is_some();
    until("both zones register", registered).await;
    let (run_a, run_b) = (
        store.run_at(&a.address).unwrap(),
        store.run_at(&b.address).unwrap(),
    );
    store.assign(west, run_a);
    store.assign(east, run_a);
    let gateway = Gateway::new("g");
    gateway.link(run_a, &a.address, 1, &[west, east]).await;
    gateway.link(run_b, &b.address, 1, &[west, east]).await;
    let scene = Scene {
        store,
        a,
        b,
        run_a,
        run_b,
        gateway,
        west,
        east,
        from,
    };
    until("everybody stands in the west", || {
        scene.standing(run_a) >= names.len()
    })
    .await;
    for name in names {
        scene.gateway.attach(run_a, name, 1, 1).await;
    }
    until("everybody is attached", || {
        scene.gateway.read(|seen| seen.attached.len()) == names.len()
    })
    .await;
    scene
}

impl Scene {
    fn standing(&self, run: u64) -> usize {
        let last = |seen: &Seen| {
            let ticks = seen.standing.get(&run)?;
            ticks.last_key_value().map(|(_, players)| players.len())
        };
        self.gateway.read(last).unwrap_or(0)
    }

    fn owner(&self, region: Region) -> u64 {
        self.store.read(|state| state.owners[&region].0)
    }

    /// Checks that the store refused nobody and that no player left, was shown twice, or got no
    /// word for two ticks on end.
    fn nobody_noticed(&self, names: &[&str]) {
        let problems = self.store.read(|state| state.problems.clone());
        assert_eq!(problems, Vec::<String>::new());
        let seen = self.gateway.seen.lock().unwrap();
        assert!(seen.left.is_empty(), "{:?}", seen.left);
        let nobody = BTreeMap::new();
        let a = seen.standing.get(&self.run_a).unwrap_or(&nobody);
        let b = seen.standing.get(&self.run_b).unwrap_or(&nobody);
        let ticks: BTreeSet<u64> = a.keys().filter(|t| b.contains_key(t)).copied().collect();
        for tick in ticks {
            let both: Vec<&String> = a[&tick].intersection(&b[&tick]).collect();
            assert!(both.is_empty(), "{both:?} at {tick}");
        }
        for name in names {
            // A word also names a player on its way, but without a position.
            let played = seen.words[*name].iter().filter(|w| w.position.is_some());
            let mut ticks: Vec<u64> = played.map(|word| word.tick).collect();
            ticks.sort_unstable();
            let gap = ticks.windows(2).find(|pair| pair[1] - pair[0] > 2);
            assert_eq!(gap, None, "{name}");
            let whole = ticks.windows(2).filter(|pair| pair[1] == pair[0]).count();
            assert_eq!(whole, 0, "{name} was played twice in a tick");
        }
    }

    /// Checks that this run can still play everybody.
    async fn all_walk_on(&self, run: u64, names: &[&str], number: u64) {
        let to = Tile {
            x: self.from.x + 2,
            ..self.from
        };
        for name in names {
            self.gateway.walk(run, name, number, to).await;
        }
        let there = |name: &&str| self.gateway.position(name).is_some_and(|p| p.x == to.x);
        until("everybody walks on", || names.iter().all(there)).await;
    }
}

const TEN: [&str; 10] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_that_stops_gives_everything_away_and_nobody_notices() {
    let scene = scene(&TEN).await;
    scene.a.stop().await;
    assert_eq!(scene.owner(scene.west), scene.run_b);
    assert_eq!(scene.owner(scene.east), scene.run_b);
    scene.store.read(|state| {
        assert_eq!(state.draining, [scene.run_a]);
        assert_eq!(state.released, [scene.run_a]);
        for name in TEN {
            let held = &state.characters[name];
            assert!(held.online && held.logout.is_none(), "{name}");
            assert_eq!(held.record.ownership_sequence, 2, "{name}");
        }
    });
    let moved = scene.gateway.read(|seen| {
        let moved = seen.moved.iter();
        let moved =
            moved.filter(|(run, moved)| *run == scene.run_a && moved.to_run_id == scene.run_b);
        (moved.count(), seen.regions_moved.len())
    });
    assert_eq!(moved, (10, 2));
    until("all stand in the other zone", || {
        scene.standing(scene.run_b) == 10
    })
    .await;
    scene.all_walk_on(scene.run_b, &TEN, 1).await;
    scene.nobody_noticed(&TEN);
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_goes_where_the_planner_wants_it_and_comes_back() {
    let scene = scene(&TEN).await;
    let want = |run: u64| {
        scene
            .store
            .change(|state| state.wanted.insert(scene.west, run))
    };
    want(scene.run_b);
    until("the west is the other's", || {
        scene.owner(scene.west) == scene.run_b
    })
    .await;
    assert_eq!(scene.owner(scene.east), scene.run_a);
    until("all stand there", || scene.standing(scene.run_b) == 10).await;
    scene.all_walk_on(scene.run_b, &TEN, 1).await;
    want(scene.run_a);
    until("the west is back", || {
        scene.owner(scene.west) == scene.run_a
    })
    .await;
    until("all stand at home", || scene.standing(scene.run_a) == 10).await;
    scene.all_walk_on(scene.run_a, &TEN, 2).await;
    scene.nobody_noticed(&TEN);
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_give_that_the_store_calls_stale_is_tried_again_and_loses_nothing() {
    let scene = scene(&["ann"]).await;
    scene.store.change(|state| {
        state.faults.stale_gives = 1;
        state.wanted.insert(scene.west, scene.run_b);
    });
    until("the west is the other's", || {
        scene.owner(scene.west) == scene.run_b
    })
    .await;
    assert_eq!(scene.store.read(|state| state.faults.stale_gives), 0);
    until("ann stands there", || scene.standing(scene.run_b) == 1).await;
    scene.all_walk_on(scene.run_b, &["ann"], 1).await;
    scene.nobody_noticed(&["ann"]);
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_to_the_give_is_settled_by_its_sequence() {
    let scene = scene(&["ann"]).await;
    scene.store.change(|state| {
        state.faults.replies_lost = 3;
        state.wanted.insert(scene.west, scene.run_b);
    });
    until("ann stands in the other zone", || {
        scene.standing(scene.run_b) == 1
    })
    .await;
    assert_eq!(scene.store.read(|state| state.gives.len()), 1);
    scene.all_walk_on(scene.run_b, &["ann"], 1).await;
    let problems = scene.store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_by_the_stores_word_is_played_by_its_session_when_the_giver_has_spoken() {
    let scene = scene(&["ann"]).await;
    scene.store.change(|state| {
        state.faults.replies_lost = u32::MAX;
        state.wanted.insert(scene.west, scene.run_b);
    });
    // The giver hears nothing; the taker reads in the directory that the west is its own.
    until("ann stands in the other zone", || {
        scene.standing(scene.run_b) == 1
    })
    .await;
    scene.store.change(|state| state.faults.replies_lost = 0);
    until("the giver has spoken", || {
        scene.gateway.read(|seen| !seen.moved.is_empty())
    })
    .await;
    until("ann is shown what she has", || {
        let messages = scene.gateway.messages("ann");
        messages
            .iter()
            .any(|message| message.event == "player:sync")
    })
    .await;
    scene.all_walk_on(scene.run_b, &["ann"], 1).await;
    scene
        .gateway
        .read(|seen| assert!(seen.left.is_empty() && seen.lost.is_empty(), "{seen:?}"));
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_sent_during_a_move_are_played_once_by_the_new_owner() {
    let scene = scene(&["ann"]).await;
    scene
        .store
        .change(|state| state.wanted.insert(scene.west, scene.run_b));
    // All of them go to the old owner, before, while and after the region goes.
    let mut number = 0;
    while !scene.gateway.read(|seen| !seen.moved.is_empty()) {
        number += 1;
        let step = Tile {
            x: scene.from.x + 1 + (number % 2) as i32,
            ..scene.from
        };
        scene.gateway.walk(scene.run_a, "ann", number, step).await;
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    }
    number += 1;
    let last = Tile {
        x: scene.from.x + 3,
        ..scene.from
    };
    scene.gateway.walk(scene.run_a, "ann", number, last).await;
    until("ann is where the last input said", || {
        scene.gateway.position("ann").is_some_and(|p| p.x == last.x)
    })
    .await;
    let answered = || {
        let messages = scene.gateway.messages("ann");
        messages.iter().filter(|m| m.event == "ack").count() as u64
    };
    until("all are answered", || answered() == number).await;
    scene.nobody_noticed(&["ann"]);
    scene.a.stop().await;
    scene.b.stop().await;
}

/// An input may be sent to a run just before its player comes back there. To that run it looks like
/// one that is late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_sent_to_a_former_owner_that_becomes_the_next_are_played_once() {
    let scene = scene(&["ann"]).await;
    let want = |run: u64| {
        scene
            .store
            .change(|state| state.wanted.insert(scene.west, run))
    };
    want(scene.run_b);
    until("ann stands there", || scene.standing(scene.run_b) == 1).await;
    want(scene.run_a);
    let mut number = 0;
    while scene.gateway.read(|seen| seen.moved.len()) < 2 || number < 20 {
        number += 1;
        let step = Tile {
            x: scene.from.x + 1 + (number % 2) as i32,
            ..scene.from
        };
        scene.gateway.walk(scene.run_a, "ann", number, step).await;
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let answered = || {
        let messages = scene.gateway.messages("ann");
        messages.iter().filter(|m| m.event == "ack").count() as u64
    };
    until("all are answered", || answered() == number).await;
    let lost = scene.gateway.read(|seen| seen.lost.len());
    assert_eq!(lost, 0, "of {number}");
    scene.nobody_noticed(&["ann"]);
    scene.a.stop().await;
    scene.b.stop().await;
}

/// A run that a peer takes for the owner sends the inputs after the player, who has gone on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_that_a_peer_sends_too_late_follow_the_player_all_the_same() {
    let scene = scene(&["ann"]).await;
    scene
        .store
        .change(|state| state.wanted.insert(scene.west, scene.run_b));
    until("ann stands there", || scene.standing(scene.run_b) == 1).await;
    let to = Tile {
        x: scene.from.x + 2,
        ..scene.from
    };
    let mut peer = HandoverClient::new(stage::gateway::channel(&scene.a.address));
    let mut request = ForwardRequest {
        h: Some(HandoverId {
            character_id: "ann".to_owned(),
            ownership_sequence: 1,
        }),
        inputs: vec![stage::gateway::walk("ann", 1, to)],
        gateway_id: String::new(),
    };
    let reply = peer.forward(request.clone()).await.unwrap().into_inner();
    assert!(!reply.taken, "nobody could be told of their loss");
    "g".clone_into(&mut request.gateway_id);
    let reply = peer.forward(request).await.unwrap().into_inner();
    assert!(reply.taken);
    until("ann is where the input said", || {
        scene.gateway.position("ann").is_some_and(|p| p.x == to.x)
    })
    .await;
    assert_eq!(scene.gateway.read(|seen| seen.lost.len()), 0);
    scene.nobody_noticed(&["ann"]);
    scene.a.stop().await;
    scene.b.stop().await;
}
