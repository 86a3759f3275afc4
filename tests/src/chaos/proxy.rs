//! A TCP proxy that stands between two processes and can delay, hang, cut, and lose the answer to
//! a COMMIT.
//!
//! Always: it forwards all bytes in order and unchanged. It resets both sides of a connection that
//! it cuts, so that neither takes the end for an orderly one.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use rand::RngExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{AbortHandle, JoinSet},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// Bytes that the proxy reads before it forwards them.
const BUFFER_BYTES: usize = 64 * 1024;
/// Longest time for the server's answer to a COMMIT, if the proxy is to lose that answer.
const COMMIT_WITHIN: Duration = Duration::from_secs(5);
/// End of a simple query that commits, on PostgreSQL's wire.
const COMMIT: &[u8] = b"COMMIT\0";

/// Treatment of the bytes that pass a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Unchanged, at once.
    Pass,
    /// Each piece later by `ms`, and up to `jitter_ms` more.
    Delay {
        /// At least, in milliseconds.
        ms: u64,
        /// At most so much more, in milliseconds.
        jitter_ms: u64,
    },
    /// Nothing either way; connections stay open and new ones are taken.
    Hang,
    /// Unchanged up to the next COMMIT; that one and all after it hang, so that the server is left
    /// with an open transaction.
    HangAtCommit,
    /// The caller's bytes arrive; no answer does.
    HangAnswers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Asking,
    Answering,
}

#[derive(Debug)]
struct State {
    target: Mutex<String>,
    mode: watch::Sender<Mode>,
    /// Replaced at every cut: all connections of the one before are reset.
    living: Mutex<CancellationToken>,
    lose_commit: AtomicBool,
    commits_lost: AtomicU64,
}

