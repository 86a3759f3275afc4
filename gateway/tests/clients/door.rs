//! HTTP, and what becomes of connections that never get as far as a session.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};
use tokio::{io::AsyncReadExt, io::AsyncWriteExt, net::TcpStream, time::timeout};

use crate::{
    client::{CLOSE, Client, TEXT, frame, upgrade},
    stage::Stage,
};

fn body(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_probes_answer_from_memory() {
    let stage = Stage::open(&[("COMMIT_HASH", "abc123")]).await;
    let health = body(&stage.get(0, "/health").await);
    assert_eq!(health["status"], "ok");
    assert!(health["timestamp"].as_str().unwrap().ends_with('Z'));
    let mut player = stage.player("Ann").await;
    // An answer to a second request shows that the player has entered to the end.
    player.alive().await;
    let status = body(&stage.get(0, "/status").await);
    assert_eq!(
        (&status["ready"], &status["players"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(status["commitHash"], "abc123");
    assert!(stage.get(0, "/livez").await.starts_with("HTTP/1.1 200"));
    let metrics = stage.get(0, "/metrics").await;
    assert!(
        metrics.contains("gateway_sessions{state=\"world\"} 1"),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_refused_is_a_problem_document() {
    let stage = Stage::open(&[]).await;
    let post = "POST /health HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for (answer, status, code) in [
        (stage.get(0, "/nothing/here").await, 404, "not_found"),
        (
            stage.get(0, "/manifests/../Cargo.toml").await,
            404,
            "not_found",
        ),
        (
            stage.get(0, "/manifests/%2e%2e/%2e%2e/etc/passwd").await,
            404,
            "not_found",
        ),
        (stage.get(0, "/world/terrain/999/0").await, 404, "not_found"),
        (stage.get(0, "/world/terrain/x/0").await, 404, "not_found"),
        (stage.get(0, "/world/terrain/%ff/0").await, 404, "not_found"),
        (stage.get(0, "/manifests/%ff").await, 404, "not_found"),
        (stage.get(0, "/page/%ff").await, 404, "not_found"),
        (stage.get(0, "/ws").await, 426, "upgrade_required"),
        (stage.ask(0, post).await, 405, "method_not_allowed"),
    ] {
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert!(
            answer.contains("content-type: application/problem+json"),
            "{answer}"
        );
        let problem = body(&answer);
        assert_eq!(
            (&problem["code"], &problem["status"]),
            (&json!(code), &json!(status))
        );
        assert_eq!(problem["detail"], problem["error"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_what_it_has_is_asked_for_later_and_the_gateway_is_well() {
    let stage = Stage::open(&[]).await;
    let ann = stage.player("Ann").await;
    let token = ann.welcome["authToken"].as_str().unwrap();
    let head = format!(
        "GET /api/v1/player HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\n\r\n"
    );
    let answer = stage.ask(0, &head).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stage.store.away.store(true, Ordering::SeqCst);
    let answer = stage.ask(0, &head).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    for said in ["retry-after: ", "application/problem+json", r#""code":""#] {
        assert!(answer.contains(said), "{said}: {answer}");
    }
    let answer = stage.get(0, "/status").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_production_metrics_are_on_their_own_port_or_nowhere() {
    let production = [
        ("NODE_ENV", "production"),
        ("INTERNAL_TLS", "off"),
        ("HOST", "127.0.0.1"),
        ("JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("ADMIN_CODE", "a-code-of-production"),
    ];
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let own_port = port.to_string();
    for metrics_port in ["0", own_port.as_str()] {
        let settings = [&production[..], &[("METRICS_PORT", metrics_port)]].concat();
        let stage = Stage::open(&settings).await;
        let here = stage.get(0, "/metrics").await;
        assert!(here.starts_with("HTTP/1.1 404"), "{metrics_port}: {here}");
        if metrics_port != "0" {
            let get = "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            let there = crate::client::ask(([127, 0, 0, 1], port).into(), get).await;
            assert!(there.contains("gateway_http_requests_total"), "{there}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_of_another_version_is_told_which_one_is_spoken() {
    let stage = Stage::open(&[]).await;
    let old = upgrade("connection: close\r\n").replace("version: 13", "version: 8");
    let refused = stage.ask(0, &old).await;
    assert!(refused.starts_with("HTTP/1.1 426"), "{refused}");
    assert!(refused.contains("sec-websocket-version: 13"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn manifests_and_land_are_served_with_tags() {
    let stage = Stage::open(&[]).await;
    for path in [
        "/manifests/world-areas.json",
        "/manifests/items/food.json",
        "/api/data/skill-unlocks",
        "/world/terrain/0/0",
        "/world/map",
        "/world/terrain.json",
    ] {
        let answer = stage.get(0, path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(
            answer.contains("cache-control: public, max-age=300, must-revalidate"),
            "{path}"
        );
        let tag = answer
            .lines()
            .find_map(|line| line.strip_prefix("etag: "))
            .unwrap();
        let again = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nif-none-match: {tag}\r\nconnection: close\r\n\r\n"
        );
        assert!(
            stage.ask(0, &again).await.starts_with("HTTP/1.1 304"),
            "{path}"
        );
    }
    let land = body(&stage.get(0, "/world/terrain.json").await);
    assert_eq!(land["regionTiles"], 64);
    assert!(land["grounds"].as_array().unwrap().len() > 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn origins_of_the_list_are_named_back_and_others_may_not_upgrade() {
    let stage = Stage::open(&[
        ("CORS_ORIGINS", "https://play.example"),
        ("HANDSHAKE_TIMEOUT_MS", "1000"),
    ])
    .await;
    let from = |origin: &str| {
        format!("GET /health HTTP/1.1\r\nhost: x\r\norigin: {origin}\r\nconnection: close\r\n\r\n")
    };
    let good = stage.ask(0, &from("https://play.example")).await;
    assert!(
        good.contains("access-control-allow-origin: https://play.example"),
        "{good}"
    );
    assert!(good.contains("access-control-allow-credentials: true"));
    let evil = stage.ask(0, &from("https://evil.example")).await;
    assert!(evil.starts_with("HTTP/1.1 200") && !evil.contains("access-control-allow"));

    let evil = upgrade("origin: https://evil.example\r\n");
    let refused = stage.ask(0, &evil).await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    assert_eq!(body(&refused)["code"], "origin_refused");
    let mut client = Client::connect(stage.address(0), "origin: http://localhost:3333\r\n").await;
    client.event("session:hello").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn env_js_shows_only_public_values() {
    let stage = Stage::open(&[
        ("PUBLIC_CDN_URL", "https://cdn.example/</script>"),
        ("JWT_SECRET", "a-secret-of-more-than-thirty-two-bytes"),
        ("ADMIN_CODE", "another-secret"),
    ])
    .await;
    let script = stage.get(0, "/env.js").await;
    assert!(
        script.contains("window.env = {") && script.contains("PUBLIC_WS_URL"),
        "{script}"
    );
    assert!(
        !script.contains("</script>") && !script.contains("secret"),
        "{script}"
    );
}

/// Reads to the end of the connection, which must come.
async fn ended(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    let read = timeout(Duration::from_secs(5), stream.read_to_end(&mut rest));
    let _ = read.await.expect("never closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_finishes_a_handshake_is_let_go() {
    let stage = Stage::open(&[("HANDSHAKE_TIMEOUT_MS", "300")]).await;
    // Says nothing at all; and one byte at a time for ever.
    let mut silent = TcpStream::connect(stage.address(0)).await.unwrap();
    let slow = TcpStream::connect(stage.address(0)).await.unwrap();
    let (mut reading, mut writing) = slow.into_split();
    let dripping = tokio::spawn(async move {
        loop {
            for byte in upgrade("x-slow: yes\r\n").bytes() {
                if writing.write_all(&[byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    ended(&mut silent).await;
    let mut rest = Vec::new();
    let read = timeout(Duration::from_secs(5), reading.read_to_end(&mut rest));
    let _ = read.await.expect("never closed");
    dripping.abort();

    // Connected, but never says who it is.
    let mut unauthenticated = stage.connect().await;
    assert_eq!(
        unauthenticated.event("session:hello").await["data"]["authTimeoutMs"],
        300
    );
    assert_eq!(unauthenticated.closed().await.0, 4001);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_the_protocol_is_closed_with_its_code_and_disturbs_nobody() {
    let stage = Stage::open(&[]).await;
    let mut other = stage.player("Other").await;
    let long = vec![b'a'; 20_000];
    let cases: Vec<(&str, Vec<u8>, u16)> = vec![
        ("unmasked", frame(true, TEXT, false, b"{}"), 1002),
        ("too long", frame(true, TEXT, true, &long), 1009),
        (
            "claims to be huge",
            vec![0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4],
            1009,
        ),
        (
            "too long in parts",
            [
                frame(false, TEXT, true, &long[..10_000]),
                frame(true, 0, true, &long[..10_000]),
            ]
            .concat(),
            1009,
        ),
        ("no UTF-8", frame(true, TEXT, true, &[0xff, 0xfe]), 1007),
        ("reserved bit", vec![0xc1, 0x80, 1, 2, 3, 4], 1002),
        ("unknown opcode", frame(true, 5, true, b""), 1002),
        ("continues nothing", frame(true, 0, true, b""), 1002),
        ("bad close", frame(true, CLOSE, true, &[3]), 1002),
    ];
    for (name, bytes, code) in cases {
        let mut client = stage.connect().await;
        client.event("session:hello").await;
        client.send_bytes(&bytes).await;
        let (closed, reason) = client.closed().await;
        assert_eq!(closed, code, "{name}: {reason}");
        assert!(!reason.is_empty(), "{name}: no words");
    }
    other.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_close_is_answered_in_kind() {
    let stage = Stage::open(&[]).await;
    let mut client = stage.connect().await;
    client.event("session:hello").await;
    client
        .send_frame(true, CLOSE, &1000_u16.to_be_bytes())
        .await;
    assert_eq!(client.closed().await.0, 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_end_players_are_told_and_closed_and_the_gateway_ends() {
    let mut stage = Stage::open(&[]).await;
    let mut client = stage.player("Ann").await;
    stage.stop(0).await;
    client.event("session:draining").await;
    assert_eq!(client.closed().await.0, 1001);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_goes_sends_its_clients_away_in_waves_and_lets_nobody_in() {
    let settings = [("DRAIN_SECONDS", "4"), ("DISABLE_RATE_LIMIT", "true")];
    let mut stage = Stage::open(&settings).await;
    let mut players = Vec::new();
    for n in 0..12 {
        players.push(stage.player(&format!("Ann {n}")).await);
    }
    let asleep = json!({"action": "sleep"});
    players[0].request("player:action", asleep).await;
    players[0].alive().await;
    let asked = stage.begin_stop(0);
    // Two probes, because the first one may come before the stop.
    let unready = async {
        while stage.is_ready(0).await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_millis(500), unready)
        .await
        .expect("ready");
    let refused = stage.ask(0, &upgrade("")).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("retry-after: "), "{refused}");
    let sent_away = players.into_iter().map(|mut player| async move {
        let told = player.event("session:draining").await;
        let at = asked.elapsed();
        assert_eq!(told["data"]["afterMs"], 800, "{told}");
        player.alive().await;
        let (code, _) = player.closed().await;
        (code, at, asked.elapsed())
    });
    let sent_away = futures::future::join_all(sent_away).await;
    assert!(sent_away.iter().all(|(code, ..)| *code == 1001));
    let mut told: Vec<Duration> = sent_away.iter().map(|(_, told, _)| *told).collect();
    told.sort();
    assert!(told[11] - told[0] > Duration::from_millis(400), "{told:?}");
    for (n, (_, told, closed)) in sent_away.iter().enumerate() {
        let stayed = *closed - *told;
        // The first one waited for an answer that never came.
        let least = if n == 0 { 2200 } else { 700 };
        assert!(stayed > Duration::from_millis(least), "{n}: {stayed:?}");
    }
    stage.stop(0).await;
    assert!(asked.elapsed() < Duration::from_secs(7));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_and_every_file_that_it_names_are_served_and_may_load_nothing_else() {
    let stage = Stage::open(&[]).await;
    let page = stage.get(0, "/").await;
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("text/html"),
        "{page}"
    );
    assert!(
        page.contains("content-security-policy: default-src 'none'"),
        "{page}"
    );
    let mut named = 0;
    for text in page.split('"').filter(|text| text.starts_with("/page/")) {
        let file = stage.get(0, text).await;
        assert!(file.starts_with("HTTP/1.1 200"), "{text}");
        named += 1;
    }
    assert!(named >= 2, "a style and a script");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_site_may_frame_the_console_of_the_operators() {
    let stage = Stage::open(&[]).await;
    let console = stage.get(0, "/console").await;
    assert!(console.starts_with("HTTP/1.1 200"), "{console}");
    assert!(
        console.contains("frame-ancestors 'none'") && console.contains("connect-src 'self';"),
        "{console}"
    );
}

/// The document describes what this very gateway says, and the page that shows it is there.
#[tokio::test(flavor = "multi_thread")]
async fn the_protocol_is_described_where_it_is_spoken() {
    let stage = Stage::open(&[]).await;
    let answer = stage.get(0, "/asyncapi.json").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("content-type: application/json"));
    let document = body(&answer);
    assert_eq!(document["asyncapi"], "3.0.0");
    let messages = &document["components"]["messages"];
    let mut client = stage.connect().await;
    let hello = client.message().await;
    let described = &messages["server.session.hello"]["payload"]["properties"]["data"];
    let at = described["$ref"].as_str().unwrap().trim_start_matches('#');
    let fields = document.pointer(at).unwrap()["properties"].as_object();
    let said = hello["data"].as_object().unwrap();
    assert!(
        said.keys().all(|name| fields.unwrap().contains_key(name)),
        "{hello}"
    );
    let page = stage.get(0, "/docs").await;
    assert!(page.contains("/docs/events.js"), "{page}");
    let script = stage.get(0, "/docs/events.js").await;
    assert!(script.contains("/asyncapi.json"), "{script}");
}
