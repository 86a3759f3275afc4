//! The state of some chunks that zones published at a tick, and whether a client's map of that tick
//! agrees with it. [`disagreements`] is pure.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result};
use proto::rpc::{
    common::v1::{Chunk, Region},
    persistence::v1::{WatchRequest, directory_client::DirectoryClient},
    zone::v1::{DumpRequest, Entity, inspect_client::InspectClient},
};
use serde_json::{Map, Value};
use service_runtime::rpc::{Role, Trust};
use tokio::time::timeout;
use tonic::transport::Channel;

use crate::load::Snapshot;

const DEADLINE: Duration = Duration::from_secs(10);

/// Owners of the regions.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    /// Trust of the one who asked, for questions to zones.
    trust: Trust,
    /// Addresses of the runs, by run.
    pub runs: BTreeMap<u64, String>,
    /// Owners of the regions.
    pub owners: BTreeMap<(i32, i32), u64>,
}

impl Directory {
    /// Asks a persistence service.
    pub async fn fetch(trust: &Trust, persistence: &str) -> Result<Self> {
        timeout(DEADLINE, Self::ask(trust, persistence))
            .await
            .context("the directory is silent")?
    }

    async fn ask(trust: &Trust, persistence: &str) -> Result<Self> {
        let channel = trust.channel(Role::Persistence, persistence)?;
        let mut client = DirectoryClient::new(channel);
        let request = WatchRequest {
            client: "tests".to_owned(),
        };
        let mut updates = client.watch(request).await?.into_inner();
        while let Some(update) = updates.message().await? {
            if update.unchanged {
                continue;
            }
            let at = |region: Option<Region>| region.map(|r| (r.x, r.z)).unwrap_or_default();
            return Ok(Self {
                trust: trust.clone(),
                runs: update
                    .runs
                    .into_iter()
                    .map(|run| (run.run_id, run.address))
                    .collect(),
                owners: update
                    .regions
                    .into_iter()
                    .filter(|owner| owner.run_id != 0)
                    .map(|owner| (at(owner.region), owner.run_id))
                    .collect(),
            });
        }
        anyhow::bail!("the directory's stream ended")
    }

    /// Returns the run that owns the region of a tile.
    pub fn owner(&self, (x, z): (i32, i32)) -> Option<u64> {
        self.owners
            .get(&(x.div_euclid(64), z.div_euclid(64)))
            .copied()
    }

    /// Returns the runs that own regions, and how many each.
    pub fn shares(&self) -> BTreeMap<u64, usize> {
        let mut shares = BTreeMap::new();
        for run in self.owners.values() {
            *shares.entry(*run).or_default() += 1;
        }
        shares
    }
}

/// A connection to every zone, for dumps.
pub struct Zones(BTreeMap<u64, InspectClient<Channel>>);

/// Published state of one entity at a tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Its kind.
    pub kind: String,
    /// Tile of the entity.
    pub at: (i32, i32),
    /// Its further public fields.
    pub fields: Map<String, Value>,
    /// Sequence of its owner.
    pub ownership_sequence: u64,
}

/// All that the zones published of some chunks at a tick, by entity.
pub type Dump = BTreeMap<String, Published>;

impl Zones {
    /// Connects to all zones of the directory.
    pub async fn connect(directory: &Directory) -> Result<Self> {
        let mut zones = BTreeMap::new();
        for (run, address) in &directory.runs {
            let channel = directory.trust.channel(Role::Zone, address)?;
            let client = InspectClient::new(channel)
                .max_decoding_message_size(64 << 20)
                .max_encoding_message_size(64 << 20);
            zones.insert(*run, client);
        }
        Ok(Self(zones))
    }

    /// Returns the number of zones that published each entity of `chunks` at `tick`.
    ///
    /// # Errors
    /// A zone does not answer, or has nothing of that tick.
    pub async fn publishers(
        &self,
        tick: u64,
        chunks: &[(i32, i32)],
    ) -> Result<BTreeMap<String, usize>> {
        let mut counts = BTreeMap::new();
        for run in self.0.keys() {
            for entity in self.of(*run, tick, chunks).await? {
                *counts.entry(entity.id).or_default() += 1;
            }
        }
        Ok(counts)
    }

