//! Takes whole regions over. After the promise the run plays them as their last owner left them, or
//! as the store has them when that owner fell silent.

use std::collections::BTreeMap;

use handover::region::{self, Asked, Taking, TakingEvent, TakingStep};
use proto::rpc::zone::v1::{
    CompleteRegionReply, CompleteRegionRequest, CompleteRequest, Detach, Input, MovedSlot,
    PrepareRegionReply, PrepareRegionRequest,
};
use world::{CharacterId, Region, Tick};

use super::{
    Run,
    target::{Announced, name},
};
use crate::{
    deliver::held::Holdings,
    inbox::{INPUTS_HELD_MAX, Inputs},
    roster::{PlayerSlot, Stage},
    translate::record,
};

/// Characters for which a message may come before their regions do.
const EARLY_MAX: usize = 4_096;
/// Ticks for which the run keeps such messages.
const EARLY_TICKS: u64 = 3;

/// The messages for a character whose region has not come yet.
#[derive(Debug, Default)]
pub(super) struct Early {
    since: u64,
    /// Inputs by number, with the gateways that sent them.
    inputs: BTreeMap<u64, (String, Input)>,
    /// End of a session: its epoch and attach number.
    detached: Option<(u64, u64)>,
}

impl Run {
    /// Answers a peer that wants to give a region.
    pub(super) fn prepare_region(&mut self, request: &PrepareRegionRequest) -> PrepareRegionReply {
        let refuse = |code: &str| PrepareRegionReply {
            accepted: false,
            code: code.to_owned(),
        };
        let region = record::region(request.region);
        let known = region
            .and_then(|region| Some((region, *self.regions.directory.owners().get(&region)?)));
        let Some((region, owner)) = known else {
            return refuse("stale");
        };
        let seen = self.regions.seen.get(&region).copied().unwrap_or(0);
        let coming = self.roster.len() + self.handovers.announced.len() + request.players as usize;
        let asked = Asked {
            epoch: request.epoch,
            same_content: request.content_hash == self.world.content().hash(),
            draining: self.draining(),
            room: coming <= self.config.players_max,
            seen: seen.max(owner.epoch),
            here: self.regions.plays(region) || self.regions.is_coming(region),
        };
        if let Err(code) = region::prepare(asked) {
            return refuse(code);
        }
        self.regions.seen.insert(region, request.epoch.max(seen));
        let taking = Taking::new(request.epoch + 1, request.from_run_id, self.now);
        self.moves.taking.insert(region, taking);
        PrepareRegionReply {
            accepted: true,
            code: String::new(),
        }
    }

    /// Takes in a peer's word that the store has the region here.
    pub(super) fn complete_region(
        &mut self,
        request: CompleteRegionRequest,
    ) -> CompleteRegionReply {
        let Some(region) = record::region(request.region) else {
            return CompleteRegionReply { known: false };
        };
        let epoch = request.epoch;
        if self.regions.plays_at(region, epoch) {
            // The region came by the store's word, or this is a repetition.
            self.catch_up(request.slots);
            return CompleteRegionReply { known: true };
        }
        if self
            .regions
            .seen
            .get(&region)
            .is_some_and(|seen| *seen > epoch)
        {
            for moved in &request.slots {
                self.comes_too_late(moved);
            }
            return CompleteRegionReply { known: true };
        }
        if self.regions.comes_from_owner(region, epoch) {
            return CompleteRegionReply { known: true };
        }
        let taking = self.moves.taking.get_mut(&region);
        let step = taking.map(|taking| taking.on(TakingEvent::Complete { epoch }));
        if step != Some(TakingStep::Join) {
            return CompleteRegionReply { known: false };
        }
        self.moves.taking.remove(&region);
        self.regions.reported_by_owner(region, epoch);
        let mut request = request;
        for moved in std::mem::take(&mut request.slots) {
            self.slot_comes(region, moved);
        }
        self.regions.comes(region, epoch, request);
        CompleteRegionReply { known: true }
    }

