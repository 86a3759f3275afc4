//! The states of a player between two owners. Pure: events in, the next step out.
//!
//! Always: the commit of the transfer row is the handover. Before it the player is the source's,
//! after it the target's, and nobody else's word counts. `h` is the ownership sequence after the
//! handover; every step may be repeated, come late or be lost.

use world::Region;

use crate::steps;

/// The run that is to own the player.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The run.
    pub run_id: u64,
    /// Region to which the player is to belong.
    pub region: Region,
    /// Epoch at which the source believes that the target owns the region.
    pub epoch: u64,
    /// host:port of the run.
    pub address: String,
}

/// Where the way leads now, by the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// The region is this run's own.
    Local,
    /// Another run owns it.
    Remote(Target),
    /// Nobody owns it, or nobody knows.
    Nowhere,
}

/// The source's side, from the crossing to the commit. The player is held in all states.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    region: Region,
    attempt: u32,
    at: Step,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    /// Tries at the next edge.
    Waiting,
    /// Has asked the target.
    Preparing(Target),
    /// The transfer row is on its way to the store.
    Committing(Target),
}

/// An event that the source hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceEvent {
    /// A tick's edge.
    Edge(Way),
    /// The target's answer to an attempt; false too when there was none in time.
    Answer {
        /// Number of the attempt.
        attempt: u32,
        /// The target takes the player.
        accepted: bool,
    },
    /// The store says that the target does not own the region at that epoch.
    Stale,
}

/// A step that the source takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceStep {
    /// Nothing.
    Stay,
    /// Asks the target; the answer names the attempt.
    Prepare {
        /// Number of the attempt.
        attempt: u32,
        /// The run that is asked.
        to: Target,
    },
    /// Puts the transfer into the next batch.
    Transfer(Target),
    /// The region is the run's own by now: no handover is needed.
    Settle(Region),
}

impl Source {
    /// A player that stands past the border, in `region`, after so many attempts to hand it over.
    /// No number is used twice, or an answer to one that was called off could pass for another's.
    pub fn new(region: Region, attempts: u32) -> Self {
        Self {
            region,
            attempt: attempts,
            at: Step::Waiting,
        }
    }

    /// Returns the number of the last attempt.
    pub fn attempts(&self) -> u32 {
        self.attempt
    }

    /// Returns the next step.
    pub fn on(&mut self, event: SourceEvent) -> SourceStep {
        let asked = steps::Step::of("source", &self.at, &event);
        let step = self.step(event);
        asked.takes(&step);
        step
    }

    fn step(&mut self, event: SourceEvent) -> SourceStep {
        match (&self.at, event) {
            (Step::Waiting, SourceEvent::Edge(Way::Local)) => SourceStep::Settle(self.region),
            (Step::Waiting, SourceEvent::Edge(Way::Remote(to))) => {
                self.attempt += 1;
                self.at = Step::Preparing(to.clone());
                SourceStep::Prepare {
                    attempt: self.attempt,
                    to,
                }
            }
            (Step::Preparing(to), SourceEvent::Answer { attempt, accepted })
                if attempt == self.attempt =>
            {
                let to = to.clone();
                if accepted {
                    self.at = Step::Committing(to.clone());
                    SourceStep::Transfer(to)
                } else {
                    self.at = Step::Waiting;
                    SourceStep::Stay
                }
            }
            (Step::Committing(_), SourceEvent::Stale) => {
                self.at = Step::Waiting;
                SourceStep::Stay
            }
            // It comes too late, or too early.
            (_, SourceEvent::Edge(_) | SourceEvent::Answer { .. } | SourceEvent::Stale) => {
                SourceStep::Stay
            }
        }
    }

    /// Returns whether the player may come to this run without being announced to it once more; or
    /// will be offered to somebody in a moment.
    pub fn may_go_to(&self, run_id: u64) -> bool {
        match &self.at {
            Step::Waiting => true,
            Step::Preparing(to) | Step::Committing(to) => to.run_id == run_id,
        }
    }

    /// Returns the target if the transfer row may be on its way: only the store can stop it now.
    pub fn committing(&self) -> Option<&Target> {
        match &self.at {
            Step::Committing(to) => Some(to),
            Step::Waiting | Step::Preparing(_) => None,
        }
    }
}

/// The source's side after the commit: the target must hear of it, and late inputs follow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Departed {
    at: After,
    since: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum After {
    Completing,
    Failed,
    Open,
}

/// An event that the source hears after the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepartedEvent {
    /// The target's answer; `None`: there was none in time.
    Answer(Option<bool>),
    /// A tick's edge; whether the target's run is still alive.
    Edge {
        /// The tick.
        now: u64,
        /// The target's run lives, by the directory.
        alive: bool,
    },
}

