//! A run of the model: the real decisions, and between them what `run/` does with them.
//!
//! The moment of an event stands for time. Everything begins at 0, so that a later edge is a moment
//! at which the timers of that length are up.

mod hearing;
mod pausing;

use std::collections::{BTreeMap, BTreeSet};

use world::Region;

use super::{
    kinds::{Kind, note},
    store::{At, Flight, NOBODY, Outcome, RunId, Store},
};
use handover::{
    decide::{Act, Known, Owner, decide},
    player::{
        Departed, DepartedEvent, DepartedStep, Pending, PendingEvent, PendingStep, Source,
        SourceEvent, SourceStep, Target, Way,
    },
    region::{
        self, Giving, GivingEvent, GivingStep, Seen, Settled, Taking, TakingEvent, TakingStep,
    },
};

/// Messages on their way to a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[rustfmt::skip]
pub(super) enum Word {
    Prepare { from: RunId, h: u64, region: At, epoch: u64, attempt: u32 },
    Prepared { attempt: u32, accepted: bool },
    Complete { from: RunId, h: u64 },
    Completed { h: u64, known: bool },
    PrepareRegion { from: RunId, region: At, epoch: u64, attempt: u64 },
    RegionPrepared { region: At, attempt: u64, accepted: bool },
    CompleteRegion { from: RunId, region: At, epoch: u64, slot: Option<u64> },
    RegionCompleted { region: At, epoch: u64, known: bool },
    Owner { h: u64, region: At, sequence: u64, mine: bool, source_dead: bool },
    Loaded { region: At, epoch: u64, player: Option<u64> },
    Character { region: At, sequence: u64 },
    Answered { number: u64, outcome: Outcome },
    AskSource { from: RunId, h: u64, number: u32 },
    Kept { number: u32, under_way: bool },
}

