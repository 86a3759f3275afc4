//! The sessions of characters: attach, detach, and characters that come from the store.

use std::time::Duration;

use proto::rpc::{
    persistence::v1::{CharacterOwnership, CharacterRecord},
    zone::v1::{Attach, AttachRefused, Attached, Detach, Encounter, Left, from_zone},
};
use tonic::{Code, Status};
use world::{Arrival, BadDocument, CharacterId, PlayerHot};

use super::{Run, player_handovers::Call};
use crate::{
    deliver::held::Holdings,
    roster::{PlayerSlot, Session, Stage, older},
    store::unreachable,
    translate::{self, Told, record},
};

/// Characters that may be on their way from the store.
const CALLS_MAX: usize = 4_096;
/// Characters that the run loads after one look at the characters online.
const RECONCILED_MAX: usize = 512;

pub(super) const NOT_HERE: &str = "not_here";
const BUSY: &str = "busy";
const NOT_IN_WORLD: &str = "not_in_world";

/// The error of a character that nobody can play, because its document cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeptOut;

impl Run {
    /// Attaches a session that another gateway held before: the run that has its character
    /// numbers the attach, and nobody asks the store.
    pub(super) fn resume(&mut self, gateway_id: &str, mut attach: Attach) {
        let who = CharacterId::from(attach.character_id.as_str());
        if self.handovers.announced.contains_key(&who) {
            return self.refuse(gateway_id, &attach, BUSY);
        }
        let Some(slot) = self.roster.get(&who) else {
            // The character may belong to a region that is on its way here.
            let code = if self.awaits_regions() || self.handovers.calls.contains_key(&who) {
                BUSY
            } else {
                NOT_HERE
            };
            return self.refuse(gateway_id, &attach, code);
        };
        if attach.session_epoch == slot.session_epoch {
            // Two runs, between which the character went over, may answer a gateway that asks
            // several at once.
            attach.attach = if slot.is_played_from(gateway_id, &attach.session_id) {
                slot.attach
            } else {
                slot.next_gateway()
            };
            attach.last_input = slot.inputs.last();
        } else {
            // The character was never attached, or its login was replaced.
            attach.attach = 1;
        }
        self.attach(gateway_id, attach);
    }

    /// Attaches a session to a character, or makes it wait or refuses it.
    pub(super) fn attach(&mut self, gateway_id: &str, attach: Attach) {
        let who = CharacterId::from(attach.character_id.as_str());
        if self.ending.stopping.is_some() {
            return self.refuse(gateway_id, &attach, BUSY);
        }
        // Also of whoever is announced or has left: its region may come from the store before long.
        self.offered(&who, &attach);
        if let Some(announced) = self.handovers.announced.get_mut(&who) {
            // The gateway knows from the directory that the character is here by now.
            let h = announced.pending.h;
            let refused = keep_newest(&mut announced.attach, gateway_id, attach);
            if refused.as_ref().is_none_or(|refused| refused.waited) {
                self.context.effects.owner(who, h, false);
            }
            return self.refuse_older(refused);
        }
        let Some(slot) = self.roster.get(&who) else {
            if self.handovers.departed.contains_key(&who) {
                return self.refuse(gateway_id, &attach, NOT_HERE);
            }
            return self.call_for(gateway_id, who, attach);
        };
        let leaving = matches!(slot.stage, Stage::Leaving { .. });
        if leaving && attach.session_epoch > slot.session_epoch {
            // The run loads the character anew as soon as it is out.
            return self.wait_for(gateway_id, who, attach);
        }
        if leaving {
            return self.refuse(gateway_id, &attach, NOT_HERE);
        }
        if slot.stage == Stage::Moving {
            // In a moment the character is at another run, or here again.
            return self.refuse(gateway_id, &attach, BUSY);
        }
        self.let_in(gateway_id, &who, &attach);
    }

