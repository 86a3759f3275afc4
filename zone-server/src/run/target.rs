//! Takes players over: they are pending until the store has them here, and played from the next
//! tick on.

use std::{collections::BTreeMap, sync::Arc};

use handover::player::{self, Asked, Owned, Pending, PendingEvent, PendingStep};
use proto::client::{ErrorCode, Refusal};
use proto::rpc::{
    persistence::v1::CharacterOwnership,
    zone::v1::{
        Attach, CompleteReply, CompleteRequest, ForwardReply, ForwardRequest, HandoverId, Input,
        LocateRequest, PrepareReply, PrepareRequest, Private, SessionRef,
    },
};
use world::{Arrival, CharacterId, PlayerHot, PlayerRecord, Region};

use super::{Run, player_handovers::Call};
use crate::{
    deliver::held::Holdings,
    inbox::{INPUTS_HELD_MAX, Inputs, Taken},
    roster::PlayerSlot,
    translate::{self, Refused, record},
};

/// Inputs that came before their player, by number, with the gateways that sent them.
pub(super) type EarlyInputs = BTreeMap<u64, (String, Input)>;

/// A player that a peer announced.
pub(super) struct Announced {
    pub(super) pending: Pending,
    record: PlayerRecord,
    look: Arc<str>,
    region: Region,
    account_id: String,
    session: SessionRef,
    /// Number of the source's offer.
    attempt: u32,
    inputs: EarlyInputs,
    /// Attach of a session that came before the player, and its gateway.
    pub(super) attach: Option<(String, Attach)>,
    /// End of a session before the player came: its epoch and attach number.
    pub(super) detached: Option<(u64, u64)>,
}

impl Announced {
    /// Returns the region to which the player will belong.
    pub(super) fn region(&self) -> Region {
        self.region
    }

    /// Returns the inputs that came before the player, with the gateways that sent them, and the
    /// attach that waits for it.
    pub(super) fn inputs_and_attach(self) -> (EarlyInputs, Option<(String, Attach)>) {
        (self.inputs, self.attach)
    }

    /// Keeps an input until the player comes. Returns its outcome, or the input if there is no
    /// room.
    pub(super) fn queue(
        &mut self,
        gateway_id: &str,
        input: Input,
    ) -> Result<&'static str, Box<Input>> {
        if self.inputs.len() >= INPUTS_HELD_MAX {
            return Err(Box::new(input));
        }
        let (number, sent) = (input.number, (gateway_id.to_owned(), input));
        Ok(match self.inputs.insert(number, sent) {
            None => "early",
            Some(_) => "duplicate",
        })
    }
}

impl Run {
    /// Answers a peer that announces a player.
    pub(super) fn prepare(&mut self, request: PrepareRequest) -> PrepareReply {
        let refuse = |code: &str| PrepareReply {
            accepted: false,
            code: code.to_owned(),
        };
        let (Some((who, h)), Some(region)) =
            (name(request.h.clone()), record::region(request.region))
        else {
            return refuse("not_owner");
        };
        let session = request.session.clone().unwrap_or_default();
        let asked = self.asked(&request, &who, h, region, &session);
        if let Err(code) = player::prepare(asked) {
            return refuse(code);
        }
        if self
            .handovers
            .read_before_leaving(&who, session.session_epoch)
        {
            // The offer was on its way for longer than the player was here.
            return refuse("stale");
        }
        if let Err(code) = self.may_pull(&request) {
            return refuse(code);
        }
        let Some(record) = readable(&who, &request.state) else {
            return refuse("content");
        };
        let before = self.handovers.announced.remove(&who);
        let (inputs, attach, detached) = before.map_or_else(Default::default, |before| {
            (before.inputs, before.attach, before.detached)
        });
        let promise = self.handovers.next_promise();
        let announced = Announced {
            pending: Pending::new(h, region, request.from_run_id, promise, self.now),
            record,
            look: request.look.into(),
            region,
            account_id: request.account_id,
            session,
            attempt: request.attempt,
            inputs,
            attach,
            detached,
        };
        self.handovers.announced.insert(who, announced);
        PrepareReply {
            accepted: true,
            code: String::new(),
        }
    }

