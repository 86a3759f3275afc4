//! A cluster under bots that act, faults that come and go, and the judgement afterwards.
//!
//! Always: after each fault and at the end the messages to players, the store's state and the
//! operator's check judge everything. A socket that ends counts for the fault during which it
//! ended. Every failure comes with the timeline.

use std::{
    collections::BTreeSet,
    fmt::{Display, Write},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use futures::future::BoxFuture;
use proto::client::{CloseCode, Format};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{
    fault::{Fault, Step},
    oracle,
    timeline::Timeline,
};
use crate::{
    cluster::{Cluster, Plan},
    journey::Atlas,
    load::{Acting, Ground, Options, Scenario, Summary, Swarm, ground::spread},
};

/// Longest time until all bots are in the world, beyond their ramp.
const ARRIVE_WITHIN: Duration = Duration::from_secs(60);
/// After the faults are over everybody must be able to act again within this time.
const RECOVER_WITHIN: Duration = Duration::from_secs(30);
/// Half of all must have moved within this time, however long a store is away.
const GO_ON_WITHIN: Duration = Duration::from_secs(10);
/// Longest time until all open requests have an answer, once all bots stand still.
const SETTLE_WITHIN: Duration = Duration::from_secs(45);
/// Longest time until the store has everything that was played.
const STORED_WITHIN: Duration = Duration::from_secs(15);
/// Ticks for which zones keep their published state, so that the story can ask who plays whom.
const DUMP_TICKS: u32 = 20;
const POLL: Duration = Duration::from_millis(100);

/// Bots of a story.
#[derive(Debug, Clone, Copy)]
pub struct Cast {
    /// Number of bots.
    pub players: usize,
    /// Connects are spread over this time.
    pub ramp: Duration,
    /// Places to which they go.
    pub scenario: Scenario,
    /// Their acts beside that.
    pub acting: Acting,
    /// The dice.
    pub seed: u64,
}

/// A cluster with bots in it.
pub struct Stage {
    /// The processes.
    pub cluster: Cluster,
    /// The bots.
    pub swarm: Swarm,
    /// Events so far.
    pub timeline: Timeline,
    /// Sockets may end now, as a gateway is broken or was the last to be.
    sockets_may_end: bool,
    /// Sockets that had ended when they were counted last.
    sockets_ended: u64,
}

impl Stage {
    /// Starts a cluster of this plan and waits until all bots are in the world.
    ///
    /// # Errors
    /// Something does not start, or bots do not come in.
    pub fn set(
        mut plan: Plan,
        cast: Cast,
        timeline: Timeline,
    ) -> BoxFuture<'static, Result<Stage>> {
        Box::pin(async move {
            plan.balance = true;
            plan.dump_ticks = DUMP_TICKS;
            let cluster = Cluster::start(plan.clone()).await?;
            let atlas = Atlas::of(&cluster, &plan).await?;
            let crossings = spread(atlas.crossings.clone(), 50, 12);
            let gateways = (0..plan.gateways).map(|number| cluster.gateway(number).parse());
            let options = Options {
                players: cast.players,
                ramp: cast.ramp,
                settle: Duration::ZERO,
                duration: Duration::ZERO,
                scenario: cast.scenario,
                acting: cast.acting,
                seed: cast.seed,
                gateways: gateways.collect::<Result<_>>()?,
                own_addresses: plan.production,
                format: Format::Json,
                shown: None,
                maps: cast.players.min(cast.acting.doers),
                ground: Arc::new(Ground::new(atlas.terrain, crossings)),
                snapshots: None,
                progress_every: Duration::from_secs(5),
            };
            let swarm = Swarm::start(options, &CancellationToken::new())?;
            let stage = Stage {
                cluster,
                swarm,
                timeline,
                sockets_may_end: false,
                sockets_ended: 0,
            };
            stage
                .all_in(cast.players, cast.ramp + ARRIVE_WITHIN)
                .await?;
            stage
                .timeline
                .note(format!("{} bots are in the world", cast.players));
            Ok(stage)
        })
    }

    async fn all_in(&self, players: usize, within: Duration) -> Result<()> {
        let deadline = Instant::now() + within;
        while self.swarm.in_world() < players {
            if Instant::now() > deadline {
                let summary = self.swarm.summary();
                let here = self.swarm.in_world();
                bail!("{here} of {players} bots are in the world:\n{summary}");
            }
            sleep(POLL).await;
        }
        Ok(())
    }

    /// Does one fault, undoes it, and waits until everything has an owner and everybody is back. By
    /// then nothing may be lost or doubled, and no socket closed that should not be.
    ///
    /// # Errors
    /// It cannot be done, or the world does not recover.
    pub fn suffer<'a>(&'a mut self, step: Step) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            sleep(step.after).await;
            // Until now whatever ended is the fault's before.
            self.count_sockets(format_args!("before: {}", step.fault))?;
            self.sockets_may_end = step.fault.costs_sockets();
            let lasts = step.lasts.as_secs_f64();
            self.timeline
                .note(format!("{} for {lasts:.1} s", step.fault));
            let owners = match step.changes_no_owner() {
                true => oracle::owners(&self.cluster).await?,
                false => BTreeSet::new(),
            };
            let began = Instant::now();
            self.swarm.mark();
            step.fault.begin(&mut self.cluster).await?;
            sleep(step.lasts.saturating_sub(began.elapsed())).await;
            step.fault.end(&mut self.cluster).await?;
            self.recover(step.fault).await?;
            let lost = &owners - &oracle::owners(&self.cluster).await?;
            ensure!(
                lost.is_empty(),
                "runs {lost:?} lost all their regions by {} for {lasts:.1} s",
                step.fault
            );
            oracle::conserved(&self.cluster).await?;
            self.count_sockets(step.fault)
        })
    }

    /// Stops all bots, compares their possessions and places with those of the store and the zones,
    /// and lets them go on.
    ///
    /// # Errors
    /// They do not come to rest, or something differs.
    pub fn compare<'a>(&'a mut self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.rest().await?;
            self.swarm.hush(false);
            self.count_sockets("while all stood still")
        })
    }

    /// Sockets may end from now on until the next fault.
    pub fn may_lose_sockets(&mut self) {
        self.sockets_may_end = true;
    }

    /// Counts the sockets that have ended since they were counted last.
    fn count_sockets(&mut self, when: impl Display) -> Result<()> {
        let summary = self.swarm.summary();
        let more = summary.disconnects.saturating_sub(self.sockets_ended);
        self.sockets_ended = summary.disconnects;
        // Nobody logs in twice here, so nobody is ever in anybody's way.
        let replaced = (CloseCode::Replaced as u16).to_string();
        let codes = summary.disconnects_by_code.keys();
        ensure!(
            !codes.into_iter().any(|code| code.starts_with(&replaced)),
            "somebody was told that another login plays its character ({when}):\n{summary}"
        );
        ensure!(
            more == 0 || self.sockets_may_end,
            "{more} sockets were closed ({when}):\n{summary}"
        );
        Ok(())
    }

    async fn recover(&mut self, fault: Fault) -> Result<()> {
        let over = Instant::now();
        self.cluster.ready().await?;
        let owned = oracle::whole(&self.cluster).await?;
        loop {
            let still = self.swarm.recovered();
            let waiting = still.iter().filter(|bot| bot.took.is_none()).count();
            if waiting == 0 {
                let mut took: Vec<Duration> = still.iter().filter_map(|bot| bot.took).collect();
                took.sort_unstable();
                let after = |at: usize| took.get(at).copied().unwrap_or_default().as_secs_f64();
                let half = after(took.len() / 2);
                self.timeline.note(format!(
                    "over ({fault}): all owned after {:.2} s, half of all moved {:.2} s after it \
                     began, the last one {:.2} s",
                    owned.as_secs_f64(),
                    half,
                    after(took.len().saturating_sub(1))
                ));
                ensure!(
                    half <= GO_ON_WITHIN.as_secs_f64() || !fault.leaves_all_playing(),
                    "half of all stood still for {half:.2} s, though only a store was away: {fault}"
                );
                let last = took.last().copied().unwrap_or_default();
                ensure!(
                    fault.all_move_within().is_none_or(|most| last <= most),
                    "somebody stood still for {last:?}: {fault}"
                );
                return Ok(());
            }
            if over.elapsed() > RECOVER_WITHIN {
                let ids = still.iter().filter(|bot| bot.took.is_none());
                let ids: Vec<&str> = ids.take(5).map(|bot| &*bot.character_id).collect();
                bail!(
                    "{waiting} players cannot act {RECOVER_WITHIN:?} after {fault} was over, such \
                     as {ids:?}:\n{}",
                    self.swarm.summary()
                );
            }
            sleep(POLL).await;
        }
    }

    /// Holds everything to what must hold, and ends the bots.
    ///
    /// # Errors
    /// Something does not hold.
    pub fn judge(mut self) -> BoxFuture<'static, Result<Summary>> {
        Box::pin(async move {
            self.rest().await?;
            let said = oracle::conserved(&self.cluster).await?;
            self.timeline.note(said.lines().next().unwrap_or_default());
            let store = self.cluster.store().await?;
            oracle::everybody_is_somewhere(&store).await?;
            oracle::no_deadlock(&mut self.cluster)?;
            self.count_sockets("until the end")?;
            let summary = self.swarm.finish().await?;
            self.timeline.note("judged");
            sound(&summary)?;
            Ok(summary)
        })
    }

    /// Stops all bots, and checks that each agrees with the store and is played by one zone.
    pub(super) async fn rest(&self) -> Result<()> {
        self.swarm.hush(true);
        let busy = self.swarm.settled(SETTLE_WITHIN).await;
        ensure!(
            busy.is_empty(),
            "{} bots do not come to rest, such as {:?}:\n{}",
            busy.len(),
            &busy[..busy.len().min(5)],
            self.swarm.summary()
        );
        self.agrees().await?;
        self.each_once().await
    }

    /// Checks that exactly one zone plays each character.
    async fn each_once(&self) -> Result<()> {
        let store = self.cluster.store().await?;
        let deadline = Instant::now() + STORED_WITHIN;
        loop {
            let places = self.swarm.places();
            let wrong = oracle::each_is_played_once(&self.cluster, &places).await;
            let why = match wrong {
                Ok(wrong) if wrong.is_empty() => {
                    self.timeline
                        .note(format!("{} players are played once each", places.len()));
                    return Ok(());
                }
                Ok(wrong) => {
                    let runs = oracle::runs(&self.cluster).await?;
                    let mut why = format!("of the runs {runs:?}: ");
                    for (id, zones) in &wrong {
                        let (bot, stored) = (self.swarm.describe(id), store.whereabouts(id).await?);
                        let _ = writeln!(why, "{id} by {zones}; {bot}; to the store {stored}");
                    }
                    why
                }
                Err(e) => format!("{e:#}"),
            };
            ensure!(
                Instant::now() < deadline,
                "not everybody is played by one zone: {why}"
            );
            sleep(POLL).await;
        }
    }

    /// Checks that the players' possessions are those of the store.
    async fn agrees(&self) -> Result<()> {
        let store = self.cluster.store().await?;
        let deadline = Instant::now() + STORED_WITHIN;
        loop {
            let held = store.held().await?;
            let told = self.swarm.possessions();
            let wrong: Vec<String> = told
                .iter()
                .filter_map(|(id, own)| {
                    let stored = held.get(id).cloned().unwrap_or_default();
                    let why = own.agree_with(&stored).err()?;
                    Some(format!("{id} {why}"))
                })
                .collect();
            if wrong.is_empty() {
                self.timeline
                    .note(format!("{} players have what they were told", told.len()));
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "{} players have something else than they were told:\n{}",
                wrong.len(),
                wrong.join("\n")
            );
            sleep(POLL).await;
        }
    }
}