    /// Lets a session play a character that is here.
    fn let_in(&mut self, gateway_id: &str, who: &CharacterId, attach: &Attach) {
        if !self.links.hears(gateway_id) {
            // The gateway's link ended while the session waited. A session still there attaches by
            // the next link.
            return;
        }
        let Some(slot) = self.roster.get_mut(who) else {
            return self.refuse(gateway_id, attach, NOT_HERE);
        };
        // The store was restored to a moment before this login, and would refuse all that names it.
        // Every later login has at least the incarnation as its epoch.
        let epoch = attach.session_epoch;
        if epoch > slot.session_epoch && epoch < self.incarnation {
            return self.refuse(gateway_id, attach, NOT_IN_WORLD);
        }
        let replaced = match slot.attach(gateway_id, attach) {
            Ok(replaced) => replaced,
            Err(code) => return self.refuse(gateway_id, attach, code),
        };
        tracing::debug!(
            run = self.id,
            tick = self.now,
            character = %who,
            session = attach.session_id,
            epoch = attach.session_epoch,
            attach = attach.attach,
            gateway = gateway_id,
            instead_of = replaced.as_ref().map(|replaced| replaced.attach),
            "is played from now on"
        );
        let playing = match &mut slot.stage {
            Stage::Joining { welcome } => {
                *welcome = true;
                false
            }
            Stage::Playing | Stage::Moving | Stage::Leaving { .. } => true,
        };
        if let Some(replaced) = replaced {
            self.tell_replaced(who, &replaced, gateway_id, attach);
        }
        self.offered(who, attach);
        if playing {
            self.regain(who);
            self.attached(who);
        }
    }

    /// Tells the session that played until now, unless it is the one that plays from now on.
    fn tell_replaced(
        &mut self,
        who: &CharacterId,
        replaced: &Session,
        gateway_id: &str,
        by: &Attach,
    ) {
        if replaced.session_id == by.session_id && replaced.gateway_id == gateway_id {
            return;
        }
        let left = Left {
            session_id: replaced.session_id.clone(),
            character_id: who.to_string(),
            session_epoch: by.session_epoch,
            reason: "replaced".to_owned(),
            re: Default::default(),
        };
        self.links
            .tell(&replaced.gateway_id, from_zone::Message::Left(left));
    }

    /// Tells a session that it plays now.
    pub(super) fn attached(&mut self, who: &CharacterId) {
        let held = self.held_until();
        let shown = self.shown_again(who);
        let (Some(slot), Some(player)) = (self.roster.get_mut(who), self.world.player(who)) else {
            return;
        };
        let Some(session) = slot.session.clone() else {
            return;
        };
        let has = if self.config.mutants.ack_before_commit {
            Holdings::of(player.record())
        } else {
            slot.messages.acknowledged.clone()
        };
        slot.messages.attached_in = self.now;
        if let Some(sequence) = held.filter(|_| has != Holdings::of(player.record())) {
            slot.owe_sync(sequence);
        }
        let content = self.world.content();
        let sync = translate::sync::sync(
            player.record(),
            player.chosen_look(),
            &has,
            self.now,
            content,
        );
        let attached = Attached {
            session_id: session.session_id.clone(),
            character_id: who.to_string(),
            attach: session.attach,
            ownership_sequence: slot.sequence,
            position: Some(record::rpc_tile(player.tile())),
            region: Some(record::rpc_region(slot.region)),
            tick: self.now,
            last_input: slot.inputs.last(),
            sync: proto::encode::json(&sync).into(),
            encounters: self
                .world
                .trades_of(who)
                .iter()
                .chain(&self.world.duel_of(who))
                .map(ToString::to_string)
                .collect(),
        };
        if let Some(open) = translate::visit::open(&self.world, who, &has) {
            slot.tell(open);
        }
        for (encounter, event) in shown {
            let told = translate::told(&event, Some(player.record()), self.world.content());
            if let Some(Told::Message { mut message, value }) = told {
                message.encounter = encounter;
                slot.tell_when(held.filter(|_| value), message);
            }
        }
        let message = from_zone::Message::Attached(attached);
        self.links.tell(&session.gateway_id, message);
    }

    /// Returns the events that the run shows a session again, each with its encounter.
    fn shown_again(&self, who: &CharacterId) -> Vec<(Option<Encounter>, world::Event)> {
        let shop = self.world.shop_shown(who).into_iter();
        let trade = self.world.trade_shown(who);
        let duel = self.world.duel_shown(who);
        let home = self.world.home_shown(who);
        let graves = self.world.graves_shown(who);
        let shown = shop.chain(trade).chain(duel).chain(home).chain(graves);
        let shown = shown.map(|event| (self.encounter(&event), event));
        shown.collect()
    }