    /// Returns the facts that decide whether the player of an offer may come.
    fn asked(
        &self,
        request: &PrepareRequest,
        who: &CharacterId,
        h: u64,
        region: Region,
        session: &SessionRef,
    ) -> Asked {
        let gateway_id = &session.gateway_id;
        let handovers = &self.handovers;
        Asked {
            h,
            same_content: request.content_hash == self.world.content().hash(),
            owns: self.regions.plays_at(region, request.epoch),
            room: self.roster.len() + handovers.announced.len() < self.config.players_max,
            linked: gateway_id.is_empty() || self.links.linked(gateway_id),
            draining: self.draining(),
            closing: self.moves.closing(region),
            playing: self.roster.get(who).map(|slot| slot.sequence),
            pending: handovers.announced.get(who).map(|known| known.pending.h),
            overtaken: self.overtaken(who, h, request),
            gone: handovers.gone(who),
        }
    }

    /// Returns whether the same run has offered this handover once more since.
    fn overtaken(&self, who: &CharacterId, h: u64, request: &PrepareRequest) -> bool {
        self.handovers.announced.get(who).is_some_and(|announced| {
            announced.pending.from_run_id == request.from_run_id
                && announced.pending.h == h
                && announced.attempt > request.attempt
        })
    }

    /// Takes in a peer's word that the store has the player here.
    pub(super) fn complete(&mut self, request: CompleteRequest) -> CompleteReply {
        let Some((who, h)) = name(request.h.clone()) else {
            return CompleteReply { known: false };
        };
        let now = self.now;
        let known = self.handovers.announced.get(&who);
        if known.is_some_and(|known| known.pending.h == h && known.attempt != request.attempt) {
            // The source committed another offer: its region and state differ from the known ones.
            let known = self.handovers.announced.remove(&who);
            let attach = known.and_then(|known| self.never_comes(known));
            if let Some((gateway_id, attach)) = attach {
                self.attach(&gateway_id, attach);
            }
        } else if let Some(announced) = self.handovers.announced.get_mut(&who) {
            if announced.pending.on(now, PendingEvent::Complete { h }) == PendingStep::Join {
                self.join(&who, request);
                return CompleteReply { known: true };
            }
        } else if let Some(sequence) = self.roster.get(&who).map(|slot| slot.sequence) {
            let known = sequence >= h;
            if sequence == h {
                // The player came by the store's word, or this is a repetition.
                self.catch_up_late(&who, request);
            } else if known {
                self.too_late(&request);
            }
            return CompleteReply { known };
        } else if self.handovers.went_on(&who, h) {
            self.too_late(&request);
            return CompleteReply { known: true };
        }
        self.fetch(who);
        CompleteReply { known: false }
    }

    /// Says that the inputs of its last owner's word are lost: the player came by the store's word
    /// and has gone on since.
    fn too_late(&mut self, request: &CompleteRequest) {
        let session = request.session.as_ref();
        let gateway_id = session.map_or("", |session| &session.gateway_id);
        self.inputs_lost(gateway_id, &request.inputs);
    }

    /// Says that the inputs for a player are lost that does not come. Returns the attach that waits
    /// for it.
    pub(super) fn never_comes(&mut self, announced: Announced) -> Option<(String, Attach)> {
        for (gateway_id, input) in announced.inputs.into_values() {
            self.inputs_lost(&gateway_id, &[input]);
        }
        announced.attach
    }

    /// Loads a player that is this run's by the store's word alone. The state that its source
    /// announced may be older than the store's: only the source could say that they are equal.
    fn load_promised(&mut self, who: &CharacterId) {
        if !self.handovers.calls.contains_key(who) {
            self.context.effects.load_character(who.clone());
            self.handovers.calls.insert(who.clone(), Call::default());
        }
    }

    /// Gives an announced player, which comes by the store's word, the session that its source
    /// named and the inputs that came meanwhile. Returns the attach that waits for it.
    pub(super) fn comes_as_promised(
        &mut self,
        slot: &mut PlayerSlot,
        announced: Announced,
    ) -> Option<(String, Attach)> {
        let same = announced.pending.h == slot.sequence
            && announced.session.session_epoch == slot.session_epoch;
        if !same {
            return self.never_comes(announced);
        }
        let until = slot.linger_until.unwrap_or(self.now);
        slot.take_session(&announced.session, until);
        slot.owe_sync(0);
        self.take_early(slot, announced.inputs.into_values());
        self.look_for_session(slot, announced.detached, until);
        announced.attach
    }