/// A step that the source takes after the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepartedStep {
    /// Nothing.
    Wait,
    /// Says it again.
    Complete,
    /// The target has the player: late inputs may follow.
    Forward,
    /// Nothing more: the source tells nothing any more to those who still send here.
    Forget,
}

/// Ticks for which late inputs are forwarded.
pub const FORWARD_TICKS: u64 = 20;
/// Ticks for which it is remembered at least that somebody went, longer than any answer of the
/// store takes: one from before must not bring the player back.
pub const MEMORY_TICKS: u64 = 5;

impl Departed {
    /// The commit of tick `now` was acknowledged; the first word to the target is under way.
    pub fn new(now: u64) -> Self {
        Self {
            at: After::Completing,
            since: now,
        }
    }

    /// Returns whether inputs may be forwarded now.
    pub fn open(&self) -> bool {
        self.at == After::Open
    }

    /// Returns the next step.
    pub fn on(&mut self, event: DepartedEvent) -> DepartedStep {
        let asked = steps::Step::of("departed", &self.at, &event);
        let step = self.step(event);
        asked.takes(&step);
        step
    }

    fn step(&mut self, event: DepartedEvent) -> DepartedStep {
        match (self.at, event) {
            (After::Completing, DepartedEvent::Answer(Some(true))) => {
                self.at = After::Open;
                DepartedStep::Forward
            }
            (After::Completing, DepartedEvent::Answer(_)) => {
                self.at = After::Failed;
                DepartedStep::Wait
            }
            (_, DepartedEvent::Edge { now, alive }) => {
                let ticks = now.saturating_sub(self.since);
                if (!alive && ticks > MEMORY_TICKS) || ticks > FORWARD_TICKS {
                    return DepartedStep::Forget;
                }
                if alive && self.at == After::Failed {
                    self.at = After::Completing;
                    return DepartedStep::Complete;
                }
                DepartedStep::Wait
            }
            (After::Failed | After::Open, DepartedEvent::Answer(_)) => DepartedStep::Wait,
        }
    }
}

/// Ticks after which the target asks the store about a player that it was promised.
pub const ASK_TICKS: u64 = 2;
/// Ticks after which it also asks the source whether it still means it.
pub const DOUBT_TICKS: u64 = 10;

/// The target's side: a player that was announced and is not committed yet, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pending {
    /// The ownership sequence that the player will have.
    pub h: u64,
    /// The region to which it will belong.
    region: Region,
    /// Run that gives the player.
    pub from_run_id: u64,
    /// Number among all promises to this run; a repetition is another one.
    pub number: u32,
    promised: u64,
    since: u64,
    asking: bool,
    source: Intent,
}

/// The source's word on its promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Intent {
    /// Nothing else.
    Holds,
    /// Given up; this run asked the store before that, so that its next answer says nothing of it.
    Unsettled,
    /// Given up: the store's next answer is the last word.
    GivenUp,
}

/// The store's word on a player's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned {
    /// Ownership sequence of the player.
    pub sequence: u64,
    /// Region to which the player belongs.
    pub region: Option<Region>,
    /// This run owns the player.
    pub mine: bool,
    /// The player is in the world.
    pub online: bool,
    /// The source was already fenced when the store was asked: it can commit nothing any more.
    pub source_dead: bool,
}

/// An event that the target hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingEvent {
    /// A tick's edge.
    Edge {
        /// The tick.
        now: u64,
    },
    /// The source says that the commit is done.
    Complete {
        /// Ownership sequence after the handover.
        h: u64,
    },
    /// The store's answer; `None`: there was none.
    Owner(Option<Owned>),
    /// The source is not about the handover of this promise, and would announce it anew first.
    GivenUp {
        /// Number of the promise in doubt.
        number: u32,
    },
}

/// A step that the target takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingStep {
    /// Nothing.
    Wait,
    /// Asks the store who owns the player.
    Ask,
    /// Asks the source too whether it still means to hand the player over.
    Doubt,
    /// Plays the player from the next tick.
    Join,
    /// `h` cannot happen any more, or happened to somebody else.
    Drop,
}

impl Pending {
    /// Announced by `from_run_id` after tick `now`: promise `number`.
    pub fn new(h: u64, region: Region, from_run_id: u64, number: u32, now: u64) -> Self {
        Self {
            h,
            region,
            from_run_id,
            number,
            promised: now,
            since: now,
            asking: false,
            source: Intent::Holds,
        }
    }

