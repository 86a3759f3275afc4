//! One node of a cluster: a connection for commands, and one that only hears.
//!
//! Always: a node that left a call without an answer costs no further deadline until it answers a
//! check. Messages have a connection of their own, because a node that gives a slot away says so
//! unasked, and the client takes that for the answer to whatever command comes next.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use redis::{PushInfo, PushKind, RedisResult, Value};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    metrics::Metrics,
    social::{
        delivery::{Away, CALL_TIMEOUT, Heard},
        redis_bus::{Link, channel_of, read},
        redis_server::RedisServer,
    },
};

/// Line of a node that knows of enough others to serve.
const WELL: &str = "cluster_state:ok";

/// A node. Cheap to clone.
#[derive(Clone)]
pub(super) struct Node(Arc<Inner>);

struct Inner {
    commands: Link,
    ear: Link,
    /// Channels that the ear hears.
    channels: Arc<Mutex<HashSet<String>>>,
    /// Whether the node gave a channel away.
    moved: Arc<AtomicBool>,
    /// Whether it answered when it was asked last.
    answers: AtomicBool,
    /// Whether it answers again after a silence, in which it may have lost what it knew.
    returned: AtomicBool,
}

impl Node {
    /// Connects when first used.
    pub(super) fn new(
        server: &RedisServer,
        sender: mpsc::Sender<Heard>,
        metrics: Metrics,
    ) -> RedisResult<Self> {
        let channels: Arc<Mutex<HashSet<String>>> = Arc::default();
        let moved = Arc::new(AtomicBool::new(false));
        let (heard, gone) = (Arc::clone(&channels), Arc::clone(&moved));
        let hear = move |info: PushInfo| {
            if info.kind == PushKind::SUnsubscribe {
                // An own order takes the channel off the list first.
                let unasked = channel_of(&info).is_some_and(|name| lock(&heard).contains(&name));
                if unasked {
                    gone.store(true, Ordering::Release);
                }
                return;
            }
            if let Some(heard) = read(info)
                && sender.try_send(heard).is_err()
            {
                metrics.bus_dropped();
            }
        };
        Ok(Self(Arc::new(Inner {
            commands: Link::open(server, false, |_| {})?,
            ear: Link::open(server, false, hear)?,
            channels,
            moved,
            answers: AtomicBool::new(true),
            returned: AtomicBool::new(false),
        })))
    }

    /// Returns the connection for commands, if the node answered last.
    pub(super) fn commands(&self) -> Result<&Link, Away> {
        if self.answers() {
            Ok(&self.0.commands)
        } else {
            Err(Away)
        }
    }

    /// Returns the connection for commands, whether or not the node answered last.
    pub(super) fn all_commands(&self) -> &Link {
        &self.0.commands
    }

    /// Returns whether it answered when it was asked last.
    pub(super) fn answers(&self) -> bool {
        self.0.answers.load(Ordering::Acquire)
    }

    /// Notes that it left a call without an answer.
    pub(super) fn silent(&self) {
        self.0.answers.store(false, Ordering::Release);
    }

    /// Returns whether a connection was lost, a channel given away, or a silence is over, since the
    /// last call. A node that does not answer says so when it answers again.
    pub(super) fn forgot(&self) -> bool {
        if !self.answers() {
            return false;
        }
        let moved = self.0.moved.swap(false, Ordering::AcqRel);
        if moved {
            // It may have taken the news for an answer.
            self.0.ear.replace();
        }
        let lost = self.0.ear.forgot();
        if moved || lost {
            lock(&self.0.channels).clear();
        }
        // Values may be gone with the process that had them.
        let gone = self.0.commands.forgot();
        self.0.returned.swap(false, Ordering::AcqRel) || gone || moved || lost
    }

    /// Checks that it answers on both connections, and that it can serve. Replaces connections
    /// that stay silent for too long.
    pub(super) async fn probe(&self) -> Result<(), Away> {
        let mut ask = redis::cmd("CLUSTER");
        ask.arg("INFO");
        let state = async {
            let state = self.0.commands.probe::<String>(&ask).await?;
            if state.contains(WELL) {
                Ok(())
            } else {
                Err(Away)
            }
        };
        let ping = redis::cmd("PING");
        let ear = async { self.0.ear.probe::<Value>(&ping).await.map(|_| ()) };
        let (state, ear) = tokio::join!(state, ear);
        let answer = state.and(ear);
        let before = self.0.answers.swap(answer.is_ok(), Ordering::AcqRel);
        if answer.is_ok() && !before {
            self.0.returned.store(true, Ordering::Release);
        }
        answer
    }

    /// Hears a sharded channel from now on.
    pub(super) async fn subscribe(&self, channel: &str) -> RedisResult<()> {
        lock(&self.0.channels).insert(channel.to_owned());
        self.hears("SSUBSCRIBE", channel).await
    }

    /// Stops hearing a sharded channel.
    pub(super) async fn unsubscribe(&self, channel: &str) -> RedisResult<()> {
        lock(&self.0.channels).remove(channel);
        self.hears("SUNSUBSCRIBE", channel).await
    }

    async fn hears(&self, order: &str, channel: &str) -> RedisResult<()> {
        let mut command = redis::cmd(order);
        command.arg(channel);
        let mut manager = self.0.ear.manager();
        let answer = command.query_async::<Value>(&mut manager);
        match timeout(CALL_TIMEOUT, answer).await {
            Ok(answer) => answer.map(|_| ()),
            Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
        }
    }
}

fn lock(channels: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    channels.lock().unwrap_or_else(PoisonError::into_inner)
}
