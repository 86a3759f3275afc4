//! The bus against a real cluster of three nodes.

use std::time::Instant;

use service_runtime::{
    config::{Env, Reader},
    pem::ClientTls,
};
use test_servers::{Authority, Redis, RedisCluster};
use tokio::sync::mpsc::Receiver;

use super::*;
use crate::social::redis_server::RedisPlace;

/// Time that a test waits for anything.
const TIMEOUT: Duration = Duration::from_secs(20);
const MINUTE: Duration = Duration::from_secs(60);

/// A gateway's end of the bus.
struct End {
    bus: ClusterBus,
    hears: Receiver<Heard>,
}

impl End {
    fn on(urls: &str) -> Self {
        let seeds = RedisSeeds::new(urls, None, &ClientTls::default()).unwrap();
        let (sender, hears) = mpsc::channel(1024);
        let bus = ClusterBus::connect(&seeds, sender, Metrics::none()).unwrap();
        Self { bus, hears }
    }

    /// Waits until the bus reaches so much of the cluster.
    async fn until(&self, reach: Result<Reach, Away>) {
        eventually(&format!("{reach:?}"), async || {
            self.bus.probe().await == reach
        })
        .await;
    }

    /// Waits for this message. Skips others.
    async fn hears(&mut self, channel: &str, text: &str) {
        let right = async {
            loop {
                let heard = self.hears.recv().await.unwrap();
                if heard.channel == channel && heard.payload == text {
                    return;
                }
            }
        };
        timeout(TIMEOUT, right).await.expect(text);
    }
}

async fn eventually(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let tried = async {
        while !done().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TIMEOUT, tried).await.expect(what);
}

