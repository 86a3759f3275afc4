//! One measurement: a size of the cluster, and a way in which players come to gateways.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context, Result};
use prost::Message;
use rand::{SeedableRng, rngs::StdRng};
use serde::{Deserialize, Serialize};
use view::subscriptions::Subscriptions;
use world::{Chunk, Region, Tile};

use crate::{
    clock::{memory, timed},
    crowd::{Crowd, Habits},
    gateway::{Gateway, TickCost, number},
    land::Land,
    placement::{PlacementCost, place},
    steering::{Steering, steer},
    zones::{Link, News, Owned, Zones, session_frame},
};

/// Size of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Players.
    pub players: usize,
    /// Zone servers.
    pub zones: usize,
    /// Gateways.
    pub gateways: usize,
}

/// All else that a measurement depends on.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Regions on a side of the world.
    pub side: i32,
    /// Towns.
    pub towns: u32,
    /// Habits of players.
    pub habits: Habits,
    /// Measured ticks.
    pub ticks: usize,
    /// Gateways to measure, one after the other.
    pub gateways: usize,
    /// Seed of all dice.
    pub seed: u64,
}

/// Result of a measurement.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measured {
    /// Size of the cluster.
    pub size: Size,
    /// Way in which players came to gateways.
    pub steering: Steering,
    /// Placement and the directory.
    pub placement: PlacementCost,
    /// The measured gateway with the largest replica.
    pub gateway: GatewayCost,
    /// The busiest zone server.
    pub zone: ZoneCost,
    /// Mean number of gateways that subscribe to the chunk of a player.
    pub watched_by: f64,
    /// Mean number of gateways that listen to the region of a player for local chat.
    pub listeners: f64,
    /// Chunks that all gateways subscribe to, each as often as a gateway does.
    pub subscribed: usize,
    /// Most chunks that a gateway subscribes to at one run.
    pub link_chunks_max: usize,
}

/// Cost of one gateway.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct GatewayCost {
    /// Players.
    pub players: usize,
    /// Things in the replica.
    pub entities: usize,
    /// Chunks in the replica.
    pub chunks: usize,
    /// Runs of which it asks for chunks.
    pub asked: usize,
    /// Bytes of the first frames, which bring everything in full.
    pub first_bytes: f64,
    /// Processor time until everybody has seen the world once, in microseconds.
    pub first_us: f64,
    /// Memory that the process gained by the first measured gateway, in bytes.
    pub memory: u64,
    /// Mean of the measured ticks.
    pub tick: TickCost,
    /// Longest processor time of a measured tick for clients with the cap, in microseconds.
    pub tick_max_us: f64,
}

/// Cost of one zone server's news in a tick, to all gateways.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct ZoneCost {
    /// Players.
    pub players: usize,
    /// Processor time to encode the changed chunks once, in microseconds.
    pub encode_us: f64,
    /// Processor time to put together and to write the frames of all gateways, in microseconds.
    pub frames_us: f64,
    /// Bytes of all frames.
    pub bytes: f64,
    /// Records of chunks in all frames.
    pub chunks: f64,
    /// Gateways that subscribe to at least one of its chunks.
    pub gateways: usize,
}

impl TickCost {
    /// Returns the processor time of a tick for clients with the cap, in microseconds.
    pub fn capped_us(&self) -> f64 {
        self.decode_us + self.apply_us + self.reconcile_us + self.capped.us
    }

    fn add(&mut self, other: &TickCost, weight: f64) {
        let pairs = [
            (&mut self.frame_bytes, other.frame_bytes),
            (&mut self.frame_chunks, other.frame_chunks),
            (&mut self.decode_us, other.decode_us),
            (&mut self.apply_us, other.apply_us),
            (&mut self.reconcile_us, other.reconcile_us),
            (&mut self.capped.us, other.capped.us),
            (&mut self.capped.updates, other.capped.updates),
            (&mut self.capped.bytes, other.capped.bytes),
            (&mut self.capped.owed, other.capped.owed),
            (&mut self.whole.us, other.whole.us),
            (&mut self.whole.updates, other.whole.updates),
            (&mut self.whole.bytes, other.whole.bytes),
            (&mut self.whole.owed, other.whole.owed),
        ];
        for (sum, part) in pairs {
            *sum += part * weight;
        }
    }
}

/// Ticks before the measured ones: the first brings everything, and clients hear names after it.
const WARM_TICKS: usize = 4;