    /// Detaches a player whose gateway is not linked, or has said that the session is over.
    fn look_for_session(&self, slot: &mut PlayerSlot, detached: Option<(u64, u64)>, until: u64) {
        let session = slot.session.as_ref();
        let unlinked = session.is_some_and(|session| !self.links.linked(&session.gateway_id));
        let ended = detached
            .is_some_and(|(epoch, attach)| epoch == slot.session_epoch && attach >= slot.attach);
        if unlinked || ended {
            slot.detach(until);
        }
    }

    /// Takes in a player that is this run's, so that it comes in at the next edge.
    fn join(&mut self, who: &CharacterId, complete: CompleteRequest) {
        let Some(announced) = self.handovers.announced.remove(who) else {
            return;
        };
        let h = announced.pending.h;
        let until = self.linger_until(who);
        let holdings = Holdings::of(&announced.record);
        let mut slot = PlayerSlot::new(announced.region, h, self.now, holdings);
        slot.account_id = announced.account_id;
        slot.take_session(&announced.session, until);
        let played = complete.tick;
        if let Some(session) = &complete.session {
            slot.take_session(session, until);
        }
        slot.inputs = Inputs::after(complete.last_input);
        let hot = PlayerHot::from_bytes(&complete.hot).unwrap_or_else(|why| {
            tracing::warn!(character = %who, %why, "a peer's player has lost its way");
            PlayerHot::default()
        });
        let sent_by = complete.session.clone().unwrap_or_default().gateway_id;
        let unplayed = slot.catch_up(complete);
        self.inputs_lost(&sent_by, &unplayed);
        let late = self.came_back(who);
        self.take_early(&mut slot, announced.inputs.into_values().chain(late));
        self.look_for_session(&mut slot, announced.detached, until);
        self.batch.enter(who, announced.region, h, self.now);
        self.regions.came.insert(announced.region, self.now);
        let arrival = Arrival {
            record: announced.record,
            hot,
            region: announced.region,
            look: announced.look,
        };
        self.handovers.arrivals.push((played, arrival));
        self.roster.insert(who.clone(), slot);
        self.context.metrics.entered("handover");
        self.context.metrics.handover("taken");
        if let Some((gateway_id, attach)) = announced.attach {
            self.attach(&gateway_id, attach);
        }
    }

    /// Queues inputs that came before their player, behind those from its last owner. It refuses an
    /// input that finds no room, and says of an input that nobody plays that it is lost.
    pub(super) fn take_early(
        &mut self,
        slot: &mut PlayerSlot,
        inputs: impl Iterator<Item = (String, Input)>,
    ) {
        for (gateway_id, input) in inputs {
            if !slot.current(input.session_epoch, &input.session_id) {
                self.inputs_lost(&gateway_id, &[input]);
                continue;
            }
            match slot.inputs.take(input) {
                Taken::Queued | Taken::Duplicate => {}
                Taken::Late(input) => self.inputs_lost(&gateway_id, &[*input]),
                Taken::Full(input) => {
                    self.context.metrics.input("full");
                    slot.tell(too_much(&input));
                }
            }
        }
    }

    /// Takes in the late inputs of a player that came over.
    pub(super) fn forward(&mut self, request: ForwardRequest) -> ForwardReply {
        let Some((who, h)) = name(request.h) else {
            return ForwardReply { taken: false };
        };
        if self.roster.get(&who).is_some_and(|slot| slot.sequence == h)
            && let Some(mut slot) = self.roster.remove(&who)
        {
            let sent_by = slot.session_ref().gateway_id;
            let inputs = request.inputs.into_iter();
            self.take_early(&mut slot, inputs.map(|input| (sent_by.clone(), input)));
            self.roster.insert(who, slot);
            return ForwardReply { taken: true };
        }
        if let Some(announced) = self
            .handovers
            .announced
            .get_mut(&who)
            .filter(|a| a.pending.h == h)
        {
            let gateway_id = announced.session.gateway_id.clone();
            let full = request.inputs.into_iter();
            let full = full.filter_map(|input| announced.queue(&gateway_id, input).err());
            let full: Vec<Input> = full.map(|input| *input).collect();
            self.inputs_lost(&gateway_id, &full);
            return ForwardReply { taken: true };
        }
        let taken = self.follow(&who, h, &request.gateway_id, &request.inputs);
        ForwardReply { taken }
    }

