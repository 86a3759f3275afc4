//! All bots of a run: started along the ramp, spread over a few tasks, watched while they play.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use proto::client::{Format, update::Entity};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    ground::Ground,
    known::{Acting, Known},
    measure::{Tally, quantile_ms},
    plan::{Plan, Scenario},
    report::{Frame, Summary},
    walker::{Bot, Run},
};
use crate::{
    bot::{Possessions, View, map::ChunkAt},
    http::Address,
};

/// Options of a run.
pub struct Options {
    /// Number of bots.
    pub players: usize,
    /// Connects are spread over this time.
    pub ramp: Duration,
    /// Between the ramp and the measured time, so that the last ones find their places.
    pub settle: Duration,
    /// The measured time.
    pub duration: Duration,
    /// Places to which the bots go.
    pub scenario: Scenario,
    /// Their acts beside that. A bot that acts keeps a whole map.
    pub acting: Acting,
    /// The dice.
    pub seed: u64,
    /// Gateways to which bots connect in turn; a bot that loses its connection connects to another
    /// one.
    pub gateways: Vec<Address>,
    /// Each bot names an address of its own, as behind a load balancer that the gateways trust.
    pub own_addresses: bool,
    /// Encoding of the messages.
    pub format: Format,
    /// Most players that each bot sees at once; only with the compact format.
    pub shown: Option<u16>,
    /// This many keep a whole map and check it; the others look only for themselves. With
    /// MessagePack all keep one.
    pub maps: usize,
    /// The bots' knowledge of the world.
    pub ground: Arc<Ground>,
    /// Channel that takes maps for comparison, and the time between two maps of a bot.
    pub snapshots: Option<(mpsc::Sender<Snapshot>, Duration)>,
    /// Between two calls of the progress function.
    pub progress_every: Duration,
}

/// Map of one bot at the end of one tick.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Name of the bot.
    pub name: String,
    /// The tick.
    pub tick: u64,
    /// The chunks that it knew.
    pub chunks: Vec<ChunkAt>,
    /// All that was in them.
    pub entities: Vec<Entity>,
}

impl Snapshot {
    /// Makes the snapshot of a view that has seen all of its tick.
    pub fn of(name: &str, view: &View) -> Self {
        Self {
            name: name.to_owned(),
            tick: view.tick,
            chunks: view.map.chunks().collect(),
            entities: view.map.entities().cloned().collect(),
        }
    }
}

/// Progress of a run.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Since the ramp began.
    pub elapsed: Duration,
    /// The measured time has begun.
    pub measuring: bool,
    /// Bots in the world now.
    pub in_world: usize,
    /// Moves since the last call: how many, p50 and p99 in milliseconds.
    pub moves: (usize, f64, f64),
    /// `world:update`s a second since the last call.
    pub updates_per_second: f64,
    /// Bytes a second since the last call.
    pub bytes_per_second: f64,
    /// Since the start.
    pub disconnects: u64,
    /// Since the start.
    pub failed: u64,
    /// Since the start.
    pub gaps: u64,
    /// Since the start.
    pub errors: u64,
}

/// Plays a run to its end, or until `stop`.
///
/// # Errors
/// There is no gateway, or a task of bots has panicked.
pub async fn run(
    options: Options,
    stop: CancellationToken,
    mut progress: impl FnMut(&Progress),
) -> Result<Summary> {
    let (every, duration) = (options.progress_every, options.duration);
    let lead = options.ramp + options.settle;
    let mut swarm = Swarm::start(options, &stop)?;
    let measure_at = swarm.start + lead;
    swarm.watch(measure_at, every, &mut progress).await;
    swarm.measure();
    swarm
        .watch(measure_at + duration, every, &mut progress)
        .await;
    swarm.finish().await
}

/// Recovery of one bot from a moment at which something broke.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// The bot's character.
    pub character_id: String,
    /// Until it moved again; none: it has not yet.
    pub took: Option<Duration>,
    /// Longest jump from one shown place to the next until then, in tiles.
    pub jump: u32,
}

/// Bots that play.
pub struct Swarm {
    bots: Arc<Vec<Bot>>,
    run: Arc<Run>,
    tasks: Vec<JoinHandle<()>>,
    moment: watch::Sender<Option<Instant>>,
    start: Instant,
    stop: CancellationToken,
    look: Watch,
    /// When measuring began, and the updates and bytes until then.
    measured: Option<(Instant, (u64, u64))>,
}

