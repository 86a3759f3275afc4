//! Two zones, one gateway: players walk from one zone's region into the other's.

#![allow(clippy::unwrap_used)]

use crate::stage;

use std::collections::{BTreeMap, BTreeSet};

use stage::{
    Zone, border,
    gateway::{Gateway, Seen},
    store::{Store, key},
    until,
};
use world::{Region, Tile};

pub(crate) struct Scene {
    pub(crate) store: Store,
    pub(crate) a: Zone,
    pub(crate) b: Zone,
    pub(crate) run_a: u64,
    pub(crate) run_b: u64,
    pub(crate) gateway: Gateway,
    pub(crate) east: Region,
    pub(crate) from: Tile,
    pub(crate) to: Tile,
}

/// Starts two zones that own two neighbours, and a gateway linked with both. Attaches `names` in
/// the west.
pub(crate) async fn scene(names: &[&str], linked_with_b: bool) -> Scene {
    scene_of(names, linked_with_b, |_| {}).await
}

/// As [`scene`]; `prepare` changes the store before a zone loads anybody from it.
pub(crate) async fn scene_of(
    names: &[&str],
    linked_with_b: bool,
    prepare: impl FnOnce(&Store),
) -> Scene {
    let (west, east, from, to) = border();
    let store = Store::start().await;
    for name in names {
        store.log_in(name, from);
    }
    prepare(&store);
    let a = Zone::start(&store.address, |_| {}).await;
    let b = Zone::start(&store.address, |_| {}).await;
    let registered = || store.run_at(&a.address).is_some() && store.run_at(&b.address).is_some();
    until("both zones register", registered).await;
    let (run_a, run_b) = (
        store.run_at(&a.address).unwrap(),
        store.run_at(&b.address).unwrap(),
    );
    store.assign(west, run_a);
    store.assign(east, run_b);
    let gateway = Gateway::new("g");
    gateway.link(run_a, &a.address, 1, &[west, east]).await;
    if linked_with_b {
        gateway.link(run_b, &b.address, 1, &[west, east]).await;
    }
    let scene = Scene {
        store,
        a,
        b,
        run_a,
        run_b,
        gateway,
        east,
        from,
        to,
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
    pub(crate) fn standing(&self, run: u64) -> usize {
        let last = |seen: &Seen| {
            let ticks = seen.standing.get(&run)?;
            ticks.last_key_value().map(|(_, players)| players.len())
        };
        self.gateway.read(last).unwrap_or(0)
    }

    async fn all_walk(&self, names: &[&str]) {
        for name in names {
            self.gateway.walk(self.run_a, name, 1, self.to).await;
        }
    }

    pub(crate) async fn all_arrive(&self, names: &[&str]) {
        let there = |name: &&str| {
            self.gateway
                .position(name)
                .is_some_and(|p| p.x == self.to.x)
        };
        until("everybody arrives", || names.iter().all(there)).await;
    }

    /// Checks that nobody was lost or copied, and that the store refused nobody.
    pub(crate) fn all_is_well(&self, names: &[&str]) {
        assert_eq!(
            self.store.read(|state| state.problems.clone()),
            Vec::<String>::new()
        );
        for name in names {
            let held = self.store.read(|state| state.characters[*name].clone());
            assert_eq!(held.record.ownership_sequence, 2, "{name}");
            assert_eq!(key(held.record.region), self.east, "{name}");
            assert_eq!(held.record.account_id, format!("account-{name}"));
            assert!(held.online, "{name}");
        }
        self.nobody_is_in_two_places(names);
    }

    /// Checks that the zone to which somebody went names the look that the player chose.
    async fn look_came_along(&self, name: &str, look: &str) {
        self.gateway.attach(self.run_b, name, 1, 2).await;
        let there = |seen: &Seen| seen.attached[name].0 == self.run_b;
        until("the player is attached", || self.gateway.read(there)).await;
        let sync = |seen: &Seen| seen.attached[name].1.sync.clone();
        let sync: serde_json::Value = serde_json::from_slice(&self.gateway.read(sync)).unwrap();
        assert_eq!(sync["character"]["look"], look);
    }

    /// Checks that no tick shows somebody in both runs, and that each player left once by a
    /// transfer.
    fn nobody_is_in_two_places(&self, names: &[&str]) {
        let seen = self.gateway.seen.lock().unwrap();
        let nobody = BTreeMap::new();
        let a = seen.standing.get(&self.run_a).unwrap_or(&nobody);
        let b = seen.standing.get(&self.run_b).unwrap_or(&nobody);
        let ticks: BTreeSet<u64> = a.keys().filter(|t| b.contains_key(t)).copied().collect();
        for tick in ticks {
            let both: Vec<&String> = a[&tick].intersection(&b[&tick]).collect();
            assert!(both.is_empty(), "{both:?} at {tick}");
        }
        for name in names {
            let left = seen.transferred.iter().filter(|(_, _, id)| id == name);
            assert_eq!(left.count(), 1, "{name} left transferred");
        }
    }
}

fn choose_look(store: &Store, name: &str, look: &str) {
    store.change(|state| {
        let chooser = state.characters.get_mut(name).unwrap();
        chooser.record.look = look.to_owned();
    });
}

const TEN: [&str; 10] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_players_cross_and_miss_no_tick() {
    let scene = scene_of(&TEN, true, |store| choose_look(store, "p0", "21340")).await;
    scene.all_walk(&TEN).await;
    scene.all_arrive(&TEN).await;
    until("all is saved", || {
        let saved = |name: &&str| scene.store.read(|s| s.characters[*name].record.x) == scene.to.x;
        TEN.iter().all(saved)
    })
    .await;
    scene.all_is_well(&TEN);
    assert_eq!(scene.store.read(|state| state.transfers), 10);
    for name in TEN {
        let words = scene.gateway.read(|seen| seen.words[name].clone());
        let mut by_tick: BTreeMap<u64, Vec<&stage::gateway::Word>> = BTreeMap::new();
        words
            .iter()
            .for_each(|word| by_tick.entry(word.tick).or_default().push(word));
        let (first, last) = (words[0].tick, words[words.len() - 1].tick);
        for tick in first..=last {
            let said = by_tick.get(&tick).map_or(0, Vec::len);
            assert_eq!(said, 1, "{name} at {tick} of {first}..={last}");
        }
        // It walks on without standing still but for the one tick in which it is handed over.
        let xs: Vec<i32> = by_tick.values().map(|w| w[0].position.unwrap().x).collect();
        let walking: Vec<i32> = xs
            .iter()
            .copied()
            .filter(|x| *x > scene.from.x && *x < scene.to.x)
            .collect();
        let stood = walking.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(stood <= 1, "{name}: {xs:?}");
        let leap = xs.windows(2).find(|pair| pair[1] - pair[0] > 2);
        assert_eq!(leap, None, "{name}: {xs:?}");
        let moved = scene.gateway.read(|seen| {
            seen.moved
                .iter()
                .filter(|(_, moved)| moved.character_id == name)
                .count()
        });
        assert_eq!(moved, 1);
    }
    // Inputs go on where they were: the next one is played by the other zone.
    let on = Tile {
        x: scene.to.x - 2,
        ..scene.to
    };
    scene.gateway.walk(scene.run_b, "p0", 2, on).await;
    let x = || scene.gateway.position("p0").map(|p| p.x);
    until("p0 walks on", || x() == Some(on.x)).await;
    scene.look_came_along("p0", "21340").await;
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_that_come_late_follow_their_player() {
    let scene = scene(&["ann"], true).await;
    scene.all_walk(&["ann"]).await;
    until("ann has moved", || {
        scene.gateway.read(|seen| !seen.moved.is_empty())
    })
    .await;
    // Both go to the old zone, in the wrong order.
    let back = Tile {
        x: scene.to.x - 6,
        ..scene.to
    };
    scene.gateway.walk(scene.run_a, "ann", 3, back).await;
    scene.gateway.walk(scene.run_a, "ann", 2, scene.to).await;
    until("ann is where the last input said", || {
        scene.gateway.position("ann").is_some_and(|p| p.x == back.x)
    })
    .await;
    until("both are answered", || {
        let answered: Vec<_> = scene.gateway.messages("ann");
        answered.iter().filter(|m| m.event == "ack").count() == 3
    })
    .await;
    scene.all_is_well(&["ann"]);
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_reply_to_the_commit_is_settled_by_its_sequence() {
    let scene = scene(&["ann"], true).await;
    scene.all_walk(&["ann"]).await;
    until("ann is on her way", || {
        scene
            .gateway
            .position("ann")
            .is_some_and(|p| p.x > scene.from.x)
    })
    .await;
    scene.store.change(|state| state.faults.replies_lost = 2);
    scene.all_arrive(&["ann"]).await;
    scene.all_is_well(&["ann"]);
    let twice = scene.store.read(|state| {
        let mut sequences = BTreeMap::new();
        for (run, sequence, rows) in &state.batches {
            sequences
                .entry((*run, *sequence))
                .or_insert_with(Vec::new)
                .push(rows.clone());
        }
        let repeated: Vec<_> = sequences
            .into_values()
            .filter(|sent| sent.len() > 1)
            .collect();
        repeated
    });
    assert!(!twice.is_empty(), "nothing was sent again");
    assert!(
        twice
            .iter()
            .all(|sent| sent.windows(2).all(|pair| pair[0] == pair[1]))
    );
    assert_eq!(scene.store.read(|state| state.transfers), 1);
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_transfer_keeps_the_player_and_is_tried_again() {
    let scene = scene(&["ann"], true).await;
    scene.store.change(|state| state.faults.stale = 1);
    scene.all_walk(&["ann"]).await;
    scene.all_arrive(&["ann"]).await;
    scene.all_is_well(&["ann"]);
    assert_eq!(scene.store.read(|state| state.faults.stale), 0);
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_player_stays_until_the_target_takes_it() {
    let scene = scene(&["ann"], false).await;
    scene.all_walk(&["ann"]).await;
    let edge = scene.east.bounds().min_x;
    // The other zone has no link with the gateway: it refuses, and ann waits in the band.
    until("ann waits behind the border", || {
        scene
            .gateway
            .position("ann")
            .is_some_and(|p| p.x >= edge + 3)
    })
    .await;
    let waited = scene.gateway.read(|seen| seen.words["ann"].len());
    until("a few ticks pass", || {
        scene.gateway.read(|seen| seen.words["ann"].len()) >= waited + 4
    })
    .await;
    assert_eq!(scene.store.read(|state| state.transfers), 0);
    let west = border().0;
    scene
        .gateway
        .link(scene.run_b, &scene.b.address, 1, &[west, scene.east])
        .await;
    scene.all_arrive(&["ann"]).await;
    scene.all_is_well(&["ann"]);
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_target_holds_the_player_and_its_successor_takes_it() {
    let scene = scene(&["ann"], true).await;
    // It finds nobody to whom it could give what it has.
    scene.store.change(|state| state.draining.push(scene.run_a));
    scene.b.stop().await;
    scene.store.change(|state| state.draining.clear());
    scene.all_walk(&["ann"]).await;
    let edge = scene.east.bounds().min_x;
    until("ann waits behind the border", || {
        scene
            .gateway
            .position("ann")
            .is_some_and(|p| p.x >= edge + 3)
    })
    .await;
    assert_eq!(scene.store.read(|state| state.transfers), 0);
    let c = Zone::start(&scene.store.address, |_| {}).await;
    until("a third zone", || scene.store.run_at(&c.address).is_some()).await;
    let run_c = scene.store.run_at(&c.address).unwrap();
    scene.store.assign(scene.east, run_c);
    scene
        .gateway
        .link(run_c, &c.address, 1, &[border().0, scene.east])
        .await;
    scene.all_arrive(&["ann"]).await;
    assert_eq!(scene.store.read(|state| state.transfers), 1);
    assert_eq!(
        scene.store.read(|state| state.problems.clone()),
        Vec::<String>::new()
    );
    scene.a.stop().await;
    c.stop().await;
}
