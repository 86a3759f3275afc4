//! The tasks that show the world. Each owns a replica of a part of it: of some areas, and what is
//! in sight from there. It takes every run's frames of a tick, asks for the chunks near its
//! sessions, and gives each session its update.
//!
//! Always: a task never waits for a client, for another task, nor for a run longer than 150 ms. A
//! late frame goes out with the next flush, at once when a whole run was late. In a rush, while many
//! players arrive, the task rests after a long flush, so that the logins get the processors. The next
//! flush shows what came meanwhile, to newcomers first. See `rush.rs`.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use proto::rpc::zone::v1 as wire;
use service_runtime::{
    tasks::TaskGroup,
    watchdog::{self, Steps},
};
use tokio::{sync::mpsc, time::Instant as Due};
use tokio_util::sync::CancellationToken;
use view::{
    changes::Changes,
    replica::{ChunkState, Replica},
    square,
    stage::Stage,
    subscriptions::{Owners, Subscriptions},
};
use world::{Chunk, Region, Tile};

use super::{
    Table,
    asked::Asked,
    measures::{Flushed, Measures},
    rush::Rush,
    showing::Passing,
    watcher::{News, Part, Watch, Watcher},
};
use crate::{
    clock,
    directory::{Directory, DirectoryView},
    unanswered::LinkId,
};

/// Time that a tick waits for the last run's frame.
const FRAME_WAIT: Duration = Duration::from_millis(150);
/// Time for which changes gather before the task subscribes for them together.
const GATHER: Duration = Duration::from_millis(50);
/// Maximum number of frames that wait for this task; beyond them, the streams wait.
const WAITING_MAX: usize = 256;
/// Message from the link with a run.
#[derive(Debug)]
enum FromLink {
    /// A pair of streams is open.
    Up {
        /// Run of the link.
        run: u64,
        /// Number of the pair.
        number: u64,
        /// Chunks that the tasks ask of the run.
        asked: Arc<Asked>,
    },
    /// The task's part of a frame of the run.
    Frame {
        /// Run of the link.
        run: u64,
        /// Number of the pair.
        number: u64,
        /// Tick of the frame.
        tick: u64,
        /// Whether the frame has news between two ticks.
        extra: bool,
        /// The chunks for which the task asked.
        chunks: Vec<wire::ChunkFrame>,
        /// Time of its arrival.
        received: Instant,
    },
    /// The pair of streams has ended.
    Down {
        /// Run of the link.
        run: u64,
        /// Number of the pair.
        number: u64,
    },
}

/// A link's way to the tasks. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct FanOutTasks(Arc<[mpsc::Sender<FromLink>]>);

/// No task takes messages any more: the gateway ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended;

impl FanOutTasks {
    /// Tells the tasks that a pair of streams with a run is open, which asks over `subscribe`.
    /// Returns what they ask of the run.
    pub(super) async fn up(
        &self,
        (run, number): LinkId,
        subscribe: mpsc::Sender<wire::Subscribe>,
    ) -> Result<Arc<Asked>, Ended> {
        let asked = Arc::new(Asked::new(self.0.len(), subscribe));
        for task in &*self.0 {
            let asked = Arc::clone(&asked);
            let up = FromLink::Up { run, number, asked };
            task.send(up).await.map_err(|_| Ended)?;
        }
        Ok(asked)
    }

    /// Shares out the public part of a frame that came over a pair of streams.
    pub(super) async fn frame(
        &self,
        (run, number): LinkId,
        asked: &Asked,
        frame: wire::Frame,
        received: Instant,
    ) -> Result<(), Ended> {
        let (tick, extra) = (frame.tick, frame.extra);
        for (task, chunks) in self.0.iter().zip(asked.share(frame.chunks)) {
            if extra && chunks.is_empty() && self.0.len() > 1 {
                continue;
            }
            let frame = FromLink::Frame {
                run,
                number,
                tick,
                extra,
                chunks,
                received,
            };
            task.send(frame).await.map_err(|_| Ended)?;
        }
        Ok(())
    }