    pub(super) fn refuse(&mut self, gateway_id: &str, attach: &Attach, code: &str) {
        let refused = AttachRefused {
            session_id: attach.session_id.clone(),
            character_id: attach.character_id.clone(),
            attach: attach.attach,
            code: code.to_owned(),
        };
        self.links
            .tell(gateway_id, from_zone::Message::AttachRefused(refused));
    }

    /// Tells a session that its character is not played here any more.
    pub(super) fn turn_out(&mut self, who: &CharacterId, slot: &PlayerSlot, code: &str) {
        let Some(session) = &slot.session else {
            return;
        };
        let attach = Attach {
            session_id: session.session_id.clone(),
            character_id: who.to_string(),
            session_epoch: slot.session_epoch,
            attach: session.attach,
            last_input: 0,
            resume: false,
            shown: None,
        };
        let gateway_id = session.gateway_id.clone();
        self.refuse(&gateway_id, &attach, code);
    }

    /// Asks the store for a character that is not here.
    fn call_for(&mut self, gateway_id: &str, who: CharacterId, attach: Attach) {
        let full =
            self.roster.len() >= self.config.players_max || self.handovers.calls.len() >= CALLS_MAX;
        // Most likely the character comes with its region. Sessions that lost a zone ask at once,
        // and again and again. The store is to give the regions: the run must not ask it for each
        // of these characters as well.
        if full || self.regions.loads() {
            return self.refuse(gateway_id, &attach, BUSY);
        }
        if !self.handovers.calls.contains_key(&who) {
            self.context.effects.load_character(who.clone());
        }
        self.wait_for(gateway_id, who, attach);
    }

    /// Keeps a session until its character, which is on its way, is here.
    fn wait_for(&mut self, gateway_id: &str, who: CharacterId, attach: Attach) {
        let call = self.handovers.calls.entry(who).or_default();
        let refused = keep_newest(&mut call.attach, gateway_id, attach);
        self.refuse_older(refused);
    }

    fn refuse_older(&mut self, refused: Option<Older>) {
        if let Some(Older {
            gateway_id,
            attach,
            newer_epoch,
            ..
        }) = refused
        {
            let code = older(&attach, newer_epoch);
            self.refuse(&gateway_id, &attach, code);
        }
    }

    /// Loads a character that no session waits for but that must be here by the store's word.
    pub(super) fn fetch(&mut self, who: CharacterId) {
        let known = self.roster.contains_key(&who) || self.handovers.announced.contains_key(&who);
        if known
            || self.handovers.calls.contains_key(&who)
            || self.handovers.calls.len() >= CALLS_MAX
        {
            return;
        }
        self.context.effects.load_character(who.clone());
        self.handovers.calls.insert(who, Call::default());
    }

    /// Loads the characters that by the store's word are online here but are not.
    /// While regions are on their way, most of those come with them: the next report says who
    /// did not.
    pub(super) fn online(&mut self, online: Vec<CharacterOwnership>) {
        if self.regions.loads() {
            return;
        }
        let mine = online
            .into_iter()
            .filter(|o| o.online && o.run_id == self.id);
        let lost = mine
            .map(|o| CharacterId::from(o.character_id))
            .filter(|who| {
                !self.roster.contains_key(who) && !self.handovers.departed.contains_key(who)
            });
        let lost: Vec<CharacterId> = lost.take(RECONCILED_MAX).collect();
        for who in lost {
            self.fetch(who);
        }
    }