    /// Takes the giver's word on players who are here already.
    fn catch_up(&mut self, slots: Vec<MovedSlot>) {
        for moved in slots {
            let Some((who, h)) = name(moved.h.clone()) else {
                continue;
            };
            if self.roster.get(&who).is_some_and(|s| s.sequence == h) {
                self.catch_up_late(&who, last_words(moved));
            } else {
                self.comes_too_late(&moved);
            }
        }
    }

    /// Says that the inputs of a player are lost who came with a region but is not played here.
    fn comes_too_late(&mut self, moved: &MovedSlot) {
        let session = moved.session.as_ref();
        let gateway_id = session.map_or("", |session| &session.gateway_id);
        self.inputs_lost(gateway_id, &moved.inputs);
    }

    /// Takes the last owner's word on a player who is here already by the store's word.
    pub(super) fn catch_up_late(&mut self, who: &CharacterId, complete: CompleteRequest) {
        let until = self.linger_until(who);
        let Some(slot) = self.roster.get_mut(who) else {
            return;
        };
        if let Some(session) = &complete.session {
            slot.take_session_late(session, until);
        }
        let gateway = slot.session.as_ref().map(|session| &session.gateway_id);
        if gateway.is_some_and(|gateway| !self.links.linked(gateway)) {
            slot.detach(until);
        }
        let sent_by = complete.session.clone().unwrap_or_default().gateway_id;
        let unplayed = slot.catch_up_late(complete);
        self.inputs_lost(&sent_by, &unplayed);
        // An acknowledgement releases the synchronisation that the run owes the session. This row
        // makes sure that one comes soon.
        self.batch.altered(who, self.now);
    }

    /// Brings in a player with its region at the next edge.
    fn slot_comes(&mut self, region: Region, moved: MovedSlot) {
        let Some((who, h)) = name(moved.h.clone()) else {
            return;
        };
        if self.roster.get(&who).is_some_and(|slot| slot.sequence >= h) {
            return self.comes_too_late(&moved);
        }
        // An older claim, for which only the store's answer is missing, means nothing any more.
        self.evict(&who);
        // What came before the player, in the belief that it would come by itself or had gone.
        let announced = self.handovers.announced.remove(&who);
        let (early, attach) = announced.map_or_else(Default::default, Announced::inputs_and_attach);
        let late = self.came_back(&who);
        let mut slot = PlayerSlot::new(region, h, self.now, Holdings::default());
        slot.account_id.clone_from(&moved.account_id);
        let linger = moved.linger_ticks.min(self.config.ticks(self.linger_max()));
        let until = self.now.saturating_add(linger.max(1));
        if let Some(session) = &moved.session {
            slot.take_session(session, until);
        }
        slot.inputs = Inputs::after(moved.last_input);
        let sent_by = moved.session.clone().unwrap_or_default().gateway_id;
        let unplayed = slot.catch_up(last_words(moved));
        self.inputs_lost(&sent_by, &unplayed);
        self.take_early(&mut slot, early.into_values().chain(late));
        let early = self.moves.early.remove(&who).unwrap_or_default();
        self.take_early(&mut slot, early.inputs.into_values());
        let gateway = slot.session.as_ref().map(|s| s.gateway_id.clone());
        let unlinked = gateway.is_some_and(|gateway| !self.links.linked(&gateway));
        let ended = early
            .detached
            .is_some_and(|(epoch, attach)| epoch == slot.session_epoch && attach >= slot.attach);
        if unlinked || ended {
            slot.detach(self.linger_until(&who));
        }
        tracing::debug!(
            run = self.id,
            tick = self.now,
            character = %who,
            session = slot.session_id,
            epoch = slot.session_epoch,
            unlinked,
            ended,
            played = slot.session.is_some(),
            "comes with its region"
        );
        let call = self.handovers.calls.remove(&who);
        self.roster.insert(who, slot);
        self.context.metrics.entered("region_move");
        let waiting = call.and_then(|call| call.attach).into_iter().chain(attach);
        for (gateway_id, attach) in waiting {
            self.attach(&gateway_id, attach);
        }
    }

