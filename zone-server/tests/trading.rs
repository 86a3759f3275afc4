//! Trades of players whom two zones play.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use bytes::Bytes;
use proto::rpc::{
    persistence::v1::Slot,
    zone::v1::{Attach, Input, Private, to_zone},
};
use world::Tile;

use crate::{
    border::{Scene, scene_of},
    stage::{
        TICK_MS, audit,
        store::{Store, key},
        until,
    },
};

/// Returns the data of the first message of that name, once somebody has heard it.
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

/// Puts a hatchet into a character's pack.
fn has_a_hatchet(store: &Store, who: &str) {
    store.change(|state| {
        let who = state.characters.get_mut(who).unwrap();
        who.record.inventory = vec![Slot {
            slot: 0,
            item_id: "bronze_hatchet".to_owned(),
            quantity: 1,
        }];
    });
}

/// Starts a scene with ann in the west and bob in the east, one step apart.
async fn beside_the_border() -> Scene {
    let scene = scene_of(&["ann", "bob"], true, |store| has_a_hatchet(store, "ann")).await;
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
    let told = gateway.messages("bob").into_iter();
    let asking = told.filter(|message| message.event == "tradeIncoming");
    let asking = asking.filter_map(|message| message.encounter);
    let asking: Vec<String> = asking.map(|encounter| encounter.asking_account).collect();
    assert_eq!(
        asking,
        [scene
            .store
            .read(|state| state.characters["ann"].record.account_id.clone())]
    );
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
    // A player who was told of it has it by the store's word.
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

/// A trade would have to bring each to the other. The first one under way goes; of two at once, the
/// one whose id comes first. There is one trade.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_ask_each_other_over_the_border_one_goes_and_one_is_refused() {
    let scene = beside_the_border().await;
    let (a, b, gateway) = (scene.run_a, scene.run_b, &scene.gateway);
    let of = |who: &str| {
        let held = scene.store.read(|state| state.characters[who].clone());
        held.record.ownership_sequence
    };
    let before = (of("ann"), of("bob"));
    let into_tick_ms = || {
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_millis() % u128::from(TICK_MS)
    };
    until("a tick has just begun", || {
        (20..80).contains(&into_tick_ms())
    })
    .await;
    let ask = |whom: &str| format!(r#"{{"targetPlayerId":"{whom}"}}"#);
    gateway.input(a, "ann", 2, "tradeRequest", ask("bob")).await;
    gateway.input(b, "bob", 3, "tradeRequest", ask("ann")).await;
    let incoming = |who: &str| {
        let told = gateway.messages(who);
        let told = told.iter().filter(|m| m.event == "tradeIncoming");
        told.count()
    };
    let answers = |who: &str, re: &str| {
        let told = gateway.messages(who).into_iter();
        let told = told.filter(|message| *message.re == *re.as_bytes());
        told.map(|message| message.event).collect::<Vec<_>>()
    };
    until("both are answered", || {
        !answers("ann", "2").is_empty() && !answers("bob", "3").is_empty()
    })
    .await;
    until("one is asked", || incoming("ann") + incoming("bob") > 0).await;
    let mut answers = [answers("ann", "2"), answers("bob", "3")];
    answers.sort();
    assert_eq!(answers, [["ack"], ["tradeError"]]);
    assert_eq!(incoming("ann") + incoming("bob"), 1);
    let went = (of("ann") - before.0, of("bob") - before.1);
    assert!([(1, 0), (0, 1)].contains(&went), "{went:?}");
    let problems = scene.store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    scene.a.stop().await;
    scene.b.stop().await;
}

/// Brings two players in one zone to the last screen of a trade in which `one` gives `other` a
/// hatchet. Returns the scene and the trade's id, in quotes.
async fn about_to_swap(one: &str, other: &str) -> (Scene, String) {
    let scene = scene_of(&[one, other], false, |store| has_a_hatchet(store, one)).await;
    let (run, gateway) = (scene.run_a, &scene.gateway);
    let ask = format!(r#"{{"action":"trade","target":"{other}"}}"#);
    gateway.input(run, one, 1, "player:action", ask).await;
    let incoming = hears(&scene, other, "tradeIncoming").await;
    let trade = incoming["tradeId"].to_string();
    let of = |more: &str| format!(r#"{{"tradeId":{trade}{more}}}"#);
    let yes = of(r#","accept":true"#);
    let event = "tradeRequestRespond";
    gateway.input(run, other, 1, event, yes).await;
    hears(&scene, one, "tradeStarted").await;
    let offer = of(r#","inventorySlot":0"#);
    gateway.input(run, one, 2, "tradeAddItem", offer).await;
    hears(&scene, other, "tradeUpdated").await;
    gateway.input(run, one, 3, "tradeAccept", of("")).await;
    gateway.input(run, other, 2, "tradeAccept", of("")).await;
    hears(&scene, one, "tradeConfirmScreen").await;
    hears(&scene, other, "tradeConfirmScreen").await;
    (scene, trade)
}

#[allow(clippy::too_many_lines, reason = "one story")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_login_is_shown_the_trade_and_nothing_of_the_first_counts_any_more() {
    let (scene, trade) = about_to_swap("ann", "bob").await;
    let (run, gateway) = (scene.run_a, &scene.gateway);
    let of = |screen: &str| format!(r#"{{"tradeId":{trade},"screen":"{screen}"}}"#);
    let confirm = of("confirm");
    gateway.input(run, "bob", 3, "tradeAccept", confirm).await;
    let agreed = || {
        let told = gateway.messages("bob");
        told.iter().any(|message| *message.re == *b"3")
    };
    until("bob has agreed", agreed).await;
    scene.store.change(|state| {
        let ann = state.characters.get_mut("ann").unwrap();
        ann.record.session_epoch = 2;
    });
    let before = gateway.messages("ann").len();
    let attach = Attach {
        session_id: "session-ann-2".to_owned(),
        character_id: "ann".to_owned(),
        session_epoch: 2,
        attach: 1,
        last_input: 0,
        resume: false,
        shown: None,
    };
    gateway.say(run, to_zone::Message::Attach(attach)).await;
    let shown = || {
        let told = gateway.messages("ann").into_iter().skip(before);
        told.map(|message| message.event).collect::<Vec<_>>()
    };
    let screen = |event: &String| event == "tradeConfirmScreen";
    until("the second login is shown the trade", || {
        shown().iter().any(screen)
    })
    .await;
    // The first one, which does not know yet, agrees, whatever number that has; the second one
    // does something else.
    for number in [4, 1] {
        let confirm = of("confirm");
        let agrees = gateway.input(run, "ann", number, "tradeAccept", confirm);
        agrees.await;
    }
    let second = |number: u64, event: &str, data: String| {
        let input = Input {
            session_id: "session-ann-2".to_owned(),
            character_id: "ann".to_owned(),
            session_epoch: 2,
            number,
            event: event.to_owned(),
            data: data.into(),
            id: Bytes::from(format!("second-{number}")),
            ..Input::default()
        };
        gateway.say(run, to_zone::Message::Input(input))
    };
    let answered = |re: &'static str| {
        let told = gateway.messages("ann");
        told.iter().any(|message| *message.re == *re.as_bytes())
    };
    second(1, "player:move", r#"{"run":true}"#.to_owned()).await;
    until("the second login is heard", || answered("second-1")).await;
    let completed = || shown().iter().filter(|e| *e == "tradeCompleted").count();
    assert_eq!((completed(), has(&scene, "bob")), (0, vec![]));
    second(2, "tradeAccept", of("confirm")).await;
    until("the trade is done", || completed() > 0).await;
    hears(&scene, "bob", "tradeCompleted").await;
    assert_eq!(completed(), 1);
    assert_eq!(has(&scene, "bob"), [("bronze_hatchet".to_owned(), 1)]);
    assert_eq!(has(&scene, "ann"), []);
    let kept = scene.store.read(|state| state.kept.clone());
    let entries = kept.iter().flat_map(|rows| &rows.ledger);
    let got = entries.filter(|entry| entry.character_id == "bob");
    assert_eq!(got.map(|entry| entry.delta).collect::<Vec<_>>(), [1]);
    scene.a.stop().await;
    scene.b.stop().await;
}

/// These two are in no other test: the log is one for all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_step_of_a_trade_is_in_the_audit_log() {
    audit::listen();
    let (scene, trade) = about_to_swap("cid", "dot").await;
    let (run, gateway) = (scene.run_a, &scene.gateway);
    let of = |more: &str| format!(r#"{{"tradeId":{trade}{more}}}"#);
    let wrong = of(r#","inventorySlot":5"#);
    gateway.input(run, "cid", 4, "tradeAddItem", wrong).await;
    hears(&scene, "cid", "tradeError").await;
    gateway.input(run, "cid", 5, "tradeAccept", of("")).await;
    gateway.input(run, "dot", 3, "tradeAccept", of("")).await;
    hears(&scene, "dot", "tradeCompleted").await;
    let lines = audit::lines_of(&format!("trade={} ", trade.trim_matches('"')));
    let word = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=")).unwrap();
        rest.split(' ').next().unwrap().to_owned()
    };
    let steps = |who: &str| {
        let of = lines.iter().filter(|line| word(line, "character") == who);
        of.map(|line| word(line, "step")).collect::<Vec<_>>()
    };
    assert_eq!(
        steps("cid"),
        [
            "request",
            "offer",
            "accept_offer",
            "refused",
            "accept_confirm",
            "gave"
        ]
    );
    assert_eq!(
        steps("dot"),
        ["start", "accept_offer", "accept_confirm", "gave"]
    );
    let gave = lines.iter().find(|line| line.contains("step=gave"));
    assert!(
        gave.unwrap().contains("things=1 bronze_hatchet"),
        "{gave:?}"
    );
    scene.a.stop().await;
    scene.b.stop().await;
}

/// This one is in no other test either, and asks for what nobody else asks for here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_again_and_again_is_in_the_audit_log_once_a_second_with_its_number() {
    audit::listen();
    let scene = scene_of(&["eve"], false, |_| ()).await;
    let (run, gateway) = (scene.run_a, &scene.gateway);
    let began = Instant::now();
    let refused = || {
        let told = gateway.messages("eve").into_iter();
        told.filter(|message| message.event == "tradeError").count()
    };
    let ask = |number: u64| {
        let myself = r#"{"targetPlayerId":"eve"}"#.to_owned();
        gateway.input(run, "eve", number, "tradeRequest", myself)
    };
    let mut asked: u64 = 0;
    for burst in 1..=20 {
        while asked < burst * 5 {
            asked += 1;
            ask(asked).await;
        }
        let all = || refused() as u64 == asked;
        until("all are refused", all).await;
    }
    // A second later the next line says how many there were.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    asked += 1;
    ask(asked).await;
    until("the last is refused", || refused() as u64 == asked).await;
    let lines = audit::lines_of("character=eve ");
    let seconds = began.elapsed().as_secs() as usize;
    assert!(lines.len() <= seconds + 2, "{} in {seconds} s", lines.len());
    let left_out = |line: &String| {
        let (_, rest) = line.split_once("left_out=").unwrap();
        rest.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let written = lines.len() as u64 + lines.iter().map(left_out).sum::<u64>();
    assert_eq!(written, asked, "{lines:?}");
    scene.a.stop().await;
    scene.b.stop().await;
}
