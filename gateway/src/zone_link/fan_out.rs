//! The one task that owns the replica. It takes every run's frames of a tick, asks for the chunks
//! near sessions, and gives each session its update.
//!
//! Always: it never waits for a client, nor for a run longer than 150 ms. A late frame goes out
//! with the next flush, at once when a whole run was late.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use proto::{
    client::Format,
    rpc::{common::v1 as common, zone::v1 as wire},
};
use service_runtime::{
    tasks::TaskGroup,
    watchdog::{self, Steps},
};
use tokio::{
    sync::mpsc,
    time::{Instant as Due, sleep_until},
};
use tokio_util::sync::CancellationToken;
use view::{
    changes::Changes,
    encode::{self, Encoding},
    interest::{Flush, Plan, View},
    replica::Replica,
    stage::Stage,
    subscriptions::{Owners, Subscriptions},
};
use world::{Chunk, Region, Tile};

use super::{
    Table,
    measures::{Flushed, Measures},
    table::Watch,
};
use crate::{
    directory::{Directory, DirectoryView},
    mailbox::{Mailbox, Update},
};

/// Time that a tick waits for the last run's frame.
const FRAME_WAIT: Duration = Duration::from_millis(150);
/// Time for which changes gather before the task subscribes for them together.
const GATHER: Duration = Duration::from_millis(5);
/// Maximum number of frames that wait for this task; beyond them, the streams wait.
const WAITING_MAX: usize = 256;
/// Maximum number of trace contexts that wait for a slow client.
const TRACEPARENTS_MAX: usize = 16;

