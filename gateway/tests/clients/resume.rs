//! Losing a connection and coming back; being replaced by another login.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::{client::CLOSE, client::Client, stage::Stage};

/// Waits until the gateway counts this many sessions in a state.
async fn sessions(stage: &Stage, state: &str, count: f64) {
    let label = format!("state=\"{state}\"");
    let counted = async {
        while (stage.metric("gateway_sessions", &label) - count).abs() > 0.1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let counted = timeout(Duration::from_secs(10), counted).await;
    counted.unwrap_or_else(|_| panic!("never {count} in state {state}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_replays_exactly_the_missed_reliable_messages() {
    let stage = Stage::open(&[]).await;
    let mut client = stage.player("Ann").await;
    for i in 0..5 {
        stage.zone.say(
            &client.character_id,
            "notice",
            &format!(r#"{{"message":"{i}"}}"#),
        );
    }
    let seen = client.until(|m| m["data"]["message"] == "1").await["seq"]
        .as_u64()
        .unwrap();
    client.until(|m| m["data"]["message"] == "4").await;
    let lost = client.lose();
    sessions(&stage, "lingering", 1.0).await;
    let (mut client, resumed) = lost.resume(stage.address(0), seen).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    assert_eq!(resumed["data"]["resync"], false);
    assert_eq!(resumed["data"]["replayed"], 3);
    assert_eq!(resumed["seq"], seen + 1, "the count goes on");
    for i in 2..5 {
        assert_eq!(client.message().await["data"]["message"], i.to_string());
    }
    // The gateway asks the zone again, and sends everything in sight anew.
    client.event("player:sync").await;
    let update = client.event("world:update").await;
    assert_eq!(update["data"]["chunks"][0]["full"], true, "{update}");
    client.alive().await;
    sessions(&stage, "world", 1.0).await;
    sessions(&stage, "lingering", 0.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_takes_over_from_a_connection_that_still_stands() {
    let stage = Stage::open(&[]).await;
    let mut old = stage.player("Ann").await;
    old.alive().await;
    let token = old.token.clone();
    let mut new = stage.connect().await;
    new.event("session:hello").await;
    let data = json!({"resumeToken": token, "lastSeq": old.seq});
    new.request("session:resume", data).await;
    assert_eq!(new.message().await["event"], "session:resumed");
    assert_eq!(old.closed().await.0, 1001);
    new.alive().await;
    let moved = new.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unresolved_count_means_everything_anew_and_unknown_outcomes() {
    let stage = Stage::open(&[]).await;
    let mut client = stage.player("Ann").await;
    let asked = client
        .request("player:action", json!({"action": "sleep"}))
        .await;
    let inputs = stage.zone.heard(1).await;
    let lost = client.lose();
    sessions(&stage, "lingering", 1.0).await;
    let (mut client, resumed) = lost.resume(stage.address(0), lost.seq + 1000).await;
    assert_eq!(resumed["data"]["resync"], true, "{resumed}");
    assert_eq!(resumed["seq"], 2, "behind the hello of the new connection");
    let unknown = client.until(|m| m["re"] == asked).await;
    assert_eq!(unknown["data"]["code"], "outcome_unknown");
    client.event("player:sync").await;
    assert_eq!(stage.zone.inputs(), inputs, "no input is sent twice");
    let moved = client.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
    let numbers: Vec<u64> = stage
        .zone
        .inputs()
        .iter()
        .map(|(number, _)| *number)
        .collect();
    assert_eq!(numbers, [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_nobody_resumes_ends() {
    let stage = Stage::open(&[("LINGER_SECONDS", "3")]).await;
    let client = stage.player("Ann").await;
    let lost = client.lose();
    sessions(&stage, "lingering", 1.0).await;
    sessions(&stage, "lingering", 0.0).await;
    stage.zone.forget(&lost.character_id);
    let (mut client, invalid) = lost.resume(stage.address(0), lost.seq).await;
    assert_eq!(invalid["event"], "session:invalid", "{invalid}");
    client.seq = 2;
    client.log_in().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_half_open_socket_is_noticed() {
    let stage = Stage::open(&[("HEARTBEAT_MS", "200")]).await;
    // It stays open, but nobody reads its pings.
    let _silent = stage.player("Ann").await;
    sessions(&stage, "lingering", 1.0).await;
    // The session stays, its socket does not.
    let let_go = async {
        while stage.metric("gateway_connections", "") > 0.1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let let_go = timeout(Duration::from_secs(10), let_go).await;
    let_go.expect("it keeps its socket");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_nothing_is_let_go_and_may_resume() {
    let stage = Stage::open(&[("WRITE_TIMEOUT_MS", "500")]).await;
    let mut other = stage.player("Other").await;
    let mut client = stage.player("Ann").await;
    client.alive().await;
    let text = "x".repeat(10_000);
    // More than all buffers between the two together, but never much at a time: the rest on its way
    // when the client's socket closes must not be too much for its next connection.
    let flooded = async {
        loop {
            let many = if stage.zone.has_told() { 16 } else { 0 };
            for _ in 0..many {
                stage.zone.say(
                    &client.character_id,
                    "notice",
                    &format!(r#"{{"message":"{text}"}}"#),
                );
            }
            let lingers = stage.metric("gateway_sessions", "state=\"lingering\"") > 0.5;
            if lingers && stage.metric("gateway_closes_total", "4013") > 0.5 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(60), flooded)
        .await
        .expect("never let go");
    other.alive().await;
    let lost = client.lose();
    let (mut client, resumed) = lost.resume(stage.address(0), lost.seq).await;
    assert_eq!(
        resumed["data"]["resync"], true,
        "too much was missed: {resumed}"
    );
    client.event("player:sync").await;
    client.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_login_of_a_character_takes_over_and_the_first_is_told() {
    let stage = Stage::open(&[]).await;
    let mut first = stage.player("Ann").await;
    let key = first.welcome["deviceKey"].clone();
    let mut second = stage.connect().await;
    second.ask("authenticate", json!({"deviceKey": key})).await;
    let id = first.character_id.clone();
    second.enter_as(&id).await;
    let (code, reason) = first.closed().await;
    assert_eq!(code, 4010, "{reason}");
    let moved = second.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_at_another_gateway_takes_over_too() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    let mut first = stage.player_at(0, "Ann").await;
    let key = first.welcome["deviceKey"].clone();
    let mut second = Client::connect(stage.address(1), "").await;
    second.ask("authenticate", json!({"deviceKey": key})).await;
    let id = first.character_id.clone();
    second.enter_as(&id).await;
    assert_eq!(first.closed().await.0, 4010);
    second.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_is_answered_when_it_is_done_and_one_may_enter_again() {
    let stage = Stage::open(&[]).await;
    let mut client = stage.player("Ann").await;
    let left = client.ask("world:leave", json!({})).await;
    assert_eq!(left["event"], "world:left");
    assert_eq!(left["data"]["characterId"], client.character_id);
    let id = client.character_id.clone();
    client.enter_as(&id).await;
    client
        .send_frame(true, CLOSE, &1000_u16.to_be_bytes())
        .await;
    assert_eq!(client.closed().await.0, 1000);
    sessions(&stage, "world", 0.0).await;
    sessions(&stage, "lingering", 0.0).await;
}
