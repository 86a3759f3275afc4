//! Gives players away: the run holds them from the crossing on, and drops them with the commit's
//! acknowledgement.
//!
//! Always: until the store has acknowledged the transfer the player stands here.

use std::time::Instant;

use handover::{
    player::{Departed, DepartedEvent, DepartedStep, Source, SourceEvent, SourceStep, Target, Way},
    region::SETTLE_TICKS,
};
use proto::rpc::zone::v1::{
    CompleteRequest, Detach, ForwardRequest, HandoverId, Input, Moved, PrepareReply,
    PrepareRequest, from_zone,
};
use world::{CharacterId, Crossing, PlayerRecord, Region};

use super::Run;
use crate::{
    commit::batch::Going,
    inbox::INPUTS_HELD_MAX,
    roster::{Departure, PlayerSlot},
    spans::Ongoing,
    translate::record,
};

/// A player that another run owns now, as long as that run may need to hear of it.
pub(super) struct Gone {
    pub(super) state: Departed,
    h: u64,
    to: Target,
    word: Word,
    /// Inputs that came after the player had gone, with the gateways that sent them.
    late: Vec<(String, Input)>,
    /// Inputs that are on their way to the target, with the gateways that sent them.
    under_way: Vec<(String, Input)>,
}

/// The message from which the target hears of a player.
pub(super) enum Word {
    /// A message of its own.
    Player(Box<CompleteRequest>),
    /// The message about its region, with everybody in it.
    Region(Region),
}

impl Gone {
    pub(super) fn new(state: Departed, h: u64, to: Target, word: Word) -> Self {
        Self {
            state,
            h,
            to,
            word,
            late: Vec::new(),
            under_way: Vec::new(),
        }
    }

    /// Returns the ownership sequence with which the player went.
    pub(super) fn sequence(&self) -> u64 {
        self.h
    }

    /// Returns whether the player went together with a region.
    pub(super) fn went_with(&self, region: Region) -> bool {
        matches!(self.word, Word::Region(of) if of == region)
    }

    /// Returns whether the player was here with ownership sequence `h` and went on.
    pub(super) fn follows(&self, h: u64) -> bool {
        self.h > h
    }

    /// Returns whether the target has heard all about the player, late inputs included.
    pub(super) fn told(&self) -> bool {
        self.state.open() && self.late.is_empty() && self.under_way.is_empty()
    }

    /// Notes that the player's socket is gone. The target hears of it from this run, unless it has
    /// heard all already: then the gateway tells it. Returns the region with which the player went,
    /// if any.
    pub(super) fn detached(&mut self, detach: &Detach) -> Option<Region> {
        let request = match &mut self.word {
            Word::Player(request) => request,
            Word::Region(region) => return Some(*region),
        };
        if let Some(session) = &mut request.session {
            let same =
                session.session_epoch == detach.session_epoch && session.attach <= detach.attach;
            if same && !self.state.open() {
                session.gateway_id.clear();
            }
        }
        None
    }
}

/// Ticks for which the run tries to bring a player to a place that others play.
const PLACE_TICKS: u64 = 50;

impl Run {
    /// Handles characters past a border after a tick: inside the run a character only changes its
    /// region.
    pub(super) fn crossings(&mut self, mut crossings: Vec<Crossing>) {
        if self.config.mutants.no_pin {
            self.unpin(&mut crossings);
        }
        for Crossing { who, to, place } in crossings {
            let Some(slot) = self.roster.get_mut(&who) else {
                continue;
            };
            if !slot.free() {
                continue;
            }
            if self.regions.plays(to) {
                // The world itself brings a player to a place that is played here.
                if place.is_none() {
                    self.settle_in(&who, to);
                }
            } else if self.regions.directory.rests(to) {
                // Whoever only walked there plays on here, and may walk back.
                self.world.call_off(&who);
            } else if self.now >= slot.owner_since + SETTLE_TICKS {
                slot.goes_to(to);
                slot.departure.place = place;
                slot.departure.leaving_since = self.now;
                slot.departure.crossing_since = Some(Instant::now());
                self.world.hold(&who, true);
            }
        }
    }

