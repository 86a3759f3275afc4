//! Players who only walk: the store hears little of them, and nobody stands further back for it.

#![allow(clippy::unwrap_used)]

use proto::rpc::zone::v1::Shown;
use world::{CharacterState, Tile};

use crate::{
    border::scene_of,
    stage::{
        Zone, border,
        gateway::Gateway,
        store::{Rows, Store},
        until,
    },
};

/// Ticks between two rows of a walker: 15 s of play.
const APART: u64 = 25;

/// One zone with ann, who walks to and fro.
struct Walk {
    store: Store,
    zone: Zone,
    gateway: Gateway,
    run: u64,
    /// The two ends of her walk.
    ends: [Tile; 2],
    inputs: u64,
}

impl Walk {
    async fn begins(prepare: impl FnOnce(&Store)) -> Walk {
        let (west, _, from, _) = border();
        let store = Store::start().await;
        store.log_in("ann", from);
        store.change(|state| {
            // Energy comes back to her with every tick.
            let tired = CharacterState {
                energy: 100,
                ..CharacterState::default()
            };
            state.characters.get_mut("ann").unwrap().record.state = tired.to_document().into();
        });
        prepare(&store);
        let zone = Zone::start(&store.address, |config| config.tick_ms = 100).await;
        until("the zone registers", || {
            store.run_at(&zone.address).is_some()
        })
        .await;
        let run = store.run_at(&zone.address).unwrap();
        store.assign(west, run);
        let gateway = Gateway::new("g");
        gateway.link(run, &zone.address, 1, &[west]).await;
        gateway.enter(run, "ann").await;
        let walk = Walk {
            store,
            zone,
            gateway,
            run,
            ends: [from.moved(6, 0), from],
            inputs: 0,
        };
        until("she is saved whole", || !walk.rows().is_empty()).await;
        walk
    }

    /// Returns the batches with a row of hers.
    fn rows(&self) -> Vec<Rows> {
        let kept = self.store.read(|state| state.kept.clone());
        let hers = |rows: &Rows| rows.characters.len() + rows.positions.len() > 0;
        kept.into_iter().filter(hers).collect()
    }