    /// Takes in a character from the store, or its failure to come.
    pub(super) fn character_loaded(
        &mut self,
        who: &CharacterId,
        loaded: Result<Box<CharacterRecord>, Status>,
    ) {
        let attach = self
            .handovers
            .calls
            .remove(who)
            .and_then(|call| call.attach);
        let code = match loaded {
            Ok(row) if self.plays(&row) => self.admit(*row).err().map(|KeptOut| BUSY),
            Ok(row) if self.coming(&row) => Some(BUSY),
            Ok(_) => Some(NOT_HERE),
            Err(status) if unreachable(&status) => Some(BUSY),
            Err(status) if status.code() == Code::NotFound => Some(NOT_IN_WORLD),
            Err(_) => Some(NOT_HERE),
        };
        let Some((gateway_id, attach)) = attach else {
            return;
        };
        match code {
            Some(code) if !self.roster.contains_key(who) => {
                self.refuse(&gateway_id, &attach, code);
            }
            _ => self.attach(&gateway_id, attach),
        }
    }

    fn plays(&self, row: &CharacterRecord) -> bool {
        record::region(row.region).is_some_and(|region| self.regions.plays(region))
    }

    /// Returns whether the character's region is on its way from the store.
    fn coming(&self, row: &CharacterRecord) -> bool {
        record::region(row.region)
            .is_some_and(|region| self.moves.moves(region) || self.regions.is_coming(region))
    }

    /// Brings in a character at the next edge, as the store has it.
    ///
    /// # Errors
    /// The document in the row cannot be read. Nobody plays the character then: its next save would
    /// lose the unreadable part.
    pub(super) fn admit(&mut self, row: CharacterRecord) -> Result<(), KeptOut> {
        let who = CharacterId::from(row.id.as_str());
        let Some(region) = record::region(row.region) else {
            return Ok(());
        };
        let sequence = row.ownership_sequence;
        let known = self.roster.get(&who);
        if known.is_some_and(|slot| slot.sequence >= sequence) || self.ending.stopping.is_some() {
            return Ok(());
        }
        if self.handovers.read_before_leaving(&who, row.session_epoch) {
            return Ok(());
        }
        // An older claim to the character means nothing any more.
        self.evict(&who);
        if self.handovers.went_on(&who, sequence) {
            // The store read the row before the character went on.
            return Ok(());
        }
        let record = record::player(&row).map_err(|why| self.keep_out(&who, &why))?;
        let holdings = Holdings::of(&record);
        // A character from the store did not just change its owner, so it need not settle.
        let mut slot = PlayerSlot::new(region, row.ownership_sequence, 0, holdings);
        slot.session_epoch = row.session_epoch;
        slot.account_id.clone_from(&row.account_id);
        slot.session_id.clone_from(&row.session_id);
        slot.linger_until = Some(self.linger_until(&who));
        let announced = self.handovers.announced.remove(&who);
        let attach = announced.and_then(|known| self.comes_as_promised(&mut slot, known));
        self.batch.enter(&who, region, slot.sequence, self.now);
        let arrival = Arrival {
            record,
            hot: PlayerHot::default(),
            region,
            look: row.look.into(),
        };
        self.handovers.arrivals.push((0, arrival));
        // The character may be an agent.
        self.context.pulse.agents_wanted.notify_one();
        self.roster.insert(who, slot);
        self.context.metrics.entered("store");
        if let Some((gateway_id, attach)) = attach {
            self.attach(&gateway_id, attach);
        }
        Ok(())
    }

    /// Keeps out a character whose document cannot be read. A newer build may read a newer
    /// document, so the character waits for such an owner. A damaged one needs an operator: the
    /// store quarantines it.
    fn keep_out(&mut self, who: &CharacterId, why: &BadDocument) -> KeptOut {
        tracing::error!(run = self.id, character = %who, %why, "a character cannot be played");
        let announced = self.handovers.announced.remove(who);
        let attach = announced.and_then(|announced| self.never_comes(announced));
        if let Some((gateway_id, attach)) = attach {
            self.refuse(&gateway_id, &attach, BUSY);
        }
        match why {
            BadDocument::Version(_) => {}
            BadDocument::Missing | BadDocument::Bytes(_) => {
                self.context.effects.quarantine(who.clone());
            }
        }
        KeptOut
    }

    /// Forgets a character here, and says only that its requests are lost.
    pub(super) fn evict(&mut self, who: &CharacterId) {
        if let Some(slot) = self.roster.remove(who) {
            self.context.metrics.departed("lost", 1);
            self.unanswered(who, slot);
            self.world.leave(who);
            self.batch.forget(who);
            self.handovers
                .arrivals
                .retain(|(_, arrival)| arrival.record.id != *who);
        }
    }

