//! Sockets that do harm, beside the bots that play. Each goes on to do its harm until the end,
//! and connects again when the gateway has closed it.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Result, bail};
use fastwebsockets::OpCode;
use proto::client::Format;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    bot::{
        socket::{self, Reader, Received, Upgrade, Writer},
        wire,
    },
    http::Address,
};

/// Pause before a hostile socket connects again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// Time for which one that reads nothing stays before it begins anew.
const DEAF_FOR: Duration = Duration::from_secs(30);
/// Time for each answer while one of them logs in.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Frames that one sends before it lets others run.
const BURST: usize = 50;
/// The address that the first of them names.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(172, 16, 0, 1);

/// A way to do harm.
#[derive(Debug, Clone, Copy)]
enum Harm {
    /// Sends bytes that are no message.
    Garbage,
    /// Plays, and asks as often as it can.
    Flood,
    /// Plays, and reads nothing.
    Deaf,
    /// Sends its upgrade byte by byte.
    Slow,
    /// Sends pings as fast as it can.
    Pings,
}

const HARMS: [Harm; 5] = [
    Harm::Garbage,
    Harm::Flood,
    Harm::Deaf,
    Harm::Slow,
    Harm::Pings,
];

/// Lets `count` sockets do harm to a gateway until `end`, in five ways in turn. Returns how many
/// connections they have made.
pub async fn attack(gateway: Address, count: usize, end: CancellationToken) -> u64 {
    let connections = Arc::new(AtomicU64::new(0));
    let one = |number: usize| {
        let (gateway, connections) = (gateway.clone(), Arc::clone(&connections));
        async move {
            loop {
                connections.fetch_add(1, Ordering::Relaxed);
                // A gateway that ends the connection does what it should.
                let _ = harm(&gateway, number).await;
                sleep(AGAIN_AFTER).await;
            }
        }
    };
    let all = futures::future::join_all((0..count).map(one));
    // The attack itself never ends.
    let _ = end.run_until_cancelled(all).await;
    connections.load(Ordering::Relaxed)
}

async fn harm(gateway: &Address, number: usize) -> Result<()> {
    let way = HARMS[number % HARMS.len()];
    if let Harm::Slow = way {
        return slowly(gateway).await;
    }
    let last = u32::try_from(number).unwrap_or(u32::MAX);
    let address = Ipv4Addr::from_bits(FIRST_ADDRESS.to_bits().wrapping_add(last));
    let upgrade = Upgrade {
        format: Some(Format::Json),
        forwarded_for: Some(IpAddr::from(address)),
        ..Upgrade::default()
    };
    let (mut reader, writer) = socket::connect(gateway, &upgrade).await?;
    match way {
        Harm::Garbage => {
            let send = || writer.message(true, b"{\"event\": \"nothing\", [".to_vec());
            without_end(&mut reader, send).await
        }
        Harm::Pings => {
            let send = || writer.raw(true, OpCode::Ping, vec![7; 100]);
            without_end(&mut reader, send).await
        }
        Harm::Flood => {
            enter(&mut reader, &writer, number).await?;
            let data = json!({ "target": { "x": 3, "z": -3 }, "run": true });
            let bytes = wire::request(Format::Json, "player:move", None, &data)?;
            without_end(&mut reader, || writer.message(true, bytes.clone())).await
        }
        Harm::Deaf => {
            enter(&mut reader, &writer, number).await?;
            sleep(DEAF_FOR).await;
            Ok(())
        }
        Harm::Slow => Ok(()),
    }
}

/// Sends again and again until the connection ends, and reads all that comes.
async fn without_end<F: Future<Output = Result<()>>>(
    reader: &mut Reader,
    send: impl Fn() -> F,
) -> Result<()> {
    let sends = async {
        loop {
            for _ in 0..BURST {
                send().await?;
            }
            tokio::task::yield_now().await;
        }
    };
    let reads = async {
        loop {
            if let Received::Closed(_) = reader.next().await? {
                return Ok(());
            }
        }
    };
    tokio::select! {
        ended = sends => ended,
        ended = reads => ended,
    }
}

/// Comes into the world as somebody new.
async fn enter(reader: &mut Reader, writer: &Writer, number: usize) -> Result<()> {
    let ask = async |event: &str, data: Value| -> Result<()> {
        let bytes = wire::request(Format::Json, event, Some(1), &data)?;
        writer.message(true, bytes).await
    };
    ask("authenticate", json!({})).await?;
    hear(reader, "session:welcome").await?;
    let name = format!("Foe {number} {:x}", rand::random::<u16>());
    ask("character:create", json!({ "name": name })).await?;
    let created = hear(reader, "character:created").await?;
    let id = created["character"]["id"].clone();
    ask("world:enter", json!({ "characterId": id })).await?;
    hear(reader, "world:entered").await?;
    Ok(())
}

/// Reads until an event comes; returns its data.
async fn hear(reader: &mut Reader, event: &str) -> Result<Value> {
    let read = async {
        loop {
            match reader.next().await? {
                Received::Closed(closed) => bail!("closed: {:?} {}", closed.code, closed.reason),
                Received::Message { bytes, .. } => {
                    let mut message: Value = serde_json::from_slice(&bytes)?;
                    if message["event"] == event {
                        return Ok(message["data"].take());
                    }
                    if message["event"] == "error" {
                        bail!("error {}", message["data"]["code"]);
                    }
                }
            }
        }
    };
    timeout(ANSWER_WITHIN, read).await?
}

/// Sends an upgrade at a byte a second.
async fn slowly(gateway: &Address) -> Result<()> {
    let mut stream = TcpStream::connect(gateway.authority()).await?;
    let host = gateway.authority();
    let request = format!("GET {} HTTP/1.1\r\nHost: {host}\r\n", gateway.path);
    for byte in request.bytes() {
        stream.write_all(&[byte]).await?;
        sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}
