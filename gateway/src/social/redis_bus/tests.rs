//! The bus against a real Redis.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use service_runtime::{
    config::{Env, Reader},
    pem::ClientTls,
};
use test_servers::{Authority, Certified, Redis};
use tokio::sync::mpsc::Receiver;

use super::*;
use crate::social::redis_server::RedisPlace;

const MS: Duration = Duration::from_millis(1);
/// Time that a test waits for anything.
const TIMEOUT: Duration = Duration::from_secs(20);

fn server(url: &str) -> RedisServer {
    RedisServer::new(url, None, &ClientTls::default()).unwrap()
}

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
            (
                RedisBus::connect(&server(&redis.url()), sender, Metrics::none()).unwrap(),
                heard,
            )
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
    let bus = RedisBus::connect(&server(&redis.url()), sender, Metrics::none()).unwrap();
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
    let bus = RedisBus::connect(&server("redis://10.0.0.1:1"), sender, Metrics::none()).unwrap();
    let tcp = bus.0.client.get_connection_info().tcp_settings();
    assert!(tcp.nodelay());
    assert_eq!(tcp.user_timeout(), Some(SILENCE_MAX));
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

/// Returns the bus that these settings make.
fn bus_of(settings: &[(&'static str, &str)]) -> RedisBus {
    let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
    let place = RedisPlace::read(&mut reader);
    reader.finish().unwrap();
    let Some(RedisPlace::Server(server)) = place else {
        panic!("no single server")
    };
    RedisBus::connect(&server, mpsc::channel(8).0, Metrics::none()).unwrap()
}

/// Returns whether a bus with these settings comes to speak to its Redis.
async fn speaks(settings: &[(&'static str, &str)]) -> bool {
    let bus = bus_of(settings);
    for _ in 0..3 {
        if bus.probe().await.is_ok() {
            return true;
        }
    }
    false
}

fn text(path: &std::path::Path) -> &str {
    path.to_str().unwrap()
}

/// Returns the address of a Redis with TLS.
fn by_tls(redis: &Redis, user: &str) -> String {
    format!("rediss://{user}localhost:{}", redis.port())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_with_tls_is_reached_by_its_user_and_under_its_ca_only() {
    let (ca, other) = (Authority::new(), Authority::new());
    let redis = Redis::start_secured(&ca.certify(&["localhost"]), &ca.ca(), false);
    let (right, wrong) = (ca.ca(), other.ca());
    let (right, wrong) = (
        ("REDIS_CA_FILE", text(&right)),
        ("REDIS_CA_FILE", text(&wrong)),
    );
    let user = by_tls(&redis, &format!("game:{}@", Redis::PASSWORD));
    assert!(speaks(&[("REDIS_URL", &user), right]).await);
    assert!(!speaks(&[("REDIS_URL", &user), wrong]).await);
    assert!(
        !speaks(&[("REDIS_URL", &user)]).await,
        "by the system's CAs"
    );
    let nobody = by_tls(&redis, "");
    assert!(!speaks(&[("REDIS_URL", &nobody), right]).await);
    let guessed = by_tls(&redis, "game:guessed@");
    assert!(!speaks(&[("REDIS_URL", &guessed), right]).await);
    let bare = by_tls(&redis, "game@");
    let password = ("REDIS_PASSWORD", Redis::PASSWORD);
    assert!(speaks(&[("REDIS_URL", &bare), password, right]).await);
    let elsewhere = user.replace("localhost", "127.0.0.1");
    assert!(
        !speaks(&[("REDIS_URL", &elsewhere), right]).await,
        "another name"
    );
    let plain = user.replace("rediss", "redis");
    assert!(!speaks(&[("REDIS_URL", &plain)]).await, "without TLS");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_requires_a_client_certificate_gets_one() {
    let (ca, other) = (Authority::new(), Authority::new());
    let redis = Redis::start_secured(&ca.certify(&["localhost"]), &ca.ca(), true);
    let (url, trusted) = (
        by_tls(&redis, &format!("game:{}@", Redis::PASSWORD)),
        ca.ca(),
    );
    let with = async |own: &Certified| {
        speaks(&[
            ("REDIS_URL", &url),
            ("REDIS_CA_FILE", text(&trusted)),
            ("REDIS_CERT_FILE", text(&own.cert)),
            ("REDIS_KEY_FILE", text(&own.key)),
        ])
        .await
    };
    assert!(with(&ca.certify(&["gateway"])).await);
    assert!(!with(&other.certify(&["gateway"])).await);
    let none = [("REDIS_URL", &*url), ("REDIS_CA_FILE", text(&trusted))];
    assert!(!speaks(&none).await);
}

#[test]
fn settings_of_redis_that_do_not_fit_are_one_sentence_without_the_password() {
    let ca = Authority::new();
    let ca = ca.ca();
    let secured = "rediss://game:hidden@h";
    for (settings, words) in [
        (
            &[
                ("REDIS_URL", "redis://:hidden@h"),
                ("REDIS_CA_FILE", text(&ca)),
            ][..],
            "rediss://",
        ),
        (
            &[("REDIS_URL", "rediss://:hidden@h/#insecure")],
            "REDIS_URL",
        ),
        (
            &[("REDIS_URL", secured), ("REDIS_PASSWORD", "hidden")],
            "only one",
        ),
        (
            &[("REDIS_URL", secured), ("REDIS_CA_FILE", "/nowhere")],
            "REDIS_CA_FILE cannot be read",
        ),
        (
            &[("REDIS_URL", secured), ("REDIS_KEY_FILE", "/nowhere")],
            "go together",
        ),
    ] {
        let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
        let _ = RedisPlace::read(&mut reader);
        let said = reader.finish().unwrap_err().to_string();
        assert!(said.contains(words) && !said.contains("hidden"), "{said}");
    }
}
