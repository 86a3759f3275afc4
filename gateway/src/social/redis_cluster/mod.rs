//! The bus over a Redis Cluster: sharded channels (`SSUBSCRIBE`), and each key at the node of its
//! slot.
//!
//! Always: each node stands alone. One that is away costs its own keys and channels, and no other
//! call waits for it. The map of slots is asked for anew when a node is silent, gives a slot away,
//! or sends a call elsewhere. Each call has a deadline, also if it is sent elsewhere.
//!
//! In reading order: `slots` (pure: the map), `node` (the connections to one node).

mod node;
mod slots;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use bytes::Bytes;
use futures::future::join_all;
use redis::{Cmd, FromRedisValue, Pipeline, RedisError, RedisResult, ScriptInvocation, Value};
use tokio::{sync::mpsc, time::timeout};

use self::{node::Node, slots::SlotMap};
use super::{
    delivery::{Away, CALL_TIMEOUT, Heard, Reach},
    redis_bus::{REMOVE, bounded},
    redis_server::{NodeAddress, RedisSeeds},
};
use crate::metrics::Metrics;

/// Maximum number of commands that go to a node at once, so that no single call is a long one.
const PART: usize = 500;

/// A gateway's connections to a cluster. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ClusterBus(Arc<Inner>);

struct Inner {
    seeds: RedisSeeds,
    sender: mpsc::Sender<Heard>,
    metrics: Metrics,
    known: Mutex<Known>,
    /// Whether the map of slots may be old.
    stale: AtomicBool,
    /// Whether slots have other nodes than before, since the last call of [`ClusterBus::forgot`].
    moved: AtomicBool,
    /// Lets one call at a time ask for the map.
    refreshing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    slots: SlotMap,
    nodes: HashMap<NodeAddress, Node>,
}

impl ClusterBus {
    /// Connects when first used. Call it inside a runtime.
    pub(crate) fn connect(
        seeds: &RedisSeeds,
        sender: mpsc::Sender<Heard>,
        metrics: Metrics,
    ) -> anyhow::Result<Self> {
        let bus = Self(Arc::new(Inner {
            seeds: seeds.clone(),
            sender,
            metrics,
            known: Mutex::default(),
            stale: AtomicBool::new(true),
            moved: AtomicBool::new(false),
            refreshing: tokio::sync::Mutex::default(),
        }));
        bus.add_seeds().context("REDIS_URL")?;
        Ok(bus)
    }

    /// Adds the nodes that the settings name, to ask them for the map.
    fn add_seeds(&self) -> RedisResult<()> {
        let mut known = self.known();
        for server in self.0.seeds.servers() {
            if let Some(at) = server.address()
                && !known.nodes.contains_key(&at)
            {
                let (sender, metrics) = (self.0.sender.clone(), self.0.metrics.clone());
                known.nodes.insert(at, Node::new(server, sender, metrics)?);
            }
        }
        Ok(())
    }

    /// Returns whether the cluster may have forgotten channels and values since the last call.
    pub(crate) fn forgot(&self) -> bool {
        let moved = self.0.moved.swap(false, Ordering::AcqRel);
        let nodes = self.nodes();
        // Each is asked, because each forgets what it noted.
        let lost = nodes.iter().filter(|(_, node)| node.forgot()).count() > 0;
        if lost {
            self.0.stale.store(true, Ordering::Release);
        }
        moved || lost
    }

    /// Returns whether the node of a key or channel answered last.
    pub(crate) fn reaches(&self, key: &str) -> bool {
        self.owner(key).is_ok_and(|(_, node)| node.answers())
    }

    /// Checks every node, and asks for the map of slots if it may be old.
    pub(crate) async fn probe(&self) -> Result<Reach, Away> {
        if self.0.stale.load(Ordering::Acquire) {
            // Without an answer the old map stays, and the next check asks again.
            let _ = timeout(CALL_TIMEOUT, self.refresh()).await;
        }
        let whole = self.known().slots.is_whole();
        let nodes = self.nodes();
        let answers = join_all(nodes.iter().map(|(_, node)| node.probe())).await;
        let there = answers.iter().filter(|answer| answer.is_ok()).count();
        let away = answers.len() - there;
        self.0.metrics.bus_nodes(there, away);
        if away > 0 || !whole {
            self.0.stale.store(true, Ordering::Release);
        }
        match (there, away) {
            (0, _) => Err(Away),
            (_, 0) if whole => Ok(Reach::All),
            _ => Ok(Reach::Part),
        }
    }