fn said(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

/// Returns a name for each node that has its slot.
fn one_each(cluster: &RedisCluster, kind: &str) -> [String; 3] {
    [0, 1, 2].map(|node| {
        let names = (0..100).map(|number| format!("{kind}:{number}"));
        names
            .into_iter()
            .find(|name| cluster.owner(name) == node)
            .unwrap()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_and_values_go_over_all_nodes_and_one_that_dies_takes_only_its_own() {
    let mut cluster = RedisCluster::start();
    let (mut one, mut other) = (End::on(&cluster.urls()), End::on(&cluster.urls()));
    for end in [&one, &other] {
        end.until(Ok(Reach::All)).await;
        assert!(end.bus.forgot(), "its nodes are new");
    }
    let channels = one_each(&cluster, "chat");
    for channel in &channels {
        one.bus.subscribe(channel).await.unwrap();
        other.bus.subscribe(channel).await.unwrap();
        one.bus.publish(channel, &said("hello")).await.unwrap();
        one.hears(channel, "hello").await;
        other.hears(channel, "hello").await;
    }
    // Sharded: each channel is at one node only.
    for (node, channel) in channels.iter().enumerate() {
        let there = cluster.order(node, "PUBSUB SHARDCHANNELS");
        assert!(there.contains(channel.as_str()), "{there}");
        assert_eq!(there.matches("chat:").count(), 1, "{there}");
    }
    other.bus.unsubscribe(&channels[0]).await.unwrap();
    one.bus
        .publish(&channels[0], &said("unheard"))
        .await
        .unwrap();
    one.bus.publish(&channels[1], &said("heard")).await.unwrap();
    assert_eq!(other.hears.recv().await.unwrap().payload, "heard");
    values(&one.bus, &other.bus).await;

    a_node_dies(&mut cluster, &mut one, &mut other, &channels).await;
}

/// Kills the last node, looks what is left, and starts it again.
async fn a_node_dies(
    cluster: &mut RedisCluster,
    one: &mut End,
    other: &mut End,
    channels: &[String; 3],
) {
    cluster.kill9(2);
    for end in [&*one, &*other] {
        end.until(Ok(Reach::Part)).await;
        assert!(!end.bus.forgot(), "what the others know is still there");
    }
    let alive = &channels[1];
    for end in [&*one, &*other] {
        end.bus.subscribe(alive).await.unwrap();
    }
    one.bus
        .publish(alive, &said("of the living"))
        .await
        .unwrap();
    other.hears(alive, "of the living").await;
    let keys = one_each_of(channels);
    let now = Instant::now();
    assert_eq!(one.bus.publish(&channels[2], &said("?")).await, Err(Away));
    assert_eq!(one.bus.subscribe(&channels[2]).await, Err(Away));
    assert!(
        now.elapsed() < CALL_TIMEOUT,
        "a dead node costs no deadline"
    );
    assert!(!one.bus.reaches(&keys[2]) && one.bus.reaches(&keys[0]));
    let entries: Vec<_> = keys
        .iter()
        .map(|key| (key.clone(), "v".to_owned()))
        .collect();
    assert_eq!(one.bus.set(&entries, MINUTE).await, Err(Away));
    let found = one.bus.get_many(&keys).await;
    assert_eq!(
        found,
        [
            Ok(Some("v".to_owned())),
            Ok(Some("v".to_owned())),
            Err(Away)
        ]
    );

    cluster.restart(2);
    for end in [&*one, &*other] {
        end.until(Ok(Reach::All)).await;
        assert!(end.bus.forgot(), "what the node knew is gone");
        end.bus.subscribe(&channels[2]).await.unwrap();
    }
    one.bus.publish(&channels[2], &said("again")).await.unwrap();
    other.hears(&channels[2], "again").await;
}

/// Returns a key in the slot of each channel.
fn one_each_of(channels: &[String; 3]) -> Vec<String> {
    channels
        .iter()
        .map(|channel| format!("value:{{{channel}}}"))
        .collect()
}

/// Checks values of many slots.
async fn values(one: &ClusterBus, other: &ClusterBus) {
    let many: Vec<(String, String)> = (0..1200)
        .map(|number| (format!("presence:{number}"), format!("v{number}")))
        .collect();
    one.set(&many, MINUTE).await.unwrap();
    let keys: Vec<String> = (600..1201)
        .map(|number| format!("presence:{number}"))
        .collect();
    let found = other.get_many(&keys).await;
    let expected = (600..1200).map(|number| Ok(Some(format!("v{number}"))));
    assert!(found.into_iter().eq(expected.chain([Ok(None)])));
    other.remove("presence:1", "another").await.unwrap();
    assert_eq!(one.get("presence:1").await.unwrap().as_deref(), Some("v1"));
    other.remove("presence:1", "v1").await.unwrap();
    assert_eq!(one.get("presence:1").await, Ok(None));
    assert_eq!(one.claim("slow:a", "1", MINUTE).await, Ok(None));
    let left = other.claim("slow:a", "2", MINUTE).await.unwrap().unwrap();
    assert!(left <= MINUTE && left > MINUTE / 2, "{left:?}");
    other.remove("slow:a", "1").await.unwrap();
    assert_eq!(other.claim("slow:a", "2", MINUTE).await, Ok(None));
}

/// A node that gives a slot away says so unasked, which must not shift the answers to other calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_moves_takes_its_channel_and_its_calls_along() {
    let cluster = RedisCluster::start();
    let (mut one, mut other) = (End::on(&cluster.urls()), End::on(&cluster.urls()));
    for end in [&one, &other] {
        end.until(Ok(Reach::All)).await;
        end.bus.forgot();
        end.bus.subscribe("chat").await.unwrap();
    }
    let from = cluster.owner("chat");
    let names: Vec<(String, String)> = (0..50)
        .map(|n| (format!("k{n}"), format!("v{n}")))
        .collect();
    one.bus.set(&names, MINUTE).await.unwrap();
    cluster.move_slot("chat", (from + 1) % 3);
    for end in [&one, &other] {
        eventually("the loss is noticed", async || {
            end.bus.probe().await == Ok(Reach::All) && end.bus.forgot()
        })
        .await;
        end.bus.subscribe("chat").await.unwrap();
    }
    one.bus.publish("chat", &said("after")).await.unwrap();
    for end in [&mut one, &mut other] {
        end.hears("chat", "after").await;
        for (key, value) in &names {
            assert_eq!(end.bus.get(key).await, Ok(Some(value.clone())), "{key}");
        }
    }
    // A call that the old node sends elsewhere is made there.
    cluster.move_slot("chat", from);
    let value = [("{chat}".to_owned(), "there".to_owned())];
    one.bus.set(&value, MINUTE).await.unwrap();
    other.bus.publish("chat", &said("moved")).await.unwrap();
    assert_eq!(other.bus.get("{chat}").await, Ok(Some("there".to_owned())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_hangs_costs_one_deadline_and_the_others_nothing() {
    let cluster = RedisCluster::start();
    let end = End::on(&cluster.urls());
    end.until(Ok(Reach::All)).await;
    let keys = one_each(&cluster, "key");
    for key in &keys {
        end.bus.get(key).await.unwrap();
    }
    end.bus.forgot();
    cluster.signal(1, "STOP");
    let mut slow = 0;
    for _ in 0..50 {
        for (node, key) in keys.iter().enumerate() {
            let began = Instant::now();
            let answer = end.bus.get(key).await;
            slow += u32::from(began.elapsed() >= CALL_TIMEOUT / 2);
            assert_eq!(answer.is_err(), node == 1, "{node}");
        }
    }
    assert_eq!(slow, 1);
    let began = Instant::now();
    assert_eq!(end.bus.probe().await, Ok(Reach::Part));
    assert!(began.elapsed() < CALL_TIMEOUT * 3);
    cluster.signal(1, "CONT");
    end.until(Ok(Reach::All)).await;
    assert!(end.bus.forgot(), "what it was told meanwhile may be lost");
    end.bus.get(&keys[1]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_with_tls_and_users_is_reached_from_any_of_its_nodes() {
    let (ca, other) = (Authority::new(), Authority::new());
    let cluster = RedisCluster::start_secured(&ca.certify(&["127.0.0.1"]), &ca.ca());
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let speaks = async |urls: &str, ca: &Authority| {
        let ca = text(&ca.ca());
        let env = Env::from_pairs([
            ("REDIS_URL", urls),
            ("REDIS_CLUSTER", "on"),
            ("REDIS_CA_FILE", &ca),
        ]);
        let mut reader = Reader::new(env);
        let place = RedisPlace::read(&mut reader);
        reader.finish().unwrap();
        let Some(RedisPlace::Cluster(seeds)) = place else {
            panic!("no cluster")
        };
        let (sender, _heard) = mpsc::channel(8);
        let bus = ClusterBus::connect(&seeds, sender, Metrics::none()).unwrap();
        let mut reached = Err(Away);
        for _ in 0..5 {
            reached = bus.probe().await;
            if reached == Ok(Reach::All) {
                break;
            }
        }
        let set = [
            ("a".to_owned(), String::new()),
            ("b".to_owned(), String::new()),
        ];
        reached == Ok(Reach::All) && bus.set(&set, MINUTE).await.is_ok()
    };
    let urls = cluster.urls();
    assert!(speaks(urls.split(',').nth(2).unwrap(), &ca).await);
    assert!(!speaks(&urls, &other).await, "another CA");
    let guessed = urls.replace(Redis::PASSWORD, "guessed");
    assert!(!speaks(&guessed, &ca).await, "another password");
}

#[test]
fn an_address_has_a_host_and_a_port() {
    let at = |text| address(text).map(|at| (at.host, at.port));
    assert_eq!(at("10.0.0.1:6379"), Some(("10.0.0.1".to_owned(), 6379)));
    assert_eq!(at("::1:6379"), Some(("::1".to_owned(), 6379)));
    assert_eq!((at("host"), at("host:x")), (None, None));
}
