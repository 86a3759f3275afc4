//! A balancer that names its clients by the PROXY protocol, on real sockets.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use crate::{client::upgrade, stage::Stage};

const GET: &str = "GET /env.js HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
/// The balancer is 127.0.0.1.
const SETTINGS: [(&str, &str); 2] = [("PROXY_PROTOCOL", "on"), ("TRUSTED_PROXIES", "127.0.0.1")];

/// Returns a header that names this client.
fn header(client: [u8; 4]) -> Vec<u8> {
    let mut bytes = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c".to_vec();
    bytes.extend(client);
    bytes.extend([10, 0, 0, 1, 0x30, 0x39, 0x15, 0xb3]);
    bytes
}

async fn connect(from: &str, gateway: SocketAddr, first: &[u8]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
    let mut stream = socket.connect(gateway).await.unwrap();
    // The other side may have refused it already.
    let _ = stream.write_all(first).await;
    stream
}

/// Returns what the gateway says until the connection ends; empty: nothing.
async fn said(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    // A reset is an end as well.
    let _ = timeout(Duration::from_secs(10), read)
        .await
        .expect("no end");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends these bytes and a request from an address; returns the answer.
async fn asked(stage: &Stage, from: &str, header: &[u8], request: &str) -> String {
    let bytes = [header, request.as_bytes()].concat();
    said(connect(from, stage.address(0), &bytes).await).await
}

fn refused(stage: &Stage, reason: &str) -> f64 {
    let label = format!("reason=\"{reason}\"");
    stage.metric("gateway_proxy_refused_total", &label)
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_count_the_client_that_the_header_names() {
    let settings = [
        SETTINGS[0],
        SETTINGS[1],
        ("CONNECTIONS_PER_ADDRESS_MAX", "2"),
    ];
    let stage = Stage::open(&settings).await;
    let (ann, bob) = (header([203, 0, 113, 1]), header([203, 0, 113, 2]));
    let mut held = Vec::new();
    for _ in 0..2 {
        let hello = [&ann[..], upgrade("").as_bytes()].concat();
        let mut stream = connect("127.0.0.1", stage.address(0), &hello).await;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 101");
        held.push(stream);
    }
    let full = asked(&stage, "127.0.0.1", &ann, GET).await;
    assert!(
        full.is_empty() || full.starts_with("HTTP/1.1 429"),
        "{full}"
    );
    let other = asked(&stage, "127.0.0.1", &bob, GET).await;
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
    // A header for proxies that the client wrote itself makes nobody else of it.
    let forged = GET.replace("\r\n\r\n", "\r\nx-forwarded-for: 198.51.100.7\r\n\r\n");
    let forged = asked(&stage, "127.0.0.1", &ann, &forged).await;
    assert!(!forged.starts_with("HTTP/1.1 200"), "{forged}");
    drop(held);
    let again = async {
        while !asked(&stage, "127.0.0.1", &ann, GET)
            .await
            .starts_with("HTTP/1.1 200")
        {}
    };
    timeout(Duration::from_secs(10), again)
        .await
        .expect("no place again");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_count_for_the_client_that_the_header_names() {
    let stage = Stage::open(&SETTINGS).await;
    let login = "POST /api/auth/anonymous HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\
                 content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    let (ann, bob) = (header([203, 0, 113, 1]), header([203, 0, 113, 2]));
    for _ in 0..10 {
        let answer = asked(&stage, "127.0.0.1", &ann, login).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let limited = asked(&stage, "127.0.0.1", &ann, login).await;
    assert!(limited.starts_with("HTTP/1.1 429"), "{limited}");
    let other = asked(&stage, "127.0.0.1", &bob, login).await;
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_trusted_balancer_with_a_whole_header_of_version_2_is_answered() {
    let stage = Stage::open(&SETTINGS).await;
    let ann = header([203, 0, 113, 1]);
    let stranger = asked(&stage, "127.0.0.2", &ann, GET).await;
    assert_eq!(stranger, "");
    assert_eq!(refused(&stage, "untrusted"), 1.0);
    let old = b"PROXY TCP4 203.0.113.1 10.0.0.1 5 5555\r\n";
    for (first, count) in [(&b""[..], 1.0), (&old[..], 2.0)] {
        assert_eq!(asked(&stage, "127.0.0.1", first, GET).await, "");
        assert_eq!(refused(&stage, "malformed"), count);
    }
    let mut datagram = ann.clone();
    datagram[13] = 0x12;
    assert_eq!(asked(&stage, "127.0.0.1", &datagram, GET).await, "");
    assert_eq!(refused(&stage, "no_address"), 1.0);
    // The balancer's own checks of health name nobody.
    let local = b"\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00";
    let probe = "GET /livez HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    let healthy = asked(&stage, "127.0.0.1", local, probe).await;
    assert!(healthy.starts_with("HTTP/1.1 200"), "{healthy}");
    let named = asked(&stage, "127.0.0.1", &ann, GET).await;
    assert!(named.starts_with("HTTP/1.1 200"), "{named}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_header_is_waited_for_no_longer_than_the_head_of_a_request() {
    let settings = [SETTINGS[0], SETTINGS[1], ("HANDSHAKE_TIMEOUT_MS", "300")];
    let stage = Stage::open(&settings).await;
    let whole = header([203, 0, 113, 1]);
    for part in [0, 5, 16, whole.len() - 1] {
        let before = refused(&stage, "too_slow");
        let since = std::time::Instant::now();
        let stream = connect("127.0.0.1", stage.address(0), &whole[..part]).await;
        assert_eq!(said(stream).await, "");
        assert!(since.elapsed() >= Duration::from_millis(250), "{part}");
        assert_eq!(refused(&stage, "too_slow"), before + 1.0, "{part}");
    }
}
