//! One session as its fan-out task sees it: its place, its screen, and the part of the world that its
//! client has.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use proto::client::Format;
use view::{
    changes::Changes,
    encode::{self, Encoding},
    interest::{Flush, View},
    plan::Plan,
    replica::Replica,
    stage::Stage,
};
use world::{Chunk, Tile};

use super::measures::Flushed;
use crate::{
    mailbox::{Mailbox, Update},
    screen::Screen,
};

/// Maximum number of trace contexts that wait for a slow client.
const TRACEPARENTS_MAX: usize = 16;

/// Session that sees the world.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) session_id: Arc<str>,
    /// Number that differs when the client knows nothing yet.
    pub(crate) acquaintance: u64,
    /// Number that differs when the client may have lost the last messages.
    pub(crate) generation: u64,
    /// Whether it has no socket: the gateway sends nothing.
    pub(crate) paused: bool,
    pub(crate) screen: Screen,
    pub(crate) mailbox: Mailbox,
    pub(crate) position: Tile,
    /// Character at whose tile it stands, as soon as that character is in sight.
    pub(crate) follows: Option<Arc<str>>,
    /// Things that no update may lack: its own character, and those with whom that has to do.
    pub(crate) focus: Arc<[Arc<str>]>,
    pub(crate) traceparents: Vec<String>,
    /// Knowledge of its client that the former fan-out task passed on.
    pub(super) arrives: Option<Box<Watcher>>,
    /// The task that shows the session after this update.
    pub(super) goes_to: Option<usize>,
}

/// Part of the world's news to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A tick: all changes, and the chunks that sessions are owed.
    Tick,
    /// News between two ticks.
    Extra,
}

/// Knowledge of a fan-out task about one session's client.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    acquaintance: u64,
    generation: u64,
    view: View,
    /// When its client began to know nothing, until it has a whole picture.
    blank: Option<Instant>,
    traceparents: Vec<String>,
    /// Last flush of its task that included it.
    pub(super) flush: u64,
}

/// The news that sessions are shown.
pub(super) struct News<'a, 'b> {
    pub(super) stage: &'a mut Stage<'b>,
    pub(super) replica: &'a Replica,
    pub(super) changes: &'a Changes,
    pub(super) part: Part,
}

impl Watcher {
    /// Takes in what the session's part of the table says: a client that knows nothing yet or may
    /// have lost messages, and trace contexts.
    pub(super) fn meet(&mut self, watch: &mut Watch) {
        if let Some(arrives) = watch.arrives.take() {
            *self = *arrives;
        }
        if self.acquaintance != watch.acquaintance {
            *self = Self {
                acquaintance: watch.acquaintance,
                blank: Some(Instant::now()),
                ..Self::default()
            };
        } else if self.generation != watch.generation {
            self.view.mark_uncertain();
        }
        self.generation = watch.generation;
        if watch.paused {
            return;
        }
        let room = TRACEPARENTS_MAX.saturating_sub(self.traceparents.len());
        let traceparents = std::mem::take(&mut watch.traceparents);
        self.traceparents
            .extend(traceparents.into_iter().take(room));
    }

    /// Prepares it for another task, which has another replica.
    pub(super) fn change_task(&mut self) {
        self.view.change_replica();
    }

    /// Returns the plan for the session's update; `None`: it has seen nothing yet, and sees all of
    /// it with the next tick.
    pub(super) fn plan(
        &mut self,
        watch: &Watch,
        position: Tile,
        news: News<'_, '_>,
    ) -> Option<Plan> {
        let News {
            stage,
            replica,
            changes,
            part,
        } = news;
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
            let always = watch.focus.iter().filter_map(|id| replica.entity(id));
            let always: Vec<u32> = always.map(|entity| entity.number).collect();
            let crowd = stage.crowd(Chunk::from(position));
            let most = most.get().into();
            self.view
                .plan_near(&mut plan, changes, most, position, &always, crowd);
        }
        let flush = Flush {
            encoding,
            replica,
            changes,
        };
        self.view.complete(&mut plan, flush, &watch.focus);
        Some(plan)
    }

    /// Offers the update to the mailbox, if the plan is worth one. Wakes the writer for messages of
    /// the tick even if it is not.
    pub(super) fn send(
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
                if self.view.owed() == 0 && self.view.unnamed() == 0 {
                    let blank = self.blank.take();
                    flushed.pictures.extend(blank.map(|since| since.elapsed()));
                }
                self.traceparents.clear();
                flushed.updates += 1;
                flushed.update_bytes += bytes as u64;
            } else {
                flushed.refused += 1;
                mailbox.wake_for_laid();
            }
        } else {
            mailbox.wake_for_laid();
        }
        flushed.dirty += self.view.owed() as u64;
    }
}