    /// Tells the tasks that a pair of streams has ended.
    pub(super) async fn down(&self, (run, number): LinkId) {
        for task in &*self.0 {
            // Only a gateway that ends has no fan-out any more.
            let _ = task.send(FromLink::Down { run, number }).await;
        }
    }
}

#[derive(Debug)]
struct Link {
    number: u64,
    asked: Arc<Asked>,
    /// Tick of its last frame.
    tick: u64,
}

/// A tick whose frames are coming in.
#[derive(Debug, Clone, Copy)]
struct Window {
    tick: u64,
    received: Instant,
    due: Due,
}

/// One task; see the module.
pub(crate) struct FanOut {
    /// Number of the task.
    task: usize,
    /// Rounds of the loop, which a watchdog reads.
    steps: Arc<Steps>,
    table: Arc<Table>,
    directory: Arc<Directory>,
    measures: Measures,
    replica: Replica,
    subscriptions: Subscriptions,
    links: BTreeMap<u64, Link>,
    watchers: HashMap<Arc<str>, Watcher>,
    window: Option<Window>,
    flushes: u64,
    flushed_tick: u64,
    rush: Rush,
}

impl Owners for DirectoryView {
    fn owner(&self, region: Region) -> Option<u64> {
        self.owner_of(region).map(|owner| owner.run_id)
    }

    fn exists(&self, region: Region) -> bool {
        self.has(region)
    }
}

impl FanOut {
    /// Starts a task for each of `steps`, in which it counts its rounds. They take frames until
    /// `tasks` stop.
    pub(super) fn start(
        table: &Arc<Table>,
        directory: &Arc<Directory>,
        measures: &Measures,
        steps: Vec<Arc<Steps>>,
        tasks: &TaskGroup,
    ) -> FanOutTasks {
        let start = |(task, steps)| {
            let (sender, frames) = mpsc::channel(WAITING_MAX);
            let (table, directory) = (Arc::clone(table), Arc::clone(directory));
            let fan_out = Self::new(task, table, directory, measures.clone(), steps);
            tasks.finish("fan-out", fan_out.run(frames, tasks.stop().clone()));
            sender
        };
        FanOutTasks(steps.into_iter().enumerate().map(start).collect())
    }

    fn new(
        task: usize,
        table: Arc<Table>,
        directory: Arc<Directory>,
        measures: Measures,
        steps: Arc<Steps>,
    ) -> Self {
        Self {
            task,
            steps,
            table,
            directory,
            measures,
            replica: Replica::default(),
            subscriptions: Subscriptions::default(),
            links: BTreeMap::new(),
            watchers: HashMap::new(),
            window: None,
            flushes: 0,
            flushed_tick: 0,
            rush: Rush::none(),
        }
    }

