//! The states of a whole region between two owners. Pure: events in, the next step out.
//!
//! Always: the commit of the give is the move. Before the commit only the giver's word counts: the
//! region is its own. After the commit the region is the taker's, and only the taker's word counts.
//! Every step may be repeated, come late or be lost. A paused region moves in the same way, to
//! nobody.

use crate::steps;

/// Ticks for which an accepted move waits for players of the region to settle.
pub const READY_TICKS_MAX: u64 = 20;
/// Ticks for which a player does not change its owner again, except by a takeover.
pub const SETTLE_TICKS: u64 = 3;
/// Ticks for which the taker waits for the giver's word after the store named the taker as owner.
pub const WORD_TICKS: u64 = 2;
/// Ticks after which the taker forgets a promised region if it hears nothing of it.
pub const PROMISE_TICKS: u64 = 100;

/// The giver's side, from the first word to the commit's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Giving {
    attempt: u64,
    at: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// The giver has asked the taker, and still plays the region.
    Asking,
    /// The taker has room, or there is none. The giver plays the region until nothing in it is half done.
    Ready { since: u64 },
    /// The region is out, and the give is on its way to the store.
    Committing,
}

/// An event that the giver hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivingEvent {
    /// The taker's answer to an attempt; false also if there was none in time.
    Answer {
        /// Number of the attempt.
        attempt: u64,
        /// The taker takes the region.
        accepted: bool,
        /// The tick.
        now: u64,
    },
    /// The edge after a tick.
    Edge {
        /// The tick.
        now: u64,
        /// Something keeps the region here for the moment.
        blocked: bool,
        /// By the directory, the taker's run lives and takes regions; or the region is paused, if it
        /// goes to nobody.
        alive: bool,
    },
    /// The store says that the taker cannot have the region, or that the region is not paused any
    /// more, and has changed nothing.
    Stale,
    /// The store has the region at the taker, or as nobody's.
    Given,
}

/// A step that the giver takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivingStep {
    /// Nothing.
    Stay,
    /// Puts the give into the next batch and takes the region out.
    Take,
    /// Takes the region back in; the move is over.
    Back,
    /// The move is over before it began.
    GiveUp,
    /// Tells the taker, if there is one, and all gateways; the move is over.
    Complete,
}

impl Giving {
    /// Returns the state in which the giver has asked the taker for the first time.
    pub fn new(attempt: u64) -> Self {
        Self {
            attempt,
            at: Step::Asking,
        }
    }

    /// Returns the state of a region that goes to nobody from tick `now` on, because it is paused: no
    /// taker has to agree.
    pub fn to_nobody(now: u64) -> Self {
        Self {
            attempt: 0,
            at: Step::Ready { since: now },
        }
    }

    /// Returns the next step.
    pub fn on(&mut self, event: GivingEvent) -> GivingStep {
        let asked = steps::Step::of("giving", &self.at, &event);
        let step = self.step(event);
        asked.takes(&step);
        step
    }

    fn step(&mut self, event: GivingEvent) -> GivingStep {
        match (self.at, event) {
            (
                Step::Asking,
                GivingEvent::Answer {
                    attempt,
                    accepted,
                    now,
                },
            ) if attempt == self.attempt => {
                if !accepted {
                    return GivingStep::GiveUp;
                }
                self.at = Step::Ready { since: now };
                GivingStep::Stay
            }
            (
                Step::Ready { since },
                GivingEvent::Edge {
                    now,
                    blocked,
                    alive,
                },
            ) => {
                if !alive || (blocked && now.saturating_sub(since) > READY_TICKS_MAX) {
                    return GivingStep::GiveUp;
                }
                if blocked {
                    return GivingStep::Stay;
                }
                self.at = Step::Committing;
                GivingStep::Take
            }
            (Step::Committing, GivingEvent::Stale) => GivingStep::Back,
            (Step::Committing, GivingEvent::Given) => GivingStep::Complete,
            // The event comes too late, or too early.
            (
                _,
                GivingEvent::Answer { .. }
                | GivingEvent::Edge { .. }
                | GivingEvent::Stale
                | GivingEvent::Given,
            ) => GivingStep::Stay,
        }
    }

    /// Returns whether the giver lets nobody enter the region or begin to leave it any more.
    pub fn closing(&self) -> bool {
        !matches!(self.at, Step::Asking)
    }