    /// Plays a region from this tick on as its last owner left it. When its bytes cannot be read,
    /// loads it from the store instead.
    pub(super) fn region_comes(
        &mut self,
        region: Region,
        epoch: u64,
        last: u64,
        request: &CompleteRegionRequest,
    ) {
        if let Err(why) = self
            .world
            .region_in(region, Tick(last), Some(&request.state))
        {
            tracing::error!(run = self.id, ?region, %why, "a peer's region cannot be read");
            self.drop_region(region);
            self.load(region, epoch);
            return;
        }
        self.missed(region, request.tick);
        self.region_held(region, epoch);
        self.ground_lies(region);
        self.context.metrics.region_move("taken");
        let comes = |slot: &PlayerSlot| {
            slot.region == region && matches!(slot.stage, Stage::Joining { .. })
        };
        let coming = self.roster.iter().filter(|(_, slot)| comes(slot));
        let coming: Vec<(CharacterId, u64)> =
            coming.map(|(w, s)| (w.clone(), s.sequence)).collect();
        for (who, sequence) in coming {
            let slot = self.roster.get_mut(&who);
            if let (Some(player), Some(slot)) = (self.world.player(&who), slot) {
                // The store has all of it, because it was in the batch that gave the region.
                slot.messages.acknowledged = Holdings::of(player.record());
                self.batch.enter(&who, region, sequence, self.now);
                self.joined(&who);
            } else {
                if let Some(slot) = self.roster.remove(&who) {
                    self.context.metrics.departed("lost", 1);
                    self.unanswered(&who, slot);
                }
                self.fetch(who);
            }
        }
        // A player in the region who has no slot belongs to another run.
        let players = self
            .world
            .players()
            .filter(|player| player.region() == region);
        let foreign = players.map(|player| player.record().id.clone());
        let foreign: Vec<CharacterId> = foreign
            .filter(|who| !self.roster.contains_key(who))
            .collect();
        for who in foreign {
            self.world.leave(&who);
            self.fetch(who);
        }
    }

    /// Keeps an input for a player who is not here while a region is on its way, because the player
    /// may come with it. Returns the input when the run does not keep it.
    pub(super) fn keep_early(
        &mut self,
        gateway_id: &str,
        who: &CharacterId,
        input: Input,
    ) -> Option<Input> {
        let full = self.moves.early.len() >= EARLY_MAX && !self.moves.early.contains_key(who);
        if !self.moves.takes() || full {
            return Some(input);
        }
        let early = self.moves.early.entry(who.clone()).or_default();
        if early.since == 0 {
            early.since = self.now;
        }
        if early.inputs.len() >= INPUTS_HELD_MAX {
            return Some(input);
        }
        self.context.metrics.input("early");
        let kept = (gateway_id.to_owned(), input);
        early.inputs.insert(kept.1.number, kept);
        None
    }

    /// Notes that a session ended before its character's region came.
    pub(super) fn ended_early(&mut self, who: &CharacterId, detach: &Detach) {
        if !self.moves.takes() || self.moves.early.len() >= EARLY_MAX {
            return;
        }
        let early = self.moves.early.entry(who.clone()).or_default();
        if early.since == 0 {
            early.since = self.now;
        }
        early.detached = Some((detach.session_epoch, detach.attach));
    }

    /// Makes gateways look elsewhere for the players who did not come with a region, at an edge.
    pub(super) fn early_edges(&mut self) {
        let old = self.now.saturating_sub(EARLY_TICKS);
        let over = self
            .moves
            .early
            .iter()
            .filter(|(_, early)| early.since < old);
        let over: Vec<CharacterId> = over.map(|(who, _)| who.clone()).collect();
        let over = over.iter().filter_map(|who| self.moves.early.remove(who));
        let over: Vec<Early> = over.collect();
        for early in over {
            for (_, (gateway_id, input)) in early.inputs {
                self.context.metrics.input("unknown");
                self.not_here(&gateway_id, input);
            }
        }
    }
}

/// Returns the giver's word on a player in the form in which a handover sends it.
fn last_words(moved: MovedSlot) -> CompleteRequest {
    CompleteRequest {
        h: moved.h,
        last_input: moved.last_input,
        inputs: moved.inputs,
        held: moved.held,
        session: moved.session,
        ..CompleteRequest::default()
    }
}
