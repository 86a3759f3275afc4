//! The bus over Redis: one connection for commands and for what is heard (RESP3), which comes
//! back by itself and subscribes again.

use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use redis::{
    Client, FromRedisValue, PushInfo, PushKind, Script, Value,
    aio::{ConnectionManager, ConnectionManagerConfig},
};
use tokio::{sync::mpsc, time::timeout};

use super::bus::{Away, CALL_TIMEOUT, Heard};

/// The longest pause between two attempts to connect.
const RETRY_MAX: Duration = Duration::from_secs(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const REMOVE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    return redis.call('DEL', KEYS[1]) else return 0 end";

/// A gateway's connection to Redis.
#[derive(Clone)]
pub(crate) struct RedisBus(ConnectionManager);

impl RedisBus {
    /// Connects when first used. Call it inside a runtime.
    pub(crate) fn connect(url: &str, sender: mpsc::Sender<Heard>) -> anyhow::Result<Self> {
        let client = Client::open(resp3(url)).context("REDIS_URL")?;
        let heard = move |info: PushInfo| -> Result<(), Away> {
            // Runs on the connection's driver: it must never wait. What does not fit is lost, as
            // passing chat may be.
            if let Some(heard) = read(info)
                && sender.try_send(heard).is_err()
            {
                tracing::warn!("this gateway reads the bus too slowly");
            }
            Ok(())
        };
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(CALL_TIMEOUT))
            .set_max_delay(RETRY_MAX)
            .set_push_sender(heard)
            .set_automatic_resubscription();
        let manager = ConnectionManager::new_lazy_with_config(client, config);
        Ok(Self(manager.context("REDIS_URL")?))
    }

    pub(crate) async fn subscribe(&self, channel: &str) -> Result<(), Away> {
        let mut manager = self.0.clone();
        bounded(async move { manager.subscribe(channel).await }).await
    }

    pub(crate) async fn unsubscribe(&self, channel: &str) -> Result<(), Away> {
        let mut manager = self.0.clone();
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
        let mut manager = self.0.clone();
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

    pub(crate) async fn remove(&self, key: &str, value: &str) -> Result<(), Away> {
        let mut manager = self.0.clone();
        let script = Script::new(REMOVE);
        let mut call = script.key(key);
        call.arg(value);
        bounded(call.invoke_async::<i64>(&mut manager))
            .await
            .map(|_| ())
    }

    pub(crate) async fn probe(&self) -> Result<(), Away> {
        self.ask::<Value>(&redis::cmd("PING")).await.map(|_| ())
    }

    async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, Away> {
        let mut manager = self.0.clone();
        bounded(command.query_async(&mut manager)).await
    }
}

async fn bounded<T>(call: impl Future<Output = redis::RedisResult<T>>) -> Result<T, Away> {
    match timeout(CALL_TIMEOUT, call).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            tracing::debug!(kind = ?error.kind(), "Redis refused or is away");
            Err(Away)
        }
        Err(_) => Err(Away),
    }
}

/// The address with RESP3, without which nothing is heard.
fn resp3(url: &str) -> String {
    if url.contains("protocol=") {
        return url.to_owned();
    }
    let mark = if url.contains('?') { '&' } else { '?' };
    // An address without a database needs its slash before the question mark.
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let slash = if mark == '?' && !authority.contains('/') {
        "/"
    } else {
        ""
    };
    format!("{url}{slash}{mark}protocol=resp3")
}

fn read(info: PushInfo) -> Option<Heard> {
    if info.kind != PushKind::Message {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_asks_for_resp3() {
        for (given, used) in [
            ("redis://h:1", "redis://h:1/?protocol=resp3"),
            ("redis://h/2", "redis://h/2?protocol=resp3"),
            (
                "redis+unix:///tmp/r.sock",
                "redis+unix:///tmp/r.sock?protocol=resp3",
            ),
            (
                "redis+unix:///r?db=1",
                "redis+unix:///r?db=1&protocol=resp3",
            ),
            ("redis://h/?protocol=resp3", "redis://h/?protocol=resp3"),
        ] {
            assert_eq!(resp3(given), used);
            assert!(Client::open(used).is_ok(), "{used}");
        }
    }

    #[test]
    fn only_messages_are_heard() {
        let text = |t: &str| Value::BulkString(t.as_bytes().to_vec());
        let info = |kind, data| PushInfo { kind, data };
        let message = info(PushKind::Message, vec![text("c"), text("p")]);
        let heard = read(message).unwrap();
        assert_eq!(
            (heard.channel.as_str(), &heard.payload[..]),
            ("c", &b"p"[..])
        );
        assert_eq!(
            read(info(PushKind::Subscribe, vec![text("c"), Value::Int(1)])),
            None
        );
        assert_eq!(read(info(PushKind::Message, vec![text("c")])), None);
    }
}
