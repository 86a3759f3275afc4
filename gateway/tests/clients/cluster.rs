//! Two gateways that hear each other through a real Redis Cluster of three nodes, and what players
//! notice when one of the nodes goes.

use std::time::Duration;

use serde_json::{Value, json};
use test_servers::RedisCluster;
use tokio::time::{Instant, timeout};

use crate::{client::Client, stage::Stage};

/// Far shorter than the time after which gateways look for what no event told.
const SOON: Duration = Duration::from_secs(8);

/// Waits for a message of which `right` is true.
async fn told(client: &mut Client, event: &str, right: impl Fn(&Value) -> bool) {
    let found = client.until(|m| m["event"] == event && right(&m["data"]));
    timeout(SOON, found).await.expect(event);
}

/// Says something to Bob until it is acknowledged, and checks that he has it.
async fn whisper(ann: &mut Client, bob: &mut Client) {
    let tell = json!({"message": "psst", "channel": "private", "to": "Bob"});
    let began = Instant::now();
    while ann.ask("player:chat", tell.clone()).await["event"] != "ack" {
        assert!(began.elapsed() < SOON);
        // At most five messages in five seconds.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    told(bob, "chat:message", |data| data["channel"] == "private").await;
}

async fn notice(client: &mut Client, code: &str, words: &str) {
    let right = |data: &Value| data["code"] == code && data["message"].as_str().unwrap() == words;
    told(client, "notice", right).await;
}

/// Returns a friend's state in a message about friends.
fn is(data: &Value, id: &str, status: &str) -> bool {
    let friends = data["friends"].as_array().into_iter().flatten();
    friends
        .into_iter()
        .any(|friend| friend["id"] == id && friend["status"] == status)
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_and_friends_go_over_a_cluster_that_loses_a_node_and_gets_it_back() {
    let mut cluster = RedisCluster::start();
    let urls = cluster.urls();
    // Nobody looks for what no event told.
    let settings = [
        ("REDIS_URL", urls.as_str()),
        ("REDIS_CLUSTER", "on"),
        ("PRESENCE_POLL_SECONDS", "3600"),
    ];
    let mut stage = Stage::open(&settings).await;
    stage.add_gateway(&settings).await;
    let mut ann = stage.player_at(0, "Ann").await;
    let mut bob = stage.player_at(1, "Bob").await;
    whisper(&mut ann, &mut bob).await;
    let id = bob.character_id.clone();
    befriend(&mut ann, &mut bob).await;
    bob.ask("world:leave", json!({})).await;
    told(&mut ann, "friends:presence", |data| {
        is(data, &id, "offline")
    })
    .await;
    bob.enter_as(&id).await;
    told(&mut ann, "friends:presence", |data| is(data, &id, "online")).await;
    assert!(stage.metric("gateway_bus_nodes", "answers") >= 3.0);

    // The node of neither Bob's presence nor of global chat, where there is one.
    let key = format!("presence:{id}");
    let kept = [cluster.owner("chat:global"), cluster.owner(&key)];
    let lost = (0..3).find(|node| !kept.contains(node)).unwrap();
    cluster.kill9(lost);
    let words = "A part of chat is paused; the world goes on.";
    notice(&mut ann, "chat_away", words).await;
    notice(&mut bob, "chat_away", words).await;
    let said = json!({"message": "still here", "channel": "global"});
    let answer = ann.ask("player:chat", said).await;
    assert_eq!(answer["event"], "ack", "{answer}");
    told(&mut bob, "chat:message", |data| {
        data["message"] == "still here"
    })
    .await;
    let list = ann.ask("friends:list", json!({})).await;
    assert!(
        is(&list["data"], &id, "online"),
        "its node is there: {list}"
    );
    assert!(stage.get(0, "/readyz").await.starts_with("HTTP/1.1 200"));

    cluster.restart(lost);
    notice(&mut ann, "chat_back", "Chat is back.").await;
    notice(&mut bob, "chat_back", "Chat is back.").await;
    whisper(&mut ann, &mut bob).await;
    bob.ask("world:leave", json!({})).await;
    told(&mut ann, "friends:presence", |data| {
        is(data, &id, "offline")
    })
    .await;
}

/// Makes two players friends.
async fn befriend(ann: &mut Client, bob: &mut Client) {
    let asked = ann.ask("friends:request", json!({"name": "Bob"})).await;
    assert_eq!(asked["event"], "friends:update", "{asked}");
    let request = bob.until(|m| m["data"]["requests"].is_array() && m["event"] == "friends:update");
    let request = request.await["data"]["requests"][0]["id"].clone();
    let now = bob
        .ask("friends:accept", json!({"requestId": request}))
        .await;
    assert_eq!(now["event"], "friends:update", "{now}");
    told(ann, "friends:update", |data| data["friends"].is_array()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_node_all_of_chat_pauses_and_the_world_goes_on() {
    let mut cluster = RedisCluster::start();
    let urls = cluster.urls();
    let settings = [("REDIS_URL", urls.as_str()), ("REDIS_CLUSTER", "on")];
    let stage = Stage::open(&settings).await;
    let mut ann = stage.player_at(0, "Ann").await;
    for node in 0..3 {
        cluster.kill9(node);
    }
    notice(&mut ann, "chat_away", "Chat is paused; the world goes on.").await;
    let said = json!({"message": "hello", "channel": "global"});
    let refused = ann.ask("player:chat", said).await;
    assert_eq!(refused["data"]["code"], "busy", "{refused}");
    let moved = ann.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack", "{moved}");
}
