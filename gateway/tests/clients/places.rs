//! Clients that take the places of others: connections of one address, sockets that say nothing,
//! and requests that do not name a host.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use crate::{
    client::{Client, upgrade},
    stage::Stage,
};

const GET: &str = "GET /env.js HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";

/// Connects from an address of this machine.
async fn from(local: &str, gateway: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{local}:0").parse().unwrap()).unwrap();
    socket.connect(gateway).await.unwrap()
}

/// Asks over a connection; empty where it was ended before.
async fn asks(mut stream: TcpStream, request: &str) -> String {
    // The other side may have refused it already.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    // A reset is an end as well.
    let _ = timeout(Duration::from_secs(10), read)
        .await
        .expect("no end");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_holds_only_so_many_connections() {
    let stage = Stage::open(&[("CONNECTIONS_PER_ADDRESS_MAX", "4")]).await;
    let gateway = stage.address(0);
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(from("127.0.0.2", gateway).await);
    }
    let refused = asks(from("127.0.0.2", gateway).await, GET).await;
    assert!(
        refused.is_empty() || refused.starts_with("HTTP/1.1 429"),
        "{refused}"
    );
    let other = asks(from("127.0.0.3", gateway).await, GET).await;
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
    drop(held);
    let again = async {
        while !asks(from("127.0.0.2", gateway).await, GET)
            .await
            .starts_with("HTTP/1.1 200")
        {}
    };
    timeout(Duration::from_secs(10), again)
        .await
        .expect("no place again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_proxy_has_no_bound_and_its_clients_have() {
    let stage = Stage::open(&[
        ("CONNECTIONS_PER_ADDRESS_MAX", "2"),
        ("TRUSTED_PROXIES", "127.0.0.1"),
    ])
    .await;
    let gateway = stage.address(0);
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(from("127.0.0.1", gateway).await);
    }
    let answer = asks(from("127.0.0.1", gateway).await, GET).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let forwarded = |address: &str| format!("x-forwarded-for: {address}\r\n");
    let ann = forwarded("203.0.113.1");
    let _first = Client::connect(gateway, &ann).await;
    let _second = Client::connect(gateway, &ann).await;
    let refused = stage
        .ask(0, &upgrade(&format!("connection: close\r\n{ann}")))
        .await;
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    assert!(
        refused.contains("At most 2 connections of your address"),
        "{refused}"
    );
    let _other = Client::connect(gateway, &forwarded("203.0.113.2")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_socket_that_says_nothing_makes_room_for_a_newcomer() {
    let stage = Stage::open(&[("UNAUTHENTICATED_MAX", "3")]).await;
    let mut first = stage.connect().await;
    let mut second = stage.connect().await;
    let _third = stage.connect().await;
    // A newcomer gets in, and is in the world, as often as one comes.
    let _ann = stage.player("Ann").await;
    assert_eq!(first.closed().await.0, 1013);
    let _bob = stage.connect().await;
    let _carl = stage.connect().await;
    assert_eq!(second.closed().await.0, 1013);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_one_plain_host_is_refused() {
    let stage = Stage::open(&[]).await;
    for hosts in [
        "",
        "host: here\r\nhost: here\r\n",
        "host: here\r\nHost: there\r\n",
        "host: a/b\r\n",
    ] {
        for path in ["/status", "/env.js", "/", "/nowhere"] {
            let request = format!("GET {path} HTTP/1.1\r\n{hosts}\r\n");
            let answer = stage.ask(0, &request).await;
            assert!(answer.starts_with("HTTP/1.1 400"), "{request}{answer}");
            assert!(answer.contains("connection: close"), "{answer}");
            assert!(answer.contains("\"bad_request\""), "{answer}");
        }
    }
    let old = stage.ask(0, "GET /status HTTP/1.0\r\n\r\n").await;
    assert!(old.contains(" 200 "), "{old}");
}