/// Message from the link with a run.
#[derive(Debug)]
pub(crate) enum FromLink {
    /// A pair of streams is open.
    Up {
        /// Run of the link.
        run: u64,
        /// Number of the pair.
        number: u64,
        /// Channel that asks for chunks.
        subscribe: mpsc::Sender<wire::Subscribe>,
    },
    /// Public part of a run's tick.
    Frame {
        /// Run of the link.
        run: u64,
        /// Number of the pair.
        number: u64,
        /// The frame itself.
        frame: wire::Frame,
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

#[derive(Debug)]
struct Link {
    number: u64,
    subscribe: mpsc::Sender<wire::Subscribe>,
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

/// Part of the world's news to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A tick: all changes, and the chunks that sessions are owed.
    Tick,
    /// News between two ticks.
    Extra,
}

#[derive(Debug, Default)]
struct Watcher {
    acquaintance: u64,
    generation: u64,
    view: View,
    traceparents: Vec<String>,
    /// Last flush that included it.
    flush: u64,
}

/// See the module.
pub(crate) struct FanOut {
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
}

impl Owners for DirectoryView {
    fn owner(&self, region: Region) -> Option<u64> {
        self.owner_of(region).map(|owner| owner.run_id)
    }

    fn exists(&self, region: Region) -> bool {
        self.has(region)
    }
}

fn wire_chunks(chunks: &[Chunk]) -> Vec<common::Chunk> {
    chunks
        .iter()
        .map(|chunk| common::Chunk {
            x: chunk.x,
            z: chunk.z,
        })
        .collect()
}

impl FanOut {
    /// Starts the task, which takes frames until `tasks` stop and counts its rounds as `steps`.
    /// Returns the channel for frames.
    pub(crate) fn start(
        table: Arc<Table>,
        directory: Arc<Directory>,
        measures: Measures,
        steps: Arc<Steps>,
        tasks: &TaskGroup,
    ) -> mpsc::Sender<FromLink> {
        let (sender, frames) = mpsc::channel(WAITING_MAX);
        let fan_out = Self::new(table, directory, measures, steps);
        tasks.finish("fan-out", fan_out.run(frames, tasks.stop().clone()));
        sender
    }

    fn new(
        table: Arc<Table>,
        directory: Arc<Directory>,
        measures: Measures,
        steps: Arc<Steps>,
    ) -> Self {
        Self {
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
        }
    }

    async fn run(mut self, mut frames: mpsc::Receiver<FromLink>, stop: CancellationToken) {
        let table = Arc::clone(&self.table);
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
                () = until(window) => self.flush(),
                // The watchdog must see that an idle loop moves.
                _ = beat.tick() => {}
                () = until(gathering) => {
                    gathering = None;
                    self.reconcile();
                }
                () = table.changed.notified() => {
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
            FromLink::Up {
                run,
                number,
                subscribe,
            } => {
                self.links.insert(
                    run,
                    Link {
                        number,
                        subscribe,
                        tick: 0,
                    },
                );
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
                frame,
                received,
            } => {
                let Some(link) = self.links.get_mut(&run) else {
                    return;
                };
                if link.number != number || frame.run_id != run {
                    return;
                }
                if self.directory.view().run(run).is_none() {
                    // The run is fenced, and its link has not ended yet.
                    self.measures.fenced();
                    return;
                }
                let tick = frame.tick;
                if !frame.extra {
                    link.tick = link.tick.max(tick);
                    self.replica.apply(run, tick, frame.chunks);
                    return self.framed(tick, received);
                }
                self.measures.extra();
                self.replica.apply(run, tick, frame.chunks);
                // While a tick gathers, the extra frame goes out with it.
                if self.window.is_none() {
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
        let window = self.window.get_or_insert_with(|| Window {
            tick,
            received,
            due: Due::now() + FRAME_WAIT,
        });
        window.tick = window.tick.max(tick);
        let tick = window.tick.max(self.flushed_tick);
        let waits = |(run, link): (&u64, &Link)| link.tick < tick && self.subscriptions.asked(*run);
        if !self.links.iter().any(waits) {
            self.flush();
        }
    }

    /// Asks for the chunks that sessions came near, and ends those that they left.
    fn reconcile(&mut self) {
        let view = self.directory.view();
        let positions = self.table.positions();
        let tick = self.replica.tick();
        let change = self.subscriptions.reconcile(&positions, &*view, tick);
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
            let message = wire::Subscribe {
                hello: None,
                add: wire_chunks(&ask.add),
                remove: wire_chunks(&ask.remove),
            };
            // If the queue is full, the next flush asks again.
            if link.subscribe.try_send(message).is_ok() {
                self.subscriptions.tell(run, &ask);
            }
        }
    }

    fn flush(&mut self) {
        let begin = Instant::now();
        let window = self.window.take();
        let received = window.map_or(begin, |window| window.received);
        self.reconcile();
        let changes = self.replica.flush();
        self.flushed_tick = changes.tick;
        let flushed = Flushed {
            waited: Some(begin.saturating_duration_since(received)),
            ..Flushed::default()
        };
        self.show(&changes, Part::Tick, begin, received, flushed);
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
        let flushed = Flushed::default();
        self.show(&changes, Part::Extra, begin, received, flushed);
    }

    fn show(
        &mut self,
        changes: &Changes,
        part: Part,
        begin: Instant,
        received: Instant,
        mut flushed: Flushed,
    ) {
        self.flushes += 1;
        self.show_all(changes, part, received, &mut flushed);
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
    }

    /// Gives every session its update.
    fn show_all(
        &mut self,
        changes: &Changes,
        part: Part,
        received: Instant,
        flushed: &mut Flushed,
    ) {
        let encoded = Cell::new(0);
        let mut stage = Stage::new(&self.replica, changes, &encoded);
        for mut watch in self.table.watches() {
            let session_id = Arc::clone(&watch.session_id);
            let watcher = self.watchers.entry(Arc::clone(&session_id)).or_default();
            if watcher.acquaintance != watch.acquaintance {
                *watcher = Watcher {
                    acquaintance: watch.acquaintance,
                    ..Watcher::default()
                };
            } else if watcher.generation != watch.generation {
                watcher.view.mark_uncertain();
            }
            watcher.generation = watch.generation;
            watcher.flush = self.flushes;
            if watch.paused {
                continue;
            }
            let room = TRACEPARENTS_MAX.saturating_sub(watcher.traceparents.len());
            let traceparents = std::mem::take(&mut watch.traceparents);
            watcher
                .traceparents
                .extend(traceparents.into_iter().take(room));
            let mut position = watch.position;
            if let Some(character) = &watch.follows {
                let stands = self.replica.entity(character);
                let stands = stands.map(|of| Tile { x: of.x, z: of.z });
                self.table.followed(&session_id, stands);
                position = stands.unwrap_or(position);
            }
            let shown = Shown {
                stage: &mut stage,
                replica: &self.replica,
                changes,
                part,
            };
            let Some(plan) = watcher.plan(&watch, position, shown) else {
                continue;
            };
            let format = watch.screen.format;
            watcher.send(plan, format, &watch.mailbox, received, flushed);
        }
        flushed.encoded = encoded.get();
    }
}

/// The news that sessions are shown.
struct Shown<'a, 'b> {
    stage: &'a mut Stage<'b>,
    replica: &'a Replica,
    changes: &'a Changes,
    part: Part,
}

impl Watcher {
    /// Returns the plan for the session's update; `None`: it has seen nothing yet, and sees all of
    /// it with the next tick.
    fn plan(&mut self, watch: &Watch, position: Tile, shown: Shown<'_, '_>) -> Option<Plan> {
        let Shown {
            stage,
            replica,
            changes,
            part,
        } = shown;
        let most = watch.screen.players_max;
        let encoding = Encoding::of(watch.screen.format, most.is_some());
        let mut plan = match part {
            Part::Tick => {
                let center = Chunk::from(position);
                let scene = stage.from(center, encoding);
                self.view.plan(center, changes.tick, scene)
            }
            Part::Extra => {
                let center = self.view.center()?;
                let scene = stage.from(center, encoding);
                self.view.plan_extra(changes.tick, scene)
            }
        };
        if let (Encoding::CompactWithoutPlayers, Part::Tick, Some(most)) = (encoding, part, most) {
            stage.gather(Chunk::from(position));
            let always = watch.focus.iter().filter_map(|id| replica.entity(id));
            let always: Vec<u32> = always.map(|entity| entity.number).collect();
            let players = |chunk| stage.players(chunk);
            let most = most.get().into();
            self.view
                .plan_near(&mut plan, changes, most, position, &always, players);
        }
        let flush = Flush {
            encoding,
            replica,
            changes,
        };
        self.view.complete(&mut plan, flush, &watch.focus);
        Some(plan)
    }

    /// Offers the update to the mailbox, if the plan is worth one.
    fn send(
        &mut self,
        mut plan: Plan,
        format: Format,
        mailbox: &Mailbox,
        received: Instant,
        flushed: &mut Flushed,
    ) {
        flushed.watchers += 1;
        if self.view.worth(&plan) {
            let pieces = plan.take_pieces();
            let update = Update {
                tick: plan.tick,
                body: encode::update(format, plan.tick, pieces, &plan.gone),
                traceparents: self.traceparents.clone(),
                received,
            };
            let bytes: usize = update.body.iter().map(Bytes::len).sum();
            if mailbox.offer(update) {
                self.view.took(plan);
                self.traceparents.clear();
                flushed.updates += 1;
                flushed.update_bytes += bytes as u64;
            } else {
                flushed.refused += 1;
            }
        }
        flushed.dirty += self.view.owed() as u64;
    }
}

/// Waits until `due`; for ever without one.
async fn until(due: Option<Due>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