impl Swarm {
    /// Starts all bots along the ramp; they play until [`Swarm::finish`] or `stop`.
    ///
    /// # Errors
    /// There is no gateway.
    pub fn start(options: Options, stop: &CancellationToken) -> Result<Self> {
        ensure!(!options.gateways.is_empty(), "no gateway");
        let (moment, heard) = watch::channel(None);
        let run = Arc::new(Run {
            format: options.format,
            shown: options.shown,
            gateways: options.gateways.clone(),
            own_addresses: options.own_addresses,
            measure_from: Mutex::new(None),
            end: stop.child_token(),
            in_world: AtomicUsize::new(0),
            snapshots: options.snapshots.clone(),
            moment: heard,
        });
        let start = Instant::now();
        let bots = bots(&options, &run, start);
        let tasks = spread(&bots);
        Ok(Self {
            look: Watch::new(&bots, &run, start),
            bots,
            run,
            tasks,
            moment,
            start,
            stop: stop.clone(),
            measured: None,
        })
    }

    /// Measures from now on.
    pub fn measure(&mut self) {
        let now = Instant::now();
        *self
            .run
            .measure_from
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(now);
        self.look.measuring = true;
        self.measured = Some((now, self.look.totals()));
    }

    /// Calls `progress` every so often until `end`.
    pub async fn watch(
        &mut self,
        end: Instant,
        every: Duration,
        progress: &mut impl FnMut(&Progress),
    ) {
        self.look.until(end, every, &self.stop, progress).await;
    }

    /// Bots that are in the world now.
    pub fn in_world(&self) -> usize {
        self.run.in_world.load(Ordering::Relaxed)
    }

    /// Notes that something breaks now: every bot asks for walks until it has moved again.
    pub fn mark(&self) {
        self.moment.send_replace(Some(Instant::now()));
    }

    /// Returns the recoveries of all bots that had a character from the last [`Swarm::mark`].
    pub fn recovered(&self) -> Vec<Recovery> {
        let of = |bot: &Bot| {
            let known = bot.known();
            Some(Recovery {
                character_id: known.view.characters.first()?.id.clone(),
                took: known.failover.took(),
                jump: known.failover.jump(),
            })
        };
        self.bots.iter().filter_map(of).collect()
    }

    /// Makes all bots stand still and ask for nothing any more, or lets them play on.
    pub fn hush(&self, hushed: bool) {
        for bot in self.bots.iter() {
            bot.known().hushed = hushed;
            bot.wake();
        }
    }

    /// Makes all bots forget what they have, because the world goes back to an earlier moment.
    pub fn begin_anew(&self) {
        for bot in self.bots.iter() {
            bot.known().view.possessions.begin_anew();
        }
    }