/// Acts of a run that others notice.
pub(super) enum Out {
    Say(RunId, Word),
    /// Asks the store whose the player is.
    AskOwner {
        h: u64,
        source: RunId,
    },
    Load {
        region: At,
        epoch: u64,
    },
    Fetch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Joining,
    Playing,
    Moving,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PlayerSlot {
    pub(super) region: At,
    /// Region that the store has for the player.
    stored: At,
    pub(super) sequence: u64,
    pub(super) stage: Stage,
    pub(super) source: Option<Source>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Move {
    state: Giving,
    to: RunId,
    epoch: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Given {
    state: Departed,
    to: RunId,
    epoch: u64,
    slot: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Gone {
    state: Departed,
    h: u64,
    to: RunId,
    /// Its region's word tells of it.
    with_region: bool,
}

/// Directory that a run last heard from the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Directory {
    owners: [(RunId, u64); 2],
    paused: [bool; 2],
    /// Paused regions of which the store has said that they are resumed.
    resumed: [bool; 2],
    fenced: Vec<RunId>,
}

impl Directory {
    pub(super) fn of(store: &Store) -> Directory {
        Directory {
            owners: store.owners,
            paused: store.paused,
            resumed: [false; 2],
            fenced: store.fenced.clone(),
        }
    }

    fn alive(&self, run: u64) -> bool {
        !self.fenced.contains(&(run as RunId))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Zone {
    pub(super) id: RunId,
    pub(super) up: bool,
    pub(super) directory: Directory,
    pub(super) held: [u64; 2],
    seen: [u64; 2],
    giving: [Option<Move>; 2],
    given: [Option<Given>; 2],
    taking: [Option<Taking>; 2],
    loading: [u64; 2],
    /// Comes in at the next edge as its giver left it.
    coming: [u64; 2],
    pub(super) slot: Option<PlayerSlot>,
    announced: Option<(Pending, At)>,
    departed: Option<Gone>,
    /// Sequence since which the player is nobody's, because its region was paused here.
    rests: Option<u64>,
    pub(super) flight: Option<Flight>,
    batches: u64,
    transfer: Option<(At, u64)>,
    gives: Vec<(At, u64, RunId)>,
    moves: u64,
    /// The highest number of an attempt to hand the player over.
    pub(super) offers: u32,
    /// Promises that it got.
    promises: u32,
    /// The store refused a batch of this run.
    pub(super) refused: bool,
}

fn place(region: At) -> Region {
    Region {
        x: i32::from(region),
        z: 0,
    }
}

fn at(region: Region) -> At {
    region.x as At
}

fn map(of: [u64; 2]) -> BTreeMap<Region, u64> {
    let known = (0..2).filter(|r| of[*r as usize] > 0);
    known.map(|r| (place(r), of[r as usize])).collect()
}

impl Zone {
    pub(super) fn new(id: RunId, store: &Store) -> Zone {
        let mut held = [0; 2];
        for (region, (run, epoch)) in store.owners.iter().enumerate() {
            if *run == id {
                held[region] = *epoch;
            }
        }
        let slot = (store.owner() == id).then_some(PlayerSlot {
            region: 0,
            stored: 0,
            sequence: 1,
            stage: Stage::Playing,
            source: None,
        });
        Zone {
            id,
            up: true,
            directory: Directory::of(store),
            held,
            seen: [0; 2],
            giving: [None, None],
            given: [None, None],
            taking: [None, None],
            loading: [0; 2],
            coming: [0; 2],
            slot,
            announced: None,
            departed: None,
            rests: None,
            flight: None,
            batches: 0,
            transfer: None,
            gives: Vec::new(),
            moves: 0,
            offers: 0,
            promises: 0,
            refused: false,
        }
    }

    /// Ends the process, with all that it knew.
    pub(super) fn die(&mut self, store: &Store) {
        let refused = self.refused;
        let none = Store::new(0, [(0, 0); 2]);
        *self = Zone::new(self.id, &none);
        self.slot = None;
        self.directory = Directory::of(store);
        self.directory.owners = [(0, 0); 2];
        self.directory.paused = [false; 2];
        self.directory.resumed = [false; 2];
        self.directory.fenced = Vec::new();
        self.up = false;
        self.refused = refused;
    }

    /// Returns whether it begins nothing of its own and waits for nothing.
    pub(super) fn calm(&self) -> bool {
        let going = self.giving.iter().any(Option::is_some) || self.flight.is_some();
        let going = going || self.announced.is_some();
        let slot = self.slot.as_ref();
        !going && slot.is_none_or(|s| s.stage == Stage::Playing && s.source.is_none())
    }

    /// Returns whether the player has nothing to do with the run, as far as it knows.
    pub(super) fn knows_nobody(&self) -> bool {
        self.slot.is_none() && self.announced.is_none() && self.departed.is_none()
    }

    pub(super) fn can_cross(&self) -> bool {
        let free = |slot: &PlayerSlot| {
            let here = self.held[slot.region as usize] > 0;
            here && slot.stage == Stage::Playing && slot.source.is_none()
        };
        self.slot.as_ref().is_some_and(free)
    }

    /// Lets the player walk over the border.
    pub(super) fn cross(&mut self) {
        if let Some(slot) = &mut self.slot {
            let to = 1 - slot.region;
            if self.held[to as usize] > 0 {
                slot.region = to;
            } else {
                slot.source = Some(Source::new(place(to), self.offers));
            }
        }
    }

    /// Returns whether the player is about to go and the store does not know it yet.
    pub(super) fn can_call_off(&self) -> bool {
        let source = self.slot.as_ref().and_then(|slot| slot.source.as_ref());
        source.is_some_and(|source| source.committing().is_none())
    }

    /// Keeps the player after all, because the thing to which it was to go is gone.
    pub(super) fn call_off(&mut self) {
        if let Some(slot) = &mut self.slot {
            slot.source = None;
        }
    }

    pub(super) fn can_give(&self, region: At, to: RunId) -> bool {
        let alive = self.directory.alive(u64::from(to));
        self.held[region as usize] > 0 && self.giving[region as usize].is_none() && alive
    }

    pub(super) fn give(&mut self, region: At, to: RunId, out: &mut Vec<Out>) {
        self.moves += 1;
        let epoch = self.held[region as usize];
        self.giving[region as usize] = Some(Move {
            state: Giving::new(self.moves),
            to,
            epoch,
        });
        let word = Word::PrepareRegion {
            from: self.id,
            region,
            epoch,
            attempt: self.moves,
        };
        out.push(Out::Say(to, word));
    }

    /// Ends a tick.
    pub(super) fn edge(&mut self, now: u64, out: &mut Vec<Out>) {
        self.reconcile(now, out);
        for region in 0..2u8 {
            let epoch = std::mem::take(&mut self.coming[region as usize]);
            if epoch > 0 {
                self.holds(region, epoch);
            }
        }
        if let Some(slot) = &mut self.slot
            && slot.stage == Stage::Joining
        {
            if self.held[slot.region as usize] > 0 {
                slot.stage = Stage::Playing;
            } else {
                self.slot = None;
            }
        }
        self.source_edge(out);
        self.pending_edge(now, out);
        self.departed_edge(now, out);
        self.given_edge(now, out);
        self.giving_edge(now);
        self.cut();
    }

    fn source_edge(&mut self, out: &mut Vec<Out>) {
        let Some(slot) = &mut self.slot else {
            return;
        };
        let closing = self.giving[slot.region as usize].as_ref();
        if closing.is_some_and(|going| going.state.closing()) {
            return;
        }
        let to = 1 - slot.region;
        let (run, epoch) = self.directory.owners[to as usize];
        let way = if self.held[to as usize] > 0 {
            Way::Local
        } else if run == NOBODY || run == self.id || !self.directory.alive(u64::from(run)) {
            Way::Nowhere
        } else {
            Way::Remote(Target {
                run_id: u64::from(run),
                region: place(to),
                epoch,
                address: String::new(),
            })
        };
        let h = slot.sequence + 1;
        let rests = run == NOBODY && self.directory.paused[to as usize];
        slot.source
            .take_if(|source| rests && source.committing().is_none());
        let Some(source) = &mut slot.source else {
            return;
        };
        match source.on(SourceEvent::Edge(way)) {
            SourceStep::Prepare { attempt, to } => {
                self.offers = self.offers.max(attempt);
                let word = Word::Prepare {
                    from: self.id,
                    h,
                    region: at(to.region),
                    epoch: to.epoch,
                    attempt,
                };
                out.push(Out::Say(to.run_id as RunId, word));
            }
            SourceStep::Settle(region) => {
                note(Kind::SettledLocally);
                slot.region = at(region);
                slot.source = None;
            }
            SourceStep::Stay | SourceStep::Transfer(_) => {}
        }
    }

    fn pending_edge(&mut self, now: u64, out: &mut Vec<Out>) {
        let Some((pending, _)) = &mut self.announced else {
            return;
        };
        let step = pending.on(now, PendingEvent::Edge { now });
        let (h, source) = (pending.h, pending.from_run_id as RunId);
        if step == PendingStep::AskBoth {
            let (from, number) = (self.id, pending.number);
            out.push(Out::Say(source, Word::AskSource { from, h, number }));
        }
        if matches!(step, PendingStep::Ask | PendingStep::AskBoth) {
            out.push(Out::AskOwner { h, source });
        }
    }

    fn departed_edge(&mut self, now: u64, out: &mut Vec<Out>) {
        let Some(gone) = &mut self.departed else {
            return;
        };
        let alive = self.directory.alive(u64::from(gone.to));
        match gone.state.on(DepartedEvent::Edge { now, alive }) {
            DepartedStep::Forget => {
                note(Kind::Forgotten);
                self.departed = None;
            }
            DepartedStep::Complete if gone.with_region => {}
            DepartedStep::Complete => {
                let word = Word::Complete {
                    from: self.id,
                    h: gone.h,
                };
                out.push(Out::Say(gone.to, word));
            }
            DepartedStep::Wait | DepartedStep::Forward => {}
        }
    }

    fn given_edge(&mut self, now: u64, out: &mut Vec<Out>) {
        for region in 0..2u8 {
            let Some(given) = &mut self.given[region as usize] else {
                continue;
            };
            let alive = self.directory.alive(u64::from(given.to));
            match given.state.on(DepartedEvent::Edge { now, alive }) {
                DepartedStep::Forget => self.given[region as usize] = None,
                DepartedStep::Complete => {
                    let word = Word::CompleteRegion {
                        from: self.id,
                        region,
                        epoch: given.epoch,
                        slot: given.slot,
                    };
                    out.push(Out::Say(given.to, word));
                }
                DepartedStep::Wait | DepartedStep::Forward => {}
            }
        }
    }

    fn giving_edge(&mut self, now: u64) {
        for region in 0..2u8 {
            let passing = |slot: &PlayerSlot| {
                let committing = slot
                    .source
                    .as_ref()
                    .is_some_and(|s| s.committing().is_some());
                slot.region == region && (slot.stage == Stage::Joining || committing)
            };
            let announced = self.announced.as_ref().is_some_and(|(_, to)| *to == region);
            let settled = Settled {
                flying: self.flight.is_some(),
                held_since: 0,
                passing: announced || self.slot.as_ref().is_some_and(passing),
                came: 0,
            };
            let Some(going) = &mut self.giving[region as usize] else {
                continue;
            };
            let alive = match going.to {
                NOBODY => self.directory.paused[region as usize],
                run => self.directory.alive(u64::from(run)),
            };
            let event = GivingEvent::Edge {
                now,
                blocked: region::blocked(now, settled),
                alive,
            };
            match going.state.on(event) {
                GivingStep::Take => {
                    note(Kind::RegionOut);
                    self.gives.push((region, going.epoch, going.to));
                    self.held[region as usize] = 0;
                    if let Some(slot) = self.slot.as_mut().filter(|s| s.region == region) {
                        slot.stage = Stage::Moving;
                        slot.source = None;
                    }
                }
                GivingStep::GiveUp => {
                    note(match going.to {
                        NOBODY => Kind::PauseCalledOff,
                        _ => Kind::GivenUp,
                    });
                    self.giving[region as usize] = None;
                }
                GivingStep::Stay | GivingStep::Back | GivingStep::Complete => {}
            }
        }
        self.begin_pauses();
    }

    /// Cuts the next batch, with the row of a player that goes or has changed its region.
    fn cut(&mut self) {
        if self.flight.is_some() {
            return;
        }
        let slot = self.slot.as_mut().filter(|s| s.stage != Stage::Joining);
        let mut transfer = self.transfer.take();
        let gives = std::mem::take(&mut self.gives);
        let mut row = None;
        if let Some(slot) = slot {
            let goes = gives.iter().any(|(region, ..)| *region == slot.region);
            let moved = slot.region != slot.stored;
            if transfer.is_some() || goes || moved {
                row = Some((slot.stored, slot.sequence));
            }
            if moved && transfer.is_none() {
                transfer = Some((slot.region, 0));
                slot.stored = slot.region;
            }
        }
        if row.is_none() && gives.is_empty() {
            return;
        }
        self.batches += 1;
        self.flight = Some(Flight {
            number: self.batches,
            row,
            transfer,
            gives,
        });
    }

    fn holds(&mut self, region: At, epoch: u64) {
        let region = region as usize;
        self.taking[region] = None;
        self.held[region] = epoch;
        self.seen[region] = self.seen[region].max(epoch);
    }

    /// Returns the promises whose giver's word the run still awaits, without the lost ones.
    fn awaited(&mut self, now: u64) -> [u64; 2] {
        let (owners, me) = (self.directory.owners, self.id);
        let lost = |region: At, epoch: u64| {
            let (run, of) = owners[region as usize];
            epoch > 0 && (of > epoch || (of == epoch && run != me))
        };
        let mut awaited = [0; 2];
        for region in 0..2u8 {
            let i = region as usize;
            if lost(region, self.loading[i]) {
                self.loading[i] = 0;
            }
            if lost(region, self.coming[i]) {
                self.coming[i] = 0;
                self.drop_region(region);
            }
            let Some(taking) = &mut self.taking[i] else {
                continue;
            };
            let seen = Seen {
                now,
                epoch: owners[i].1,
                mine: owners[i].0 == me,
                giver_alive: self.directory.alive(taking.from_run_id),
            };
            let step = taking.on(TakingEvent::Seen(seen));
            if step == TakingStep::Wait {
                awaited[i] = taking.epoch;
            }
            if step == TakingStep::Drop || self.held[i] >= taking.epoch {
                self.taking[i] = None;
            }
        }
        awaited
    }

    /// Does the work of `run/regions.rs` with a directory, and at edges while a promise is open.
    pub(super) fn reconcile(&mut self, now: u64, out: &mut Vec<Out>) {
        let (owners, me) = (self.directory.owners, self.id);
        let awaited = self.awaited(now);
        let mut coming = self.loading;
        for (i, epoch) in coming.iter_mut().enumerate() {
            *epoch = (*epoch).max(self.coming[i]);
        }
        let owner = |(run_id, epoch): (RunId, u64)| Owner {
            run_id: u64::from(run_id),
            epoch,
        };
        let all = (0..2u8).map(|r| (place(r), owner(owners[r as usize])));
        let giving = (0..2u8).filter(|r| {
            let going = self.giving[*r as usize].as_ref();
            going.is_some_and(|going| going.state.committing())
        });
        let acts = decide(Known {
            me: u64::from(me),
            owners: &all.collect(),
            held: &map(self.held),
            coming: &map(coming),
            giving: &giving.map(place).collect::<BTreeSet<_>>(),
            awaited: &map(awaited),
            seen: &map(self.seen),
        });
        for act in acts {
            match act {
                Act::Drop(region) => self.drop_region(at(region)),
                Act::Load(region, epoch) => {
                    self.loading[at(region) as usize] = epoch;
                    out.push(Out::Load {
                        region: at(region),
                        epoch,
                    });
                }
            }
        }
    }

    fn drop_region(&mut self, region: At) {
        self.held[region as usize] = 0;
        self.giving[region as usize] = None;
        if self.slot.as_ref().is_some_and(|slot| slot.region == region) {
            self.slot = None;
            self.transfer = None;
        }
    }
}
