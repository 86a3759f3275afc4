//! The bus against a real Redis.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use test_servers::Redis;
use tokio::sync::mpsc::Receiver;

use super::*;

const MS: Duration = Duration::from_millis(1);
/// Time that a test waits for anything.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Two gateways' ends of a bus.
struct Two {
    one: RedisBus,
    one_hears: Receiver<Heard>,
    other: RedisBus,
    other_hears: Receiver<Heard>,
}

impl Two {
    fn on(redis: &Redis) -> Self {
        let end = || {
            let (sender, heard) = mpsc::channel(64);
            (RedisBus::connect(&redis.url(), sender).unwrap(), heard)
        };
        let ((one, one_hears), (other, other_hears)) = (end(), end());
        Self {
            one,
            one_hears,
            other,
            other_hears,
        }
    }

    async fn both_subscribe(&self, channel: &str) {
        eventually("subscribe", async || {
            self.one.subscribe(channel).await.is_ok() && self.other.subscribe(channel).await.is_ok()
        })
        .await;
    }

    /// Checks that both hear a message of one. Skips messages from before.
    async fn hear(&mut self, channel: &str, text: &'static str) {
        let said = Bytes::from_static(text.as_bytes());
        self.one.publish(channel, &said).await.unwrap();
        for heard in [&mut self.one_hears, &mut self.other_hears] {
            let right = async { while heard.recv().await.unwrap().payload != said {} };
            timeout(TIMEOUT, right).await.expect(text);
        }
    }
}

async fn eventually(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let tried = async {
        while !done().await {
            tokio::time::sleep(20 * MS).await;
        }
    };
    timeout(TIMEOUT, tried).await.expect(what);
}