    async fn of(&self, run: u64, tick: u64, chunks: &[(i32, i32)]) -> Result<Vec<Entity>> {
        let request = DumpRequest {
            tick,
            chunks: chunks.iter().map(|(x, z)| Chunk { x: *x, z: *z }).collect(),
        };
        let client = self.0.get(&run).context("no such run")?;
        let reply = client.clone().dump(request).await;
        let reply = reply.with_context(|| format!("dump of tick {tick} by run {run}"))?;
        let chunks = reply.into_inner().chunks.into_iter();
        Ok(chunks.flat_map(|chunk| chunk.enter).collect())
    }

    /// Returns the zones' dumps of `chunks` at `tick`, united: of an entity that two published, the
    /// one of the higher ownership sequence counts.
    ///
    /// # Errors
    /// A zone does not answer, or has nothing of that tick.
    pub async fn dump(&self, tick: u64, chunks: &[(i32, i32)]) -> Result<Dump> {
        let mut all = Dump::new();
        for run in self.0.keys() {
            for entity in self.of(*run, tick, chunks).await? {
                let (id, published) = published(entity)?;
                let newer = all
                    .get(&id)
                    .is_none_or(|old| old.ownership_sequence < published.ownership_sequence);
                if newer {
                    all.insert(id, published);
                }
            }
        }
        Ok(all)
    }
}

fn published(entity: Entity) -> Result<(String, Published)> {
    let fields = if entity.fields.is_empty() {
        Map::new()
    } else {
        serde_json::from_slice(&entity.fields)
            .with_context(|| format!("fields of {}", entity.id))?
    };
    let published = Published {
        kind: entity.kind,
        at: (entity.x, entity.z),
        fields,
        ownership_sequence: entity.ownership_sequence,
    };
    Ok((entity.id, published))
}

/// A client's map and the zones' word differ about one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disagreement {
    /// The zones published it and the client lacks it.
    Missing(String),
    /// The client has it and no zone published it.
    Extra(String),
    /// They differ about it, as said.
    Differs(String, String),
}

impl Disagreement {
    /// Returns the id of its entity.
    pub fn id(&self) -> &str {
        match self {
            Self::Missing(id) | Self::Extra(id) | Self::Differs(id, _) => id,
        }
    }
}

/// Returns the differences between a client's map and the zones' published state of the same tick.
pub fn disagreements(snapshot: &Snapshot, dump: &Dump) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let mut seen = BTreeMap::new();
    for entity in &snapshot.entities {
        seen.insert(entity.id.as_str(), entity);
        let Some(published) = dump.get(&entity.id) else {
            found.push(Disagreement::Extra(entity.id.clone()));
            continue;
        };
        let mine = (entity.kind.as_str(), (entity.x, entity.z), &entity.fields);
        let theirs = (published.kind.as_str(), published.at, &published.fields);
        if mine != theirs {
            let how = format!("client {mine:?}, zones {theirs:?}");
            found.push(Disagreement::Differs(entity.id.clone(), how));
        }
    }
    let missing = dump.keys().filter(|id| !seen.contains_key(id.as_str()));
    found.extend(missing.map(|id| Disagreement::Missing(id.clone())));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_differ_by_what_is_missing_extra_or_elsewhere() {
        let entity = |id: &str, x: i32| {
            serde_json::from_value(json!({"id": id, "type": "npc", "x": x, "z": 0})).unwrap()
        };
        let snapshot = Snapshot {
            name: "ann".to_owned(),
            tick: 1,
            chunks: vec![(0, 0)],
            entities: vec![entity("same", 1), entity("extra", 2), entity("moved", 3)],
        };
        let published = |x| Published {
            kind: "npc".to_owned(),
            at: (x, 0),
            fields: Map::new(),
            ownership_sequence: 0,
        };
        let dump = Dump::from([
            ("same".to_owned(), published(1)),
            ("moved".to_owned(), published(4)),
            ("missing".to_owned(), published(5)),
        ]);
        let found = disagreements(&snapshot, &dump);
        let ids: Vec<&str> = found.iter().map(Disagreement::id).collect();
        assert_eq!(ids, ["extra", "moved", "missing"]);
    }
}
