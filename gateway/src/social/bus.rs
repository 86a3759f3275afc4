//! The carrier of chat and presence between gateways: Redis, a Redis Cluster, or a bus inside the
//! process.
//!
//! Always: it delivers at most once, and nobody waits long for it; only messages sent while it is
//! away are lost.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

pub(crate) use super::delivery::{Away, Heard, Reach};
use super::{
    local_bus::LocalBus, redis_bus::RedisBus, redis_cluster::ClusterBus, redis_server::RedisPlace,
};
use crate::metrics::Metrics;

/// Maximum number of messages that wait for this gateway; further ones are lost.
const HEARD_MAX: usize = 4096;

/// Number of channels for news of friends on a cluster.
const SOCIAL_SHARDS: u32 = 16;

/// The bus as one gateway has it. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Bus {
    Local(LocalBus),
    Redis(RedisBus),
    Cluster(ClusterBus),
}

impl Bus {
    /// Joins the bus of this name inside the process.
    pub(crate) fn local(name: &str) -> (Self, mpsc::Receiver<Heard>) {
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        (Self::Local(LocalBus::join(name, sender)), heard)
    }

    /// Connects to this Redis; it need not be there yet.
    pub(crate) fn redis(
        place: &RedisPlace,
        metrics: Metrics,
    ) -> anyhow::Result<(Self, mpsc::Receiver<Heard>)> {
        let (sender, heard) = mpsc::channel(HEARD_MAX);
        let bus = match place {
            RedisPlace::Server(server) => Self::Redis(RedisBus::connect(server, sender, metrics)?),
            RedisPlace::Cluster(seeds) => {
                Self::Cluster(ClusterBus::connect(seeds, sender, metrics)?)
            }
        };
        Ok((bus, heard))
    }

    /// Returns the number of channels over which news of friends are spread, so that no node of a
    /// cluster carries all of them.
    pub(crate) fn social_shards(&self) -> u32 {
        match self {
            Self::Local(_) | Self::Redis(_) => 1,
            Self::Cluster(_) => SOCIAL_SHARDS,
        }
    }

    /// Reads a channel from now on.
    pub(crate) async fn subscribe(&self, channel: &str) -> Result<(), Away> {
        match self {
            Self::Local(bus) => {
                bus.subscribe(channel);
                Ok(())
            }
            Self::Redis(bus) => bus.subscribe(channel).await,
            Self::Cluster(bus) => bus.subscribe(channel).await,
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
            Self::Cluster(bus) => bus.unsubscribe(channel).await,
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
            Self::Cluster(bus) => bus.publish(channel, &payload).await,
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
            Self::Cluster(bus) => bus.set(values, time_to_live).await,
        }
    }

    /// Returns a value.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<String>, Away> {
        match self {
            Self::Local(bus) => Ok(bus.get(key)),
            Self::Redis(bus) => bus.get(key).await,
            Self::Cluster(bus) => bus.get(key).await,
        }
    }

    /// Returns values, in the order of their keys. Where only a part of the bus answers, the others
    /// are `Away`.
    pub(crate) async fn get_many(&self, keys: &[String]) -> Vec<Result<Option<String>, Away>> {
        match self {
            Self::Local(bus) => keys.iter().map(|key| Ok(bus.get(key))).collect(),
            Self::Redis(bus) => match bus.get_many(keys).await {
                Ok(values) => values.into_iter().map(Ok).collect(),
                Err(Away) => keys.iter().map(|_| Err(Away)).collect(),
            },
            Self::Cluster(bus) => bus.get_many(keys).await,
        }
    }

    /// Keeps a value for a time if its key has none. Returns the time until that ends which it has.
    pub(crate) async fn claim(
        &self,
        key: &str,
        value: &str,
        time_to_live: Duration,
    ) -> Result<Option<Duration>, Away> {
        match self {
            Self::Local(bus) => Ok(bus.claim(key, value, time_to_live)),
            Self::Redis(bus) => bus.claim(key, value, time_to_live).await,
            Self::Cluster(bus) => bus.claim(key, value, time_to_live).await,
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
            Self::Cluster(bus) => bus.remove(key, value).await,
        }
    }

    /// Returns whether the bus may have forgotten channels and values since the last call. If so,
    /// the gateway must say everything again.
    pub(crate) fn forgot(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Redis(bus) => bus.forgot(),
            Self::Cluster(bus) => bus.forgot(),
        }
    }

    /// Returns whether a part of the bus can be away while others answer.
    pub(crate) fn has_parts(&self) -> bool {
        match self {
            Self::Local(_) | Self::Redis(_) => false,
            Self::Cluster(_) => true,
        }
    }

    /// Returns whether the part of the bus that has this key answered last, where the bus has parts.
    pub(crate) fn reaches(&self, key: &str) -> bool {
        match self {
            Self::Local(_) | Self::Redis(_) => true,
            Self::Cluster(bus) => bus.reaches(key),
        }
    }

    /// Checks how much of the bus answers.
    pub(crate) async fn probe(&self) -> Result<Reach, Away> {
        match self {
            Self::Local(_) => Ok(Reach::All),
            Self::Redis(bus) => bus.probe().await.map(|()| Reach::All),
            Self::Cluster(bus) => bus.probe().await,
        }
    }
}