    /// Adds crossings for the broken variant in which no player is pinned where it acts.
    fn unpin(&self, crossings: &mut Vec<Crossing>) {
        let now = self.world.now();
        for player in self.world.players().filter(|player| player.pinned(now)) {
            let past = player.region().tiles_past(player.tile());
            if past >= world::border::BAND_TILES {
                crossings.push(Crossing {
                    who: player.record().id.clone(),
                    to: Region::from(player.tile()),
                    place: None,
                });
            }
        }
    }

    /// Moves the player to another region of this run.
    fn settle_in(&mut self, who: &CharacterId, region: Region) {
        let place = self
            .roster
            .get_mut(who)
            .and_then(|slot| slot.departure.place.take());
        if place.is_some() {
            // The world brings the player there, as soon as the run does not hold it.
            return self.stays(who);
        }
        if self
            .roster
            .get(who)
            .is_some_and(|slot| slot.departure.pull.is_some())
        {
            // The thing is here by now: the run plays the input again.
            if let Some(slot) = self.roster.get_mut(who) {
                slot.departure.pull = None;
            }
            return self.stays(who);
        }
        if !self.world.set_region(who, region) {
            return;
        }
        if let Some(slot) = self.roster.get_mut(who) {
            slot.region = region;
            slot.goes_nowhere();
        }
        self.world.hold(who, false);
        self.batch.region(who, region, self.now);
        self.context.metrics.handover("local");
    }

    /// Lets the player go on here, and brings it nowhere.
    pub(super) fn stays(&mut self, who: &CharacterId) {
        if let Some(slot) = self.roster.get_mut(who) {
            slot.goes_nowhere();
            slot.departure.place = None;
            slot.departure.crossing_since = None;
        }
        self.world.hold(who, false);
    }

    /// Offers each held player to the owner of the region in which it stands, at an edge.
    pub(super) fn source_edges(&mut self) {
        if self.ending.stopping.is_some() {
            return;
        }
        let held = self
            .roster
            .iter()
            .filter(|(_, slot)| slot.departure.source.is_some());
        let held: Vec<(CharacterId, Region)> =
            held.map(|(w, slot)| (w.clone(), slot.region)).collect();
        for (who, region) in held {
            if self.moves.closing(region) {
                continue;
            }
            let Some(tile) = self.world.player(&who).map(|player| player.tile()) else {
                continue;
            };
            let Some(slot) = self.roster.get(&who) else {
                continue;
            };
            let source = slot.departure.source.as_ref();
            let committing = source.is_some_and(|source| source.committing().is_some());
            let tried = self.now.saturating_sub(slot.departure.leaving_since);
            let too_long = slot.departure.place.is_some() && tried > PLACE_TICKS;
            let found = slot.departure.pull.as_ref().and_then(|pull| pull.found);
            let to = found.unwrap_or_else(|| Region::from(slot.departure.place.unwrap_or(tile)));
            if !committing && (too_long || self.regions.directory.rests(to)) {
                // The world tells a player whose journey failed.
                self.world.call_off(&who);
                self.stays(&who);
                continue;
            }
            let way = self.way(to);
            let slot = self.roster.get_mut(&who);
            let Some(source) = slot.and_then(|slot| slot.departure.source.as_mut()) else {
                continue;
            };
            match source.on(SourceEvent::Edge(way)) {
                SourceStep::Prepare { attempt, to } => self.offer(&who, attempt, to),
                SourceStep::Settle(region) => self.settle_in(&who, region),
                SourceStep::Stay | SourceStep::Transfer(_) => {}
            }
        }
    }

