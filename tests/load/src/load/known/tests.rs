//! What a bot is told, and what it makes of it.

use std::sync::Arc;

use proto::client::Format;

use super::*;
use crate::{
    bot::wire,
    load::{Ground, Scenario},
    terrain::{Bounds, Terrain},
};

fn meadow() -> Arc<Ground> {
    let bounds = Bounds {
        min_x: -64,
        max_x: 64,
        min_z: -64,
        max_z: 64,
    };
    let mut terrain = Terrain::empty(bounds, (0, 0));
    for z in -64..64 {
        for x in -64..64 {
            terrain.set((x, z), true);
        }
    }
    Arc::new(Ground::new(terrain, Vec::new()))
}

fn bot(acting: Acting) -> (Known, Instant) {
    let now = Instant::now();
    let plan = Plan::new(Scenario::Wander, meadow(), 1, 0, now);
    (Known::new(plan, acting, 1, now), now)
}

fn hear(known: &mut Known, now: Instant, event: &str, re: Option<u64>, data: &Value) {
    let seq = known.view.seq + 1;
    let mut message = json!({ "event": event, "seq": seq, "data": data });
    if let Some(re) = re {
        message["re"] = json!(re);
    }
    let text = message.to_string();
    let message = wire::read(Format::Json, text.as_bytes()).unwrap();
    known.take(&message, now);
}

fn arrive(known: &mut Known, now: Instant) {
    let character = json!({"id": "me", "name": "Me", "combatLevel": 3});
    known.view.characters = vec![serde_json::from_value(character.clone()).unwrap()];
    let entered = json!({"characterId": "me", "entityId": "me", "tick": 1, "region": [0, 0],
        "zone": "1"});
    hear(known, now, "world:entered", None, &entered);
    let mut inventory = vec![Value::Null; 28];
    inventory[0] = json!({ "itemId": "logs", "quantity": 9 });
    let sync = json!({"tick": 1, "character": character,
        "position": {"x": 0, "y": 0.0, "z": 0}, "health": {"current": 1, "max": 1},
        "skills": {}, "inventory": inventory, "equipment": {}, "coins": 25,
        "energy": 1.0, "run": false});
    hear(known, now, "player:sync", None, &sync);
}

/// Calls it at each time that it names; returns its requests and their times.
fn run(known: &mut Known, from: Instant, times: usize) -> Vec<(Instant, Request)> {
    let (mut now, mut sent) = (from, Vec::new());
    for _ in 0..times {
        let Some(due) = known.due() else {
            break;
        };
        assert!(due <= now + Duration::from_secs(60));
        now = due.max(now) + Duration::from_millis(1);
        if let Some(request) = known.next(now).0 {
            sent.push((now, request));
        }
    }
    sent
}

const ACTS: Acting = Acting {
    actions: true,
    ..Acting::NONE
};

#[test]
fn who_acts_waits_for_its_answer_and_gives_up_after_ten_seconds() {
    let (mut known, now) = bot(ACTS);
    arrive(&mut known, now);
    let walk = run(&mut known, now, 1).remove(0);
    assert_eq!(walk.1.event, "player:move");
    // A walk ends only when an update shows its destination.
    known.plan.refused(walk.0);
    let first = run(&mut known, walk.0, 20).into_iter().next().unwrap();
    assert_ne!(first.1.event, "player:move");

    let (mut known, now) = bot(ACTS);
    arrive(&mut known, now);
    let action = Action::Withdraw { amount: 1 };
    known.ask(action, now);
    assert!(!known.is_settled());
    assert_eq!(known.next(now + Duration::from_secs(9)).0, None);
    known.next(now + Duration::from_secs(11));
    assert!(known.is_settled());
    assert_eq!(known.tally.unanswered, 1);
}

#[test]
fn what_a_late_answer_is_about_is_waited_for() {
    let (mut known, now) = bot(ACTS);
    arrive(&mut known, now);
    let asked = known.ask(Action::Withdraw { amount: 1 }, now);
    // Its store was away.
    let late = now + Duration::from_secs(30);
    let coins = json!({ "slot": 1, "item": { "itemId": "coins", "quantity": 1 } });
    let pack = json!({ "slots": [coins] });
    hear(&mut known, late, "inventory:update", None, &pack);
    known.next(late);
    hear(
        &mut known,
        late,
        "coins:update",
        None,
        &json!({ "coins": 24 }),
    );
    hear(&mut known, late, "ack", Some(asked.id), &json!({}));
    assert!(known.is_settled());
    let faults: Vec<&String> = known.view.possessions.faults().collect();
    assert_eq!(faults, Vec::<&String>::new());
}

#[test]
fn a_hushed_bot_asks_for_nothing() {
    let (mut known, now) = bot(ACTS);
    arrive(&mut known, now);
    known.hushed = true;
    assert!(run(&mut known, now, 50).is_empty());
}

#[test]
fn who_left_comes_back_and_tries_again_when_it_is_refused() {
    let leaves = Acting {
        leave_every: Some(Duration::from_secs(1)),
        ..Acting::NONE
    };
    let (mut known, now) = bot(leaves);
    arrive(&mut known, now);
    let sent = run(&mut known, now, 40);
    let (at, leave) = sent.iter().find(|(_, r)| r.event == "world:leave").unwrap();
    let left = json!({ "characterId": "me" });
    hear(&mut known, *at, "world:left", Some(leave.id), &left);
    let (at, enter) = run(&mut known, *at, 1).remove(0);
    assert_eq!(enter.event, "world:enter");
    let busy = json!({"code": "busy", "message": "", "event": "world:enter"});
    hear(&mut known, at, "error", Some(enter.id), &busy);
    let (at, again) = run(&mut known, at, 1).remove(0);
    assert_eq!(again.event, "world:enter");
    arrive(&mut known, at);
    assert!(known.is_settled());
}

#[test]
fn a_bot_asks_for_walks_until_it_moves_again() {
    let (mut known, now) = bot(Acting::NONE);
    arrive(&mut known, now);
    known.failover.begin(now);
    let sent = run(&mut known, now, 4);
    assert!(sent.len() >= 3 && sent.iter().all(|(_, r)| r.event == "player:move"));
    let (at, last) = sent.last().unwrap();
    hear(&mut known, *at, "ack", Some(last.id), &json!({}));
    let moved = json!({"tick": 2, "chunks": [{"x": 0, "z": 0, "full": true, "enter": [
        {"id": "me", "type": "player", "x": 1, "z": 0}]}]});
    hear(&mut known, *at, "world:update", None, &moved);
    assert_eq!(known.failover.took(), Some(at.duration_since(now)));
}
