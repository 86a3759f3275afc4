//! The bus over Redis: one connection for commands and for messages (RESP3), which comes back by
//! itself.
//!
//! Always: no call waits longer than its deadline. This module reports a lost connection, since a
//! Redis that started anew knows neither our channels nor our values. It replaces a connection that
//! stays silent, or that Redis turned away.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context;
use arc_swap::ArcSwap;
use bytes::Bytes;
use redis::{
    Client, FromRedisValue, PushInfo, PushKind, Script, Value,
    aio::{ConnectionManager, ConnectionManagerConfig},
};
use tokio::{sync::mpsc, time::timeout};

use super::{
    delivery::{Away, CALL_TIMEOUT, Heard},
    redis_server::RedisServer,
};
use crate::metrics::Metrics;

/// Longest pause between two attempts to connect.
const RETRY_MAX: Duration = Duration::from_secs(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Silence after which the gateway replaces a connection.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(5);
/// Forgets a value, if it is still this one.
pub(super) const REMOVE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    return redis.call('DEL', KEYS[1]) else return 0 end";

/// Keeps a value if its key has none, and returns -1; else the milliseconds until that ends which
/// it has.
const CLAIM: &str = "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then \
    return -1 else return math.max(redis.call('PTTL', KEYS[1]), 0) end";

/// A gateway's connection to Redis.
#[derive(Clone)]
pub(crate) struct RedisBus(Arc<Link>);

/// A connection to one server, which comes back by itself.
pub(super) struct Link {
    client: Client,
    config: ConnectionManagerConfig,
    manager: ArcSwap<ConnectionManager>,
    /// Whether a connection was lost since the last call of [`Link::forgot`].
    lost: Arc<AtomicBool>,
    /// Time since which Redis has answered no probe.
    silent: Mutex<Option<Instant>>,
}

impl Link {
    /// Connects when first used. Call it inside a runtime. `again`: subscribes to all channels
    /// again by itself. `hear` runs on the connection's driver: it must never wait.
    pub(super) fn open(
        server: &RedisServer,
        again: bool,
        hear: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> redis::RedisResult<Self> {
        let client = server.client();
        let lost = Arc::new(AtomicBool::new(false));
        let noted = Arc::clone(&lost);
        let push = move |info: PushInfo| -> Result<(), Away> {
            if info.kind == PushKind::Disconnection {
                noted.store(true, Ordering::Release);
            }
            hear(info);
            Ok(())
        };
        let mut config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(CALL_TIMEOUT))
            .set_max_delay(RETRY_MAX)
            .set_push_sender(push);
        if again {
            config = config.set_automatic_resubscription();
        }
        let manager = ConnectionManager::new_lazy_with_config(client.clone(), config.clone())?;
        Ok(Self {
            manager: ArcSwap::from_pointee(manager),
            client,
            config,
            lost,
            silent: Mutex::new(None),
        })
    }

    /// Returns the connection, for commands of any kind; the caller sets the deadline.
    pub(super) fn manager(&self) -> ConnectionManager {
        ConnectionManager::clone(&self.manager.load())
    }

    /// Returns whether a connection was lost since the last call.
    pub(super) fn forgot(&self) -> bool {
        self.lost.swap(false, Ordering::AcqRel)
    }

    /// Asks something to see that Redis answers, and replaces a connection that has not for too
    /// long.
    pub(super) async fn probe<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, Away> {
        let answer = self.ask::<T>(command).await;
        if self.silent_too_long(answer.is_err(), Instant::now()) {
            self.replace();
        }
        answer
    }

    fn silent_too_long(&self, silent: bool, now: Instant) -> bool {
        let mut since = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        if !silent {
            *since = None;
            return false;
        }
        let began = *since.get_or_insert(now);
        let too_long = now.saturating_duration_since(began) >= SILENCE_MAX;
        if too_long {
            *since = Some(now);
        }
        too_long
    }

    /// Begins a new connection. The manager reconnects by itself only after a break: it keeps a
    /// refusal for ever, and waits for a host that answers nothing any more.
    pub(super) fn replace(&self) {
        let (client, config) = (self.client.clone(), self.config.clone());
        match ConnectionManager::new_lazy_with_config(client, config) {
            Ok(manager) => self.manager.store(Arc::new(manager)),
            Err(error) => tracing::warn!(kind = ?error.kind(), "no new connection to Redis"),
        }
        self.lost.store(true, Ordering::Release);
    }

    async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, Away> {
        let mut manager = self.manager();
        bounded(command.query_async(&mut manager)).await
    }
}

impl RedisBus {
    /// Connects when first used. Call it inside a runtime.
    pub(crate) fn connect(
        server: &RedisServer,
        sender: mpsc::Sender<Heard>,
        metrics: Metrics,
    ) -> anyhow::Result<Self> {
        // It may lose a message that does not fit, as passing chat may be lost.
        let hear = move |info: PushInfo| {
            if let Some(heard) = read(info)
                && sender.try_send(heard).is_err()
            {
                metrics.bus_dropped();
            }
        };
        let link = Link::open(server, true, hear).context("REDIS_URL")?;
        Ok(Self(Arc::new(link)))
    }

    /// Returns the connection, for commands of any kind; the caller sets the deadline.
    pub(crate) fn manager(&self) -> ConnectionManager {
        self.0.manager()
    }

    /// Returns whether Redis may have forgotten channels and values since the last call.
    pub(crate) fn forgot(&self) -> bool {
        self.0.forgot()
    }

    pub(crate) async fn subscribe(&self, channel: &str) -> Result<(), Away> {
        let mut manager = self.manager();
        bounded(async move { manager.subscribe(channel).await }).await
    }

    pub(crate) async fn unsubscribe(&self, channel: &str) -> Result<(), Away> {
        let mut manager = self.manager();
        bounded(async move { manager.unsubscribe(channel).await }).await
    }

    pub(crate) async fn publish(&self, channel: &str, payload: &Bytes) -> Result<(), Away> {
        let mut command = redis::cmd("PUBLISH");
        command.arg(channel).arg(&payload[..]);
        self.ask::<Value>(&command).await.map(|_| ())
    }

    pub(crate) async fn set(
        &self,
        values: &[(String, String)],
        time_to_live: Duration,
    ) -> Result<(), Away> {
        let mut manager = self.manager();
        let ms = u64::try_from(time_to_live.as_millis()).unwrap_or(u64::MAX);
        // In parts, so that no single call is a long one.
        for part in values.chunks(500) {
            let mut pipe = redis::pipe();
            for (key, value) in part {
                pipe.pset_ex(key, value, ms).ignore();
            }
            bounded(pipe.query_async::<()>(&mut manager)).await?;
        }
        Ok(())
    }

    pub(crate) async fn get(&self, key: &str) -> Result<Option<String>, Away> {
        let mut command = redis::cmd("GET");
        command.arg(key);
        self.ask(&command).await
    }

    pub(crate) async fn get_many(&self, keys: &[String]) -> Result<Vec<Option<String>>, Away> {
        let mut values = Vec::with_capacity(keys.len());
        // In parts, so that no single call is a long one.
        for part in keys.chunks(500) {
            let mut command = redis::cmd("MGET");
            command.arg(part);
            let some: Vec<Option<String>> = self.ask(&command).await?;
            values.extend(some);
        }
        Ok(values)
    }

    pub(crate) async fn remove(&self, key: &str, value: &str) -> Result<(), Away> {
        let mut manager = self.manager();
        let script = Script::new(REMOVE);
        let mut call = script.key(key);
        call.arg(value);
        bounded(call.invoke_async::<i64>(&mut manager))
            .await
            .map(|_| ())
    }

    /// Keeps a value if its key has none. Returns the time until that ends which it has.
    pub(crate) async fn claim(
        &self,
        key: &str,
        value: &str,
        time_to_live: Duration,
    ) -> Result<Option<Duration>, Away> {
        self.ask(&claim(key, value, time_to_live))
            .await
            .map(claimed)
    }

    /// Checks that Redis answers, and replaces a connection that has not for too long.
    pub(crate) async fn probe(&self) -> Result<(), Away> {
        let ping = redis::cmd("PING");
        self.0.probe::<Value>(&ping).await.map(|_| ())
    }

    async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, Away> {
        self.0.ask(command).await
    }
}

/// Returns the command that keeps a value if its key has none.
pub(super) fn claim(key: &str, value: &str, time_to_live: Duration) -> redis::Cmd {
    let ms = u64::try_from(time_to_live.as_millis()).unwrap_or(u64::MAX);
    let mut command = redis::cmd("EVAL");
    command.arg(CLAIM).arg(1).arg(key).arg(value).arg(ms.max(1));
    command
}

/// Reads the answer to [`claim`].
pub(super) fn claimed(left_ms: i64) -> Option<Duration> {
    u64::try_from(left_ms).ok().map(Duration::from_millis)
}

pub(super) async fn bounded<T>(
    call: impl Future<Output = redis::RedisResult<T>>,
) -> Result<T, Away> {
    match timeout(CALL_TIMEOUT, call).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            tracing::debug!(kind = ?error.kind(), "Redis refused or is away");
            Err(Away)
        }
        Err(_) => Err(Away),
    }
}

/// Returns the message in a push; `None` if it is another one.
pub(super) fn read(info: PushInfo) -> Option<Heard> {
    if !matches!(info.kind, PushKind::Message | PushKind::SMessage) {
        return None;
    }
    let mut parts = info.data.into_iter();
    let (Some(Value::BulkString(channel)), Some(Value::BulkString(payload))) =
        (parts.next(), parts.next())
    else {
        return None;
    };
    Some(Heard {
        channel: String::from_utf8(channel).ok()?,
        payload: payload.into(),
        at: Instant::now(),
    })
}

/// Returns the channel that a push is about.
pub(super) fn channel_of(info: &PushInfo) -> Option<String> {
    match info.data.first() {
        Some(Value::BulkString(channel)) => String::from_utf8(channel.clone()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
