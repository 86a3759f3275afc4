//! Walks that tests take: to a border between two zones, over it, and back.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::{
    bot::{Message, Payload, Player, View},
    cluster::{Cluster, Plan},
    dump::Directory,
    terrain::{Crossing, Terrain},
};

/// Tiles from a border to the end of a walk over it: past the band in which nobody changes owner.
const REACH: i32 = 8;
/// Distance from the spawn up to which the search for borders goes, in tiles.
const RADIUS: i32 = 400;
/// Tiles that it asks for at once.
const STRIDE: u16 = 20;

/// The world of a running cluster as tests need it.
pub struct Atlas {
    /// The ground.
    pub terrain: Terrain,
    /// Owners of the regions.
    pub directory: Directory,
    /// Walks over borders between regions of different runs, nearest to the spawn first.
    pub crossings: Vec<Crossing>,
}

impl Atlas {
    /// Reads it from the first gateway and the first persistence service, once every region has
    /// an owner and the plan's number of zones own some.
    pub fn of<'a>(cluster: &'a Cluster, plan: &'a Plan) -> BoxFuture<'a, Result<Self>> {
        Box::pin(async move {
            let terrain = Terrain::fetch(&cluster.gateway(0)).await?;
            let deadline = Instant::now() + Duration::from_secs(30);
            let directory = loop {
                let directory =
                    Directory::fetch(cluster.operator(), &cluster.persistence(0)).await?;
                let shares = directory.shares();
                if shares.len() == plan.zones && directory.owner(terrain.spawn()).is_some() {
                    break directory;
                }
                ensure!(
                    Instant::now() < deadline,
                    "not all zones own regions: {shares:?}"
                );
                tokio::time::sleep(Duration::from_millis(200)).await;
            };
            let mut crossings = terrain.crossings(REACH, RADIUS);
            crossings.retain(|crossing| {
                let (low, high) = (
                    directory.owner(crossing.low),
                    directory.owner(crossing.high),
                );
                low.is_some() && high.is_some() && low != high
            });
            ensure!(!crossings.is_empty(), "no way over a border between zones");
            Ok(Self {
                terrain,
                directory,
                crossings,
            })
        })
    }

    /// Runs to a tile over any distance.
    pub fn travel<'a>(&'a self, player: &'a Player, to: (i32, i32)) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let ways = self.terrain.ways_to(to);
            loop {
                let at = player.position()?;
                if at == to {
                    return Ok(());
                }
                let next = ways
                    .toward(at, STRIDE)
                    .with_context(|| format!("{at:?} to {to:?}"))?;
                player.walk(next, true, Duration::from_secs(30)).await?;
            }
        })
    }
}

/// Plays a client's messages again and looks at its view after each `world:update`.
pub fn replay(log: &[Message], mut look: impl FnMut(&View)) {
    let mut view = View::default();
    for message in log {
        view.take(message);
        if matches!(message.payload, Payload::Update(_)) {
            look(&view);
        }
    }
}

/// Returns the place of an entity at each tick, from a client's messages.
pub fn track(log: &[Message], id: &str) -> Vec<(u64, (i32, i32))> {
    let mut seen: Vec<(u64, (i32, i32))> = Vec::new();
    replay(log, |view| {
        if let Some(entity) = view.map.entity(id) {
            let at = (entity.x, entity.z);
            match seen.last_mut() {
                Some(last) if last.0 == view.tick => last.1 = at,
                _ => seen.push((view.tick, at)),
            }
        }
    });
    seen
}