impl State {
    fn living(&self) -> CancellationToken {
        self.living
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn target(&self) -> String {
        let target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
        target.clone()
    }

    /// Hangs if it was to do so at a COMMIT.
    fn commit_comes(&self) {
        self.mode.send_if_modified(|mode| {
            let waited = *mode == Mode::HangAtCommit;
            if waited {
                *mode = Mode::Hang;
            }
            waited
        });
    }

    /// Waits until something may pass this way.
    async fn passes(&self, way: Way) {
        let mut mode = self.mode.subscribe();
        let flows = |mode: &Mode| match mode {
            Mode::Pass | Mode::Delay { .. } | Mode::HangAtCommit => true,
            Mode::Hang => false,
            Mode::HangAnswers => way == Way::Asking,
        };
        // The sender lives as long as this state.
        let _ = mode.wait_for(flows).await;
        let mode = *mode.borrow();
        if let Mode::Delay { ms, jitter_ms } = mode {
            let more = rand::rng().random_range(0..=jitter_ms);
            sleep(Duration::from_millis(ms + more)).await;
        }
    }
}

/// A running proxy; it ends with its value.
#[derive(Debug)]
pub struct Proxy {
    state: Arc<State>,
    address: SocketAddr,
    accepting: AbortHandle,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and forwards to `target`, a `host:port`.
    pub async fn start(target: &str) -> Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("a port for a proxy")?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            target: Mutex::new(target.to_owned()),
            mode: watch::Sender::new(Mode::Pass),
            living: Mutex::default(),
            lose_commit: AtomicBool::new(false),
            commits_lost: AtomicU64::new(0),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state))).abort_handle();
        Ok(Proxy {
            state,
            address,
            accepting,
        })
    }

    /// Returns the address on which it listens: `host:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Returns the port of 127.0.0.1 on which it listens.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Sets the treatment of all bytes from now on.
    pub fn set(&self, mode: Mode) {
        self.state.mode.send_replace(mode);
    }

    /// Forwards new connections to another `host:port`, and resets those that are open now.
    pub fn aim(&self, target: &str) {
        let mut aimed = self
            .state
            .target
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        target.clone_into(&mut aimed);
        drop(aimed);
        self.cut();
    }

    /// Resets all connections that are open now.
    pub fn cut(&self) {
        let mut living = self
            .state
            .living
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *living).cancel();
    }

    /// Lets the next COMMIT reach the server, drops its answer and resets the connection.
    pub fn lose_next_commit(&self) {
        self.state.commits_lost.store(0, Ordering::SeqCst);
        self.state.lose_commit.store(true, Ordering::SeqCst);
    }

    /// Lets every further COMMIT have its answer.
    pub fn keep_commits(&self) {
        self.state.lose_commit.store(false, Ordering::SeqCst);
    }

    /// Returns the number of lost answers to a COMMIT since [`Proxy::lose_next_commit`].
    pub fn commits_lost(&self) -> u64 {
        self.state.commits_lost.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    // Ends with the proxy, and all connections with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((caller, _)) = accepted {
                    connections.spawn(serve(caller, Arc::clone(&state)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(mut caller: TcpStream, state: Arc<State>) {
    let living = state.living();
    let Ok(mut server) = TcpStream::connect(state.target()).await else {
        // As if nobody listened: the caller's connection breaks.
        let _ = caller.set_zero_linger();
        return;
    };
    let _ = (caller.set_nodelay(true), server.set_nodelay(true));
    let ended = living
        .run_until_cancelled(forward(&mut caller, &mut server, &state))
        .await;
    if !matches!(ended, Some(Ok(()))) {
        let _ = (caller.set_zero_linger(), server.set_zero_linger());
    }
}

/// Forwards in both directions until both have ended in order.
async fn forward(caller: &mut TcpStream, server: &mut TcpStream, state: &State) -> io::Result<()> {
    let (mut from_caller, mut to_caller) = caller.split();
    let (mut from_server, mut to_server) = server.split();
    let losing = AtomicBool::new(false);
    let asking = async {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = from_caller.read(&mut buffer).await?;
            if read == 0 {
                return to_server.shutdown().await;
            }
            let piece = &buffer[..read];
            let commits = piece.windows(COMMIT.len()).any(|part| part == COMMIT);
            if commits {
                state.commit_comes();
            }
            state.passes(Way::Asking).await;
            if commits && state.lose_commit.swap(false, Ordering::SeqCst) {
                losing.store(true, Ordering::SeqCst);
            }
            to_server.write_all(piece).await?;
        }
    };
    let answering = async {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = from_server.read(&mut buffer).await?;
            if losing.load(Ordering::SeqCst) {
                state.commits_lost.fetch_add(1, Ordering::SeqCst);
                return Err(io::Error::other("the answer is lost"));
            }
            if read == 0 {
                return to_caller.shutdown().await;
            }
            state.passes(Way::Answering).await;
            to_caller.write_all(&buffer[..read]).await?;
        }
    };
    let both = async { tokio::try_join!(asking, answering).map(|_| ()) };
    let never_answered = async {
        loop {
            sleep(COMMIT_WITHIN).await;
            if losing.load(Ordering::SeqCst) {
                return;
            }
        }
    };
    tokio::select! {
        ended = both => ended,
        () = never_answered => Err(io::Error::other("the answer is lost")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers each piece with the same bytes.
    async fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
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

    async fn through() -> (Proxy, TcpStream) {
        let proxy = Proxy::start(&echo().await).await.unwrap();
        let stream = TcpStream::connect(proxy.address()).await.unwrap();
        (proxy, stream)
    }

    #[tokio::test]
    async fn it_forwards_and_a_cut_resets() {
        let (proxy, mut stream) = through().await;
        assert_eq!(ask(&mut stream, b"hello").await.unwrap(), b"hello");
        proxy.cut();
        let error = ask(&mut stream, b"more").await.unwrap_err();
        let broken = [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::UnexpectedEof,
        ];
        assert!(broken.contains(&error.kind()), "{error:?}");
        let mut next = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(ask(&mut next, b"again").await.unwrap(), b"again");
    }

    #[tokio::test]
    async fn what_hangs_comes_when_it_passes_again() {
        let (proxy, mut stream) = through().await;
        proxy.set(Mode::HangAnswers);
        let late = tokio::time::timeout(Duration::from_millis(200), ask(&mut stream, b"a")).await;
        assert!(late.is_err(), "nothing hung");
        proxy.set(Mode::Pass);
        let mut answer = [0];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"a");
    }

    #[tokio::test]
    async fn a_commit_arrives_and_its_answer_does_not() {
        let (proxy, mut stream) = through().await;
        proxy.lose_next_commit();
        assert_eq!(ask(&mut stream, b"select").await.unwrap(), b"select");
        assert!(ask(&mut stream, b"COMMIT\0").await.is_err());
        assert_eq!(proxy.commits_lost(), 1);
        let mut next = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(ask(&mut next, b"COMMIT\0").await.unwrap(), b"COMMIT\0");
    }
}