    pub(crate) async fn subscribe(&self, channel: &str) -> Result<(), Away> {
        self.hears(channel, true).await
    }

    pub(crate) async fn unsubscribe(&self, channel: &str) -> Result<(), Away> {
        self.hears(channel, false).await
    }

    async fn hears(&self, channel: &str, on: bool) -> Result<(), Away> {
        let order = async |node: &Node| {
            if on {
                node.subscribe(channel).await
            } else {
                node.unsubscribe(channel).await
            }
        };
        let call = async {
            let (_, node) = self.owner(channel)?;
            node.commands()?;
            match order(&node).await {
                Ok(()) => Ok(()),
                Err(error) if error.redirect_node().is_some() => {
                    self.refresh().await?;
                    let (_, node) = self.owner(channel)?;
                    order(&node)
                        .await
                        .map_err(|error| self.refused(&node, &error))
                }
                Err(error) => Err(self.refused(&node, &error)),
            }
        };
        timeout(CALL_TIMEOUT * 2, call).await.unwrap_or(Err(Away))
    }

    pub(crate) async fn publish(&self, channel: &str, payload: &Bytes) -> Result<(), Away> {
        let mut command = redis::cmd("SPUBLISH");
        command.arg(channel).arg(&payload[..]);
        self.ask::<Value>(channel, &command).await.map(|_| ())
    }

    pub(crate) async fn get(&self, key: &str) -> Result<Option<String>, Away> {
        let mut command = redis::cmd("GET");
        command.arg(key);
        self.ask(key, &command).await
    }

    pub(crate) async fn remove(&self, key: &str, value: &str) -> Result<(), Away> {
        let mut command = redis::cmd("EVAL");
        command.arg(REMOVE).arg(1).arg(key).arg(value);
        self.ask::<i64>(key, &command).await.map(|_| ())
    }

    /// Keeps a value if its key has none. Returns the time until that ends which it has.
    pub(crate) async fn claim(
        &self,
        key: &str,
        value: &str,
        time_to_live: Duration,
    ) -> Result<Option<Duration>, Away> {
        self.ask(key, &super::redis_bus::claim(key, value, time_to_live))
            .await
            .map(super::redis_bus::claimed)
    }

    /// Keeps values for a time. Where a node is away, those of the others are kept all the same.
    pub(crate) async fn set(
        &self,
        values: &[(String, String)],
        time_to_live: Duration,
    ) -> Result<(), Away> {
        let ms = u64::try_from(time_to_live.as_millis()).unwrap_or(u64::MAX);
        let commands = values.iter().map(|(key, value)| {
            let mut command = redis::cmd("PSETEX");
            command.arg(key).arg(ms).arg(value);
            (key.as_str(), command)
        });
        let answers = self.ask_all::<Value>(commands.collect()).await;
        answers
            .into_iter()
            .try_for_each(|answer| answer.map(|_| ()))
    }

    /// Returns values, in the order of their keys.
    pub(crate) async fn get_many(&self, keys: &[String]) -> Vec<Result<Option<String>, Away>> {
        let commands = keys.iter().map(|key| {
            let mut command = redis::cmd("GET");
            command.arg(key);
            (key.as_str(), command)
        });
        self.ask_all(commands.collect()).await
    }