/// Checks that no message showed a fault.
fn sound(summary: &Summary) -> Result<()> {
    ensure!(
        summary.taken_back == 0 && summary.unasked == 0,
        "possessions were taken back or given unasked:\n{summary}"
    );
    ensure!(
        summary.gaps == 0 && summary.unreadable == 0 && summary.map_faults == 0,
        "what was told does not fit together:\n{summary}"
    );
    ensure!(
        summary.resume_failed * 1_000 <= summary.resumed,
        "fewer than 99.9 % of the sessions were resumed:\n{summary}"
    );
    ensure!(
        summary.exchanges.0 > 0,
        "nobody picked anything up:\n{summary}"
    );
    Ok(())
}

/// Plays a whole story: the cast, these faults, the judgement. Every failure comes with the
/// timeline.
///
/// # Errors
/// Something that must hold does not.
pub async fn play(
    plan: Plan,
    cast: Cast,
    steps: impl IntoIterator<Item = Step>,
    timeline: Timeline,
) -> Result<Summary> {
    let told = timeline.clone();
    let story = async {
        let mut stage = Stage::set(plan, cast, timeline).await?;
        for step in steps {
            stage.suffer(step).await?;
            stage.compare().await?;
        }
        stage.judge().await
    };
    story
        .await
        .with_context(|| format!("seed {}:\n{told}", cast.seed))
}
