//! Chat, within a gateway and between two.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{client::Client, stage::Stage};

/// Says something again and again until the other one hears it, because a player who has just come
/// may not listen yet.
async fn hears(speaker: &mut Client, listener: &mut Client, channel: &str) -> Value {
    for i in 0.. {
        let text = format!("hello {i}");
        let said = speaker
            .ask("player:chat", json!({"message": text, "channel": channel}))
            .await;
        assert_eq!(said["event"], "ack", "{said}");
        let heard = timeout(Duration::from_millis(1500), listener.event("chat:message")).await;
        if let Ok(heard) = heard {
            return heard["data"].clone();
        }
    }
    unreachable!()
}

#[tokio::test(flavor = "multi_thread")]
async fn local_chat_is_heard_nearby_at_any_gateway_and_not_further() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    stage.zone.put("character-Ann", 10, 10);
    stage.zone.put("character-Bob", 42, -22);
    stage.zone.put("character-Far", 43, 10);
    let mut ann = stage.player_at(0, "Ann").await;
    let mut bob = stage.player_at(1, "Bob").await;
    let mut far = stage.player_at(0, "Far").await;
    let heard = hears(&mut ann, &mut bob, "local").await;
    assert_eq!(
        (&heard["from"], &heard["channel"]),
        (&json!("Ann"), &json!("local"))
    );
    assert_eq!(heard["entityId"], "character-Ann");
    // A global message comes behind the local ones; nothing came before it.
    let heard = hears(&mut ann, &mut far, "global").await;
    assert_eq!(heard["channel"], "global", "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_message_is_acknowledged_when_it_has_arrived() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    let mut ann = stage.player_at(0, "Ann").await;
    let mut bob = stage.player_at(1, "Bob").await;
    hears(&mut ann, &mut bob, "global").await;
    let tell = json!({"message": "psst\u{200b}", "channel": "private", "to": "bOB"});
    let id = ann.request("player:chat", tell).await;
    let answer = ann.until(|m| m["re"] == id).await;
    assert_eq!(answer["event"], "ack", "{answer}");
    let heard = bob.until(|m| m["data"]["channel"] == "private").await;
    assert_eq!(
        (&heard["data"]["from"], &heard["data"]["message"]),
        (&json!("Ann"), &json!("psst"))
    );
    let tell = json!({"message": "psst", "channel": "private", "to": "Nobody"});
    let answer = ann.ask("player:chat", tell).await;
    assert_eq!(answer["data"]["code"], "not_delivered");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sixth_message_in_five_seconds_is_refused() {
    let stage = Stage::open(&[]).await;
    let mut ann = stage.player("Ann").await;
    for _ in 0..5 {
        let said = ann.ask("player:chat", json!({"message": "hello"})).await;
        assert_eq!(said["event"], "ack", "{said}");
    }
    let refused = ann.ask("player:chat", json!({"message": "hello"})).await;
    assert_eq!(refused["data"]["code"], "rate_limited");
    assert!(refused["data"]["retryAfterMs"].as_u64().unwrap() <= 5001);
}
