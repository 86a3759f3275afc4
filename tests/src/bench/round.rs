//! One scene, played once.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use anyhow::Result;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{scene::Scene, world::World};
use crate::{
    load::{
        Acting, Ground, Options, Recovery, Scenario, Summary, Swarm, ground::spread,
        hostile::attack, swarm::Progress,
    },
    terrain::Terrain,
};

/// Clients that keep a whole map and check it.
const MAPS: usize = 5;

/// Figures of one round.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Counts and times of the clients.
    pub summary: Summary,
    /// Processor time in the measured time, in cores, by kind of process. The ramp is the measured
    /// time of a scene that does not settle.
    pub cores: BTreeMap<&'static str, f64>,
    /// Longest time for which a client stood still after the kill, if the scene has one; none within
    /// that: one never moved again.
    pub still: Option<Option<Duration>>,
}

/// Plays a scene against the programs of a folder. Calls `show` from time to time.
///
/// # Errors
/// A program does not run or has ended, or a bot has panicked.
pub async fn play(
    scene: &Scene,
    binaries: &Path,
    seed: u64,
    mut show: impl FnMut(&Progress),
) -> Result<Outcome> {
    let mut world = World::start(binaries, scene.store).await?;
    let options = options(scene, &world, seed).await?;
    let every = options.progress_every;
    let mut swarm = Swarm::start(options, &CancellationToken::new())?;
    let harm = CancellationToken::new();
    let _ended = harm.clone().drop_guard();
    if scene.hostile > 0 {
        let gateway = world.gateway.clone();
        tokio::spawn(attack(gateway, scene.hostile, harm));
    }
    let measured_from = Instant::now() + scene.ramp + scene.settle;
    let began_at_once = scene.settle.is_zero();
    let mut before = (world.processor_time()?, Instant::now());
    swarm.watch(measured_from, every, &mut show).await;
    if !began_at_once {
        before = (world.processor_time()?, Instant::now());
    }
    swarm.measure();
    let middle = measured_from + scene.measured / 2;
    swarm.watch(middle, every, &mut show).await;
    if scene.kill {
        world.kill_zone()?;
        swarm.mark();
    }
    let end = measured_from + scene.measured;
    swarm.watch(end, every, &mut show).await;
    let seconds = before.1.elapsed().as_secs_f64().max(0.001);
    let cores = world.processor_time()?.into_iter().map(|(kind, time)| {
        let before = before.0.get(kind).copied().unwrap_or_default();
        (kind, (time - before) / seconds)
    });
    let cores = cores.collect();
    let recovered = swarm.recovered();
    Ok(Outcome {
        summary: swarm.finish().await?,
        cores,
        still: scene.kill.then(|| longest(&recovered)),
    })
}

/// Returns the longest time for which a client stood still after a kill; none if one never moved
/// again.
fn longest(recovered: &[Recovery]) -> Option<Duration> {
    let mut all = recovered.iter().map(|one| one.took);
    all.try_fold(Duration::ZERO, |longest, took| Some(longest.max(took?)))
}

async fn options(scene: &Scene, world: &World, seed: u64) -> Result<Options> {
    let terrain = Terrain::fetch(&world.gateway.authority()).await?;
    let crossings = match scene.scenario {
        Scenario::Border => spread(terrain.crossings(8, 110), 48, 10),
        Scenario::Wander | Scenario::Town | Scenario::Chat | Scenario::Steps | Scenario::Spread => {
            Vec::new()
        }
    };
    Ok(Options {
        players: scene.players,
        ramp: scene.ramp,
        settle: scene.settle,
        duration: scene.measured,
        scenario: scene.scenario,
        acting: Acting::NONE,
        seed,
        gateways: vec![world.gateway.clone()],
        own_addresses: true,
        format: scene.format,
        shown: scene.shown,
        maps: MAPS,
        ground: Arc::new(Ground::new(terrain, crossings)),
        snapshots: None,
        progress_every: Duration::from_secs(1),
    })
}
