//! Messages that a run of the model hears, and its reactions.

use super::{Given, Gone, Out, PlayerSlot, RunId, Stage, Word, Zone, at, place};
use crate::{
    kinds::{Kind, note},
    store::{At, Flight, NOBODY, Outcome},
};
use handover::{
    player::{
        self, Departed, DepartedEvent, Owned, Pending, PendingEvent, PendingStep, Source,
        SourceEvent, SourceStep,
    },
    region::{self, GivingEvent, GivingStep, Taking, TakingEvent, TakingStep},
};

impl Zone {
    /// Hears a message that was on its way.
    pub(crate) fn hear(&mut self, word: Word, out: &mut Vec<Out>) {
        match word {
            Word::Prepare {
                from,
                h,
                region,
                epoch,
                attempt,
            } => {
                let accepted = self.prepare(from, h, region, epoch);
                out.push(Out::Say(from, Word::Prepared { attempt, accepted }));
            }
            Word::Prepared { attempt, accepted } => self.prepared(attempt, accepted),
            Word::Complete { from, h } => {
                let known = self.complete(h, out);
                out.push(Out::Say(from, Word::Completed { h, known }));
            }
            Word::Completed { h, known } => {
                if let Some(gone) = self.departed.as_mut().filter(|gone| gone.h == h) {
                    gone.state.on(DepartedEvent::Answer(Some(known)));
                }
            }
            Word::Owner {
                h,
                region,
                sequence,
                mine,
                source_dead,
            } => {
                let owned = Owned {
                    sequence,
                    region: Some(place(region)),
                    mine,
                    online: true,
                    source_dead,
                };
                self.owner(h, Some(owned), out);
            }
            Word::Character { region, sequence } => self.admit(region, sequence),
            Word::AskSource { from, h, number } => {
                let under_way = self.still_goes(from, h);
                out.push(Out::Say(from, Word::Kept { number, under_way }));
            }
            Word::Kept { number, under_way } => {
                if let Some((pending, _)) = self.announced.as_mut().filter(|_| !under_way) {
                    note(Kind::PromiseTakenBack);
                    pending.on(0, PendingEvent::GivenUp { number });
                }
            }
            Word::Answered { number, outcome } => self.answered(number, outcome, out),
            word => self.hear_region(word, out),
        }
    }

    #[allow(clippy::too_many_lines, reason = "one arm a word")]
    fn hear_region(&mut self, word: Word, out: &mut Vec<Out>) {
        match word {
            Word::PrepareRegion {
                from,
                region,
                epoch,
                attempt,
            } => {
                let accepted = self.prepare_region(from, region, epoch);
                let word = Word::RegionPrepared {
                    region,
                    attempt,
                    accepted,
                };
                out.push(Out::Say(from, word));
            }
            Word::RegionPrepared {
                region,
                attempt,
                accepted,
            } => self.region_prepared(region, attempt, accepted),
            Word::CompleteRegion {
                from,
                region,
                epoch,
                slot,
            } => {
                let known = self.complete_region(region, epoch, slot);
                let word = Word::RegionCompleted {
                    region,
                    epoch,
                    known,
                };
                out.push(Out::Say(from, word));
            }
            Word::RegionCompleted {
                region,
                epoch,
                known,
            } => {
                let given = self.given[region as usize].as_mut();
                if let Some(given) = given.filter(|given| given.epoch == epoch) {
                    given.state.on(DepartedEvent::Answer(Some(known)));
                }
            }
            Word::Loaded {
                region,
                epoch,
                player,
            } if self.loading[region as usize] == epoch => {
                note(Kind::RegionLoaded);
                self.loading[region as usize] = 0;
                self.holds(region, epoch);
                if let Some(sequence) = player {
                    self.admit(region, sequence);
                }
            }
            // It comes too late, or is about a player.
            Word::Prepare { .. }
            | Word::Prepared { .. }
            | Word::Complete { .. }
            | Word::Completed { .. }
            | Word::Owner { .. }
            | Word::Character { .. }
            | Word::Answered { .. }
            | Word::Loaded { .. }
            | Word::AskSource { .. }
            | Word::Kept { .. } => {}
        }
    }

    fn prepare(&mut self, from: RunId, h: u64, region: At, epoch: u64) -> bool {
        let asked = player::Asked {
            h,
            same_content: true,
            owns: self.held[region as usize] == epoch,
            room: true,
            linked: true,
            draining: false,
            closing: self.giving[region as usize]
                .as_ref()
                .is_some_and(|going| going.state.closing()),
            playing: self.slot.as_ref().map(|slot| slot.sequence),
            pending: self.announced.as_ref().map(|(pending, _)| pending.h),
            // Nothing distinguishes offers of one handover here: a player has no state.
            overtaken: false,
            gone: self.gone(),
        };
        let accepted = player::prepare(asked).is_ok();
        note(if accepted {
            Kind::PlayerTaken
        } else {
            Kind::PlayerRefused
        });
        if accepted {
            self.promises += 1;
            let pending = Pending::new(h, place(region), u64::from(from), self.promises, 0);
            self.announced = Some((pending, region));
        }
        accepted
    }

