//! What a gateway measures of its clients, in series that no client can make.

use std::time::Duration;

use crate::{client::Client, stage::Stage};

/// Waits until a measure has this value.
async fn measures(stage: &Stage, name: &str, label: &str, value: f64) {
    let begun = std::time::Instant::now();
    while stage.metric(name, label) != value {
        let shown = stage.metric(name, label);
        assert!(begun.elapsed() < Duration::from_secs(10), "{name}: {shown}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_client_makes_a_series_by_methods_and_paths_of_its_own() {
    let stage = Stage::open(&[]).await;
    let seconds = "gateway_http_request_seconds_count{";
    stage.get(0, "/world/terrain/0/0").await;
    stage.get(0, "/world/terrain/0/1").await;
    let terrain = "method=\"GET\",route=\"/world/terrain/{x}/{z}\"";
    measures(&stage, seconds, terrain, 2.0).await;
    for number in 0..5 {
        let close = "host: here\r\nconnection: close\r\n\r\n";
        let asked = format!("BREW{number} /pot/{number} HTTP/1.1\r\n{close}");
        stage.ask(0, &asked).await;
    }
    let made_up = "method=\"_OTHER\",route=\"none\"";
    measures(&stage, seconds, made_up, 5.0).await;
    for word in ["BREW", "/pot/"] {
        assert_eq!(stage.metric("gateway_", word), 0.0, "{word} is in a series");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_count_by_kind_and_subprotocol_while_they_have_a_socket() {
    let stage = Stage::open(&[]).await;
    let clients = "gateway_clients{";
    let spoken = |kind: &str| format!("kind=\"{kind}\",subprotocol=\"tilestead.json\"");
    let origin = "origin: http://here\r\n";
    let mut from_page = Client::connect(stage.address(0), origin).await;
    measures(&stage, clients, &spoken("unauthenticated"), 1.0).await;
    from_page.log_in().await;
    let mut program = Client::connect(stage.address(0), "").await;
    program.log_in().await;
    measures(&stage, clients, &spoken("page"), 1.0).await;
    measures(&stage, clients, &spoken("program"), 1.0).await;
    measures(&stage, clients, &spoken("unauthenticated"), 0.0).await;
    drop(from_page);
    measures(&stage, clients, &spoken("page"), 0.0).await;
    assert_eq!(stage.metric(clients, &spoken("program")), 1.0);
}
