use std::time::Instant;

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use service_runtime::pem::ClientTls;
use test_servers::{Redis, RedisCluster};
use tokio::sync::mpsc;

use super::*;
use crate::limits::window::{Counter, REST};
use crate::{
    metrics::Metrics,
    social::{
        bus::Reach,
        redis_server::{RedisSeeds, RedisServer},
    },
};

fn shared(redis: &Redis) -> Shared {
    let (sender, _) = mpsc::channel(1);
    let server = RedisServer::new(&redis.url(), None, &ClientTls::default()).unwrap();
    let bus = RedisBus::connect(&server, sender, Metrics::none()).unwrap();
    Shared::new(Keeper::Server(bus))
}

/// Plays random stories, each with its own subject, against both. A story takes minutes of its own
/// time, so that Redis, which forgets by the real time, forgets nothing on the way.
#[tokio::test(flavor = "multi_thread")]
async fn the_script_decides_as_the_windows_do() {
    let redis = Redis::start();
    let shared = shared(&redis);
    let mut runner = TestRunner::new(Config::default());
    let stories = (1_usize..8, prop::collection::vec(0_u32..40, 1..60));
    for story in 0..60 {
        let (most, gaps) = stories.new_tree(&mut runner).unwrap().current();
        let rule = Rule {
            name: "test",
            most,
            length: Duration::from_secs(100),
            refusals: 5,
            block: Duration::from_secs(150),
        };
        let who = Subject::Account(format!("story {story}"));
        let (start, mut counter) = (Instant::now(), Counter::new(rule));
        let mut at = 0;
        for (step, gap) in gaps.iter().enumerate() {
            at += gap;
            let now = Duration::from_secs(at.into());
            let told = shared.ask(rule, &who, Some(1_700_000_000_000 + i64::from(at) * 1_000));
            let expected = counter.pass(start + now);
            assert_eq!(told.await.unwrap(), expected, "{gaps:?}, step {step}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_forgets_who_does_not_come_again() {
    let redis = Redis::start();
    let shared = shared(&redis);
    let rule = Rule {
        most: 1,
        refusals: 2,
        ..REST
    };
    let who = Subject::Account("a".to_owned());
    for _ in 0..3 {
        shared.ask(rule, &who, None).await.unwrap().ok();
    }
    let Keeper::Server(bus) = &shared.keeper else {
        panic!("no single server")
    };
    let mut manager = bus.manager();
    let mut list = redis::cmd("KEYS");
    let keys: Vec<String> = list.arg("limit:*").query_async(&mut manager).await.unwrap();
    assert_eq!(keys.len(), 3, "{keys:?}");
    for key in keys {
        let mut ask = redis::cmd("PTTL");
        let left: i64 = ask.arg(&key).query_async(&mut manager).await.unwrap();
        assert!((1..=60_000).contains(&left), "{key}: {left}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_hangs_costs_three_deadlines_and_then_nothing() {
    let redis = Redis::start();
    let shared = shared(&redis);
    let who = Subject::Account("a".to_owned());
    let warm = shared.ask(REST, &who, None).await;
    assert!(warm.unwrap().is_ok());
    redis.signal("STOP");
    let mut waited = 0;
    for _ in 0..50 {
        let began = Instant::now();
        assert!(shared.pass(REST, &who).await.is_none());
        waited += u32::from(began.elapsed() >= DEADLINE);
    }
    redis.signal("CONT");
    // One more passes for each second that went by.
    assert!((3..=6).contains(&waited), "{waited}");
}

/// Each subject's windows are at one node: two gateways count together there, and a node that dies
/// takes only its own subjects along.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_count_together_over_a_cluster() {
    let mut cluster = RedisCluster::start();
    let seeds = RedisSeeds::new(&cluster.urls(), None, &ClientTls::default()).unwrap();
    let gateway = async || {
        let (sender, _) = mpsc::channel(1);
        let bus = ClusterBus::connect(&seeds, sender, Metrics::none()).unwrap();
        while bus.probe().await != Ok(Reach::All) {}
        Shared::new(Keeper::Cluster(bus))
    };
    let (one, other) = (gateway().await, gateway().await);
    let rule = Rule { most: 2, ..REST };
    let mut subjects = Vec::new();
    for node in 0..3 {
        let names = (0..100).map(|number| format!("{node}-{number}"));
        let at = |name: &String| cluster.owner(&format!("{{rest:account:{name}}}")) == node;
        subjects.push(Subject::Account(names.into_iter().find(at).unwrap()));
    }
    for who in &subjects {
        assert!(one.ask(rule, who, None).await.unwrap().is_ok());
        assert!(other.ask(rule, who, None).await.unwrap().is_ok());
        assert!(one.ask(rule, who, None).await.unwrap().is_err(), "{who}");
    }
    cluster.kill9(1);
    for (node, who) in subjects.iter().enumerate() {
        let answer = timeout(Duration::from_secs(5), other.ask(rule, who, None));
        let away = !matches!(answer.await, Ok(Ok(_)));
        assert_eq!(away, node == 1, "{who}");
    }
}
