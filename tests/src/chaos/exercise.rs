//! Exercises whose numbers are worth keeping: kills, rolling restarts, scaling, exchanges.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use super::{
    fault::{Fault, Step},
    missed::Gives,
    oracle,
    story::{Cast, Stage},
    timeline::Timeline,
};
use crate::{
    cluster::{Cluster, Kind, Member, Plan},
    dump::Directory,
    load::Summary,
};

/// Longest time until a killed zone's players move again, before the exercise fails.
const PLAYABLE_WITHIN: Duration = Duration::from_secs(20);
/// Longest time until 99 of 100 players of killed zone servers move again.
const MOST_PLAYABLE_WITHIN: Duration = Duration::from_secs(4);
/// Furthest jump of a player from the place that was shown last before the kill to the first one after
/// it, in tiles: two ticks of running.
const JUMP_TILES_MAX: u32 = 8;
/// Longest time until placement has given a new zone server its share.
const SPREAD_WITHIN: Duration = Duration::from_secs(15);
/// The busiest run's load over the mean of all.
const SPREAD_MAX: f64 = 1.3;
const POLL: Duration = Duration::from_millis(200);

/// Kills the zone server that plays the most, again and again, and says how long its players stood
/// still.
///
/// # Errors
/// Something that must hold does not.
pub fn kills(cast: Cast, count: usize, timeline: Timeline) -> BoxFuture<'static, Result<Summary>> {
    Box::pin(async move {
        let plan = Plan::new("kills").of(2, 3, 2);
        let mut stage = Stage::set(plan.clone(), cast, timeline).await?;
        shared(&stage, plan.zones).await;
        let mut worst_of_each = Vec::new();
        let mut all = Vec::new();
        let mut furthest = 0;
        for kill in 0..count {
            let (zone, mut victims) = busiest(&stage.cluster, plan.zones).await?;
            stage.swarm.mark();
            stage.cluster.kill((Kind::Zone, zone))?;
            let (mut took, jump) = recovered(&stage, &mut victims).await?;
            took.sort_unstable();
            furthest = furthest.max(jump);
            let worst = took.last().copied().unwrap_or_default();
            let median = took.get(took.len() / 2).copied().unwrap_or_default();
            stage.timeline.note(format!(
            "kill {}: {} players of zone-server-{zone} moved again, median {:.2} s, worst {:.2} s, furthest \
             jump {jump} tiles",
            kill + 1,
            took.len(),
            median.as_secs_f64(),
            worst.as_secs_f64()
        ));
            worst_of_each.push(worst);
            all.extend(took);
            stage.cluster.launch((Kind::Zone, zone))?;
            stage.cluster.ready().await?;
            shared(&stage, plan.zones).await;
        }
        worst_of_each.sort_unstable();
        all.sort_unstable();
        let of = quantile;
        let p99 = of(&all, 0.99);
        stage.timeline.note(format!(
            "{count} kills: last player playable after median {:.2} s, worst {:.2} s; each player \
             p50 {:.2} s, p99 {:.2} s ({} players); furthest jump {furthest} tiles",
            of(&worst_of_each, 0.5).as_secs_f64(),
            of(&worst_of_each, 1.0).as_secs_f64(),
            of(&all, 0.5).as_secs_f64(),
            p99.as_secs_f64(),
            all.len()
        ));
        ensure!(
            p99 <= MOST_PLAYABLE_WITHIN,
            "1 of 100 players stood still for {p99:?} or longer"
        );
        ensure!(
            furthest <= JUMP_TILES_MAX,
            "a kill moved somebody by {furthest} tiles at once:\n{}",
            stage.swarm.summary()
        );
        stage.judge().await
    })
}

