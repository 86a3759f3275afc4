//! Global chat: its budget for the world, slow mode, and its shards.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{client::Client, stage::Stage};

async fn shout(client: &mut Client, message: &str) -> Value {
    let said = json!({"message": message, "channel": "global"});
    client.ask("player:chat", said).await
}

async fn hears(client: &mut Client, message: &str) {
    client
        .until(|m| m["event"] == "chat:message" && m["data"]["message"] == message)
        .await;
}

/// Checks a refusal, and returns the time to wait.
fn wait(refused: &Value, code: &str) -> Duration {
    assert_eq!(refused["data"]["code"], code, "{refused}");
    assert_eq!(refused["data"]["event"], "player:chat");
    Duration::from_millis(
        refused["data"]["retryAfterMs"]
            .as_u64()
            .expect("a time to wait"),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn the_world_has_one_budget_for_all_gateways_and_its_refusal_does_not_count_for_slow_mode() {
    let settings = [
        ("GLOBAL_CHAT_PER_SECOND", "1"),
        ("GLOBAL_CHAT_SLOW_SECONDS", "60"),
    ];
    let mut stage = Stage::open(&settings).await;
    stage.add_gateway(&settings).await;
    let mut ann = stage.player_at(0, "Ann").await;
    let mut bob = stage.player_at(1, "Bob").await;
    // Within a second, only one of both is heard.
    let (one, other) = tokio::join!(shout(&mut ann, "of Ann"), shout(&mut bob, "of Bob"));
    let (refused, speaker) = match (one["event"].as_str(), other["event"].as_str()) {
        (Some("ack"), Some("error")) => (other, &mut bob),
        (Some("error"), Some("ack")) => (one, &mut ann),
        _ => panic!("{one} {other}"),
    };
    let left = wait(&refused, "global_chat_full");
    assert!(left <= Duration::from_secs(1), "{left:?}");
    assert_eq!(
        stage.metric_at(0, "gateway_chat_total", "over_budget")
            + stage.metric_at(1, "gateway_chat_total", "over_budget"),
        1.0
    );
    // The refusal is good for that second and no longer.
    sleep(Duration::from_millis(1100)).await;
    let said = shout(speaker, "later").await;
    assert_eq!(said["event"], "ack", "{said}");
    // Local chat has no part in it.
    let said = ann.ask("player:chat", json!({"message": "here"})).await;
    assert_eq!(said["event"], "ack", "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_mode_follows_a_character_to_another_gateway() {
    let settings = [("GLOBAL_CHAT_SLOW_SECONDS", "60")];
    let mut stage = Stage::open(&settings).await;
    stage.add_gateway(&settings).await;
    let mut ann = stage.player_at(0, "Ann").await;
    let mut bob = stage.player_at(1, "Bob").await;
    assert_eq!(shout(&mut ann, "first").await["event"], "ack");
    let left = wait(&shout(&mut ann, "second").await, "slow_mode");
    assert!(
        left > Duration::from_secs(50) && left <= Duration::from_secs(60),
        "{left:?}"
    );
    let said = shout(&mut bob, "another one's").await;
    assert_eq!(said["event"], "ack", "{said}");
    // The anonymous account is its connection's: this one has no character of that name.
    let id = ann.character_id.clone();
    ann.ask("world:leave", json!({})).await;
    let key = ann.welcome["deviceKey"].clone();
    let mut again = Client::connect(stage.address(1), "").await;
    again.ask("authenticate", json!({"deviceKey": key})).await;
    again.enter_as(&id).await;
    wait(&shout(&mut again, "third").await, "slow_mode");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_language_has_a_global_chat_of_its_own() {
    let settings = [
        ("GLOBAL_CHAT_SHARDS", "language"),
        ("GLOBAL_CHAT_LANGUAGES", "en,de"),
    ];
    let mut stage = Stage::open(&settings).await;
    stage.add_gateway(&settings).await;
    let mut players = Vec::new();
    for (gateway, name, language) in [
        (0, "Ann", "accept-language: de-CH, en;q=0.5\r\n"),
        (1, "Bob", "accept-language: de\r\n"),
        (1, "Cat", "accept-language: xx\r\n"),
        (0, "Dan", ""),
    ] {
        let mut client = Client::connect(stage.address(gateway), language).await;
        client.log_in().await;
        client.enter(name).await;
        players.push(client);
    }
    let [ann, bob, cat, dan] = players.as_mut_slice() else {
        panic!("four players")
    };
    heard_by(ann, Some(bob), "hallo").await;
    heard_by(cat, Some(dan), "hello").await;
    // Each heard only its own language, though all said something.
    for (client, unwanted) in [(bob, "hello"), (dan, "hallo")] {
        client.alive().await;
        assert!(!client.has_heard(unwanted), "{unwanted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_area_has_a_global_chat_of_its_own() {
    let stage = Stage::open(&[("GLOBAL_CHAT_SHARDS", "area")]).await;
    stage.zone.put("character-Ann", 0, 0);
    stage.zone.put("character-Bob", 255, -256);
    stage.zone.put("character-Cat", 256, 0);
    let mut ann = stage.player("Ann").await;
    let mut bob = stage.player("Bob").await;
    let mut cat = stage.player("Cat").await;
    heard_by(&mut ann, Some(&mut bob), "in the middle").await;
    heard_by(&mut cat, None, "in the east").await;
    assert!(!cat.has_heard("in the middle"));
}

/// Says something until the listener hears it, or the speaker itself if there is no listener: a
/// player who has just come may not listen yet.
async fn heard_by(speaker: &mut Client, mut listener: Option<&mut Client>, message: &str) {
    for _ in 0..5 {
        assert_eq!(shout(speaker, message).await["event"], "ack");
        let heard = hears(listener.as_deref_mut().unwrap_or(speaker), message);
        if tokio::time::timeout(Duration::from_millis(1100), heard)
            .await
            .is_ok()
        {
            return;
        }
    }
    panic!("{message}: not heard");
}