    /// Answers whether a handover that this run promised to a peer may still happen. Once this run
    /// has said no, only a new announcement makes it possible.
    pub(super) fn still_goes(&self, h: HandoverId, to_run_id: u64) -> bool {
        let who = CharacterId::from(h.character_id);
        let h = h.ownership_sequence;
        if let Some(slot) = self.roster.get(&who) {
            let source = slot.departure.source.as_ref();
            let may_go = source.is_some_and(|source| source.may_go_to(to_run_id));
            return slot.sequence >= h || (slot.sequence + 1 == h && may_go);
        }
        // The handover has happened: the store knows.
        self.handovers
            .departed
            .get(&who)
            .is_some_and(|gone| gone.h >= h)
    }

    fn way(&self, region: Region) -> Way {
        if self.regions.plays(region) {
            return Way::Local;
        }
        let Some(owner) = self.regions.directory.owner(region) else {
            return Way::Nowhere;
        };
        match self.regions.directory.address(owner.run_id) {
            Some(address) if owner.run_id != self.id => Way::Remote(Target {
                run_id: owner.run_id,
                region,
                epoch: owner.epoch,
                address: address.to_owned(),
            }),
            _ => Way::Nowhere,
        }
    }

    fn offer(&mut self, who: &CharacterId, attempt: u32, to: Target) {
        let (Some(slot), Some(player)) = (self.roster.get_mut(who), self.world.player(who)) else {
            return;
        };
        if !slot.departure.span.is_open() {
            let tracer = self.context.tracing.then_some(&self.context.tracer);
            slot.departure.span = Ongoing::begin(tracer, "zone.handover", self.id, slot.region);
        }
        slot.departure.span.goes_to(to.run_id);
        let _within = slot.departure.span.enter();
        let request = PrepareRequest {
            h: Some(handover_id(who, slot.sequence + 1)),
            from_run_id: self.id,
            to_run_id: to.run_id,
            region: Some(record::rpc_region(to.region)),
            epoch: to.epoch,
            pull_target: slot
                .departure
                .pull
                .as_ref()
                .map_or_else(String::new, |p| p.target.to_string()),
            content_hash: self.world.content().hash().to_owned(),
            state: as_it_arrives(slot, player.record()).to_document().into(),
            session: Some(slot.session_ref()),
            account_id: slot.account_id.clone(),
            attempt,
            look: player.chosen_look().to_string(),
        };
        self.context
            .effects
            .prepare(&to.address, who.clone(), attempt, request);
    }

    /// Handles the target's answer.
    pub(super) fn prepared(
        &mut self,
        who: &CharacterId,
        attempt: u32,
        reply: Option<PrepareReply>,
    ) {
        let slot = self.roster.get_mut(who);
        let closing = slot
            .as_ref()
            .is_some_and(|slot| self.moves.closing(slot.region));
        let Some((span, source)) = slot.and_then(|slot| {
            let Departure { source, span, .. } = &mut slot.departure;
            Some((span, source.as_mut()?))
        }) else {
            return;
        };
        // Nobody begins to leave a region that goes itself.
        let accepted = !closing && reply.as_ref().is_some_and(|reply| reply.accepted);
        if !accepted {
            let code = reply.as_ref().map_or("silent", |reply| reply.code.as_str());
            tracing::debug!(run = self.id, character = %who, code, "a handover is refused");
            self.context.metrics.handover("refused");
        }
        let step = source.on(SourceEvent::Answer { attempt, accepted });
        let followed = span.sampled();
        if !accepted && source.committing().is_none() {
            self.pull_refused(who);
        }
        if let SourceStep::Transfer(to) = step {
            // The batch that hands the player over belongs to the handover's trace as well.
            if let Some(span) = followed {
                self.traces.note(span, false);
            }
            let going = Going::Transfer {
                region: to.region,
                epoch: to.epoch,
            };
            self.batch.going(who, going);
            self.cut();
        }
    }

    /// Notes the store's answer that the target does not own the region at that epoch.
    pub(super) fn transfer_stale(&mut self, who: &CharacterId) {
        self.context.metrics.handover("stale");
        let slot = self.roster.get_mut(who);
        if let Some(source) = slot.and_then(|slot| slot.departure.source.as_mut()) {
            source.on(SourceEvent::Stale);
        }
    }