/// Returns the zone server that plays the most characters, of so many zone servers, and the characters.
///
/// # Errors
/// If no zone server plays anybody.
async fn busiest(cluster: &Cluster, zones: usize) -> Result<(usize, Vec<String>)> {
    let mut of_each = Vec::new();
    for zone in 0..zones {
        of_each.push((zone, played_by(cluster, zone).await?));
    }
    let busiest = of_each.into_iter().max_by_key(|(_, played)| played.len());
    busiest
        .filter(|(_, played)| !played.is_empty())
        .context("no zone server plays anybody")
}

/// Returns the characters whose regions a zone server owns.
async fn played_by(cluster: &Cluster, zone: usize) -> Result<Vec<String>> {
    let run = run_of(cluster, zone).await?;
    cluster.store().await?.played_by(run).await
}

async fn run_of(cluster: &Cluster, zone: usize) -> Result<u64> {
    let directory = Directory::fetch(cluster.operator(), &cluster.persistence(0)).await?;
    let address = cluster.zone(zone);
    let newest = directory.runs.iter().rev();
    newest
        .filter(|(_, of)| **of == address)
        .map(|(run, _)| *run)
        .next()
        .with_context(|| format!("no run at {address}"))
}

/// Returns the value that this share of the sorted values does not exceed; zero: there are none.
fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

