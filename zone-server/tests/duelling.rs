//! Duels of players in a zone: the news for both, the saved state, and the stakes that are left
//! when the zone dies.

#![allow(clippy::unwrap_used)]

use proto::rpc::{persistence::v1::Slot, zone::v1::Private};
use world::{Content, Region};

use crate::stage::{Zone, gateway::Gateway, store::Store, until};

fn slot(item: &str, quantity: u32) -> Slot {
    Slot {
        slot: 0,
        item_id: item.to_owned(),
        quantity,
    }
}

/// Returns the data of the last message of that name, once somebody has heard it.
async fn hears(gateway: &Gateway, who: &str, event: &str) -> serde_json::Value {
    let heard = || -> Option<Private> {
        let mut messages = gateway.messages(who).into_iter();
        messages.rfind(|message| message.event == event)
    };
    until(&format!("{who} hears {event}"), || heard().is_some()).await;
    serde_json::from_slice(&heard().unwrap().data).unwrap()
}

type Held = Vec<(String, u32)>;

/// Returns a character's items in the store: those in the pack, and those at stake.
fn has(store: &Store, who: &str) -> (Held, Held) {
    let held = store.read(|state| state.characters[who].clone()).record;
    let items = |slots: Vec<Slot>| -> Held {
        let slots = slots.into_iter();
        slots.map(|slot| (slot.item_id, slot.quantity)).collect()
    };
    (items(held.inventory), items(held.stakes))
}

/// Brings ann with coins and bob with logs, in the lobby, to the last look: their stakes are in no
/// pack any more. Returns the run, the region and the duel.
#[allow(clippy::too_many_lines, reason = "one story")]
async fn about_to_fight(store: &Store, zone: &Zone, gateway: &Gateway) -> (u64, Region, String) {
    let content = Content::embedded();
    let rings = content.rings().unwrap();
    let region = Region::from(rings.exit);
    for (who, item) in [("ann", "coins"), ("bob", "logs")] {
        store.log_in(who, rings.exit);
        store.change(|state| {
            let character = state.characters.get_mut(who).unwrap();
            character.record.inventory = vec![slot(item, 1)];
        });
    }
    until("the zone registers", || {
        store.run_at(&zone.address).is_some()
    })
    .await;
    let run = store.run_at(&zone.address).unwrap();
    store.assign(region, run);
    gateway.link(run, &zone.address, 1, &[region]).await;
    for who in ["ann", "bob"] {
        gateway.enter(run, who).await;
    }
    let says = |who: &'static str, number: u64, event: &'static str, data: String| async move {
        gateway.input(run, who, number, event, data).await;
    };
    let ask = r#"{"targetPlayerId":"bob"}"#.to_owned();
    says("ann", 1, "duel:challenge", ask).await;
    let incoming = hears(gateway, "bob", "duelChallengeIncoming").await;
    let yes = format!(
        r#"{{"challengeId":{},"accept":true}}"#,
        incoming["challengeId"]
    );
    says("bob", 1, "duel:challenge:respond", yes).await;
    let started = hears(gateway, "ann", "duelSessionStarted").await;
    assert_eq!(started["opponentId"], "bob");
    let duel = started["duelId"].to_string();
    let of = |more: &str| format!(r#"{{"duelId":{duel}{more}}}"#);
    says("bob", 2, "duel:toggle:rule", of(r#","rule":"noLuck""#)).await;
    let refused = hears(gateway, "bob", "duelError").await;
    assert_eq!(refused["code"], "INVALID_RULE");
    says("ann", 2, "duel:accept:rules", of("")).await;
    says("bob", 3, "duel:accept:rules", of("")).await;
    let moved = || {
        let messages = gateway.messages("ann").into_iter();
        let mut states = messages.filter(|message| message.event == "duelStateChanged");
        states.any(|message| String::from_utf8_lossy(&message.data).contains("STAKES"))
    };
    until("it is about the stakes", moved).await;
    let all = || of(r#","inventorySlot":0,"quantity":1"#);
    says("ann", 3, "duel:add:stake", all()).await;
    says("bob", 4, "duel:add:stake", all()).await;
    let staked = || {
        let messages = gateway.messages("ann").into_iter();
        messages.filter(|m| m.event == "duelStakesUpdated").count() == 2
    };
    until("both have staked", staked).await;
    says("ann", 4, "duel:accept:stakes", of("")).await;
    says("bob", 5, "duel:accept:stakes", of("")).await;
    let escrow = || has(store, "ann").1.len() + has(store, "bob").1.len() == 2;
    until("it lies at stake by the store's word", escrow).await;
    assert_eq!(has(store, "ann"), (vec![], vec![("coins".to_owned(), 1)]));
    (run, region, duel)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_wins_has_what_was_staked_and_both_are_told_when_that_is_saved() {
    let (store, gateway) = (Store::start().await, Gateway::new("g"));
    let zone = Zone::start(&store.address, |_| {}).await;
    let (run, _, duel) = about_to_fight(&store, &zone, &gateway).await;
    let of = |event: &'static str| (event, format!(r#"{{"duelId":{duel}}}"#));
    let (event, data) = of("duel:accept:final");
    gateway.input(run, "ann", 5, event, data.clone()).await;
    gateway.input(run, "bob", 6, event, data).await;
    let fight = hears(&gateway, "bob", "duelFightStart").await;
    assert_eq!(fight["opponentId"], "ann");
    // Nobody walks out of the world from there.
    gateway
        .input(run, "bob", 7, "world:leave", "{}".to_owned())
        .await;
    assert_eq!(hears(&gateway, "bob", "error").await["code"], "in_combat");
    let (event, data) = of("duel:forfeit");
    gateway.input(run, "bob", 8, event, data).await;
    let won = hears(&gateway, "ann", "duelCompleted").await;
    assert_eq!((&won["won"], &won["forfeit"]), (&true.into(), &true.into()));
    assert_eq!(won["itemsReceived"][0]["itemId"], "logs");
    // A player who was told of it has it by the store's word.
    let (mut pack, stakes) = has(&store, "ann");
    pack.sort();
    assert_eq!(pack, [("coins".to_owned(), 1), ("logs".to_owned(), 1)]);
    assert_eq!((stakes, has(&store, "bob")), (vec![], (vec![], vec![])));
    let problems = store.read(|state| state.problems.clone());
    assert_eq!(problems, Vec::<String>::new());
    zone.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_that_dies_in_a_duel_leaves_the_stakes_to_their_owners() {
    let (store, gateway) = (Store::start().await, Gateway::new("g"));
    let zone = Zone::start(&store.address, |_| {}).await;
    let (run, region, _) = about_to_fight(&store, &zone, &gateway).await;
    store.change(|state| state.fenced.push(run));
    let heir = Zone::start(&store.address, |_| {}).await;
    until("the heir registers", || {
        store.run_at(&heir.address).is_some()
    })
    .await;
    store.assign(region, store.run_at(&heir.address).unwrap());
    for (who, item) in [("ann", "coins"), ("bob", "logs")] {
        let back = || has(&store, who) == (vec![(item.to_owned(), 1)], vec![]);
        until(&format!("{who} has its {item} again"), back).await;
    }
    heir.stop().await;
    zone.stop().await;
}
