//! Clients that take their time, and clients that take everybody's.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::stage::Stage;

const SOON: Duration = Duration::from_secs(5);
const GET: &str = "GET /env.js HTTP/1.1\r\nhost: here\r\n\r\n";

/// Reads to the end of the connection, which must come.
async fn ended(mut stream: impl AsyncReadExt + Unpin) -> String {
    let mut rest = Vec::new();
    let read = timeout(SOON, stream.read_to_end(&mut rest)).await;
    // A reset is an end as well.
    let _ = read.expect("never closed");
    String::from_utf8_lossy(&rest).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_drips_or_is_too_long_is_cut_with_words() {
    let stage = Stage::open(&[("BODY_TIMEOUT_MS", "300")]).await;
    let head = "GET /env.js HTTP/1.1\r\nhost: here\r\ncontent-length: 50\r\n\r\n";
    let stream = TcpStream::connect(stage.address(0)).await.unwrap();
    let (reading, mut writing) = stream.into_split();
    writing.write_all(head.as_bytes()).await.unwrap();
    let dripping = tokio::spawn(async move {
        for _ in 0..49 {
            if writing.write_all(b"x").await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let answer = ended(reading).await;
    dripping.abort();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("request_timeout") && answer.contains("connection: close"));

    let long = "GET /env.js HTTP/1.1\r\nhost: here\r\ncontent-length: 1048577\r\n\r\n";
    let answer = stage.ask(0, long).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("body_too_large"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_rests_between_two_requests_is_cut() {
    let stage = Stage::open(&[("HANDSHAKE_TIMEOUT_MS", "300")]).await;
    let mut stream = TcpStream::connect(stage.address(0)).await.unwrap();
    stream.write_all(GET.as_bytes()).await.unwrap();
    let answer = ended(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Holds a connection and says nothing.
async fn idle(stage: &Stage) -> TcpStream {
    TcpStream::connect(stage.address(0)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_are_answered_while_all_places_are_taken() {
    let stage = Stage::open(&[("CONNECTIONS_MAX", "4")]).await;
    let mut held = Vec::new();
    // More than there are: a connection of before may have given its place back just now.
    for _ in 0..12 {
        held.push(idle(&stage).await);
    }
    for probe in ["/status", "/health", "/livez", "/readyz"] {
        let answer = stage.get(0, probe).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{probe}: {answer}");
    }
    let refused = stage.get(0, "/env.js").await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("retry-after: 5"), "{refused}");
    drop(held);
    let again = async { while !stage.get(0, "/env.js").await.starts_with("HTTP/1.1 200") {} };
    timeout(SOON, again).await.expect("no place again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_requests_delays_neither_the_probes_nor_the_players() {
    let stage = Stage::open(&[]).await;
    let mut player = stage.player("Ann").await;
    let address = stage.address(0);
    let storm: Vec<_> = (0..200)
        .map(|_| {
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                let mut answer = [0; 4096];
                let mut answered = 0_u32;
                while stream.write_all(GET.as_bytes()).await.is_ok() {
                    match stream.read(&mut answer).await {
                        Ok(1..) => answered += 1,
                        _ => break,
                    }
                }
                answered
            })
        })
        .collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let began = Instant::now();
        let status = stage.get(0, "/status").await;
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        player.alive().await;
        slowest = slowest.max(began.elapsed());
    }
    assert!(slowest < Duration::from_secs(3), "{slowest:?}");
    assert!(
        stage.metric("gateway_limited_total", "rest") > 1000.0,
        "no storm"
    );
    for one in storm {
        one.abort();
    }
}