    fn still_goes(&self, to: RunId, h: u64) -> bool {
        if let Some(slot) = &self.slot {
            let source = slot.source.as_ref();
            let may_go = source.is_some_and(|source| source.may_go_to(u64::from(to)));
            return slot.sequence >= h || (slot.sequence + 1 == h && may_go);
        }
        self.departed.as_ref().is_some_and(|gone| gone.h >= h)
    }

    fn prepared(&mut self, attempt: u32, accepted: bool) {
        let Some(slot) = &mut self.slot else {
            return;
        };
        let going = self.giving[slot.region as usize].as_ref();
        let closing = going.is_some_and(|going| going.state.closing());
        let Some(source) = &mut slot.source else {
            return;
        };
        let accepted = accepted && !closing;
        if let SourceStep::Transfer(to) = source.on(SourceEvent::Answer { attempt, accepted }) {
            self.transfer = Some((at(to.region), to.epoch));
            self.cut();
        }
    }

    fn complete(&mut self, h: u64, out: &mut Vec<Out>) -> bool {
        if let Some((pending, _)) = &mut self.announced {
            if pending.on(0, PendingEvent::Complete { h }) == PendingStep::Join {
                note(Kind::JoinedByWord);
                self.join();
                return true;
            }
        } else if let Some(slot) = &self.slot {
            return slot.sequence >= h;
        } else if self.gone().is_some_and(|gone| gone > h) {
            return true;
        }
        out.push(Out::Fetch);
        false
    }

    fn join(&mut self) {
        if let Some((pending, region)) = self.announced.take() {
            self.slot = Some(PlayerSlot {
                region,
                stored: region,
                sequence: pending.h,
                stage: Stage::Joining,
                source: None,
            });
            self.departed = None;
        }
    }

    fn owner(&mut self, h: u64, owned: Option<Owned>, out: &mut Vec<Out>) {
        let Some((pending, _)) = self.announced.as_mut().filter(|(p, _)| p.h == h) else {
            return;
        };
        match pending.on(0, PendingEvent::Owner(owned)) {
            PendingStep::Join => {
                note(Kind::JoinedByStore);
                out.push(Out::Fetch);
            }
            PendingStep::Drop => {
                note(Kind::PendingDropped);
                self.announced = None;
            }
            PendingStep::Wait | PendingStep::Ask | PendingStep::AskBoth => {}
        }
    }

    /// Lets a player in as the store has it.
    /// Returns the sequence with which the player went on to another run, or to nobody.
    fn gone(&self) -> Option<u64> {
        self.departed.as_ref().map(|gone| gone.h).max(self.rests)
    }

    fn admit(&mut self, region: At, sequence: u64) {
        let older = self.gone().is_some_and(|gone| gone > sequence);
        let known = self
            .slot
            .as_ref()
            .is_some_and(|slot| slot.sequence >= sequence);
        if !known && !older && self.held[region as usize] > 0 {
            note(Kind::Admitted);
            self.announced = None;
            self.transfer = None;
            self.slot = Some(PlayerSlot {
                region,
                stored: region,
                sequence,
                stage: Stage::Joining,
                source: None,
            });
        }
    }

    fn prepare_region(&mut self, from: RunId, region: At, epoch: u64) -> bool {
        let i = region as usize;
        let asked = region::Asked {
            epoch,
            same_content: true,
            draining: false,
            room: true,
            seen: self.seen[i].max(self.directory.owners[i].1),
            here: self.held[i] > 0 || self.loading[i] > 0 || self.coming[i] > 0,
        };
        let accepted = region::prepare(asked).is_ok();
        note(if accepted {
            Kind::RegionPromised
        } else {
            Kind::RegionRefused
        });
        if accepted {
            self.seen[i] = self.seen[i].max(epoch);
            self.taking[i] = Some(Taking::new(epoch + 1, u64::from(from), 0));
        }
        accepted
    }

    fn region_prepared(&mut self, region: At, attempt: u64, accepted: bool) {
        let Some(going) = &mut self.giving[region as usize] else {
            return;
        };
        let event = GivingEvent::Answer {
            attempt,
            accepted,
            now: 0,
        };
        if going.state.on(event) == GivingStep::GiveUp {
            self.giving[region as usize] = None;
        }
    }

    fn complete_region(&mut self, region: At, epoch: u64, moved: Option<u64>) -> bool {
        let i = region as usize;
        if self.held[i] == epoch || self.seen[i] > epoch || self.coming[i] == epoch {
            return true;
        }
        let taking = self.taking[i].as_mut();
        let step = taking.map(|taking| taking.on(TakingEvent::Complete { epoch }));
        if step != Some(TakingStep::Join) {
            return false;
        }
        note(Kind::RegionJoined);
        self.taking[i] = None;
        self.loading[i] = 0;
        self.coming[i] = epoch;
        self.seen[i] = epoch;
        let older = |slot: &PlayerSlot| Some(slot.sequence) < moved;
        if let Some(sequence) = moved.filter(|_| self.slot.as_ref().is_none_or(older)) {
            self.announced = None;
            self.departed = None;
            self.transfer = None;
            self.slot = Some(PlayerSlot {
                region,
                stored: region,
                sequence,
                stage: Stage::Joining,
                source: None,
            });
        }
        true
    }