/// Waits until all of these move again; how long each took, and the furthest jump of any.
async fn recovered(stage: &Stage, ids: &mut Vec<String>) -> Result<(Vec<Duration>, u32)> {
    let deadline = Instant::now() + PLAYABLE_WITHIN;
    loop {
        let recovered = stage.swarm.recovered().into_iter();
        let all: BTreeMap<String, (Option<Duration>, u32)> = recovered
            .map(|bot| (bot.character_id, (bot.took, bot.jump)))
            .collect();
        ids.retain(|id| all.contains_key(id));
        let took: Vec<Duration> = ids.iter().filter_map(|id| all[id].0).collect();
        if took.len() == ids.len() {
            let jumps = ids.iter().map(|id| all[id].1);
            return Ok((took, jumps.max().unwrap_or(0)));
        }
        if Instant::now() > deadline {
            let stuck = ids.iter().filter(|id| all[*id].0.is_none());
            let stuck: Vec<&String> = stuck.take(5).collect();
            bail!(
                "{} of {} players do not move after {PLAYABLE_WITHIN:?}, such as {stuck:?}:\n{}",
                ids.len() - took.len(),
                ids.len(),
                stage.swarm.summary()
            );
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until as many runs have something to do.
pub(super) async fn shared(stage: &Stage, runs: usize) {
    let began = Instant::now();
    let busy = |loads: &BTreeMap<i64, f64>| loads.values().filter(|load| **load > 0.0).count();
    while began.elapsed() < SPREAD_WITHIN {
        match loads(stage).await {
            Ok(loads) if busy(&loads) >= runs => return,
            _ => sleep(POLL).await,
        }
    }
}

/// Waits until `runs` runs share the load; how long that took, and the busiest over the mean.
async fn spread(stage: &Stage, runs: usize) -> (Duration, f64) {
    let began = Instant::now();
    let mut last = f64::INFINITY;
    while began.elapsed() < SPREAD_WITHIN * 3 {
        if let Ok(loads) = loads(stage).await {
            let sum: f64 = loads.values().sum();
            let mean = sum / runs as f64;
            let busiest = loads.values().copied().fold(0.0, f64::max);
            last = if mean > 0.0 {
                busiest / mean
            } else {
                f64::INFINITY
            };
            if loads.len() == runs && last <= SPREAD_MAX {
                break;
            }
        }
        sleep(POLL).await;
    }
    (began.elapsed(), last)
}

async fn loads(stage: &Stage) -> Result<BTreeMap<i64, f64>> {
    stage.cluster.store().await?.loads().await
}

/// Restarts every process in order while bots play.
///
/// # Errors
/// Something that must hold does not.
pub async fn rolling(cast: Cast, timeline: Timeline) -> Result<Summary> {
    let plan = Plan::new("rolling").of(2, 3, 2);
    let mut stage = Stage::set(plan.clone(), cast, timeline).await?;
    restart_all(&mut stage, &plan).await?;
    stage.judge().await
}

/// Restarts every process of the plan, those that players reach last. From then on sockets may have
/// ended.
pub(super) async fn restart_all(stage: &mut Stage, plan: &Plan) -> Result<()> {
    shared(stage, plan.zones).await;
    let members = stage.cluster.members();
    let order = |kind| members.iter().copied().filter(move |of| of.0 == kind);
    let all = order(Kind::Persistence).chain(order(Kind::Zone));
    let mut gives = Gives::default();
    for member in all.collect::<Vec<_>>() {
        if member.0 == Kind::Zone {
            // It forgets them with its end.
            gives.add(Gives::of(&stage.cluster, member).await?);
        }
        restart(stage, member).await?;
        shared(stage, plan.zones).await;
    }
    let zones: Vec<Member> = order(Kind::Zone).collect();
    gives.add(Gives::of_all(&stage.cluster, &zones).await?);
    stage.timeline.note(format!(
        "{} regions were given away; {} of them missed more than one tick",
        gives.count,
        gives.count - gives.in_time
    ));
    ensure!(gives.count > 0, "no region was given away");
    ensure!(
        gives.in_time == gives.count,
        "regions stood still for longer than a tick: {gives:?}"
    );
    let before = stage.swarm.summary();
    ensure!(
        before.disconnects == 0,
        "sockets were closed before any gateway left:\n{before}"
    );
    for member in order(Kind::Gateway).collect::<Vec<_>>() {
        restart(stage, member).await?;
        sleep(Duration::from_secs(5)).await;
    }
    stage.may_lose_sockets();
    Ok(())
}

/// Ends a process in order and starts it again.
pub(super) async fn restart(stage: &mut Stage, member: Member) -> Result<()> {
    let began = Instant::now();
    let regions = match member {
        (Kind::Zone, zone) => gives_all(&mut stage.cluster, zone).await?,
        _ => {
            ends(&mut stage.cluster, member).await?;
            0
        }
    };
    let took = began.elapsed().as_secs_f64();
    stage.cluster.launch(member)?;
    stage.cluster.ready().await?;
    let summary = stage.swarm.summary();
    stage.timeline.note(format!(
        "{}-{} left in {took:.2} s, gave {regions} regions and is back; so far {} disconnects, \
         {} resumed, {} moved on, longest move {:.0} ms",
        member.0.binary(),
        member.1,
        summary.disconnects,
        summary.resumed,
        summary.moved_on,
        summary.move_ms.max,
    ));
    Ok(())
}

async fn ends(cluster: &mut Cluster, member: Member) -> Result<()> {
    let code = cluster.stop(member).await?;
    ensure!(code == Some(0), "{member:?} ended with {code:?}");
    Ok(())
}

/// Stops a zone server, from which others must take every region that it owns; how many.
async fn gives_all(cluster: &mut Cluster, zone: usize) -> Result<u64> {
    let others = |of: &Member| of.0 == Kind::Zone && of.1 != zone;
    let others: Vec<Member> = cluster.running().filter(others).collect();
    let before = Gives::of_all(cluster, &others).await?;
    let run = run_of(cluster, zone).await?;
    let directory = Directory::fetch(cluster.operator(), &cluster.persistence(0)).await?;
    let owned = directory.shares().get(&run).copied().unwrap_or(0) as u64;
    ends(cluster, (Kind::Zone, zone)).await?;
    let given = Gives::of_all(cluster, &others).await?.count - before.count;
    ensure!(
        given >= owned,
        "zone-server-{zone} gave away {given} of its {owned} regions"
    );
    Ok(owned)
}

/// Plays two zone servers that become four and two again.
///
/// # Errors
/// Something that must hold does not.
pub fn scale(cast: Cast, timeline: Timeline) -> BoxFuture<'static, Result<Summary>> {
    Box::pin(async move {
        let plan = Plan::new("scale").of(2, 2, 2);
        let mut stage = Stage::set(plan, cast, timeline).await?;
        let (took, ratio) = spread(&stage, 2).await;
        note(&stage, "two zone servers", took, ratio);
        let added = [
            stage.cluster.add(Kind::Zone)?,
            stage.cluster.add(Kind::Zone)?,
        ];
        stage.cluster.ready().await?;
        let (took, ratio) = spread(&stage, 4).await;
        note(&stage, "four zone servers", took, ratio);
        even(took, ratio)?;
        for member in added {
            ends(&mut stage.cluster, member).await?;
        }
        let (took, ratio) = spread(&stage, 2).await;
        note(&stage, "two zone servers again", took, ratio);
        even(took, ratio)?;
        stage.judge().await
    })
}

/// Checks that the load came to be spread, and in time.
fn even(took: Duration, ratio: f64) -> Result<()> {
    ensure!(
        took <= SPREAD_WITHIN && ratio <= SPREAD_MAX,
        "the load did not spread: {ratio:.2} times the mean after {took:?}"
    );
    Ok(())
}

fn note(stage: &Stage, what: &str, took: Duration, ratio: f64) {
    stage.timeline.note(format!(
        "{what}: the busiest has {ratio:.2} times the mean load after {:.1} s",
        took.as_secs_f64()
    ));
}

/// Acts between two walks, if things are to change owners quickly.
const ACTIONS_PER_REST: (u32, u32) = (20, 40);
/// From the end of a fault to the next one.
const BETWEEN_FAULTS: Duration = Duration::from_secs(15);
/// All stand still to be compared after every so many faults.
const FAULTS_A_LOOK: usize = 10;

/// An exercise that goes on until so many exchanges.
#[derive(Debug, Clone, Copy)]
pub struct Exercise {
    /// Items dropped by one and picked up by another.
    pub count: u64,
}

/// Exchanges under random kills.
///
/// # Errors
/// Something that must hold does not.
pub fn exchanges(
    mut cast: Cast,
    wanted: Exercise,
    timeline: Timeline,
) -> BoxFuture<'static, Result<Summary>> {
    Box::pin(async move {
        cast.acting.actions_per_rest = ACTIONS_PER_REST;
        let mut plan = Plan::new("exchanges")
            .of(2, 3, 2)
            // Anybody may take an item almost at once, but bots still see for two ticks that
            // somebody owns it.
            .env("GROUND_OWN_TICKS", "2");
        plan.breakable = true;
        let kills = |kind, count| (0..count).map(move |number| Fault::Kill((kind, number)));
        let mut faults: Vec<Fault> = kills(Kind::Zone, plan.zones)
            .chain(kills(Kind::Persistence, plan.persistence))
            .collect();
        faults.push(Fault::KillDatabase);
        faults.push(Fault::LoseCommit);
        let mut stage = Stage::set(plan, cast, timeline).await?;
        let crossed = stage.cluster.store().await?.crossings().await?;
        let mut turn = 0;
        loop {
            let summary = stage.swarm.summary();
            stage.timeline.note(format!(
                "{} exchanges between two, {} pickups in all",
                summary.exchanges.1, summary.exchanges.0
            ));
            if summary.exchanges.1 >= wanted.count {
                break;
            }
            let step = Step {
                after: BETWEEN_FAULTS,
                fault: faults[turn % faults.len()],
                lasts: Duration::from_millis(300 + 400 * (turn as u64 % 7)),
            };
            turn += 1;
            stage.suffer(step).await?;
            if turn % FAULTS_A_LOOK == 0 {
                stage.compare().await?;
            }
        }
        oracle::whole(&stage.cluster).await?;
        let crossed = stage.cluster.store().await?.crossings().await? - crossed;
        stage.timeline.note(format!(
            "{turn} faults; players went from one process to another {crossed} times"
        ));
        stage.judge().await
    })
}
