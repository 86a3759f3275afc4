//! Limits of requests over HTTP: exactly so many, wherever one asks, and nobody at the cost of
//! somebody else.

use serde_json::Value;
use test_servers::Redis;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    client::{Client, upgrade},
    stage::Stage,
};

/// An answer's status, headers and body.
struct Answer {
    status: u16,
    text: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default();
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map_or("", |(_, value)| value)
    }

    fn body(&self) -> Value {
        let (_, body) = self.text.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }
}

async fn ask(stage: &Stage, gateway: usize, line: &str, headers: &str) -> Answer {
    let request = format!(
        "{line} HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: 0\r\n{headers}\r\n"
    );
    let text = stage.ask(gateway, &request).await;
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    Answer {
        status: status.unwrap_or_else(|| panic!("no status: {text}")),
        text,
    }
}

const DATA: &str = "GET /env.js";

fn from(address: &str) -> String {
    format!("x-forwarded-for: {address}\r\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_requests_pass_the_next_are_refused_and_the_fifth_refusal_blocks() {
    let stage = Stage::open(&[]).await;
    for n in 1..=100 {
        // Forged headers change nothing, below the limit and above it.
        let answer = ask(&stage, 0, DATA, &from(&format!("10.9.0.{n}"))).await;
        assert_eq!(answer.status, 200, "{n}");
        assert_eq!(answer.header("ratelimit-policy"), "\"rest\";q=100;w=60");
        let limit = format!("\"rest\";r={};t=", 100 - n);
        assert!(
            answer.header("ratelimit").starts_with(&limit),
            "{}",
            answer.text
        );
    }
    for n in 1..=5 {
        // A request for something that does not exist, or with a method that is not possible,
        // counts too.
        let line = ["GET /env.js", "GET /api/nothing", "DELETE /env.js"][n % 3];
        let answer = ask(&stage, 0, line, &from("10.9.1.1")).await;
        assert_eq!(answer.status, 429, "{n}");
        let wait: u64 = answer.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&wait));
        assert_eq!(answer.header("ratelimit"), format!("\"rest\";r=0;t={wait}"));
        let problem = answer.body();
        assert_eq!(problem["code"], "rate_limited");
        let detail = problem["detail"].as_str().unwrap();
        let words = if n < 5 {
            "At most 100"
        } else {
            "blocked for 60 s"
        };
        assert!(detail.contains(words), "{n}: {detail}");
        assert!(n < 5 || wait == 60, "{wait}");
    }
    for probe in ["/health", "/status", "/livez", "/readyz", "/metrics", "/"] {
        let answer = ask(&stage, 0, &format!("GET {probe}"), "").await;
        assert_eq!(answer.status, 200, "{probe}");
        assert_eq!(answer.header("ratelimit"), "", "{probe} costs nothing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_behind_a_trusted_proxy_counts_for_itself_and_an_ipv6_network_as_one() {
    let stage = Stage::open(&[("TRUSTED_PROXIES", "127.0.0.1")]).await;
    for n in 0..100 {
        // The client's own entry stands before the one that the proxy wrote.
        let forged = from(&format!("10.0.0.{n}, 203.0.113.7"));
        assert_eq!(ask(&stage, 0, DATA, &forged).await.status, 200, "{n}");
        let hopping = from(&format!("2001:db8::{n}"));
        assert_eq!(ask(&stage, 0, DATA, &hopping).await.status, 200, "{n}");
    }
    for (address, expected) in [
        ("203.0.113.7", 429),
        ("10.1.1.1, 203.0.113.7", 429),
        ("203.0.113.8", 200),
        ("2001:db8::ffff", 429),
        ("2001:db8:0:1::1", 200),
    ] {
        let answer = ask(&stage, 0, DATA, &from(address)).await;
        assert_eq!(answer.status, expected, "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_a_hundred_more_by_forging_where_it_asks_from() {
    let stage = Stage::open(&[]).await;
    for n in 0..100 {
        let forged = from(&format!("203.0.113.{n}"));
        assert_eq!(ask(&stage, 0, DATA, &forged).await.status, 200, "{n}");
    }
    let forged = from("198.51.100.1");
    assert_eq!(ask(&stage, 0, DATA, &forged).await.status, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_its_own_hundred_wherever_it_asks_from() {
    let stage = Stage::open(&[("TRUSTED_PROXIES", "127.0.0.1")]).await;
    let (mut ann, mut bob) = (stage.connect().await, stage.connect().await);
    ann.log_in().await;
    bob.log_in().await;
    let bearer = |welcome: &Value, address: &str| {
        let token = welcome["authToken"].as_str().unwrap();
        format!("authorization: Bearer {token}\r\n{}", from(address))
    };
    for n in 0..100 {
        let headers = bearer(&ann.welcome, &format!("10.0.0.{n}"));
        assert_eq!(ask(&stage, 0, DATA, &headers).await.status, 200, "{n}");
    }
    let again = bearer(&ann.welcome, "10.0.1.1");
    assert_eq!(ask(&stage, 0, DATA, &again).await.status, 429);
    let other = bearer(&bob.welcome, "10.0.0.1");
    assert_eq!(ask(&stage, 0, DATA, &other).await.status, 200);
    assert_eq!(ask(&stage, 0, DATA, &from("10.0.0.1")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_six_hundred_requests_for_all_its_accounts_together() {
    let stage = Stage::open(&[("TRUSTED_PROXIES", "127.0.0.1")]).await;
    let mut accounts = Vec::new();
    for _ in 0..7 {
        let mut client = stage.connect().await;
        client.log_in().await;
        let token = client.welcome["authToken"].as_str().unwrap();
        accounts.push(format!("authorization: Bearer {token}\r\n"));
    }
    // A school behind one address: all of one network of IPv6 are one as well.
    let there = |n: usize| format!("{}{}", accounts[n / 100], from(&format!("2001:db8::{n}")));
    for n in 0..600 {
        let answer = ask(&stage, 0, DATA, &there(n)).await;
        assert_eq!(answer.status, 200, "{n}");
        let policy = "\"rest\";q=100;w=60, \"rest_address\";q=600;w=60";
        assert_eq!(answer.header("ratelimit-policy"), policy);
        let left = format!("\"rest_address\";r={};t=", 599 - n);
        assert!(
            answer.header("ratelimit").contains(&left),
            "{}",
            answer.text
        );
    }
    let answer = ask(&stage, 0, DATA, &there(600)).await;
    assert_eq!(answer.status, 429);
    assert!(
        answer
            .header("ratelimit")
            .starts_with("\"rest_address\";r=0;t=")
    );
    let problem = answer.body();
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("At most 600") && detail.contains("address"),
        "{detail}"
    );
    // The account itself has done nothing too often, and who has none is another matter.
    let elsewhere = format!("{}{}", accounts[6], from("2001:db8:0:1::1"));
    assert_eq!(ask(&stage, 0, DATA, &elsewhere).await.status, 200);
    let nobody = from("2001:db8::1");
    assert_eq!(ask(&stage, 0, DATA, &nobody).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_of_an_upgrade_that_cannot_be_read_are_attempts() {
    let stage = Stage::open(&[]).await;
    let bad = upgrade("authorization: Basic eDp5\r\nconnection: close\r\n");
    for n in 1..=10 {
        let answer = stage.ask(0, &bad).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{n}: {answer}");
        let left = format!("\"auth\";r={};t=", 10 - n);
        assert!(answer.contains(&left), "{n}: {answer}");
    }
    let answer = stage.ask(0, &bad).await;
    assert!(answer.starts_with("HTTP/1.1 429"), "{answer}");
    assert!(answer.contains("retry-after"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_attempts_pass_the_next_are_refused_and_a_good_token_stays_good() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let good = ann.welcome["authToken"].as_str().unwrap();
    let good = format!("authorization: Bearer {good}\r\n");
    let refresh = "POST /api/auth/refresh";
    // The login on the socket was the first attempt.
    for n in 2..=10 {
        let bad = "authorization: Bearer x.y.z\r\n";
        let answer = ask(&stage, n % 2, refresh, bad).await;
        assert_eq!(answer.status, 401, "{n}");
        assert!(
            answer.header("ratelimit").contains("\"auth\";r="),
            "{}",
            answer.text
        );
        let answer = ask(&stage, n % 2, refresh, &good).await;
        assert_eq!(answer.status, 200, "a good token costs nothing");
    }
    for (gateway, headers) in [(0, "authorization: Bearer x.y.z\r\n"), (1, "")] {
        let answer = ask(&stage, gateway, refresh, headers).await;
        assert_eq!(answer.status, 429, "{headers}");
        assert_eq!(answer.header("ratelimit-policy"), "\"auth\";q=10;w=60");
        assert!(
            answer.body()["detail"]
                .as_str()
                .unwrap()
                .contains("At most 10")
        );
    }
    let mut late = stage.connect().await;
    let refused = late.ask("authenticate", serde_json::json!({})).await;
    assert_eq!(refused["data"]["code"], "rate_limited", "{refused}");
    assert_eq!(ask(&stage, 1, refresh, &good).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_of_one_process_count_together() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    for n in 0..100 {
        assert_eq!(ask(&stage, n % 2, DATA, "").await.status, 200, "{n}");
    }
    for gateway in 0..2 {
        assert_eq!(ask(&stage, gateway, DATA, "").await.status, 429);
    }
}

/// Returns two gateways that share a Redis and nothing else.
async fn two(redis: &Redis) -> Stage {
    let url = redis.url();
    let settings = |bus| {
        [
            ("REDIS_URL", url.as_str()),
            ("TRUSTED_PROXIES", "127.0.0.1"),
            bus,
        ]
    };
    let mut stage = Stage::open(&settings(("LOCAL_BUS", "rates one"))).await;
    stage
        .add_gateway(&settings(("LOCAL_BUS", "rates two")))
        .await;
    stage
}

/// Returns number of times that a gateway decided alone.
fn alone(stage: &Stage) -> f64 {
    let of = |gateway| stage.metric_at(gateway, "gateway_limited_alone_total", "");
    of(0) + of(1)
}

#[tokio::test(flavor = "multi_thread")]
async fn gateways_count_together_through_redis() {
    let redis = Redis::start();
    let stage = two(&redis).await;
    // On a machine that is busy with other tests, Redis may take more than its 20 ms now and then.
    // Such an attempt proves nothing about the limit, and another address tries again.
    for attempt in 1..=20 {
        let who = from(&format!("203.0.113.{attempt}"));
        let before = alone(&stage);
        let mut passed = 0;
        for n in 0..100 {
            passed += u32::from(ask(&stage, n % 2, DATA, &who).await.status == 200);
        }
        let last = ask(&stage, 0, DATA, &who).await.status;
        let other = ask(&stage, 1, DATA, &who).await.status;
        if alone(&stage) > before {
            continue;
        }
        assert_eq!((passed, last, other), (100, 429, 429));
        // A block at one is a block at the other.
        for _ in 0..3 {
            ask(&stage, 0, DATA, &who).await;
        }
        let blocked = ask(&stage, 1, DATA, &who).await;
        if alone(&stage) > before {
            continue;
        }
        assert!(
            blocked.text.contains("blocked for 60 s"),
            "{}",
            blocked.text
        );
        return;
    }
    panic!("Redis never answered in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_to_log_in_are_counted_together_through_redis() {
    let redis = Redis::start();
    let stage = two(&redis).await;
    let bad = "authorization: Bearer x.y.z\r\n";
    // As above: an attempt proves nothing if Redis is late.
    for attempt in 1..=20 {
        let who = format!("{bad}{}", from(&format!("198.51.100.{attempt}")));
        let before = alone(&stage);
        let mut statuses = Vec::new();
        for n in 0..12 {
            let answer = ask(&stage, n % 2, "POST /api/auth/refresh", &who).await;
            statuses.push(answer.status);
        }
        let other = from(&format!("198.51.100.{}", attempt + 100));
        let other = format!("{bad}{other}");
        let other = ask(&stage, 0, "POST /api/auth/refresh", &other)
            .await
            .status;
        if alone(&stage) > before {
            continue;
        }
        // Ten of both together, then at either none; somebody else has ten of its own.
        assert_eq!(statuses[..10], [401; 10]);
        assert_eq!(statuses[10..], [429; 2]);
        assert_eq!(other, 401);
        return;
    }
    panic!("Redis never answered in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_redis_is_away_each_gateway_counts_alone_and_goes_on_from_what_it_saw() {
    let mut redis = Redis::start();
    let stage = two(&redis).await;
    let who = from("203.0.113.1");
    for n in 0..40 {
        assert_eq!(ask(&stage, n % 2, DATA, &who).await.status, 200);
    }
    redis.kill9();
    for gateway in 0..2 {
        let mut passed = 20;
        while passed < 200 && ask(&stage, gateway, DATA, &who).await.status == 200 {
            passed += 1;
        }
        assert_eq!(passed, 100, "at gateway {gateway}");
    }
    assert!(alone(&stage) >= 160.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_say_who_it_is_takes_only_so_many_places() {
    let stage = Stage::open(&[
        ("TRUSTED_PROXIES", "127.0.0.1"),
        ("UNAUTHENTICATED_PER_ADDRESS_MAX", "2"),
    ])
    .await;
    let refused = async |address: &str| {
        let headers = format!("connection: close\r\n{}", from(address));
        stage.ask(0, &upgrade(&headers)).await
    };
    let connect = async |address: &str| Client::connect(stage.address(0), &from(address)).await;
    let mut first = connect("203.0.113.1").await;
    let _second = connect("203.0.113.1").await;
    let answer = refused("203.0.113.1").await;
    assert!(answer.starts_with("HTTP/1.1 429"), "{answer}");
    assert!(answer.contains("retry-after: 10") && answer.contains("At most 2 connections"));
    // Another address has room.
    let _other = connect("203.0.113.2").await;
    // A known account no longer counts for its address.
    first.log_in().await;
    let third = connect("203.0.113.1").await;
    // Nor does who is gone.
    drop(third);
    let gone = async {
        loop {
            let mut stream = TcpStream::connect(stage.address(0)).await.unwrap();
            let asked = upgrade(&from("203.0.113.1"));
            stream.write_all(asked.as_bytes()).await.unwrap();
            let mut begin = [0; 12];
            stream.read_exact(&mut begin).await.unwrap();
            if &begin == b"HTTP/1.1 101" {
                return;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), gone)
        .await
        .expect("a place was never given back");
}