    /// Walks on until something holds.
    async fn until(&mut self, what: &str, holds: impl Fn(&Walk) -> bool) {
        let begun = std::time::Instant::now();
        let mut to = None;
        while !holds(self) {
            assert!(begun.elapsed() < crate::stage::TIMEOUT, "never: {what}");
            let at = self.gateway.position("ann").map(|at| (at.x, at.z));
            let there = |to: Tile| at == Some((to.x, to.z));
            if to.is_none_or(there) {
                let next = self.ends.into_iter().find(|end| !there(*end)).unwrap();
                self.inputs += 1;
                self.gateway.walk(self.run, "ann", self.inputs, next).await;
                to = Some(next);
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    async fn ends(self) {
        self.zone.stop().await;
        let problems = self.store.read(|state| state.problems.clone());
        assert_eq!(problems, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walker_sends_one_row_in_15_seconds_and_no_document() {
    let mut walk = Walk::begins(|_| {}).await;
    let whole = walk.rows().len();
    walk.until("five rows of places", |walk| walk.rows().len() >= whole + 5)
        .await;
    let rows = walk.rows().split_off(whole);
    for rows in &rows {
        let kinds = (rows.characters.len(), rows.positions.len());
        assert_eq!(kinds, (0, 1), "{rows:?}");
    }
    // Agility goes at once.
    let trains = |rows: &Rows| rows.positions[0].agility.is_some();
    for two in rows.windows(2).filter(|two| !trains(&two[1])) {
        assert!(two[1].tick >= two[0].tick + APART, "{rows:?}");
    }
    assert!(rows.iter().filter(|rows| !trains(rows)).count() >= 2);
    let ann = walk.store.read(|state| state.characters["ann"].clone());
    let before = CharacterState::from_document(&ann.record.state).unwrap();
    // What else happens goes at once: she leaves, and all that walking changed with her.
    let left = walk.inputs + 1;
    let leave = "{}".to_owned();
    walk.gateway
        .input(walk.run, "ann", left, "world:leave", leave)
        .await;
    let store = walk.store.clone();
    until("she has left", || {
        store.read(|state| !state.characters["ann"].online)
    })
    .await;
    let ann = store.read(|state| state.characters["ann"].clone());
    let after = CharacterState::from_document(&ann.record.state).unwrap();
    assert!(after.energy > before.energy + APART as u32, "{after:?}");
    walk.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_of_the_release_before_hears_of_walkers_as_it_did() {
    let mut walk = Walk::begins(|store| {
        store.change(|state| state.faults.no_positions = true);
    })
    .await;
    let whole = walk.rows().len();
    walk.until("she is saved again", |walk| walk.rows().len() > whole)
        .await;
    let ann = walk
        .store
        .read(|state| state.characters["ann"].record.clone());
    assert!(ann.placed && ann.combat_level == 3 && !ann.state.is_empty());
    assert_eq!(walk.store.read(|state| state.cut_off), 0);
    assert!(walk.rows().iter().all(|rows| rows.positions.is_empty()));
    let row = walk.rows().pop().unwrap().characters.remove(0);
    assert!(row.record.unwrap().state.is_empty(), "no document either");
    walk.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_store_goes_back_a_release_its_next_batch_has_the_same_in_the_old_form() {
    let mut walk = Walk::begins(|_| {}).await;
    let knew = |rows: &Rows| !rows.positions.is_empty();
    walk.until("a row of a place", |walk| walk.rows().iter().any(knew))
        .await;
    // From now on one of the release before answers, and at times one of this release beside it.
    walk.store.change(|state| {
        state.faults.no_positions = true;
        state.faults.boasts = true;
    });
    let before = walk.rows().len();
    walk.until("she is saved twice", |walk| walk.rows().len() >= before + 2)
        .await;
    for rows in walk.rows().split_off(before) {
        assert_eq!((rows.characters.len(), rows.positions.len()), (1, 0));
    }
    assert_eq!(walk.store.read(|state| state.cut_off), 1, "asked once");
    assert_eq!(walk.store.run_at(&walk.zone.address), Some(walk.run));
    let ann = walk
        .store
        .read(|state| state.characters["ann"].record.clone());
    assert!(ann.placed && ann.combat_level == 3 && !ann.state.is_empty());
    walk.ends().await;
}

/// She walked and stood still. Others were saved since, so the store's last word is later than the
/// last sight of her, and yet it has her where she began.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_walked_within_15_seconds_of_a_kill_stands_where_it_was_seen_last() {
    let scene = scene_of(&["ann"], false, |_| {}).await;
    let (store, west) = (&scene.store, border().0);
    let saved = || store.read(|state| !state.kept.is_empty());
    until("she is saved where she came", saved).await;
    let to = scene.from.moved(7, 0);
    scene.gateway.walk(scene.run_a, "ann", 1, to).await;
    let arrived = || {
        scene.gateway.read(|seen| {
            let mut words = seen.words["ann"].iter();
            let word = words.find(|word| word.position.is_some_and(|at| at.x == to.x))?;
            Some(word.tick)
        })
    };
    until("she is there", || arrived().is_some()).await;
    let tick = arrived().unwrap();
    let now = || {
        scene
            .gateway
            .read(|seen| seen.words["ann"].last().unwrap().tick)
    };
    until("she has stood there for a while", || now() >= tick + 8).await;
    store.change(|state| {
        state.fenced.push(scene.run_a);
        state.played.insert(west, tick + 8);
    });
    let stored = store.read(|state| state.characters["ann"].record.x);
    assert_eq!(stored, scene.from.x, "no row of hers was due");
    store.assign(west, scene.run_b);
    let heir = Gateway::new("heir");
    heir.link(scene.run_b, &scene.b.address, 1, &[west]).await;
    let position = scene.gateway.position("ann");
    let shown = Some(Shown { position, tick });
    let mut attach = 1;
    while heir.read(|seen| seen.attached.is_empty()) {
        attach += 1;
        heir.offer(scene.run_b, "ann", (1, attach), shown).await;
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let (_, attached) = heir.read(|seen| seen.attached["ann"].clone());
    assert_eq!(attached.position, position);
    until("the store has her there soon", || {
        store.read(|state| state.characters["ann"].record.x == to.x)
    })
    .await;
    scene.a.stop().await;
    scene.b.stop().await;
}

/// Its run had handed her over, and gets her back with the region of the killed one. The gateway had
/// offered the place before that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_had_left_the_heir_stands_where_it_was_seen_last() {
    let scene = scene_of(&["ann"], true, |_| {}).await;
    let store = &scene.store;
    scene.gateway.walk(scene.run_a, "ann", 1, scene.to).await;
    scene.all_arrive(&["ann"]).await;
    let further = scene.to.moved(-2, 0);
    scene.gateway.walk(scene.run_b, "ann", 2, further).await;
    let seen = || {
        scene.gateway.read(|seen| {
            let last = seen.words["ann"].last()?;
            let there = last.position.is_some_and(|at| at.x == further.x);
            there.then_some((last.tick, last.position))
        })
    };
    until("she has walked further in the east", || seen().is_some()).await;
    let (tick, position) = seen().unwrap();
    let stored = store.read(|state| state.characters["ann"].record.x);
    assert_ne!(stored, further.x, "the store has her there already");
    let refused = || scene.gateway.read(|seen| seen.refused.len());
    let shown = Some(Shown { position, tick });
    scene.gateway.offer(scene.run_a, "ann", (1, 2), shown).await;
    until("the heir has her not yet", || refused() == 1).await;
    store.change(|state| {
        state.fenced.push(scene.run_b);
        state.played.insert(scene.east, tick);
    });
    store.assign(scene.east, scene.run_a);
    let attached = || scene.gateway.read(|seen| seen.attached["ann"].1.attach);
    for attach in 3.. {
        let answered = refused();
        scene.gateway.attach(scene.run_a, "ann", 1, attach).await;
        until("an answer", || attached() > 2 || refused() > answered).await;
        if attached() > 2 {
            break;
        }
    }
    let (_, attached) = scene.gateway.read(|seen| seen.attached["ann"].clone());
    assert_eq!(attached.position, position);
    scene.a.stop().await;
    scene.b.stop().await;
}

/// A gateway may have to reach the new owner first. Until then nobody is shown where the store has
/// it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_of_a_killed_owner_waits_three_ticks_for_where_its_players_were_seen() {
    let scene = scene_of(&["ann"], false, |_| {}).await;
    let (store, west) = (&scene.store, border().0);
    let heir = Gateway::new("heir");
    heir.link(scene.run_b, &scene.b.address, 1, &[west]).await;
    let now = || {
        heir.read(|seen| {
            let (tick, _) = seen.standing.get(&scene.run_b)?.last_key_value()?;
            Some(*tick)
        })
    };
    until("the heir ticks", || now().is_some()).await;
    store.change(|state| state.fenced.push(scene.run_a));
    let killed = now().unwrap();
    store.assign(west, scene.run_b);
    let shown = || {
        heir.read(|seen| {
            let ticks = seen.standing[&scene.run_b].iter();
            let mut shown = ticks.filter(|(_, players)| players.contains("ann"));
            shown.next().map(|(tick, _)| *tick)
        })
    };
    // Nobody offers anything.
    until("she is shown", || shown().is_some()).await;
    let waited = shown().unwrap() - killed;
    assert!(waited > 3, "{waited} ticks");
    scene.a.stop().await;
    scene.b.stop().await;
}
