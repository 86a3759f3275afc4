//! Keeps one zone server running: starts a process, waits for its end, starts the next.
//!
//! Always: a signal goes to the process that is meant, because nobody learns of its end without the
//! same lock.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    time::Duration,
};

use anyhow::Context;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use service_runtime::config::Env;
use tokio::{
    sync::oneshot,
    time::{Instant, MissedTickBehavior, interval, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    board::{self, Board},
    relay::Wire,
};
use crate::arguments::ZONE_PROCESS;

/// Time between two looks at whether a process has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Time between the end of a process and the next, unless an operator named another.
const REST: Duration = Duration::from_secs(2);
/// Time that a process may take to end after it is asked to.
const END_LIMIT: Duration = Duration::from_secs(25);
/// Processes that wait for their start.
const STARTS_MAX: usize = 64;

/// A process to start, and where its starter waits for it.
type Start = (Command, oneshot::Sender<io::Result<Child>>);

/// Starts all processes from one thread, which lives as long as there is a clone of this value: the
/// kernel kills a process of ours when the thread that started it ends.
#[derive(Clone)]
pub(super) struct Nursery(mpsc::SyncSender<Start>);

impl Nursery {
    pub(super) fn new() -> Self {
        let (starts, orders) = mpsc::sync_channel::<Start>(STARTS_MAX);
        std::thread::spawn(move || {
            for (mut command, asker) in orders {
                if let Err(Ok(mut child)) = asker.send(command.spawn()) {
                    // Nobody waits for the process any more.
                    let _ = child.kill().and_then(|()| child.wait());
                }
            }
        });
        Self(starts)
    }

    async fn start(&self, command: Command) -> anyhow::Result<Child> {
        let (asker, started) = oneshot::channel();
        let asked = self.0.try_send((command, asker));
        asked.ok().context("the nursery takes nobody")?;
        Ok(started.await.context("the nursery ended")??)
    }
}

/// The process of a zone server, and the wish for the next one.
#[derive(Default)]
struct Slot {
    child: Option<Child>,
    /// Time until the next process, as an operator named it.
    rest: Option<Duration>,
}

/// The keeper of one zone server; clones are the same one.
#[derive(Clone)]
pub(super) struct Keeper {
    index: usize,
    env: Env,
    /// The way of others to the process.
    wire: Wire,
    board: Arc<Mutex<Board>>,
    nursery: Nursery,
    slot: Arc<Mutex<Slot>>,
}

impl Keeper {
    pub(super) fn new(
        index: usize,
        env: Env,
        wire: Wire,
        board: Arc<Mutex<Board>>,
        nursery: Nursery,
    ) -> Self {
        Self {
            index,
            env,
            wire,
            board,
            nursery,
            slot: Arc::default(),
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a signal to the process, if there is one.
    pub(super) fn signal(&self, signal: Signal) {
        let slot = self.slot();
        let id = slot.child.as_ref().map(Child::id);
        let Some(id) = id.and_then(|id| i32::try_from(id).ok()) else {
            return;
        };
        if let Err(error) = kill(Pid::from_raw(id), signal) {
            tracing::warn!(%error, %signal, "a process takes no signal");
        }
    }

    /// Kills the process; the next one starts after `rest`.
    pub(super) fn kill(&self, rest: Duration) {
        self.slot().rest = Some(rest);
        self.signal(Signal::SIGKILL);
    }

    /// Keeps a process running until `stop`, and waits for the end of the last one.
    pub(super) async fn keep(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            match self.start().await {
                Ok(()) => {
                    board::lock(&self.board).up(self.index);
                    let ended = self.ended(&stop).await;
                    board::lock(&self.board).down(self.index);
                    if !stop.is_cancelled() {
                        tracing::warn!(%ended, zone = self.index + 1, "a zone server ended");
                    }
                }
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(error, zone = self.index + 1, "a zone server does not start");
                }
            }
            let rest = self.slot().rest.take().unwrap_or(REST);
            // A stop cuts the rest short.
            let _ = stop.run_until_cancelled(sleep(rest)).await;
        }
    }

    /// Starts a process on a fresh port, and leads the others there.
    async fn start(&self) -> anyhow::Result<()> {
        let address = free_address()?;
        let mut command = Command::new(std::env::current_exe()?);
        let own = std::process::id().to_string();
        command
            .args([ZONE_PROCESS, &own])
            .env_clear()
            .envs(self.env.set_ones())
            .env("ZONE_LISTEN", address.to_string())
            .stdin(Stdio::null())
            // Ctrl-C is for the launcher, which ends its processes in order.
            .process_group(0);
        let child = self.nursery.start(command).await?;
        self.wire.aim(address);
        self.slot().child = Some(child);
        Ok(())
    }

    /// Waits for the end of the process. After `stop` it asks the process to end, and kills it if it
    /// takes too long.
    async fn ended(&self, stop: &CancellationToken) -> ExitStatus {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut kill_at: Option<Instant> = None;
        loop {
            look.tick().await;
            if let Some(status) = self.look() {
                return status;
            }
            match kill_at {
                None if stop.is_cancelled() => {
                    self.signal(Signal::SIGCONT);
                    self.signal(Signal::SIGTERM);
                    kill_at = Some(Instant::now() + END_LIMIT);
                }
                Some(at) if Instant::now() > at => self.signal(Signal::SIGKILL),
                None | Some(_) => {}
            }
        }
    }

    /// Returns the process's exit status if it has ended.
    fn look(&self) -> Option<ExitStatus> {
        let mut slot = self.slot();
        let child = slot.child.as_mut()?;
        match child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => {
                slot.child = None;
                Some(status)
            }
            Err(error) => {
                tracing::error!(%error, "a process cannot be waited for");
                None
            }
        }
    }
}

/// Returns an address that is free now. If somebody else takes it first, the process ends, and the next
/// one gets another.
fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}