    /// Returns the next step.
    pub fn on(&mut self, now: u64, event: PendingEvent) -> PendingStep {
        let asked = steps::Step::of("pending", &self.asking, &event);
        let step = self.step(now, event);
        asked.takes(&step);
        step
    }

    fn step(&mut self, now: u64, event: PendingEvent) -> PendingStep {
        match event {
            PendingEvent::Complete { h } if h == self.h => PendingStep::Join,
            PendingEvent::Complete { .. } => PendingStep::Wait,
            PendingEvent::Edge { now } => {
                if self.asking || now.saturating_sub(self.since) < ASK_TICKS {
                    return PendingStep::Wait;
                }
                self.asking = true;
                if now.saturating_sub(self.promised) >= DOUBT_TICKS {
                    PendingStep::Doubt
                } else {
                    PendingStep::Ask
                }
            }
            PendingEvent::GivenUp { number } => {
                if number == self.number && self.source == Intent::Holds {
                    self.source = if self.asking {
                        Intent::Unsettled
                    } else {
                        Intent::GivenUp
                    };
                }
                PendingStep::Wait
            }
            PendingEvent::Owner(owned) => {
                self.asking = false;
                self.since = now;
                let step = owned.map_or(PendingStep::Wait, |owned| self.settle(owned));
                if self.source == Intent::Unsettled {
                    self.source = Intent::GivenUp;
                }
                step
            }
        }
    }

    fn settle(&self, owned: Owned) -> PendingStep {
        // A takeover or a region's move raises the sequence too: only together with the region it
        // is this handover.
        let happened = owned.sequence == self.h && owned.region == Some(self.region);
        if happened && owned.mine && owned.online {
            return PendingStep::Join;
        }
        let over = owned.sequence >= self.h || !owned.online || owned.source_dead;
        if over || self.source == Intent::GivenUp {
            PendingStep::Drop
        } else {
            PendingStep::Wait
        }
    }
}

/// The facts by which the target decides whether it takes a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Ownership sequence after the handover.
    pub h: u64,
    /// Both runs play the same content.
    pub same_content: bool,
    /// The target plays the region, at the epoch that the source believes.
    pub owns: bool,
    /// This run takes more players.
    pub room: bool,
    /// Nobody plays the player, or it is linked with the gateway of whoever does.
    pub linked: bool,
    /// This run gives everything away.
    pub draining: bool,
    /// The region is about to go to another run.
    pub closing: bool,
    /// The sequence of the player, if the target plays it.
    pub playing: Option<u64>,
    /// The sequence for which it is announced already.
    pub pending: Option<u64>,
    /// The source has offered it here once more since.
    pub overtaken: bool,
    /// The sequence with which it went from here to somebody else, not long ago.
    pub gone: Option<u64>,
}

/// Returns `Ok` if the target takes the player, else the code of its refusal.
pub fn prepare(asked: Asked) -> Result<(), &'static str> {
    let known = asked.playing.max(asked.pending);
    // A promised place still holds. Otherwise the player would wait for the target to keep its
    // promise, and the region for the player to come.
    let promised = asked.pending == Some(asked.h);
    if !asked.same_content {
        Err("content")
    } else if asked.draining && !promised {
        Err("draining")
    } else if !asked.owns {
        Err("not_owner")
    } else if asked.playing.is_some()
        || asked.overtaken
        || known.is_some_and(|known| known > asked.h)
        || asked.gone.is_some_and(|gone| gone >= asked.h)
    {
        Err("stale")
    } else if !asked.linked {
        Err("no_link")
    } else if asked.closing && !promised {
        Err("busy")
    } else if !asked.room {
        Err("full")
    } else {
        Ok(())
    }
}

/// A character that is to be brought to somebody or something that is the target's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulled<'a> {
    /// Character that acts.
    pub actor: &'a str,
    /// Character or thing on which the actor acts.
    pub target: &'a str,
    /// `target` is here.
    pub here: bool,
    /// `target` is on its way to somewhere else, or out of the world.
    pub leaving: bool,
    /// `target` is itself to be brought to the actor, and not on its way yet.
    pub pulls_back: bool,
}

/// Returns `Ok` if the actor may come, else the code of the refusal. True: the target's own wish
/// to come to the actor ends, because the lower id of two that meet wins.
pub fn pull(pulled: Pulled<'_>) -> Result<bool, &'static str> {
    if !pulled.here || pulled.leaving {
        return Err("busy");
    }
    match pulled.pulls_back {
        true if pulled.actor < pulled.target => Ok(true),
        true => Err("busy"),
        false => Ok(false),
    }
}

#[cfg(test)]
#[path = "player_tests.rs"]
mod tests;