/// Says something to Redis itself, in its inline form.
fn order(redis: &Redis, command: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", redis.port())).unwrap();
    stream
        .write_all(format!("{command}\r\nQUIT\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(!answer.starts_with('-'), "{command}: {answer}");
    answer
}

#[tokio::test]
async fn what_one_says_all_hear_until_they_unsubscribe() {
    let redis = Redis::start();
    let mut two = Two::on(&redis);
    two.both_subscribe("chat").await;
    two.hear("chat", "hello").await;
    two.other.unsubscribe("chat").await.unwrap();
    two.one
        .publish("chat", &Bytes::from_static(b"?"))
        .await
        .unwrap();
    two.other.subscribe("sanction").await.unwrap();
    two.one.subscribe("sanction").await.unwrap();
    two.one
        .publish("sanction", &Bytes::from_static(b"!"))
        .await
        .unwrap();
    let next = timeout(TIMEOUT, two.other_hears.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (next.channel.as_str(), &next.payload[..]),
        ("sanction", &b"!"[..])
    );
}

#[tokio::test]
async fn values_live_as_long_as_told_and_are_removed_by_who_knows_them() {
    let redis = Redis::start();
    let two = Two::on(&redis);
    let many: Vec<(String, String)> = (0..1200)
        .map(|i| (format!("presence:{i}"), format!("v{i}")))
        .collect();
    two.one.set(&many, Duration::from_secs(60)).await.unwrap();
    let get = async |key: &str| two.other.get(key).await.unwrap();
    assert_eq!(get("presence:1199").await.as_deref(), Some("v1199"));
    assert_eq!(get("presence:1200").await, None);
    let keys: Vec<String> = (600..1201).map(|i| format!("presence:{i}")).collect();
    let found = two.other.get_many(&keys).await.unwrap();
    let expected = (600..1200).map(|i| Some(format!("v{i}"))).chain([None]);
    assert!(found.into_iter().eq(expected));
    assert_eq!(two.other.get_many(&[]).await, Ok(Vec::new()));
    two.other.remove("presence:1", "another").await.unwrap();
    assert_eq!(get("presence:1").await.as_deref(), Some("v1"));
    two.other.remove("presence:1", "v1").await.unwrap();
    assert_eq!(get("presence:1").await, None);

    let brief = [("brief".to_owned(), "x".to_owned())];
    two.one.set(&brief, 150 * MS).await.unwrap();
    assert_eq!(get("brief").await.as_deref(), Some("x"));
    eventually("its time is over", async || get("brief").await.is_none()).await;
}

#[tokio::test]
async fn a_redis_that_was_killed_is_found_again_and_is_known_to_have_forgotten() {
    let mut redis = Redis::start();
    let mut two = Two::on(&redis);
    two.both_subscribe("chat").await;
    two.hear("chat", "before").await;
    assert!(!two.one.forgot(), "nothing happened");
    redis.kill9();
    eventually("away", async || two.one.probe().await.is_err()).await;
    redis.restart();
    for bus in [&two.one, &two.other] {
        eventually("back", async || bus.probe().await.is_ok()).await;
        assert!(bus.forgot());
        assert!(!bus.forgot(), "it says so once");
    }
    two.both_subscribe("chat").await;
    two.hear("chat", "after").await;
}

#[tokio::test]
async fn no_call_waits_long_for_a_redis_that_hangs() {
    let redis = Redis::start();
    let mut two = Two::on(&redis);
    two.both_subscribe("chat").await;
    redis.signal("STOP");
    let value = [("k".to_owned(), "v".to_owned())];
    let began = Instant::now();
    let said = Bytes::from_static(b"?");
    assert_eq!(two.one.probe().await, Err(Away));
    assert_eq!(two.one.publish("chat", &said).await, Err(Away));
    assert_eq!(two.one.get("k").await, Err(Away));
    assert_eq!(two.one.get_many(&["k".to_owned()]).await, Err(Away));
    assert_eq!(two.one.set(&value, TIMEOUT).await, Err(Away));
    assert_eq!(two.one.remove("k", "v").await, Err(Away));
    assert_eq!(two.one.subscribe("more").await, Err(Away));
    assert_eq!(two.one.unsubscribe("more").await, Err(Away));
    assert!(began.elapsed() < CALL_TIMEOUT * 8 + Duration::from_secs(1));
    redis.signal("CONT");
    eventually("back", async || two.one.probe().await.is_ok()).await;
    two.both_subscribe("chat").await;
    two.hear("chat", "after").await;
}

#[tokio::test]
async fn a_redis_that_turned_us_away_for_a_while_is_used_when_it_takes_us() {
    let redis = Redis::start();
    order(&redis, "CONFIG SET requirepass secret");
    let (sender, _heard) = mpsc::channel(1);
    let bus = RedisBus::connect(&redis.url(), sender).unwrap();
    assert_eq!(bus.probe().await, Err(Away));
    // By itself the connection tries for a while; then every call fails at once.
    eventually("it gives up", async || {
        let began = Instant::now();
        bus.get("k").await == Err(Away) && began.elapsed() < CALL_TIMEOUT / 2
    })
    .await;
    order(&redis, "AUTH secret\r\nCONFIG SET requirepass \"\"");
    eventually("let in", async || bus.probe().await.is_ok()).await;
}

#[tokio::test]
async fn small_messages_do_not_wait_and_a_host_that_vanished_is_noticed() {
    let (sender, _heard) = mpsc::channel(1);
    let bus = RedisBus::connect("redis://10.0.0.1:1", sender).unwrap();
    let tcp = bus.0.client.get_connection_info().tcp_settings();
    assert!(tcp.nodelay());
    assert_eq!(tcp.user_timeout(), Some(SILENCE_MAX));
}

#[test]
fn the_address_asks_for_resp3() {
    for (given, used) in [
        ("redis://h:1", "redis://h:1/?protocol=resp3"),
        ("redis://h/2", "redis://h/2?protocol=resp3"),
        (
            "redis+unix:///tmp/r.sock",
            "redis+unix:///tmp/r.sock?protocol=resp3",
        ),
        (
            "redis+unix:///r?db=1",
            "redis+unix:///r?db=1&protocol=resp3",
        ),
        ("redis://h/?protocol=resp3", "redis://h/?protocol=resp3"),
    ] {
        assert_eq!(resp3(given), used);
        assert!(Client::open(used).is_ok(), "{used}");
    }
}

#[test]
fn only_messages_are_heard() {
    let text = |t: &str| Value::BulkString(t.as_bytes().to_vec());
    let info = |kind, data| PushInfo { kind, data };
    let message = info(PushKind::Message, vec![text("c"), text("p")]);
    let heard = read(message).unwrap();
    assert_eq!(
        (heard.channel.as_str(), &heard.payload[..]),
        ("c", &b"p"[..])
    );
    assert_eq!(
        read(info(PushKind::Subscribe, vec![text("c"), Value::Int(1)])),
        None
    );
    assert_eq!(read(info(PushKind::Message, vec![text("c")])), None);
}