/// Measures a cluster. `progress` hears what is being done.
///
/// # Errors
/// The store is broken, or a frame does not decode.
pub fn measure(
    size: Size,
    steering: Steering,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Result<Measured> {
    let mut dice = StdRng::seed_from_u64(options.seed);
    let land = Land::new(options.side, options.towns, &mut dice);
    let mut crowd = Crowd::new(&land, size.players, options.habits, &mut dice);
    progress("placement");
    let (owners, placement) = place(&land, size.zones, by_region(&crowd))?;
    let players = steer(steering, size.gateways, &land, &crowd, &mut dice);
    let mut zones = Zones::new(owners, &crowd);
    let runs: BTreeSet<u64> = zones.owners.0.values().copied().collect();
    let runs: Vec<u64> = runs.into_iter().collect();
    let mut gateway = GatewayCost::default();
    for (n, at) in chosen(size.gateways, options.gateways).enumerate() {
        progress(&format!("gateway {} of {}", at + 1, size.gateways));
        let of = &players[at];
        let mut cost = watch(of, &runs, &mut zones, &mut crowd, options.ticks, &mut dice)?;
        if n > 0 {
            // Later gateways use the memory that the first one gave back.
            cost.memory = gateway.memory;
        }
        if cost.entities > gateway.entities {
            gateway = cost;
        }
    }
    progress("subscriptions of all gateways");
    let links = subscribe(&players, &runs, &crowd, &zones.owners);
    let zone = busiest(
        &mut zones,
        &mut crowd,
        &players,
        &links,
        options.ticks,
        &mut dice,
    )?;
    let watched_by = watched_by(&links, &crowd, &zones.owners);
    let listeners = listeners(&players, &crowd);
    let each = links
        .iter()
        .flat_map(BTreeMap::values)
        .map(|link| link.chunks.len());
    Ok(Measured {
        size,
        steering,
        placement,
        gateway,
        zone,
        watched_by,
        listeners,
        subscribed: subscribed(&links),
        link_chunks_max: each.max().unwrap_or(0),
    })
}

/// Returns the number of players by region.
fn by_region(crowd: &Crowd) -> HashMap<Region, u32> {
    let mut players = HashMap::new();
    for being in &crowd.beings[..crowd.players] {
        *players.entry(Region::from(being.at)).or_default() += 1;
    }
    players
}

/// Returns `most` gateways that lie evenly among all.
fn chosen(gateways: usize, most: usize) -> impl Iterator<Item = usize> {
    let most = most.clamp(1, gateways);
    (0..most).map(move |n| (2 * n + 1) * gateways / (2 * most))
}

/// Lets one gateway watch the world for some ticks. Returns the cost.
fn watch(
    players: &[usize],
    runs: &[u64],
    zones: &mut Zones,
    crowd: &mut Crowd,
    ticks: usize,
    dice: &mut StdRng,
) -> Result<GatewayCost> {
    let before = memory();
    let mut gateway = Gateway::new(players, runs, crowd, dice);
    let mut cost = GatewayCost {
        players: players.len(),
        first_us: gateway.reconcile(crowd, &zones.owners),
        ..GatewayCost::default()
    };
    for n in 0..WARM_TICKS + ticks {
        let steps = crowd.step(dice);
        let published = zones.publish(crowd, &steps);
        let tick = gateway.tick(zones, &published, crowd)?;
        if n == 0 {
            cost.first_bytes = tick.frame_bytes;
        }
        if n < WARM_TICKS {
            cost.first_us += tick.capped_us();
        } else {
            cost.tick.add(&tick, 1.0 / number(ticks));
            cost.tick_max_us = cost.tick_max_us.max(tick.capped_us());
        }
    }
    cost.memory = memory().saturating_sub(before);
    (cost.entities, cost.chunks) = gateway.size();
    cost.asked = gateway.asked();
    Ok(cost)
}

/// The links of a gateway, by run.
type Links = BTreeMap<u64, Link>;

/// Subscribes all gateways to the chunks around their players.
fn subscribe(players: &[Vec<usize>], runs: &[u64], crowd: &Crowd, owners: &Owned) -> Vec<Links> {
    let links = players.iter().map(|players| {
        let mut subscriptions = Subscriptions::default();
        runs.iter().for_each(|run| subscriptions.link_up(*run));
        let tiles: Vec<Tile> = players.iter().map(|at| crowd.beings[*at].at).collect();
        subscriptions.reconcile(&tiles, owners, 1);
        let asks = subscriptions.asks().into_iter();
        let links = asks.map(|(run, ask)| {
            let mut link = Link::default();
            link.chunks.extend(ask.add);
            (run, link)
        });
        links.collect()
    });
    links.collect()
}

/// Returns the number of chunks that gateways subscribe to, each once for each gateway.
fn subscribed(links: &[Links]) -> usize {
    let each = links.iter().map(|links| {
        let chunks = links.values().flat_map(|link| &link.chunks);
        chunks.collect::<BTreeSet<_>>().len()
    });
    each.sum()
}

/// Measures the news of the zone server with the most players to all gateways.
fn busiest(
    zones: &mut Zones,
    crowd: &mut Crowd,
    players: &[Vec<usize>],
    links: &[Links],
    ticks: usize,
    dice: &mut StdRng,
) -> Result<ZoneCost> {
    let mut count: BTreeMap<u64, usize> = BTreeMap::new();
    for being in &crowd.beings[..crowd.players] {
        *count.entry(zones.owners.at(being.at)).or_default() += 1;
    }
    let busiest = count.into_iter().max_by_key(|(_, players)| *players);
    let (run, count) = busiest.context("no run has players")?;
    let here: Vec<Link> = links
        .iter()
        .map(|links| links.get(&run).cloned().unwrap_or_default())
        .collect();
    let mut cost = ZoneCost {
        players: count,
        gateways: here.iter().filter(|link| !link.chunks.is_empty()).count(),
        ..ZoneCost::default()
    };
    let weight = 1.0 / number(ticks);
    for _ in 0..ticks {
        let steps = crowd.step(dice);
        let published = zones.publish(crowd, &steps);
        cost.encode_us += published.encode_us.get(&run).copied().unwrap_or(0.0) * weight;
        let nothing = News::new();
        let news = published.news.get(&run).unwrap_or(&nothing);
        for (link, players) in here.iter().zip(players) {
            let mut link = link.clone();
            let mine = players.iter().map(|at| &crowd.beings[*at]);
            let mine = mine.filter(|being| zones.owners.at(being.at) == run);
            let sessions = mine.map(|being| session_frame(&being.id, being)).collect();
            let (frame, took) = timed(|| {
                let frame = zones.frame(run, &mut link, news, crowd, sessions);
                (frame.encode_to_vec(), frame.chunks.len())
            });
            cost.frames_us += took * weight;
            cost.bytes += number(frame.0.len()) * weight;
            cost.chunks += number(frame.1) * weight;
        }
    }
    Ok(cost)
}

/// Returns the mean number of gateways that subscribe to the chunk of a player.
fn watched_by(links: &[Links], crowd: &Crowd, owners: &Owned) -> f64 {
    let mut gateways: HashMap<Chunk, usize> = HashMap::new();
    for links in links {
        for (run, link) in links {
            let own = |chunk: &&Chunk| owners.0.get(&Region::from(**chunk)) == Some(run);
            for chunk in link.chunks.iter().filter(own) {
                *gateways.entry(*chunk).or_default() += 1;
            }
        }
    }
    let of = |at: Tile| gateways.get(&Chunk::from(at)).copied().unwrap_or(0);
    let total: usize = crowd.beings[..crowd.players]
        .iter()
        .map(|being| of(being.at))
        .sum();
    number(total) / number(crowd.players.max(1))
}

/// Returns the mean number of gateways that listen to the region of a player: those with a session
/// within 32 tiles of the region.
fn listeners(players: &[Vec<usize>], crowd: &Crowd) -> f64 {
    let mut gateways: HashMap<Region, usize> = HashMap::new();
    for players in players {
        let mut heard = BTreeSet::new();
        for at in players {
            let at = crowd.beings[*at].at;
            for (dx, dz) in [(-32, -32), (-32, 32), (32, -32), (32, 32), (0, 0)] {
                heard.insert(Region::from(at.moved(dx, dz)));
            }
        }
        for region in heard {
            *gateways.entry(region).or_default() += 1;
        }
    }
    let of = |at: Tile| gateways.get(&Region::from(at)).copied().unwrap_or(0);
    let total: usize = crowd.beings[..crowd.players]
        .iter()
        .map(|being| of(being.at))
        .sum();
    number(total) / number(crowd.players.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_gateways_lie_evenly_among_all() {
        assert_eq!(chosen(50, 1).collect::<Vec<_>>(), [25]);
        assert_eq!(chosen(50, 2).collect::<Vec<_>>(), [12, 37]);
        assert_eq!(chosen(1, 3).collect::<Vec<_>>(), [0]);
        assert_eq!(chosen(3, 3).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn means_weigh_each_tick_alike() {
        let mut mean = TickCost::default();
        let tick = |us| TickCost {
            decode_us: us,
            ..TickCost::default()
        };
        mean.add(&tick(10.0), 0.5);
        mean.add(&tick(30.0), 0.5);
        assert!((mean.capped_us() - 20.0).abs() < 1e-9);
    }
}
