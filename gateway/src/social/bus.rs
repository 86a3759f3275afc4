//! The carrier of chat and presence between gateways: Redis, or a bus inside the process.
//!
//! Always: it delivers at most once, and nobody waits long for it; only messages sent while it is
//! away are lost.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{local_bus::LocalBus, redis_bus::RedisBus, redis_server::RedisServer};

/// Time that one call may take.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_millis(250);
/// Maximum number of messages that wait for this gateway; further ones are lost.
const HEARD_MAX: usize = 4096;

/// The bus does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bus does not answer")]
pub(crate) struct Away;

/// A message on a channel that this gateway reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) channel: String,
    pub(crate) payload: Bytes,
}

/// The bus as one gateway has it. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Bus {
    Local(LocalBus),
    Redis(RedisBus),
}

impl Bus {
    /// Joins the bus of this name inside the process.
    pub(crate) fn local(name: &str) -> (Self, mpsc::Receiver<Heard>) {
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        (Self::Local(LocalBus::join(name, sender)), heard)
    }

    /// Connects to this Redis; it need not be there yet.
    pub(crate) fn redis(server: &RedisServer) -> anyhow::Result<(Self, mpsc::Receiver<Heard>)> {
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        Ok((Self::Redis(RedisBus::connect(server, sender)?), heard))
    }

    /// Reads a channel from now on.
    pub(crate) async fn subscribe(&self, channel: &str) -> Result<(), Away> {
        match self {
            Self::Local(bus) => {
                bus.subscribe(channel);
                Ok(())
            }
            Self::Redis(bus) => bus.subscribe(channel).await,
        }
    }

    /// Stops reading a channel.
    pub(crate) async fn unsubscribe(&self, channel: &str) -> Result<(), Away> {
        match self {
            Self::Local(bus) => {
                bus.unsubscribe(channel);
                Ok(())
            }
            Self::Redis(bus) => bus.unsubscribe(channel).await,
        }
    }

    /// Sends a message to all readers of the channel, this gateway included.
    pub(crate) async fn publish(&self, channel: &str, payload: Bytes) -> Result<(), Away> {
        match self {
            Self::Local(bus) => {
                bus.publish(channel, &payload);
                Ok(())
            }
            Self::Redis(bus) => bus.publish(channel, &payload).await,
        }
    }

    /// Keeps values for a time.
    pub(crate) async fn set(
        &self,
        values: &[(String, String)],
        time_to_live: Duration,
    ) -> Result<(), Away> {
        match self {
            Self::Local(bus) => {
                bus.set(values, time_to_live);
                Ok(())
            }
            Self::Redis(bus) => bus.set(values, time_to_live).await,
        }
    }

    /// Returns a value.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<String>, Away> {
        match self {
            Self::Local(bus) => Ok(bus.get(key)),
            Self::Redis(bus) => bus.get(key).await,
        }
    }

    /// Returns values, in the order of their keys.
    pub(crate) async fn get_many(&self, keys: &[String]) -> Result<Vec<Option<String>>, Away> {
        match self {
            Self::Local(bus) => Ok(keys.iter().map(|key| bus.get(key)).collect()),
            Self::Redis(bus) => bus.get_many(keys).await,
        }
    }

    /// Forgets a value, if it is still this one.
    pub(crate) async fn remove(&self, key: &str, value: &str) -> Result<(), Away> {
        match self {
            Self::Local(bus) => {
                bus.remove(key, value);
                Ok(())
            }
            Self::Redis(bus) => bus.remove(key, value).await,
        }
    }

    /// Returns whether the bus may have forgotten channels and values since the last call. If so,
    /// the gateway must say everything again.
    pub(crate) fn forgot(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Redis(bus) => bus.forgot(),
        }
    }

    /// Checks that the bus answers.
    pub(crate) async fn probe(&self) -> Result<(), Away> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Redis(bus) => bus.probe().await,
        }
    }
}
