//! The states of a player between two owners. Pure: events in, the next step out.
//!
//! Always: the commit of the transfer row is the handover. Before the commit only the source's word
//! counts: the player is its own. After the commit the player is the target's, and only the
//! target's word counts. `h` is the ownership sequence after the handover. Every step may be
//! repeated, come late or be lost.

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

/// Run to which the player's tile leads now, by the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// The region is this run's own.
    Local,
    /// Another run owns it.
    Remote(Target),
    /// Nobody owns it, or nobody knows.
    Nowhere,
}

/// The source's side, from the crossing to the commit. The source holds the player in all states.
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
    /// The target's answer to an attempt; false also if there was none in time.
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
        /// Run that the source asks.
        to: Target,
    },
    /// Puts the transfer into the next batch.
    Transfer(Target),
    /// The region is the run's own by now, so that no handover is needed.
    Settle(Region),
}

impl Source {
    /// Returns the state of a player that stands past the border, in `region`, after `attempts`
    /// attempts to hand it over. No number is used twice. Otherwise an answer to a cancelled
    /// attempt could pass for the answer to a later one.
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
            // The event comes too late, or too early.
            (_, SourceEvent::Edge(_) | SourceEvent::Answer { .. } | SourceEvent::Stale) => {
                SourceStep::Stay
            }
        }
    }

    /// Returns whether the player may still come to this run without another announcement. Also
    /// true while the source waits for the next edge, at which it offers the player to some run.
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
    /// The target's answer; `None` if there was none in time.
    Answer(Option<bool>),
    /// A tick's edge.
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
    /// Repeats its word to the target.
    Complete,
    /// The target has the player: late inputs may follow.
    Forward,
    /// Forgets the player: the source no longer answers those who still send their inputs here.
    Forget,
}

/// Ticks for which the source forwards late inputs.
pub const FORWARD_TICKS: u64 = 20;
/// Ticks for which the source remembers at least that a player went. No answer of the store takes
/// as long, so that an older answer cannot bring the player back.
pub const MEMORY_TICKS: u64 = 5;

impl Departed {
    /// Returns the state after the store acknowledged the commit of tick `now`, with the first word
    /// to the target under way.
    pub fn new(now: u64) -> Self {
        Self {
            at: After::Completing,
            since: now,
        }
    }

    /// Returns whether the source may forward inputs now.
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

/// Ticks after which the target asks the store about a promised player.
pub const ASK_TICKS: u64 = 2;
/// Ticks after which the target also asks the source whether the promise still holds.
pub const ASK_SOURCE_TICKS: u64 = 10;

/// The target's side: a player that a source announced, and whose commit the target does not know
/// of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pending {
    /// The ownership sequence that the player will have.
    pub h: u64,
    /// The region to which it will belong.
    region: Region,
    /// Run that gives the player.
    pub from_run_id: u64,
    /// Number among all promises to this run; a repeated promise gets another number.
    pub number: u32,
    promised: u64,
    since: u64,
    asking: bool,
    source: Intent,
}

/// The source's word on its promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Intent {
    /// The promise stands.
    Holds,
    /// The source gave it up while this run was asking the store: the next answer may be older.
    Unsettled,
    /// The source gave it up: the store's next answer is the last word.
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
    /// The source was already fenced when the store answered, so that it can commit nothing more.
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
    /// The store's answer; `None` if there was none.
    Owner(Option<Owned>),
    /// The source no longer means this promise, and would announce the player again before a
    /// handover.
    GivenUp {
        /// Number of the promise.
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
    /// Asks the store, and asks the source whether it still means to hand the player over.
    AskBoth,
    /// Plays the player from the next tick.
    Join,
    /// `h` cannot happen any more, or happened to somebody else.
    Drop,
}

impl Pending {
    /// Returns the state of a player that `from_run_id` announced after tick `now`, as promise
    /// `number`.
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
                if now.saturating_sub(self.promised) >= ASK_SOURCE_TICKS {
                    PendingStep::AskBoth
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
        // A takeover or a region's move raises the sequence too. Only the sequence together with
        // the region proves this handover.
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

/// The state on which the target decides whether it takes a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Ownership sequence after the handover.
    pub h: u64,
    /// The content of both runs is the same.
    pub same_content: bool,
    /// The target plays the region, at the epoch that the source believes.
    pub owns: bool,
    /// This run takes more players.
    pub room: bool,
    /// The gateway that plays the player, if there is one, has a link to this run.
    pub linked: bool,
    /// This run gives everything away.
    pub draining: bool,
    /// The region is about to go to another run.
    pub closing: bool,
    /// The sequence of the player, if the target plays it.
    pub playing: Option<u64>,
    /// The sequence for which the player is announced already.
    pub pending: Option<u64>,
    /// The source has offered the player here once more since.
    pub overtaken: bool,
    /// The sequence with which the player went from here to another run, not long ago.
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

/// A character that another run wants to bring to somebody or something that the target has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulled<'a> {
    /// Character that acts.
    pub actor: &'a str,
    /// Character or thing on which the actor acts.
    pub target: &'a str,
    /// `target` is here.
    pub here: bool,
    /// `target` is on its way to another run, or out of the world.
    pub leaving: bool,
    /// `target` waits to be brought to the actor, and is not on its way yet.
    pub pulls_back: bool,
}

/// Returns `Ok` if the actor may come, else the code of the refusal. True: the target stops asking
/// to come to the actor, because of two characters that pull each other the lower id wins.
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