    /// Asks the store about announced players that did not come, at an edge.
    pub(super) fn announced_edges(&mut self) {
        let now = self.now;
        for (who, announced) in &mut self.handovers.announced {
            let pending = &mut announced.pending;
            let step = pending.on(now, PendingEvent::Edge { now });
            if step == PendingStep::AskBoth
                && let Some(source) = self.regions.directory.address(pending.from_run_id)
            {
                let request = LocateRequest {
                    to_run_id: pending.from_run_id,
                    entity_id: String::new(),
                    h: Some(super::source::handover_id(who, pending.h)),
                    from_run_id: self.id,
                };
                let effects = &mut self.context.effects;
                effects.locate(source, who.clone(), pending.number, request);
            }
            if matches!(step, PendingStep::Ask | PendingStep::AskBoth) {
                let dead = !self.regions.directory.alive(pending.from_run_id);
                self.context.effects.owner(who.clone(), pending.h, dead);
            }
        }
    }

    /// Notes the answer of a promise's source, which says whether the promise still stands.
    pub(super) fn promise_kept(&mut self, who: &CharacterId, number: u32, under_way: bool) {
        if let Some(announced) = self.handovers.announced.get_mut(who).filter(|_| !under_way) {
            let event = PendingEvent::GivenUp { number };
            announced.pending.on(self.now, event);
        }
    }

    /// Handles the store's word on a player that was announced.
    pub(super) fn owner(
        &mut self,
        who: &CharacterId,
        h: u64,
        owned: Option<CharacterOwnership>,
        source_dead: bool,
    ) {
        let now = self.now;
        let owned = owned.map(|owned| Owned {
            sequence: owned.ownership_sequence,
            region: record::region(owned.region),
            mine: owned.run_id == self.id,
            online: owned.online,
            source_dead,
        });
        let Some(announced) = self
            .handovers
            .announced
            .get_mut(who)
            .filter(|a| a.pending.h == h)
        else {
            return;
        };
        match announced.pending.on(now, PendingEvent::Owner(owned)) {
            PendingStep::Join => self.load_promised(who),
            PendingStep::Drop => {
                let announced = self.handovers.announced.remove(who);
                let attach = announced.and_then(|announced| self.never_comes(announced));
                self.context.metrics.handover("dropped");
                if let Some((gateway_id, attach)) = attach {
                    self.attach(&gateway_id, attach);
                }
            }
            PendingStep::Wait => {
                // The player is not here yet: the gateway that waits asks the directory again.
                if let Some((gateway_id, attach)) = announced.attach.take() {
                    self.refuse(&gateway_id, &attach, "busy");
                }
            }
            PendingStep::Ask | PendingStep::AskBoth => {}
        }
    }
}

/// Reads the state in which a peer offers a player. Returns `None` if it is not that player's.
fn readable(who: &CharacterId, state: &[u8]) -> Option<PlayerRecord> {
    match PlayerRecord::from_document(state) {
        Ok(record) => (record.id == *who).then_some(record),
        Err(why) => {
            tracing::warn!(character = %who, %why, "a peer's player cannot be read");
            None
        }
    }
}

/// Returns the answer to an input that finds no room.
pub(super) fn too_much(input: &Input) -> Private {
    let why = Refused {
        code: ErrorCode::Refused(Refusal::Busy),
        words: "too much is waiting to be done already".to_owned(),
    };
    translate::error(input, why)
}

pub(super) fn name(h: Option<HandoverId>) -> Option<(CharacterId, u64)> {
    let h = h.filter(|h| !h.character_id.is_empty())?;
    Some((CharacterId::from(h.character_id), h.ownership_sequence))
}