    /// Waits until every bot is in the world and has no open request. Returns the names of bots
    /// that were late. Bots must be hushed.
    pub async fn settled(&self, within: Duration) -> Vec<String> {
        let deadline = Instant::now() + within;
        loop {
            let not_yet = |bot: &&Bot| !bot.known().is_settled();
            let names: Vec<String> = self
                .bots
                .iter()
                .filter(not_yet)
                .map(|bot| format!("{} {}", bot.name(), bot.known().describe()))
                .collect();
            if names.is_empty() || Instant::now() >= deadline {
                return names;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the possessions of each character from its messages, by character id.
    pub fn possessions(&self) -> BTreeMap<String, Possessions> {
        let of = |bot: &Bot| {
            let known = bot.known();
            let id = known.view.characters.first()?.id.clone();
            Some((id, known.view.possessions.clone()))
        };
        self.bots.iter().filter_map(of).collect()
    }

    /// Returns the last shown place of everybody in the world: by entity, with the tick.
    pub fn places(&self) -> BTreeMap<String, (u64, (i32, i32))> {
        let of = |bot: &Bot| {
            let known = bot.known();
            let id = known.view.entered.as_ref()?.entity_id.clone();
            Some((id, (known.view.tick, known.view.position?)))
        };
        self.bots.iter().filter_map(of).collect()
    }

    /// Returns the state of the bot of this entity in words, for the reader of a failure.
    pub fn describe(&self, entity: &str) -> String {
        let of = |bot: &&Bot| {
            let known = bot.known();
            let entered = known.view.entered.as_ref();
            entered.is_some_and(|entered| entered.entity_id == entity)
        };
        let bot = self.bots.iter().find(of);
        bot.map_or_else(String::new, |bot| {
            format!("{} {}", bot.name(), bot.known().describe())
        })
    }

    /// Returns the numbers up to now.
    pub fn summary(&self) -> Summary {
        let (from, before) = self.measured.unwrap_or((self.start, (0, 0)));
        let frame = Frame {
            players: self.bots.len(),
            arriving: self
                .look
                .arriving
                .unwrap_or_else(|| self.start.elapsed())
                .max(Duration::from_millis(1)),
            measured: from.elapsed(),
            before,
            after: self.look.totals(),
        };
        sum_up(frame, &self.bots)
    }

    /// Ends all bots; the numbers.
    ///
    /// # Errors
    /// A task of bots has panicked.
    pub fn finish(mut self) -> BoxFuture<'static, Result<Summary>> {
        Box::pin(async move {
            let summary = self.summary();
            self.run.end.cancel();
            for task in self.tasks.drain(..) {
                task.await.context("a task of bots")?;
            }
            Ok(summary)
        })
    }
}

impl Drop for Swarm {
    fn drop(&mut self) {
        self.run.end.cancel();
    }
}

fn bots(options: &Options, run: &Arc<Run>, start: Instant) -> Arc<Vec<Bot>> {
    let life = life();
    let bots = (0..options.players).map(|index| {
        let share = index as f64 / options.players as f64;
        let connect_at = start + options.ramp.mul_f64(share);
        let ground = Arc::clone(&options.ground);
        let plan = Plan::new(options.scenario, ground, options.seed, index, connect_at);
        let seed = options.seed ^ (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let acting = options.acting.of(index);
        Bot::new(
            format!("b{index}-{life}"),
            index,
            connect_at,
            index < options.maps || acting.actions,
            Known::new(plan, acting, seed, connect_at),
            Arc::clone(run),
        )
    });
    Arc::new(bots.collect())
}

/// Returns a few letters made of the time, because names must be new in the world.
fn life() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut rest = u64::try_from(since.as_millis()).unwrap_or(0) / 10;
    let mut text = String::new();
    while rest > 0 {
        text.push(char::from_digit(u32::try_from(rest % 36).unwrap_or(0), 36).unwrap_or('0'));
        rest /= 36;
    }
    text
}

/// Starts two tasks a core, each with its share of the bots.
fn spread(bots: &Arc<Vec<Bot>>) -> Vec<JoinHandle<()>> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let tasks = (cores * 2).min(bots.len()).max(1);
    (0..tasks)
        .map(|task| {
            let bots = Arc::clone(bots);
            tokio::spawn(async move {
                let mine = bots.iter().skip(task).step_by(tasks);
                let mut lives: FuturesUnordered<_> = mine.map(Bot::live).collect();
                while lives.next().await.is_some() {}
            })
        })
        .collect()
}

fn sum_up(frame: Frame, bots: &[Bot]) -> Summary {
    let mut total = Tally::default();
    for bot in bots {
        total.add(&bot.known().tally);
    }
    let mut summary = Summary::new(frame, &total);
    for bot in bots {
        let known = bot.known();
        summary.add_view(&known.view);
        summary.add_possessions(&known.view.possessions);
    }
    summary
}

struct Watch {
    bots: Arc<Vec<Bot>>,
    run: Arc<Run>,
    start: Instant,
    measuring: bool,
    arriving: Option<Duration>,
    last: (Instant, u64, u64, Vec<usize>),
}

impl Watch {
    fn new(bots: &Arc<Vec<Bot>>, run: &Arc<Run>, start: Instant) -> Self {
        Self {
            bots: Arc::clone(bots),
            run: Arc::clone(run),
            start,
            measuring: false,
            arriving: None,
            last: (start, 0, 0, vec![0; bots.len()]),
        }
    }

    async fn until(
        &mut self,
        end: Instant,
        every: Duration,
        stop: &CancellationToken,
        progress: &mut impl FnMut(&Progress),
    ) {
        while Instant::now() < end && !stop.is_cancelled() {
            let next = (Instant::now() + every).min(end);
            let _ = stop.run_until_cancelled(sleep_until(next)).await;
            progress(&self.look());
        }
    }

    fn totals(&self) -> (u64, u64) {
        self.bots.iter().fold((0, 0), |(updates, bytes), bot| {
            let known = bot.known();
            (updates + known.tally.updates, bytes + known.tally.bytes)
        })
    }

    fn look(&mut self) -> Progress {
        let now = Instant::now();
        let mut moves = Vec::new();
        let mut seen = Progress {
            elapsed: now - self.start,
            measuring: self.measuring,
            in_world: self.run.in_world.load(Ordering::Relaxed),
            ..Progress::default()
        };
        for (bot, from) in self.bots.iter().zip(&mut self.last.3) {
            let known = bot.known();
            let all = &known.tally.moves_us;
            moves.extend_from_slice(&all[(*from).min(all.len())..]);
            *from = all.len();
            seen.disconnects += known.tally.disconnects.values().sum::<u64>();
            seen.failed += known.tally.failed.values().sum::<u64>();
            seen.gaps += known.view.gaps;
            seen.errors += known.view.errors.values().sum::<u64>();
        }
        moves.sort_unstable();
        seen.moves = (
            moves.len(),
            quantile_ms(&moves, 0.5),
            quantile_ms(&moves, 0.99),
        );
        let (updates, bytes) = self.totals();
        let seconds = (now - self.last.0).as_secs_f64().max(0.001);
        seen.updates_per_second = (updates - self.last.1) as f64 / seconds;
        seen.bytes_per_second = (bytes - self.last.2) as f64 / seconds;
        (self.last.0, self.last.1, self.last.2) = (now, updates, bytes);
        if self.arriving.is_none() && seen.in_world == self.bots.len() {
            self.arriving = Some(seen.elapsed);
        }
        seen
    }
}