    fn answered(&mut self, number: u64, outcome: Outcome, out: &mut Vec<Out>) {
        let Some(flight) = self.flight.take_if(|flight| flight.number == number) else {
            return;
        };
        match outcome {
            // Both end the run.
            Outcome::Fenced => {
                note(Kind::Fenced);
                self.up = false;
            }
            Outcome::Refused => {
                self.refused = true;
                self.up = false;
            }
            Outcome::Done => self.done(&flight, out),
            Outcome::Stale { transfer, gives } => self.stale(flight, transfer, &gives, out),
        }
        self.cut();
    }

    fn done(&mut self, flight: &Flight, out: &mut Vec<Out>) {
        let sequence = flight.row.map(|(_, sequence)| sequence);
        let same = |slot: &mut PlayerSlot| Some(slot.sequence) == sequence;
        if flight.transfer.is_some_and(|(_, epoch)| epoch > 0)
            && let Some(slot) = self.slot.take_if(same)
        {
            note(Kind::HandedOver);
            let to = slot.source.as_ref().and_then(Source::committing);
            let to = to.map_or(0, |to| to.run_id as RunId);
            let h = slot.sequence + 1;
            out.push(Out::Say(to, Word::Complete { from: self.id, h }));
            let state = Departed::new(0);
            self.departed = Some(Gone {
                state,
                h,
                to,
                with_region: false,
            });
        }
        for (region, epoch, to) in &flight.gives {
            let Some(mut going) = self.giving[*region as usize].take() else {
                continue;
            };
            if going.state.on(GivingEvent::Given) != GivingStep::Complete {
                continue;
            }
            let epoch = epoch + 1;
            self.seen[*region as usize] = epoch;
            let goes = |s: &mut PlayerSlot| s.region == *region && s.stage == Stage::Moving;
            let slot = self.slot.take_if(goes).map(|slot| slot.sequence + 1);
            if *to == NOBODY {
                note(Kind::Rested);
                self.rests = slot.max(self.rests);
                continue;
            }
            note(Kind::RegionGiven);
            if let Some(h) = slot {
                let state = Departed::new(0);
                self.departed = Some(Gone {
                    state,
                    h,
                    to: *to,
                    with_region: true,
                });
            }
            let word = Word::CompleteRegion {
                from: self.id,
                region: *region,
                epoch,
                slot,
            };
            out.push(Out::Say(*to, word));
            self.given[*region as usize] = Some(Given {
                state: Departed::new(0),
                to: *to,
                epoch,
                slot,
            });
        }
    }

    fn stale(&mut self, mut flight: Flight, transfer: bool, gives: &[At], out: &mut Vec<Out>) {
        flight.gives.retain(|(region, ..)| !gives.contains(region));
        if transfer && let Some((region, epoch)) = flight.transfer.take() {
            note(Kind::TransferStale);
            if epoch > 0 {
                if let Some(source) = self.slot.as_mut().and_then(|slot| slot.source.as_mut()) {
                    source.on(SourceEvent::Stale);
                }
            } else {
                // By the store's word that region is not its own.
                self.drop_region(region);
            }
        }
        for region in gives {
            let Some(mut going) = self.giving[*region as usize].take() else {
                continue;
            };
            if going.state.on(GivingEvent::Stale) == GivingStep::Back {
                if going.to == NOBODY {
                    note(Kind::PauseStale);
                    self.directory.resumed[*region as usize] = true;
                } else {
                    note(Kind::RegionBack);
                }
                self.held[*region as usize] = going.epoch;
                if let Some(slot) = self.slot.as_mut().filter(|s| s.region == *region) {
                    slot.stage = Stage::Playing;
                }
            }
        }
        self.flight = Some(flight);
        self.reconcile(0, out);
    }

    /// Ends all waits, because each call has a deadline. Returns whether that changed anything.
    pub(crate) fn deadlines(&mut self) -> bool {
        let before = self.clone();
        if let Some(source) = self.slot.as_mut().and_then(|slot| slot.source.as_mut()) {
            for attempt in 1..=self.offers {
                source.on(SourceEvent::Answer {
                    attempt,
                    accepted: false,
                });
            }
        }
        if let Some(h) = self.announced.as_ref().map(|(pending, _)| pending.h) {
            // After a missing answer it only asks again.
            self.owner(h, None, &mut Vec::new());
        }
        if let Some(gone) = &mut self.departed {
            gone.state.on(DepartedEvent::Answer(None));
        }
        for region in 0..2u8 {
            self.loading[region as usize] = 0;
            if let Some(given) = &mut self.given[region as usize] {
                given.state.on(DepartedEvent::Answer(None));
            }
            for attempt in 1..=self.moves {
                self.region_prepared(region, attempt, false);
            }
        }
        *self != before
    }
}
