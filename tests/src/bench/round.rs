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
    /// Bound within which 99 of 100 ticks of the zone servers stayed, in milliseconds.
    pub tick_p99: f64,
    /// Ticks that zone servers skipped.
    pub ticks_lost: u64,
    /// Private memory of the gateway at its most, less that before anybody came, a player, in
    /// kilobytes.
    pub memory_a_player: f64,
}

/// Programs that a scene is played against.
#[derive(Debug, Clone, Copy)]
pub struct Build<'a> {
    /// Their folder.
    pub binaries: &'a Path,
    /// Settings of all services beside those of the scene.
    pub settings: &'a [(String, String)],
}

/// Plays a scene against a build. Calls `show` from time to time.
///
/// # Errors
/// A program does not run or has ended, or a bot has panicked.
pub async fn play(
    scene: &Scene,
    build: Build<'_>,
    seed: u64,
    mut show: impl FnMut(&Progress),
) -> Result<Outcome> {
    let mut world = World::start(build.binaries, scene.store, build.settings).await?;
    let mut memory = world.gateway_memory()?;
    let mut show = |progress: &Progress| {
        memory.look();
        show(progress);
    };
    let terrain = Terrain::fetch(&world.gateway.authority()).await?;
    if !scene.cold {
        world.played_everywhere(terrain.bounds()).await?;
    }
    let options = options(scene, &world, terrain, seed);
    let every = options.progress_every;
    let mut swarm = Swarm::start(options, &CancellationToken::new())?;
    let harm = CancellationToken::new();
    // Ends the attack too if the round fails.
    let _ended = harm.clone().drop_guard();
    let gateway = world.gateway.clone();
    let attack =
        (scene.hostile > 0).then(|| tokio::spawn(attack(gateway, scene.hostile, harm.clone())));
    let measured_from = Instant::now() + scene.ramp + scene.settle;
    let began_at_once = scene.settle.is_zero();
    let mut before = (world.processor_time()?, Instant::now());
    swarm.watch(measured_from, every, &mut show).await;
    if !began_at_once {
        before = (world.processor_time()?, Instant::now());
    }
    let mut ticks = world.ticks().await?;
    swarm.measure();
    let middle = measured_from + scene.measured / 2;
    swarm.watch(middle, every, &mut show).await;
    if scene.kill {
        world.kill_zone()?;
        swarm.mark();
        ticks = world.ticks().await?;
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
    let played = world.ticks().await?;
    let summary = swarm.finish().await?;
    harm.cancel();
    if let Some(attack) = attack {
        attack.await?;
    }
    Ok(Outcome {
        tick_p99: played.work_p99_since(&ticks),
        ticks_lost: played.lost_since(&ticks),
        summary,
        cores,
        still: scene.kill.then(|| longest(&recovered)),
        memory_a_player: memory.a_player(scene.players),
    })
}

/// Returns the longest time for which a client stood still after a kill; none if one never moved
/// again.
fn longest(recovered: &[Recovery]) -> Option<Duration> {
    let mut all = recovered.iter().map(|one| one.took);
    all.try_fold(Duration::ZERO, |longest, took| Some(longest.max(took?)))
}

fn options(scene: &Scene, world: &World, terrain: Terrain, seed: u64) -> Options {
    let crossings = match scene.scenario {
        Scenario::Border => spread(terrain.crossings(8, 110), 48, 10),
        Scenario::Wander | Scenario::Town | Scenario::Chat | Scenario::Steps | Scenario::Spread => {
            Vec::new()
        }
    };
    Options {
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
    }
}
