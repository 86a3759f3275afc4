//! Two gateways that hear each other through a real Redis, and what players notice when it goes.

use std::time::Duration;

use serde_json::{Value, json};
use test_servers::Redis;
use tokio::time::{Instant, sleep, timeout};

use crate::{client::Client, stage::Stage};

/// Far shorter than the time after which a gateway repeats presence anyway.
const SOON: Duration = Duration::from_secs(5);

struct Met {
    redis: Redis,
    stage: Stage,
    ann: Client,
    bob: Client,
}

/// Returns Ann at one gateway and Bob at the other; they hear each other.
async fn met() -> Met {
    let redis = Redis::start();
    let url = redis.url();
    let mut stage = Stage::open(&[("REDIS_URL", &url)]).await;
    stage.add_gateway(&[("REDIS_URL", &url)]).await;
    let ann = stage.player_at(0, "Ann").await;
    let bob = stage.player_at(1, "Bob").await;
    let mut met = Met {
        redis,
        stage,
        ann,
        bob,
    };
    met.ann_tells_bob().await;
    met
}

impl Met {
    /// Sends Ann's message, and checks that she gets its `ack` and Bob has it, soon.
    async fn ann_tells_bob(&mut self) {
        let tell = json!({"message": "psst", "channel": "private", "to": "Bob"});
        let began = Instant::now();
        loop {
            let answer = self.ann.ask("player:chat", tell.clone()).await;
            if answer["event"] == "ack" {
                break;
            }
            assert!(began.elapsed() < SOON, "{answer}");
            // At most five messages in five seconds.
            sleep(Duration::from_secs(1)).await;
        }
        self.bob.until(|m| m["data"]["channel"] == "private").await;
    }
}

async fn notice(client: &mut Client, code: &str) -> Value {
    let found = client.until(|m| m["event"] == "notice" && m["data"]["code"] == code);
    let found = found.await;
    assert!(!found["data"]["message"].as_str().unwrap().is_empty());
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn players_are_told_when_redis_is_gone_and_when_it_is_back_and_all_works_again() {
    let mut met = met().await;
    met.redis.kill9();
    notice(&mut met.ann, "chat_away").await;
    notice(&mut met.bob, "chat_away").await;
    let said = json!({"message": "hello", "channel": "global"});
    let refused = met.ann.ask("player:chat", said).await;
    assert_eq!(refused["data"]["code"], "busy", "{refused}");
    met.ann.alive().await;
    let moved = met.ann.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack", "the world goes on: {moved}");
    // A player who comes now hears it as well.
    let mut late = met.stage.player_at(0, "Late").await;
    notice(&mut late, "chat_away").await;
    assert!(
        met.stage
            .get(0, "/readyz")
            .await
            .starts_with("HTTP/1.1 200")
    );
    met.redis.restart();
    for client in [&mut met.ann, &mut met.bob, &mut late] {
        notice(client, "chat_back").await;
    }
    met.ann_tells_bob().await;
    let said = json!({"message": "hello again", "channel": "global"});
    let answer = met.ann.ask("player:chat", said).await;
    assert_eq!(answer["event"], "ack", "{answer}");
    late.until(|m| m["data"]["message"] == "hello again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_starts_anew_between_two_looks_is_told_everything_again() {
    let mut met = met().await;
    met.redis.kill9();
    met.redis.restart();
    met.ann_tells_bob().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_hangs_holds_up_nobody() {
    let mut met = met().await;
    met.redis.signal("STOP");
    notice(&mut met.ann, "chat_away").await;
    let began = Instant::now();
    met.ann.alive().await;
    let late = timeout(SOON, met.stage.player_at(1, "Late")).await;
    late.expect("held up").alive().await;
    assert!(began.elapsed() < SOON);
    met.redis.signal("CONT");
    notice(&mut met.ann, "chat_back").await;
    met.ann_tells_bob().await;
}
