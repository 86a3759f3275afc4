//! Wires between a zone server and the others. A wire can hold all that passes it.
//!
//! Always: all bytes arrive in order and unchanged. A connection that breaks on one side breaks on the
//! other. A wire has at most [`CONNECTIONS_MAX`] connections; further ones wait.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::timeout,
};

/// Connections of a wire at the same time.
const CONNECTIONS_MAX: usize = 256;
/// Bytes that a wire reads before it passes them on.
const BUFFER_BYTES: usize = 64 * 1024;
/// Longest time for a connection to the other end.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The switches of a wire.
#[derive(Debug, Clone)]
pub(super) struct Wire(Arc<State>);

#[derive(Debug)]
struct State {
    /// The other end; `None`: nobody is there.
    target: Mutex<Option<SocketAddr>>,
    held: watch::Sender<bool>,
}

impl Wire {
    /// Leads new connections to another end.
    pub(super) fn aim(&self, target: SocketAddr) {
        let mut aimed = self.0.target.lock().unwrap_or_else(PoisonError::into_inner);
        *aimed = Some(target);
    }

    /// Holds everything, or lets it pass again.
    pub(super) fn hold(&self, held: bool) {
        self.0.held.send_replace(held);
    }

    fn target(&self) -> Option<SocketAddr> {
        *self.0.target.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The near end of a wire.
#[derive(Debug)]
pub(super) struct Relay {
    /// Address on which it listens.
    pub(super) address: SocketAddr,
    listener: TcpListener,
    wire: Wire,
}

impl Relay {
    /// Listens on a free port of this machine.
    pub(super) async fn bind(target: Option<SocketAddr>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("a wire")?;
        let state = State {
            target: Mutex::new(target),
            held: watch::Sender::new(false),
        };
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            wire: Wire(Arc::new(state)),
        })
    }

    /// Returns its switches.
    pub(super) fn wire(&self) -> Wire {
        self.wire.clone()
    }

    /// Passes connections on, for ever. All of them end with the future.
    pub(super) async fn run(self) {
        let mut connections = JoinSet::new();
        loop {
            let room = connections.len() < CONNECTIONS_MAX;
            tokio::select! {
                accepted = self.listener.accept(), if room => match accepted {
                    Ok((caller, _)) => {
                        connections.spawn(serve(caller, self.wire.clone()));
                    }
                    Err(error) => tracing::warn!(%error, "a wire takes no connection"),
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

async fn serve(mut caller: TcpStream, wire: Wire) {
    let mut held = wire.0.held.subscribe();
    let dial = async {
        flows(&mut held).await?;
        let nobody = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let target = wire.target().ok_or_else(nobody)?;
        timeout(CONNECT_TIMEOUT, TcpStream::connect(target)).await?
    };
    let Ok(mut server) = dial.await else {
        // As if nobody listened: the caller's connection breaks.
        let _ = caller.set_zero_linger();
        return;
    };
    // A wire that is slower by this still carries everything.
    let _ = (caller.set_nodelay(true), server.set_nodelay(true));
    let (from_caller, to_caller) = caller.split();
    let (from_server, to_server) = server.split();
    let asking = pass(from_caller, to_server, held.clone());
    let answering = pass(from_server, to_caller, held);
    if tokio::try_join!(asking, answering).is_err() {
        let _ = (caller.set_zero_linger(), server.set_zero_linger());
    }
}

/// Passes bytes on in one direction, to their end.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut held: watch::Receiver<bool>,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = from.read(&mut buffer).await?;
        flows(&mut held).await?;
        match read {
            0 => return to.shutdown().await,
            read => to.write_all(&buffer[..read]).await?,
        }
    }
}

/// Waits until the wire lets things pass.
async fn flows(held: &mut watch::Receiver<bool>) -> io::Result<()> {
    let passes = held.wait_for(|held| !held).await;
    passes.map(drop).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers each piece with the same bytes, once.
    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::task::spawn_local(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                tokio::task::spawn_local(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        address
    }

    async fn ask(stream: &mut TcpStream, words: &[u8]) -> io::Result<Vec<u8>> {
        stream.write_all(words).await?;
        let mut answer = vec![0; words.len()];
        stream.read_exact(&mut answer).await?;
        Ok(answer)
    }

    #[tokio::test]
    async fn what_a_wire_holds_comes_when_it_lets_go() {
        let told = async {
            let relay = Relay::bind(Some(echo().await)).await.unwrap();
            let (wire, address) = (relay.wire(), relay.address);
            tokio::task::spawn_local(relay.run());
            let mut stream = TcpStream::connect(address).await.unwrap();
            assert_eq!(ask(&mut stream, b"hello").await.unwrap(), b"hello");
            wire.hold(true);
            let asked = ask(&mut stream, b"held");
            let late = timeout(Duration::from_millis(200), asked).await;
            assert!(late.is_err(), "it passed");
            let mut newcomer = TcpStream::connect(address).await.unwrap();
            let asked = ask(&mut newcomer, b"new");
            let late = timeout(Duration::from_millis(200), asked).await;
            assert!(late.is_err(), "a new connection passed");
            wire.hold(false);
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"held");
        };
        tokio::task::LocalSet::new().run_until(told).await;
    }

    #[tokio::test]
    async fn where_nobody_is_a_connection_breaks() {
        let told = async {
            let relay = Relay::bind(None).await.unwrap();
            let address = relay.address;
            tokio::task::spawn_local(relay.run());
            let mut stream = TcpStream::connect(address).await.unwrap();
            assert!(ask(&mut stream, b"hello").await.is_err());
        };
        tokio::task::LocalSet::new().run_until(told).await;
    }
}
