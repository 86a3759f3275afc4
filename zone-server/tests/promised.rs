//! Somebody is promised to a zone by a handover, and its source speaks late, twice or never.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use proto::rpc::{
    persistence::v1::CharacterRow,
    zone::v1::{
        CompleteRequest, HandoverId, Input, PrepareRequest, Private, SessionRef,
        handover_client::HandoverClient,
    },
};
use world::{Content, Tile};

use crate::{
    border::{Scene, scene},
    stage::{self, store::State, until},
};

/// Returns the record of zoe, who stands at `tile`.
fn zoe(tile: Tile) -> world::PlayerRecord {
    let columns = world::Columns {
        id: "zoe".into(),
        name: "zoe".to_owned(),
        tile,
        y: 0,
        health: 10,
        skills: BTreeMap::new(),
        coins: 0,
        inventory: BTreeMap::new(),
        equipment: BTreeMap::new(),
        bank: BTreeMap::new(),
        stakes: BTreeMap::new(),
        combat_level: 3,
        placed: true,
    };
    world::PlayerRecord::new(columns, world::CharacterState::default())
}

type Peer = HandoverClient<tonic::transport::Channel>;

fn zoes_handover() -> Option<HandoverId> {
    Some(HandoverId {
        character_id: "zoe".to_owned(),
        ownership_sequence: 5,
    })
}

/// Returns the session of her first login, from the gateway.
fn zoes_session() -> SessionRef {
    SessionRef {
        session_id: "session-zoe".to_owned(),
        gateway_id: "g".to_owned(),
        session_epoch: 1,
        attach: 1,
    }
}

impl Scene {
    /// Returns the request by which the west promises zoe to the east.
    fn zoes_request(&self, session: SessionRef) -> PrepareRequest {
        PrepareRequest {
            h: zoes_handover(),
            from_run_id: self.run_a,
            to_run_id: self.run_b,
            region: Some(stage::store::rpc(self.east)),
            epoch: self.store.read(|state| state.owners[&self.east].1),
            content_hash: Content::embedded().hash().to_owned(),
            state: zoe(self.to).to_document().into(),
            session: Some(session),
            account_id: String::new(),
            pull_target: String::new(),
            attempt: 0,
            look: "21340".to_owned(),
        }
    }

    async fn promise(&self, request: &PrepareRequest) -> Peer {
        let mut peer = HandoverClient::new(crate::stage::gateway::channel(&self.b.address));
        let begun = std::time::Instant::now();
        loop {
            let reply = peer.prepare(request.clone()).await.unwrap().into_inner();
            if reply.accepted {
                return peer;
            }
            // The region is on its way from the store.
            assert_eq!(reply.code, "not_owner");
            assert!(begun.elapsed() < stage::TIMEOUT);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Makes the handover happen in the store.
    fn zoe_is_handed_over(&self) {
        self.store.log_in("zoe", self.to);
        self.store.change(|state| {
            let zoe = state.characters.get_mut("zoe").unwrap();
            zoe.record.ownership_sequence = 5;
            // Not what her source has announced.
            zoe.record.coins = 7;
            zoe.record.look = "40213".to_owned();
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
    scene.gateway.enter(scene.run_b, "zoe").await;
    let sync = scene
        .gateway
        .read(|seen| seen.attached["zoe"].1.sync.clone());
    let sync: serde_json::Value = serde_json::from_slice(&sync).unwrap();
    assert_eq!(sync["coins"], 7, "what the store has");
    assert_eq!(sync["character"]["look"], "40213", "what the store has");
    // The words of her source are just as old when she has left and nobody plays her.
    scene
        .gateway
        .input(scene.run_b, "zoe", 1, "world:leave", "{}".to_owned())
        .await;
    until("zoe has left", || scene.standing(scene.run_b) == 0).await;
    until("the store knows", || {
        scene.store.read(|state| !state.characters["zoe"].online)
    })
    .await;
    let late = scene.zoes_request(zoes_session());
    let reply = peer.prepare(late).await.unwrap().into_inner();
    assert_eq!((reply.accepted, &*reply.code), (false, "stale"));
    scene.a.stop().await;
    scene.b.stop().await;
}

/// Returns the last words of a source about zoe, after it has played forty inputs of hers.
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
            ..Input::default()
        }],
        held: vec![Private {
            event: "held".to_owned(),
            ..Private::default()
        }],
        session: Some(session),
        ..CompleteRequest::default()
    }
}

/// A network may deliver the offers of one handover in another order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_offer_that_comes_after_a_later_one_counts_no_more() {
    let scene = scene(&["ann"], true).await;
    let session = zoes_session();
    let newer = PrepareRequest {
        attempt: 2,
        ..scene.zoes_request(session.clone())
    };
    let mut peer = scene.promise(&newer).await;
    let older = PrepareRequest {
        attempt: 1,
        ..newer
    };
    let reply = peer.prepare(older).await.unwrap().into_inner();
    assert_eq!((reply.accepted, &*reply.code), (false, "stale"));
    // A run may not know of a committed handover: only the store can tell.
    let words = CompleteRequest {
        attempt: 3,
        ..zoes_last_words(session)
    };
    let reply = peer.complete(words).await.unwrap().into_inner();
    assert!(!reply.known);
    scene.b.stop().await;
}

/// The store was faster than the source, whose last words come late, and twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn what_a_source_says_late_is_heard_once_and_not_by_a_newer_login() {
    let scene = scene(&["ann"], true).await;
    let session = zoes_session();
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
    // A newer login counts its inputs from 1, whatever the source says of the older one.
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
    // A player who came here since by another handover does not play the inputs of an older one.
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

/// The zone no longer shows late words about her pack. It shows her holdings, though nothing else
/// is to be saved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_stands_still_is_shown_what_it_has_when_its_source_says_so_late() {
    let scene = scene(&["ann"], true).await;
    let session = zoes_session();
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

/// A blow was on its way to her when she was handed over: it lands where she is played then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::too_many_lines, reason = "one story")]
async fn who_dies_as_it_is_handed_over_leaves_one_grave() {
    let scene = scene(&["ann"], true).await;
    let session = zoes_session();
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
        state: record.to_document().into(),
        ..scene.zoes_request(session.clone())
    };
    let mut peer = scene.promise(&request).await;
    let mut hot = world::PlayerHot::default();
    hot.fight.clash.coming.push(world::combat::Blow {
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