    /// Lets the player go, because the store has the transfer: the player is the target's.
    pub(super) fn handed_over(&mut self, who: &CharacterId) {
        let Some(mut slot) = self.roster.remove(who) else {
            return;
        };
        self.context.metrics.departed("handover", 1);
        let attempt = slot.departure.source.as_ref().map_or(0, Source::attempts);
        let to = slot
            .departure
            .source
            .as_ref()
            .and_then(Source::committing)
            .cloned();
        let (Some(to), Some((_, hot))) = (to, self.world.leave(who)) else {
            return;
        };
        self.shown.transferred.insert(who.entity());
        let h = slot.sequence + 1;
        let request = CompleteRequest {
            h: Some(handover_id(who, h)),
            tick: self.now,
            hot: hot.to_bytes().into(),
            last_input: slot.inputs.played(),
            inputs: slot.inputs.drain(),
            held: slot.take_outbox(),
            session: Some(slot.session_ref()),
            attempt,
        };
        {
            let _within = slot.departure.span.enter();
            self.context
                .effects
                .complete(&to.address, who.clone(), h, request.clone());
        }
        slot.departure.span.end("done");
        if let Some(session) = &slot.session {
            let moved = Moved {
                session_id: session.session_id.clone(),
                character_id: who.to_string(),
                ownership_sequence: h,
                to_run_id: to.run_id,
                region: Some(record::rpc_region(to.region)),
                after_frames: self.links.frames_sent(&session.gateway_id),
            };
            let gateway_id = session.gateway_id.clone();
            self.links
                .tell(&gateway_id, from_zone::Message::Moved(moved));
        }
        self.context.metrics.handover("done");
        if let Some(since) = slot.departure.crossing_since {
            self.context.metrics.handover_took(since.elapsed());
        }
        let word = Word::Player(Box::new(request));
        let gone = Gone::new(Departed::new(self.now), h, to, word);
        self.handovers.departed.insert(who.clone(), gone);
    }

    /// Handles the target's answer to the word that the handover is done.
    pub(super) fn completed(&mut self, who: &CharacterId, h: u64, known: Option<bool>) {
        let Some(gone) = self
            .handovers
            .departed
            .get_mut(who)
            .filter(|gone| gone.h == h)
        else {
            return;
        };
        if gone.state.on(DepartedEvent::Answer(known)) == DepartedStep::Forward {
            self.send_late(who);
        }
    }

    /// Sends late inputs on, because the target has heard of their player together with its region.
    pub(super) fn forwards(&mut self, who: &CharacterId) {
        if let Some(gone) = self.handovers.departed.get_mut(who) {
            gone.state.on(DepartedEvent::Answer(Some(true)));
            self.send_late(who);
        }
    }

    fn send_late(&mut self, who: &CharacterId) {
        let Some(gone) = self.handovers.departed.get_mut(who) else {
            return;
        };
        let waits = gone.late.is_empty() || !gone.under_way.is_empty();
        if waits || !gone.state.open() {
            return;
        }
        gone.under_way = std::mem::take(&mut gone.late);
        let inputs = gone.under_way.iter().map(|(_, input)| input.clone());
        // If a session changed its gateway meanwhile, the gateway that is not named here asks after
        // 3 s what became of its inputs (`Recall`).
        let sent_by = gone.under_way.first().map(|(gateway_id, _)| gateway_id);
        let request = ForwardRequest {
            h: Some(handover_id(who, gone.h)),
            inputs: inputs.collect(),
            gateway_id: sent_by.cloned().unwrap_or_default(),
        };
        let address = gone.to.address.clone();
        self.context.effects.forward(&address, who.clone(), request);
    }

    /// Sends an input after its player, who has gone.
    pub(super) fn input_departed(&mut self, gateway_id: &str, who: &CharacterId, input: Input) {
        let Some(gone) = self.handovers.departed.get_mut(who) else {
            return;
        };
        if gone.late.len() >= INPUTS_HELD_MAX {
            return self.inputs_lost(gateway_id, &[input]);
        }
        gone.late.push((gateway_id.to_owned(), input));
        self.context.metrics.input("forwarded");
        self.send_late(who);
    }