    /// Runs a script at the node of its keys, which must be of one slot. The caller sets the
    /// deadline.
    pub(crate) async fn invoke<T: FromRedisValue>(
        &self,
        key: &str,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, Away> {
        let (_, node) = self.owner(key)?;
        let mut manager = node.commands()?.manager();
        match script.invoke_async(&mut manager).await {
            Ok(answer) => Ok(answer),
            Err(error) if error.redirect_node().is_some() => {
                self.refresh().await?;
                let (_, node) = self.owner(key)?;
                let mut manager = node.commands()?.manager();
                let answer = script.invoke_async(&mut manager).await;
                answer.map_err(|error| self.refused(&node, &error))
            }
            Err(error) => Err(self.refused(&node, &error)),
        }
    }

    async fn ask<T: FromRedisValue>(&self, key: &str, command: &Cmd) -> Result<T, Away> {
        let call = async {
            let (_, node) = self.owner(key)?;
            let mut manager = node.commands()?.manager();
            match command.query_async(&mut manager).await {
                Ok(answer) => Ok(answer),
                Err(error) => self.elsewhere(key, command, &node, &error).await,
            }
        };
        self.in_time(key, call).await
    }

    /// Asks all at once, each node for its own part. Returns the answers in the order of the
    /// commands.
    async fn ask_all<T: FromRedisValue>(&self, commands: Vec<(&str, Cmd)>) -> Vec<Result<T, Away>> {
        let mut parts: BTreeMap<NodeAddress, (Node, Vec<usize>)> = BTreeMap::new();
        for (index, (key, _)) in commands.iter().enumerate() {
            if let Ok((at, node)) = self.owner(key) {
                parts
                    .entry(at)
                    .or_insert_with(|| (node, Vec::new()))
                    .1
                    .push(index);
            }
        }
        let mut answers: Vec<Result<T, Away>> = commands.iter().map(|_| Err(Away)).collect();
        let commands = &commands;
        let asked = parts.values().map(|(node, all)| async move {
            let mut answers = Vec::with_capacity(all.len());
            for part in all.chunks(PART) {
                answers.extend(self.ask_part(node, part, commands).await);
            }
            answers
        });
        for (index, answer) in join_all(asked).await.into_iter().flatten() {
            if let Some(place) = answers.get_mut(index) {
                *place = answer;
            }
        }
        answers
    }

    async fn ask_part<T: FromRedisValue>(
        &self,
        node: &Node,
        part: &[usize],
        commands: &[(&str, Cmd)],
    ) -> Vec<(usize, Result<T, Away>)> {
        let named = |index: &usize| {
            commands
                .get(*index)
                .map(|(key, command)| (*index, *key, command))
        };
        let named: Vec<(usize, &str, &Cmd)> = part.iter().filter_map(named).collect();
        let mut pipeline = Pipeline::new();
        pipeline.ignore_errors();
        for (_, _, command) in &named {
            pipeline.add_command(Cmd::clone(command));
        }
        let call = async {
            let mut manager = node.commands()?.manager();
            let answers = pipeline
                .query_async::<Vec<RedisResult<T>>>(&mut manager)
                .await;
            answers.map_err(|error| self.refused(node, &error))
        };
        let told = match timeout(CALL_TIMEOUT, call).await {
            Ok(Ok(told)) => told,
            Ok(Err(Away)) => Vec::new(),
            Err(_) => {
                node.silent();
                Vec::new()
            }
        };
        let mut told = told.into_iter();
        let mut answers = Vec::with_capacity(named.len());
        for (index, key, command) in named {
            let answer = match told.next() {
                Some(Ok(answer)) => Ok(answer),
                Some(Err(error)) => {
                    let call = self.elsewhere(key, command, node, &error);
                    self.in_time(key, call).await
                }
                None => Err(Away),
            };
            answers.push((index, answer));
        }
        answers
    }

    /// Asks the node to which another one sent a call, or gives it up.
    async fn elsewhere<T: FromRedisValue>(
        &self,
        key: &str,
        command: &Cmd,
        from: &Node,
        error: &RedisError,
    ) -> Result<T, Away> {
        if error.redirect_node().is_none() {
            return Err(self.refused(from, error));
        }
        if error.code() != Some("ASK") {
            self.refresh().await?;
            let (_, node) = self.owner(key)?;
            let mut manager = node.commands()?.manager();
            let answer = command.query_async(&mut manager).await;
            return answer.map_err(|error| self.refused(&node, &error));
        }
        // The slot is moving: only this call goes there.
        let to = error
            .redirect_node()
            .and_then(|(at, _)| address(at))
            .ok_or(Away)?;
        let node = self.known().nodes.get(&to).cloned().ok_or(Away)?;
        let mut pipeline = Pipeline::new();
        pipeline.cmd("ASKING").ignore().add_command(command.clone());
        let mut manager = node.commands()?.manager();
        let answer = pipeline.query_async::<(T,)>(&mut manager).await;
        answer
            .map(|(answer,)| answer)
            .map_err(|error| self.refused(&node, &error))
    }

    /// Notes why a node gave no answer.
    fn refused(&self, node: &Node, error: &RedisError) -> Away {
        tracing::debug!(kind = ?error.kind(), "a node of Redis refused or is away");
        if error.is_io_error() {
            node.silent();
        }
        self.0.stale.store(true, Ordering::Release);
        Away
    }

    /// Waits for a call as long as one may take. A node that is silent for so long costs no further
    /// call its deadline.
    async fn in_time<T>(
        &self,
        key: &str,
        call: impl Future<Output = Result<T, Away>>,
    ) -> Result<T, Away> {
        if let Ok(answer) = timeout(CALL_TIMEOUT, call).await {
            return answer;
        }
        if let Ok((_, node)) = self.owner(key) {
            node.silent();
        }
        Err(Away)
    }

    /// Returns the node of a key or channel.
    fn owner(&self, key: &str) -> Result<(NodeAddress, Node), Away> {
        let known = self.known();
        let at = known.slots.node(key).ok_or(Away)?;
        let node = known.nodes.get(at).ok_or(Away)?;
        Ok((at.clone(), node.clone()))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes(&self) -> Vec<(NodeAddress, Node)> {
        let known = self.known();
        let nodes = known.nodes.iter();
        nodes.map(|(at, node)| (at.clone(), node.clone())).collect()
    }

    /// Asks for the map of slots, and connects to its nodes.
    async fn refresh(&self) -> Result<(), Away> {
        let _one = self.0.refreshing.lock().await;
        let mut nodes = self.nodes();
        nodes.sort_by(|(one, _), (other, _)| one.cmp(other));
        // A node that is cut off from the others knows an old map.
        let (well, ill): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|(_, node)| node.answers());
        let mut map = self.ask_for_map(&well).await;
        if map.is_none() {
            map = self.ask_for_map(&ill).await;
        }
        let Some(map) = map else {
            // All that it knew are away: those of the settings may not be.
            let _ = self.add_seeds();
            return Err(Away);
        };
        self.0.stale.store(false, Ordering::Release);
        let mut known = self.known();
        if known.slots == map {
            return Ok(());
        }
        let mut nodes = HashMap::new();
        for at in map.nodes() {
            let node = known.nodes.get(at).cloned().or_else(|| {
                let (sender, metrics) = (self.0.sender.clone(), self.0.metrics.clone());
                Node::new(&self.0.seeds.node(at)?, sender, metrics).ok()
            });
            if let Some(node) = node {
                nodes.insert(at.clone(), node);
            }
        }
        *known = Known { slots: map, nodes };
        self.0.moved.store(true, Ordering::Release);
        Ok(())
    }

    /// Asks all of these at once. Returns the map of the first that has one.
    async fn ask_for_map(&self, nodes: &[(NodeAddress, Node)]) -> Option<SlotMap> {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let command = &command;
        let asked = nodes.iter().map(|(at, node)| {
            Box::pin(async move {
                let mut manager = node.all_commands().manager();
                let answer = bounded(command.query_async::<Value>(&mut manager)).await;
                answer
                    .ok()
                    .and_then(|answer| SlotMap::read(&answer, &at.host))
                    .ok_or(Away)
            })
        });
        let asked: Vec<_> = asked.collect();
        if asked.is_empty() {
            return None;
        }
        let (map, _) = futures::future::select_ok(asked).await.ok()?;
        Some(map)
    }
}

/// Reads the address of a node in an answer that sends a call there.
fn address(text: &str) -> Option<NodeAddress> {
    let (host, port) = text.rsplit_once(':')?;
    Some(NodeAddress {
        host: host.to_owned(),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests;
