//! A cluster under bots that act, faults that come and go, and the judgement afterwards.
//!
//! Always: everything is judged after the faults are over, by what players were told, what the
//! store holds and what the operator's check says; whatever fails comes with the timeline.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use futures::future::BoxFuture;
use proto::client::Format;
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
    load::{Acting, Ground, Options, Scenario, Summary, Swarm, plan::spread},
};

/// How long all bots may take to come into the world beyond their ramp.
const ARRIVE_WITHIN: Duration = Duration::from_secs(60);
/// After the faults are over everybody must be able to act again within this time.
const RECOVER_WITHIN: Duration = Duration::from_secs(30);
/// How long what is under way may take to be answered once all stand still.
const SETTLE_WITHIN: Duration = Duration::from_secs(45);
/// How long the store may take to hold what was played.
const STORED_WITHIN: Duration = Duration::from_secs(15);
/// Ticks of what they published that zones keep, to be asked who plays whom.
const DUMP_TICKS: u32 = 20;
const POLL: Duration = Duration::from_millis(100);

/// Who plays.
#[derive(Debug, Clone, Copy)]
pub struct Cast {
    /// How many bots.
    pub players: usize,
    /// Connects are spread over this time.
    pub ramp: Duration,
    /// Where they go.
    pub scenario: Scenario,
    /// What they do beside that.
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
    /// What happened so far.
    pub timeline: Timeline,
    /// Somebody's socket may have been closed for good reason.
    sockets_may_end: bool,
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
            let gates = spread(atlas.gates.clone(), 50, 12);
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
                format: Format::Json,
                maps: cast.players.min(cast.acting.doers),
                ground: Arc::new(Ground::new(atlas.terrain, gates)),
                snapshots: None,
                progress_every: Duration::from_secs(5),
            };
            let swarm = Swarm::start(options, &CancellationToken::new())?;
            let stage = Stage {
                cluster,
                swarm,
                timeline,
                sockets_may_end: false,
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

    /// Does one fault, undoes it, and waits until everything is owned and everybody is back;
    /// nothing may be lost or doubled then.
    ///
    /// # Errors
    /// It cannot be done, or the world does not recover.
    pub fn suffer<'a>(&'a mut self, step: Step) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            sleep(step.after).await;
            self.sockets_may_end |= step.fault.costs_sockets();
            let lasts = step.lasts.as_secs_f64();
            self.timeline
                .note(format!("{} for {lasts:.1} s", step.fault));
            let began = Instant::now();
            self.swarm.mark();
            step.fault.begin(&mut self.cluster).await?;
            sleep(step.lasts.saturating_sub(began.elapsed())).await;
            step.fault.end(&mut self.cluster).await?;
            self.recover(step.fault).await?;
            oracle::conserved(&self.cluster).await?;
            Ok(())
        })
    }

    /// Somebody's socket may be closed from now on.
    pub fn may_lose_sockets(&mut self) {
        self.sockets_may_end = true;
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
                self.timeline.note(format!(
                    "over ({fault}): all owned after {:.2} s, half of all moved {:.2} s after it \
                     began, the last one {:.2} s",
                    owned.as_secs_f64(),
                    after(took.len() / 2),
                    after(took.len().saturating_sub(1))
                ));
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
            self.each_once().await?;
            let said = oracle::conserved(&self.cluster).await?;
            self.timeline.note(said.lines().next().unwrap_or_default());
            let store = self.cluster.store().await?;
            oracle::everybody_is_somewhere(&store).await?;
            oracle::no_deadlock(&mut self.cluster)?;
            let sockets_may_end = self.sockets_may_end;
            let summary = self.swarm.finish().await?;
            self.timeline.note("judged");
            sound(&summary, sockets_may_end)?;
            Ok(summary)
        })
    }

    /// Everybody is played by exactly one zone.
    async fn each_once(&self) -> Result<()> {
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
                Ok(wrong) => format!("{wrong:?}"),
                Err(e) => format!("{e:#}"),
            };
            ensure!(
                Instant::now() < deadline,
                "not everybody is played by one zone: {why}"
            );
            sleep(POLL).await;
        }
    }

    /// What players were told they have is what the store holds.
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

/// Whether nothing was told that must not be.
fn sound(summary: &Summary, sockets_may_end: bool) -> Result<()> {
    ensure!(
        summary.taken_back == 0 && summary.unasked == 0,
        "possessions were taken back or given unasked:\n{summary}"
    );
    ensure!(
        summary.gaps == 0 && summary.unreadable == 0 && summary.map_faults == 0,
        "what was told does not fit together:\n{summary}"
    );
    ensure!(
        sockets_may_end || summary.disconnects == 0,
        "sockets were closed:\n{summary}"
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

/// Plays a whole story: the cast, these faults, the judgement. What fails comes with the
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
        }
        stage.judge().await
    };
    story
        .await
        .with_context(|| format!("seed {}:\n{told}", cast.seed))
}