    /// Handles the end of a socket: its character lingers, and so does one that is still on its
    /// way.
    pub(super) fn detach(&mut self, gateway_id: &str, detach: &Detach) {
        let who = CharacterId::from(detach.character_id.as_str());
        let until = self.linger_until(&who);
        let over = |(_, waiting): &mut (String, Attach)| {
            let ended = (detach.session_epoch, detach.attach);
            waiting.session_id == detach.session_id && order(waiting) <= ended
        };
        if let Some(call) = self.handovers.calls.get_mut(&who) {
            call.attach.take_if(over);
        }
        if let Some(slot) = self.roster.get_mut(&who) {
            let ends = slot.ended_by(gateway_id, detach);
            tracing::debug!(
                run = self.id,
                tick = self.now,
                character = %who,
                session = detach.session_id,
                epoch = detach.session_epoch,
                attach = detach.attach,
                ends,
                "a socket is gone"
            );
            if ends {
                slot.detach(until);
            }
        } else if let Some(announced) = self.handovers.announced.get_mut(&who) {
            announced.attach.take_if(over);
            announced.detached = Some((detach.session_epoch, detach.attach));
        } else if let Some(gone) = self.handovers.departed.get_mut(&who) {
            let with = gone.detached(detach);
            if let Some(given) = with.and_then(|region| self.moves.given.get_mut(&region)) {
                given.detached(detach);
            }
        } else {
            self.ended_early(&who, detach);
        }
    }

    /// Lets the characters of gateways that lost their link linger until their sessions attach
    /// again.
    pub(super) fn drop_closed_links(&mut self) {
        let lost = self.links.take_lost();
        if lost.is_empty() {
            return;
        }
        let unplayed = self.roster.iter().filter(|(_, slot)| {
            let gateway = slot.session.as_ref().map(|s| &s.gateway_id);
            gateway.is_some_and(|gateway| lost.contains(gateway))
        });
        let unplayed: Vec<CharacterId> = unplayed.map(|(who, _)| who.clone()).collect();
        for who in unplayed {
            let until = self.linger_until(&who);
            if let Some(slot) = self.roster.get_mut(&who) {
                slot.detach(until);
            }
        }
        for gateway in lost {
            tracing::info!(run = self.id, gateway, "gateway's link ended");
        }
    }

    /// Returns the tick until which a character stays that no session plays from now on.
    pub(super) fn linger_until(&self, who: &CharacterId) -> u64 {
        let player = self.world.player(who);
        let fights = player.is_some_and(|player| !player.may_leave(self.world.now()));
        let linger = if fights {
            self.linger_max()
        } else {
            self.config.linger
        };
        self.now.saturating_add(self.config.ticks(linger))
    }

    /// Returns the longest time for which a character may stay that no session plays.
    pub(super) fn linger_max(&self) -> Duration {
        self.config.linger.max(self.config.linger_in_combat)
    }
}

/// The older of two attaches for a character: the one that does not wait.
struct Older {
    gateway_id: String,
    attach: Attach,
    /// Session epoch of the newer attach.
    newer_epoch: u64,
    /// Whether the attach waited before the newer one came.
    waited: bool,
}

/// Keeps the newest of the sessions that wait for a character, and returns the other one.
fn keep_newest(
    waiting: &mut Option<(String, Attach)>,
    gateway_id: &str,
    attach: Attach,
) -> Option<Older> {
    let gateway_id = gateway_id.to_owned();
    if let Some((_, newer)) = waiting.as_ref().filter(|(_, a)| order(a) >= order(&attach)) {
        return Some(Older {
            gateway_id,
            attach,
            newer_epoch: newer.session_epoch,
            waited: false,
        });
    }
    let newer_epoch = attach.session_epoch;
    let (gateway_id, attach) = waiting.replace((gateway_id, attach))?;
    Some(Older {
        gateway_id,
        attach,
        newer_epoch,
        waited: true,
    })
}

/// Returns the order of an attach: of two attaches of a character the one with the higher order
/// counts.
fn order(attach: &Attach) -> (u64, u64) {
    (attach.session_epoch, attach.attach)
}