    async fn run(mut self, mut frames: mpsc::Receiver<FromLink>, stop: CancellationToken) {
        let mut sessions = self.table.changed.subscribe();
        let mut versions = self.directory.changes();
        let mut gathering: Option<Due> = None;
        let mut beat = watchdog::beat_interval();
        loop {
            self.steps.step();
            let window = self.window.map(|window| window.due);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                message = frames.recv() => match message {
                    Some(message) => self.hear(message),
                    None => return,
                },
                () = clock::until(window) => self.flush(),
                // The watchdog must see that an idle loop moves.
                _ = beat.tick() => {}
                () = clock::until(gathering) => {
                    gathering = None;
                    self.reconcile();
                }
                changed = sessions.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    gathering.get_or_insert(Due::now() + GATHER);
                }
                changed = versions.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    gathering.get_or_insert(Due::now() + GATHER);
                }
            }
        }
    }

    fn hear(&mut self, message: FromLink) {
        match message {
            FromLink::Up { run, number, asked } => {
                let link = Link {
                    number,
                    asked,
                    tick: 0,
                };
                self.links.insert(run, link);
                self.subscriptions.link_up(run);
                self.replica.restart(run);
                self.reconcile();
            }
            FromLink::Down { run, number } => {
                if self
                    .links
                    .get(&run)
                    .is_some_and(|link| link.number == number)
                {
                    self.links.remove(&run);
                    self.subscriptions.link_down(run);
                    self.replica.restart(run);
                }
            }
            FromLink::Frame {
                run,
                number,
                tick,
                extra,
                chunks,
                received,
            } => {
                let Some(link) = self.links.get_mut(&run) else {
                    return;
                };
                if link.number != number {
                    return;
                }
                if self.directory.view().run(run).is_none() {
                    // The run is fenced, and its link has not ended yet.
                    self.measures.fenced();
                    return;
                }
                if !extra {
                    link.tick = link.tick.max(tick);
                    self.replica.apply(run, tick, chunks);
                    return self.framed(tick, received);
                }
                self.measures.extra();
                self.replica.apply(run, tick, chunks);
                // While a tick gathers, or the task rests, the extra frame goes out with the tick.
                if self.window.is_none() && self.rush.rests() <= Due::now() {
                    self.flush_extra(received);
                }
            }
        }
    }

    /// Notes a run's frame of a tick. Flushes when no run has to send one any more.
    fn framed(&mut self, tick: u64, received: Instant) {
        if tick <= self.flushed_tick {
            self.measures.late();
        }
        let (now, rests) = (Due::now(), self.rush.rests());
        let window = self.window.get_or_insert_with(|| Window {
            tick,
            received,
            due: rests.max(now + FRAME_WAIT),
        });
        window.tick = window.tick.max(tick);
        let tick = window.tick.max(self.flushed_tick);
        let waits = |(run, link): (&u64, &Link)| link.tick < tick && self.subscriptions.asked(*run);
        if self.links.iter().any(waits) {
            return;
        }
        if now < rests {
            window.due = rests;
        } else {
            self.flush();
        }
    }

    /// Asks for the chunks that sessions came near, and ends those that they left.
    fn reconcile(&mut self) {
        let view = self.directory.view();
        let wanted = self.table.wanted(self.task);
        let tick = self.replica.tick();
        let positions = &wanted.positions;
        let change = self.subscriptions.reconcile(positions, &*view, tick);
        for around in &change.set {
            self.replica
                .set_runs(around.chunk, &around.runs, around.complete);
        }
        for chunk in change.dropped {
            self.replica.drop_chunk(chunk);
        }
        for (run, ask) in self.subscriptions.asks() {
            let Some(link) = self.links.get(&run) else {
                continue;
            };
            // If the queue is full, the next flush asks again.
            if link.asked.ask(self.task, &ask) {
                self.subscriptions.tell(run, &ask);
            }
        }
        self.welcome(wanted.coming);
    }

    /// Takes those sessions of another task that see only what this task knows by now.
    fn welcome(&self, mut coming: Vec<(Arc<str>, Tile)>) {
        coming.retain(|(_, at)| self.knows(Chunk::from(*at)));
        if coming.is_empty() {
            return;
        }
        let known: Vec<Arc<str>> = coming
            .into_iter()
            .map(|(session_id, _)| session_id)
            .collect();
        self.table.knows(self.task, &known);
    }

    /// Returns whether the task can show what is in sight from a chunk.
    fn knows(&self, center: Chunk) -> bool {
        let state = |chunk| self.replica.chunk(chunk);
        let mut around = square::around(center).map(state);
        let ready = state(center).is_some_and(ChunkState::ready);
        ready && around.all(|state| state.is_some_and(|state| !state.is_awaited()))
    }

    fn flush(&mut self) {
        let (begin, begun) = (Instant::now(), Due::now());
        let window = self.window.take();
        let received = window.map_or(begin, |window| window.received);
        self.reconcile();
        let changes = self.replica.flush();
        self.flushed_tick = changes.tick;
        let flushed = Flushed {
            waited: Some(begin.saturating_duration_since(received)),
            ..Flushed::of(self.task)
        };
        let newcomers = self.show(&changes, Part::Tick, begin, received, flushed);
        self.rush.flushed(begun, Due::now(), newcomers);
    }

    /// Shows the news between two ticks, and nothing else.
    fn flush_extra(&mut self, received: Instant) {
        // A frame between two ticks may hold nothing but messages of sessions. Each flush must reach
        // every view: a view that missed one forgets all numbers.
        if !self.replica.has_news() {
            return;
        }
        let begin = Instant::now();
        let changes = self.replica.flush();
        let flushed = Flushed::of(self.task);
        self.show(&changes, Part::Extra, begin, received, flushed);
    }

    /// Shows a flush, and measures it. Returns the number of sessions that began to see the world.
    fn show(
        &mut self,
        changes: &Changes,
        part: Part,
        begin: Instant,
        received: Instant,
        mut flushed: Flushed,
    ) -> usize {
        self.flushes += 1;
        let newcomers = self.show_all(changes, part, received, &mut flushed);
        let flushes = self.flushes;
        self.watchers.retain(|_, watcher| watcher.flush == flushes);
        let (entities, chunks) = self.replica.size();
        flushed.entities = entities as u64;
        flushed.chunks = chunks as u64;
        flushed.took = begin.elapsed();
        self.measures.flushed(&flushed);
        match self.replica.take_malformed() {
            0 => {}
            records => {
                self.measures.malformed(records);
                tracing::error!(records, "a zone sent what cannot be shown");
            }
        }
        newcomers
    }

    /// Gives every session its update, newcomers first. Returns how many of those there are.
    fn show_all(
        &mut self,
        changes: &Changes,
        part: Part,
        received: Instant,
        flushed: &mut Flushed,
    ) -> usize {
        let encoded = Cell::new(0);
        let mut stage = Stage::new(&self.replica, changes, &encoded);
        let mut passing = Vec::new();
        let watches = self.table.watches(self.task).into_iter();
        let (known, new): (Vec<Watch>, Vec<Watch>) =
            watches.partition(|watch| self.watchers.contains_key(&watch.session_id));
        let newcomers = new.len();
        for mut watch in new.into_iter().chain(known) {
            let session_id = Arc::clone(&watch.session_id);
            let watcher = self.watchers.entry(Arc::clone(&session_id)).or_default();
            watcher.meet(&mut watch);
            watcher.flush = self.flushes;
            if watch.paused {
                continue;
            }
            let mut position = watch.position;
            if let Some(character) = &watch.follows {
                let stands = self.replica.entity(character);
                let stands = stands.map(|of| Tile { x: of.x, z: of.z });
                self.table.followed(&session_id, stands);
                position = stands.unwrap_or(position);
            }
            let news = News {
                stage: &mut stage,
                replica: &self.replica,
                changes,
                part,
            };
            if let Some(plan) = watcher.plan(&watch, position, news) {
                let format = watch.screen.format;
                watcher.send(plan, format, &watch.mailbox, received, flushed);
            }
            if let (Some(to), Part::Tick) = (watch.goes_to, part) {
                passing.push((session_id, to));
            }
        }
        flushed.encoded = encoded.get();
        self.pass_on(passing);
        newcomers
    }

    /// Lets sessions go on to other tasks.
    fn pass_on(&mut self, passing: Vec<(Arc<str>, usize)>) {
        if passing.is_empty() {
            return;
        }
        let pass = |(session_id, to): (Arc<str>, usize)| {
            let mut watcher = self.watchers.remove(&session_id)?;
            watcher.change_task();
            Some(Passing {
                session_id,
                to,
                watcher: Box::new(watcher),
            })
        };
        let passing = passing.into_iter().filter_map(pass).collect();
        for stays in self.table.pass_on(passing) {
            self.watchers.insert(stays.session_id, *stays.watcher);
        }
    }
}

#[cfg(test)]
mod tests;