    /// Notes that late inputs arrived or are lost. For lost ones it tells the gateways that their
    /// outcome is unknown.
    pub(super) fn forwarded(&mut self, who: &CharacterId, taken: bool) {
        let Some(gone) = self.handovers.departed.get_mut(who) else {
            return;
        };
        let under_way = std::mem::take(&mut gone.under_way);
        if !taken {
            tracing::debug!(run = self.id, character = %who, "late inputs are lost");
            self.late_lost(under_way);
        }
        self.send_late(who);
    }

    fn late_lost(&mut self, late: Vec<(String, Input)>) {
        for (gateway_id, input) in late {
            self.inputs_lost(&gateway_id, &[input]);
        }
    }

    /// Sends inputs after a player who went on since a peer handed it over with ownership sequence
    /// `h`. Returns whether it did.
    pub(super) fn follow(
        &mut self,
        who: &CharacterId,
        h: u64,
        gateway_id: &str,
        inputs: &[Input],
    ) -> bool {
        let gone = self.handovers.departed.get(who);
        let follows = !gateway_id.is_empty() && gone.is_some_and(|gone| gone.follows(h));
        if follows {
            for input in inputs {
                self.input_departed(gateway_id, who, input.clone());
            }
        }
        follows
    }

    /// Forgets the departure of a player who is this run's again. Returns the late inputs, with the
    /// gateways that sent them. The other run may have some of them too; their numbers tell.
    pub(super) fn came_back(&mut self, who: &CharacterId) -> Vec<(String, Input)> {
        let Some(mut gone) = self.handovers.departed.remove(who) else {
            return Vec::new();
        };
        let mut late = std::mem::take(&mut gone.under_way);
        late.append(&mut gone.late);
        self.forget(gone);
        late
    }

    /// Forgets a player who has gone, and says that the inputs are lost that its target has not
    /// heard.
    fn forget(&mut self, gone: Gone) {
        if let Word::Player(request) = gone.word
            && !gone.state.open()
        {
            let session = request.session.unwrap_or_default();
            self.inputs_lost(&session.gateway_id, &request.inputs);
        }
        self.late_lost(gone.late);
        self.late_lost(gone.under_way);
    }

    /// Repeats the word to targets that have not answered, and forgets old matters, at an edge.
    pub(super) fn departed_edges(&mut self) {
        let now = self.now;
        let (mut again, mut over) = (Vec::new(), Vec::new());
        let directory = &self.regions.directory;
        for (who, gone) in &mut self.handovers.departed {
            let alive = directory.alive(gone.to.run_id);
            match gone.state.on(DepartedEvent::Edge { now, alive }) {
                DepartedStep::Forget => over.push(who.clone()),
                DepartedStep::Complete => again.push(who.clone()),
                DepartedStep::Wait | DepartedStep::Forward => {}
            }
        }
        for who in over {
            if let Some(gone) = self.handovers.departed.remove(&who) {
                self.forget(gone);
            }
        }
        for who in again {
            if let Some(gone) = self.handovers.departed.get(&who)
                && let Word::Player(request) = &gone.word
            {
                let (address, request) = (gone.to.address.clone(), (**request).clone());
                self.context
                    .effects
                    .complete(&address, who, gone.h, request);
            }
        }
    }
}

/// Returns a player's record as its next owner puts it into the world.
pub(super) fn as_it_arrives(slot: &PlayerSlot, record: &PlayerRecord) -> PlayerRecord {
    let mut record = record.clone();
    if let Some(place) = slot.departure.place {
        record.tile = place;
    }
    record
}

pub(super) fn handover_id(who: &CharacterId, ownership_sequence: u64) -> HandoverId {
    HandoverId {
        character_id: who.to_string(),
        ownership_sequence,
    }
}
