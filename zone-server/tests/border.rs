//! Two zones, one gateway: players walk from one zone's region into the other's.

#![allow(clippy::unwrap_used)]

use crate::stage;

use std::collections::{BTreeMap, BTreeSet};

use proto::rpc::persistence::v1::CharacterRow;
use proto::rpc::zone::v1::{
    CompleteRequest, HandoverId, Input, PrepareRequest, Private, SessionRef,
    handover_client::HandoverClient,
};
use stage::{
    Zone, border,
    gateway::{Gateway, Seen},
    store::{State, Store, key},
    until,
};
use world::{Content, Region, Tile};

pub(crate) struct Scene {
    pub(crate) store: Store,
    pub(crate) a: Zone,
    pub(crate) b: Zone,
    pub(crate) run_a: u64,
    pub(crate) run_b: u64,
    pub(crate) gateway: Gateway,
    pub(crate) east: Region,
    from: Tile,
    pub(crate) to: Tile,
}

/// Two zones that own two neighbours, a gateway linked with both, `names` attached in the west.
async fn scene(names: &[&str], linked_with_b: bool) -> Scene {
    scene_of(names, linked_with_b, |_| {}).await
}

/// As [`scene`], with something done to the store before anybody is loaded from it.
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
    fn standing(&self, run: u64) -> usize {
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

    async fn all_arrive(&self, names: &[&str]) {
        let there = |name: &&str| {
            self.gateway
                .position(name)
                .is_some_and(|p| p.x == self.to.x)
        };
        until("everybody arrives", || names.iter().all(there)).await;
    }

    /// Nobody was lost, copied, or refused by the store.
    fn all_is_well(&self, names: &[&str]) {
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

    /// At no tick is somebody shown by both runs; by neither only while on the way, for at most
    /// `gap` ticks.
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

const TEN: [&str; 10] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_players_cross_and_miss_no_tick() {
    let scene = scene(&TEN, true).await;
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
    scene
        .gateway
        .walk(
            scene.run_b,
            "p0",
            2,
            Tile {
                x: scene.to.x - 2,
                ..scene.to
            },
        )
        .await;
    until("p0 walks on", || {
        scene
            .gateway
            .position("p0")
            .is_some_and(|p| p.x == scene.to.x - 2)
    })
    .await;
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

/// Somebody who stands at `tile`.
fn zoe(tile: Tile) -> world::PlayerRecord {
    world::PlayerRecord {
        id: "zoe".into(),
        name: "zoe".to_owned(),
        tile,
        y: 0,
        health: 10,
        skills: BTreeMap::new(),
        coins: 0,
        inventory: BTreeMap::new(),
        equipment: BTreeMap::new(),
        bank: world::Bank::default(),
        home_ready_at: world::Tick::default(),
        quests: world::Quests::new(),
        ways: world::Ways::default(),
        prayer: world::Devotion::default(),
        stakes: BTreeMap::new(),
        energy: 10_000,
        running: false,
        combat_level: 3,
        placed: true,
    }
}

type Peer = HandoverClient<tonic::transport::Channel>;

fn zoes_handover() -> Option<HandoverId> {
    Some(HandoverId {
        character_id: "zoe".to_owned(),
        ownership_sequence: 5,
    })
}

impl Scene {
    /// The west promises zoe to the east.
    fn zoes_request(&self, session: SessionRef) -> PrepareRequest {
        PrepareRequest {
            h: zoes_handover(),
            from_run_id: self.run_a,
            to_run_id: self.run_b,
            region: Some(stage::store::rpc(self.east)),
            epoch: self.store.read(|state| state.owners[&self.east].1),
            content_hash: Content::embedded().hash().to_owned(),
            state: zoe(self.to).to_bytes().into(),
            session: Some(session),
            account_id: String::new(),
            pull_target: String::new(),
        }
    }

    async fn promise(&self, request: &PrepareRequest) -> Peer {
        let mut peer = HandoverClient::new(chassis::rpc::channel(&self.b.address).unwrap());
        let begun = std::time::Instant::now();
        loop {
            let reply = peer.prepare(request.clone()).await.unwrap().into_inner();
            if reply.accepted {
                return peer;
            }
            // The region is on its way from the store.
            assert_eq!(reply.code, "not_owner");
            assert!(begun.elapsed() < stage::PATIENCE);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// By the store's word the handover happened.
    fn zoe_is_handed_over(&self) {
        self.store.log_in("zoe", self.to);
        self.store.change(|state| {
            let zoe = state.characters.get_mut("zoe").unwrap();
            zoe.record.ownership_sequence = 5;
        });
    }
}

/// The source says `Prepare` and nothing more; by the store's word the handover happened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promised_player_whose_source_fell_silent_is_played_by_the_stores_word() {
    let scene = scene(&["ann"], true).await;
    let request = scene.zoes_request(SessionRef::default());
    let mut peer = scene.promise(&request).await;
    let again = peer.prepare(request.clone()).await.unwrap().into_inner();
    assert!(again.accepted, "a repetition is harmless: {}", again.code);
    let mut wrong = request.clone();
    wrong.epoch += 1;
    let reply = peer.prepare(wrong).await.unwrap().into_inner();
    assert_eq!((reply.accepted, &*reply.code), (false, "not_owner"));
    scene.zoe_is_handed_over();
    until("zoe stands in the east", || {
        scene.standing(scene.run_b) == 1
    })
    .await;
    assert_eq!(
        scene.store.read(|state| state.problems.clone()),
        Vec::<String>::new()
    );
    scene.a.stop().await;
    scene.b.stop().await;
}

/// What a source still has to say of zoe, when it has played forty inputs of hers.
fn zoes_last_words(session: SessionRef) -> CompleteRequest {
    CompleteRequest {
        h: zoes_handover(),
        last_input: 40,
        inputs: vec![Input {
            session_id: "session-zoe".to_owned(),
            character_id: "zoe".to_owned(),
            session_epoch: 1,
            number: 41,
            event: "player:move".to_owned(),
            data: bytes::Bytes::from_static(br#"{"stop":true}"#),
            id: bytes::Bytes::from_static(b"41"),
            traceparent: String::new(),
            attach: 0,
        }],
        held: vec![Private {
            event: "held".to_owned(),
            ..Private::default()
        }],
        session: Some(session),
        ..CompleteRequest::default()
    }
}

/// The store was faster than the source: what that one still had to say comes late, and twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn what_a_source_says_late_is_heard_once_and_not_by_a_newer_login() {
    let scene = scene(&["ann"], true).await;
    let session = SessionRef {
        session_id: "session-zoe".to_owned(),
        gateway_id: "g".to_owned(),
        session_epoch: 1,
        attach: 1,
    };
    let request = scene.zoes_request(session.clone());
    let mut peer = scene.promise(&request).await;
    scene.zoe_is_handed_over();
    until("zoe stands in the east", || {
        scene.standing(scene.run_b) == 1
    })
    .await;
    let late = zoes_last_words(session);
    for _ in 0..2 {
        let known = peer.complete(late.clone()).await.unwrap().into_inner();
        assert!(known.known);
    }
    let heard = |event: &str| {
        let messages = scene.gateway.messages("zoe");
        messages.iter().filter(|m| m.event == event).count()
    };
    until("the input is answered", || heard("ack") == 1).await;
    assert_eq!(heard("held"), 1);
    // A newer login counts its inputs from 1, whatever is said of the older one.
    scene.gateway.attach(scene.run_b, "zoe", 2, 1).await;
    until("the newer login plays", || {
        scene.gateway.read(|seen| seen.attached.contains_key("zoe"))
    })
    .await;
    let mut later = late.clone();
    later.inputs[0].number = 42;
    assert!(peer.complete(later).await.unwrap().into_inner().known);
    let step = Input {
        session_epoch: 2,
        number: 1,
        ..late.inputs[0].clone()
    };
    let step = proto::rpc::zone::v1::to_zone::Message::Input(step);
    scene.gateway.say(scene.run_b, step).await;
    until("the newer login is answered", || heard("ack") == 2).await;
    let again = Input {
        session_epoch: 2,
        number: 2,
        ..late.inputs[0].clone()
    };
    let again = proto::rpc::zone::v1::to_zone::Message::Input(again);
    scene.gateway.say(scene.run_b, again).await;
    until("and again", || heard("ack") == 3).await;
    // Whoever came here since by another handover does not play what belongs to an older one.
    let mut older = late.clone();
    older.h.as_mut().unwrap().ownership_sequence = 4;
    older.inputs[0].number = 43;
    assert!(peer.complete(older).await.unwrap().into_inner().known);
    until("its gateway hears that nobody knows", || {
        let lost = |seen: &stage::gateway::Seen| seen.lost.iter().any(|(_, l)| l.number == 43);
        scene.gateway.read(lost)
    })
    .await;
    assert_eq!(heard("ack"), 3);
    scene.a.stop().await;
    scene.b.stop().await;
}

/// What is said late of her pack is not shown any more; what she has is, though nothing else is
/// to be saved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_stands_still_is_shown_what_it_has_when_its_source_says_so_late() {
    let scene = scene(&["ann"], true).await;
    let session = SessionRef {
        session_id: "session-zoe".to_owned(),
        gateway_id: "g".to_owned(),
        session_epoch: 1,
        attach: 1,
    };
    let mut peer = scene.promise(&scene.zoes_request(session.clone())).await;
    scene.zoe_is_handed_over();
    until("zoe is saved where she stands", || {
        let of_zoe = |row: &CharacterRow| row.record.as_ref().is_some_and(|r| r.id == "zoe");
        let batches = |state: &State| {
            let mut of_b = state.batches.iter().filter(|(run, ..)| *run == scene.run_b);
            of_b.any(|(.., rows)| rows.iter().any(of_zoe))
        };
        scene.store.read(batches)
    })
    .await;
    let mut late = zoes_last_words(session);
    late.inputs.clear();
    late.held[0].event = "inventory:update".to_owned();
    assert!(peer.complete(late).await.unwrap().into_inner().known);
    let shown = |event: &str| {
        let messages = scene.gateway.messages("zoe");
        messages.iter().any(|message| message.event == event)
    };
    until("zoe is shown what she has", || shown("player:sync")).await;
    assert!(!shown("inventory:update"));
    scene.a.stop().await;
    scene.b.stop().await;
}

/// A hatchet lies in the east, just over the border.
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
    // What comes next is played as ever.
    scene.gateway.walk(scene.run_a, "ann", 2, scene.to).await;
    scene.all_arrive(&["ann"]).await;
    scene.a.stop().await;
    scene.b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_goes_home_to_a_region_of_another_zone_stands_there() {
    let scene = scene(&["ann"], true).await;
    let home = Content::embedded().spawn();
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

/// A blow was on its way to her when she was handed over: it lands where she is played then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::too_many_lines, reason = "one story")]
async fn who_dies_as_it_is_handed_over_leaves_one_grave() {
    let scene = scene(&["ann"], true).await;
    let session = SessionRef {
        session_id: "session-zoe".to_owned(),
        gateway_id: "g".to_owned(),
        session_epoch: 1,
        attach: 1,
    };
    let carries = [
        "bronze_hatchet",
        "bronze_pickaxe",
        "tinderbox",
        "hammer",
        "shrimp",
    ];
    let mut record = zoe(scene.to);
    for (slot, item) in (0..).zip(carries) {
        record.inventory.insert(slot, world::Stack::new(item, 1));
    }
    let request = PrepareRequest {
        state: record.to_bytes().into(),
        ..scene.zoes_request(session.clone())
    };
    let mut peer = scene.promise(&request).await;
    let mut hot = world::PlayerHot::default();
    hot.fight.clash.coming.push(world::fight::Blow {
        from: "npc:none".into(),
        kind: world::HitKind::Melee,
        style: world::Style::Accurate,
        damage: 99,
        cast_xp_tenths: 0,
        lands_at: world::Tick::default(),
    });
    let words = CompleteRequest {
        hot: hot.to_bytes().into(),
        ..zoes_last_words(session)
    };
    scene.zoe_is_handed_over();
    scene.store.change(|state| {
        let zoe = &mut state.characters.get_mut("zoe").unwrap().record;
        let slots = (0..)
            .zip(carries)
            .map(|(slot, item)| proto::rpc::persistence::v1::Slot {
                slot,
                item_id: item.to_owned(),
                quantity: 1,
            });
        zoe.inventory = slots.collect();
    });
    for _ in 0..2 {
        peer.complete(words.clone()).await.unwrap();
    }
    let lies = || scene.store.read(|state| state.ground.clone());
    until("her things lie in the east", || !lies().is_empty()).await;
    peer.complete(words).await.unwrap();
    let dead = scene.store.read(|state| state.characters["zoe"].clone());
    let (lying, kept) = (lies(), dead.record.inventory);
    let graves: BTreeSet<&String> = lying.values().map(|item| &item.grave_id).collect();
    assert_eq!(graves.len(), 1, "{lying:?}");
    assert!(graves.iter().all(|grave| !grave.is_empty()), "{lying:?}");
    let mut all: Vec<&str> = lying.values().map(|item| &*item.item_id).collect();
    all.extend(kept.iter().map(|slot| &*slot.item_id));
    all.sort_unstable();
    let mut once = carries;
    once.sort_unstable();
    assert_eq!(all, once, "each is there once");
    let problems = scene.store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    scene.a.stop().await;
    scene.b.stop().await;
}