    /// Returns whether the region is out, so that only the store's answer brings it back.
    pub fn committing(&self) -> bool {
        self.at == Step::Committing
    }
}

/// The state on which the giver decides whether its region may go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// A batch is in flight: the give would wait behind it.
    pub flying: bool,
    /// The tick from which on the run plays the region.
    pub held_since: u64,
    /// Somebody of the region is on its way in or out, by a handover or from the store.
    pub passing: bool,
    /// The last tick in which somebody came into the region by a handover; 0 for none.
    pub came: u64,
}

/// Returns whether the region must wait for the next edge.
pub fn blocked(now: u64, of: Settled) -> bool {
    let fresh = |since: u64| since > 0 && now < since + SETTLE_TICKS;
    of.flying || of.passing || fresh(of.held_since) || fresh(of.came)
}

/// The taker's side: a region that a giver promised, and that this run does not play yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Taking {
    /// The epoch that the region will have.
    pub epoch: u64,
    /// Run that gives the region.
    pub from_run_id: u64,
    since: u64,
    named_since: Option<u64>,
}

/// The directory's word on a promised region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The tick.
    pub now: u64,
    /// The epoch that the directory has.
    pub epoch: u64,
    /// By the directory, this run owns the region.
    pub mine: bool,
    /// The giver can still write to the store, and still announce its commit.
    pub giver_alive: bool,
}

/// An event that the taker hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakingEvent {
    /// A tick's edge, or a new directory.
    Seen(Seen),
    /// The giver says that the commit is done.
    Complete {
        /// Epoch at which the region is this run's.
        epoch: u64,
    },
}

/// A step that the taker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakingStep {
    /// Waits for the giver's word.
    Wait,
    /// Stops waiting: loads the region from the store, as the giver committed it.
    Load,
    /// Plays the region as the giver left it.
    Join,
    /// Drops the promise, because nobody can keep it any more.
    Drop,
}

impl Taking {
    /// Returns the state of a region that `from_run_id` promised after tick `now`, for `epoch`.
    pub fn new(epoch: u64, from_run_id: u64, now: u64) -> Self {
        Self {
            epoch,
            from_run_id,
            since: now,
            named_since: None,
        }
    }

    /// Returns the next step.
    pub fn on(&mut self, event: TakingEvent) -> TakingStep {
        let asked = steps::Step::of("taking", &self.named_since, &event);
        let step = self.step(event);
        asked.takes(&step);
        step
    }

    fn step(&mut self, event: TakingEvent) -> TakingStep {
        match event {
            TakingEvent::Complete { epoch } if epoch == self.epoch => TakingStep::Join,
            TakingEvent::Complete { .. } => TakingStep::Wait,
            TakingEvent::Seen(seen) => self.seen(seen),
        }
    }

    fn seen(&mut self, seen: Seen) -> TakingStep {
        if seen.epoch > self.epoch || (seen.epoch == self.epoch && !seen.mine) {
            return TakingStep::Drop;
        }
        if seen.epoch < self.epoch {
            let old = seen.now.saturating_sub(self.since) > PROMISE_TICKS;
            return if old {
                TakingStep::Drop
            } else {
                TakingStep::Wait
            };
        }
        let named_since = *self.named_since.get_or_insert(seen.now);
        if !seen.giver_alive || seen.now.saturating_sub(named_since) >= WORD_TICKS {
            TakingStep::Load
        } else {
            TakingStep::Wait
        }
    }
}

/// The state on which the taker decides whether it takes a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The epoch at which the giver owns it.
    pub epoch: u64,
    /// Both runs play the same content.
    pub same_content: bool,
    /// This run gives everything away.
    pub draining: bool,
    /// This run has room for the region's players.
    pub room: bool,
    /// Highest epoch of the region that the taker knows.
    pub seen: u64,
    /// The taker plays the region, or is loading it.
    pub here: bool,
}

/// Returns `Ok` if the taker takes a region, else the code of its refusal.
pub fn prepare(asked: Asked) -> Result<(), &'static str> {
    if !asked.same_content {
        Err("content")
    } else if asked.draining {
        Err("draining")
    } else if asked.here || asked.seen > asked.epoch {
        Err("stale")
    } else if !asked.room {
        Err("full")
    } else {
        Ok(())
    }
}

#[cfg(test)]
#[path = "region_tests.rs"]
mod tests;
