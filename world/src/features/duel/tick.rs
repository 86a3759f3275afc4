//! Duels before the fight: challenges, rules, stakes, and the last look.
//!
//! Always: a player that hears of the beginning of a duel hears of its end. The stakes leave both
//! packs in one transfer, or neither pack.

use std::sync::Arc;

use super::told::{self, DuelChallengeDeclined, DuelChallengeSent};
use super::{
    CHALLENGE_PREFIX, Challenge, Duel, DuelEnd, DuelPart, DuelStage, ID_PREFIX, Intent, rules,
};
use crate::entity::ids::{CharacterId, EntityId};
use crate::event::Event;
use crate::features::{duel, newcomer, visit};
use crate::item::SLOTS;
use crate::item::leg::Leg;
use crate::item::transfer::{self, Holdings};
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::{Outcome, turn_away};
use crate::world::World;

impl World {
    /// Answers a request about a duel.
    pub(crate) fn answer_duel(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Challenge { target } => return self.challenge(who, target, out),
            Intent::Answer { challenge, accept } => {
                let known = self.duels.challenges.get(&challenge);
                let known = known.filter(|of| of.to == *who);
                let asked = known.cloned().ok_or(Refusal::InvalidChallenge)?;
                if accept {
                    self.begin_duel(&challenge, &asked, out)?;
                } else {
                    self.drop_challenge(&challenge, Some(who), out);
                }
            }
            Intent::Rule { duel, rule } => {
                let (now, own) = (self.now, self.own_duel(who, &duel)?);
                rules::toggle(own, rule, now)?;
                self.show_duel(&duel, DuelPart::Rules, who, out);
            }
            Intent::Bare { duel, place } => {
                let (now, own) = (self.now, self.own_duel(who, &duel)?);
                rules::bare(own, place, now)?;
                self.show_duel(&duel, DuelPart::Equipment, who, out);
            }
            Intent::Stake {
                duel,
                slot,
                quantity,
            } => self.stake(who, &duel, slot, quantity, out)?,
            Intent::Unstake { duel, place } => {
                let (now, own) = (self.now, self.own_duel(who, &duel)?);
                rules::unstake(own, who, place, now)?;
                self.show_duel(&duel, DuelPart::Stakes, who, out);
            }
            Intent::Agree { duel, seen } => self.agree_to_duel(who, &duel, seen, out)?,
            Intent::Cancel { duel } => self.cancel_duel(who, &duel, out)?,
            Intent::Forfeit { duel } => self.give_up_duel(who, &duel, out)?,
        }
        Ok(Answer::Done { value: true })
    }

    /// Checks whether a player may follow `intent` now, if it is in a duel.
    ///
    /// # Errors
    /// Those of [`rules::allows`].
    pub(crate) fn allowed_in_duel(
        &self,
        who: &CharacterId,
        intent: &crate::Intent,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        match self.duels.named(player.dealings.duel.as_ref()) {
            Some(duel) => rules::allows(duel, player, intent, &self.content),
            None => Ok(()),
        }
    }

    /// Returns the duel `id`, if it is the duel of `who`.
    pub(crate) fn own_duel(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
    ) -> Result<&mut Duel, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if player.dealings.duel.as_ref() != Some(id) {
            return Err(Refusal::NotInDuel);
        }
        self.duels.all.get_mut(id).ok_or(Refusal::NotInDuel)
    }

    fn challenge(
        &mut self,
        who: &CharacterId,
        target: EntityId,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let content = Arc::clone(&self.content);
        let rings = content.rings().ok_or(Refusal::NotInLobby)?;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let whom = target.character();
        if player.dealings.duel.is_some() {
            return Err(Refusal::InDuel);
        }
        let Some(there) = self.players.get(&whom) else {
            if !rings.lobby.contains(player.tile()) {
                return Err(Refusal::NotInLobby);
            }
            let known = self.look(&target).is_some();
            if !known && self.may_be_elsewhere(player.tile()) {
                return Ok(Answer::Elsewhere { target });
            }
            return Err(Refusal::PlayerOffline);
        };
        rules::may_challenge(&self.duels, rings, player, there, self.now)?;
        let theirs = there.record.name.clone();
        let (now, id) = (self.now, self.mint(CHALLENGE_PREFIX)?);
        if let Some(oldest) = rules::crowded_out(&self.duels, &whom) {
            self.drop_challenge(&oldest, None, out);
        }
        let challenge = Challenge {
            from: who.clone(),
            to: whom.clone(),
            since: now,
        };
        self.duels.challenges.insert(id.clone(), challenge);
        if let Some(player) = self.players.get_mut(who) {
            player.dealings.asked_duel = Some((whom.clone(), now));
        }
        let sent = DuelChallengeSent {
            challenge_id: id.clone(),
            target_player_id: whom.clone(),
            target_player_name: theirs,
        };
        out.emit(duel::Event::Challenged(who.clone(), sent));
        if let Some(player) = self.players.get(who) {
            out.emit(duel::Event::Incoming(whom, told::incoming(&id, player)));
        }
        Ok(Answer::Done { value: true })
    }

    /// Drops a challenge and tells both players.
    pub(crate) fn drop_challenge(
        &mut self,
        id: &EntityId,
        by: Option<&CharacterId>,
        out: &mut Outcome,
    ) {
        let Some(of) = self.duels.challenges.remove(id) else {
            return;
        };
        for who in [&of.from, &of.to] {
            if self.players.contains_key(who) {
                let declined = DuelChallengeDeclined {
                    challenge_id: id.clone(),
                    declined_by: by.cloned(),
                };
                out.emit(duel::Event::Declined(who.clone(), declined));
            }
        }
    }

    /// Begins the duel, after the challenged player has accepted.
    fn begin_duel(
        &mut self,
        id: &EntityId,
        asked: &Challenge,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let content = Arc::clone(&self.content);
        let rings = content.rings().ok_or(Refusal::NotInLobby)?;
        let who = self.players.get(&asked.to).ok_or(Refusal::NotFound)?;
        let by = self.players.get(&asked.from);
        let by = by.ok_or(Refusal::PlayerOffline)?;
        rules::may_begin(rings, who, by, self.now)?;
        let duel = self.mint(ID_PREFIX)?;
        let both = [&asked.from, &asked.to];
        self.duels.challenges.remove(id);
        // All other challenges by or to one of the two come to nothing.
        let others = self.duels.challenges.iter();
        let others = others.filter(|(_, of)| both.contains(&&of.from) || both.contains(&&of.to));
        for other in others.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.drop_challenge(&other, None, out);
        }
        let begun = Duel::new(duel.clone(), id.clone(), asked, self.now);
        self.duels.all.insert(duel.clone(), begun);
        for who in both {
            if let Some(player) = self.players.get_mut(who) {
                player.dealings.duel = Some(duel.clone());
                player.gait.path.clear();
                turn_away(player, out);
                visit::tick::close(player, out);
            }
        }
        for who in both {
            out.events.extend(self.duel_begun(&duel, who));
        }
        self.show_stage(&duel, out);
        Ok(())
    }

    fn stake(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        slot: u8,
        quantity: u32,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let (now, content) = (self.now, Arc::clone(&self.content));
        if slot >= SLOTS {
            return Err(Refusal::EmptySlot);
        }
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if player.dealings.duel.as_ref() != Some(id) {
            return Err(Refusal::NotInDuel);
        }
        newcomer::may_give(player.record(), &self.rules)?;
        let own = self.duels.all.get_mut(id).ok_or(Refusal::NotInDuel)?;
        rules::stake(own, player, &content, slot, quantity, now)?;
        self.show_duel(id, DuelPart::Stakes, who, out);
        Ok(())
    }

    /// Notes that `who` agrees to the stage that it has `seen`. The client names the stage. An
    /// agreement sent just before the stage changed must not count for the next stage.
    fn agree_to_duel(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        seen: DuelStage,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let own = self.own_duel(who, id)?.clone();
        if own.stage != seen || !seen.prepares() {
            return Err(Refusal::ScreenChanged);
        }
        if own.fighters().iter().any(|who| {
            self.players
                .get(who)
                .is_none_or(|p| p.gait.held || !p.lives())
        }) {
            return Err(Refusal::PlayerBusy);
        }
        // Plan before anything changes: an impossible plan refuses the agreement.
        let (legs, ring) = match seen {
            DuelStage::Stakes if !rules::still_there(&own, &self.players) => {
                self.end_duel(id, DuelEnd::InvalidItems, None, out);
                return Ok(());
            }
            DuelStage::Stakes => (rules::escrow(&own), None),
            DuelStage::Confirming => {
                let legs = rules::strip(&own, &self.players, &self.content);
                (legs, Some(self.vacant_ring()?))
            }
            _ => (Vec::new(), None),
        };
        self.check_legs(&legs)?;
        let now = self.now;
        let duel = self.own_duel(who, id)?;
        duel.since = now;
        if let Some(side) = duel.side_mut(who) {
            side.agreed = true;
        }
        if !duel.agreed() {
            self.show_duel(id, DuelPart::Agreed, who, out);
            return Ok(());
        }
        self.transfer(None, &legs, out)?;
        match (seen, ring) {
            (DuelStage::Confirming, Some(ring)) => {
                self.show_duel(id, DuelPart::Agreed, who, out);
                self.enter_ring(id, ring, out);
                return Ok(());
            }
            (DuelStage::Rules, _) => self.own_duel(who, id)?.come_to(DuelStage::Stakes, now),
            _ => self.own_duel(who, id)?.come_to(DuelStage::Confirming, now),
        }
        self.show_duel(id, DuelPart::Agreed, who, out);
        self.show_stage(id, out);
        Ok(())
    }

    fn check_legs(&mut self, legs: &[Leg]) -> Result<(), Refusal> {
        let holdings = Holdings {
            content: &self.content,
            players: &mut self.players,
            ground: &mut self.ground,
        };
        transfer::check(&holdings, None, legs)
    }

    fn vacant_ring(&self) -> Result<u8, Refusal> {
        let rings = self.content.rings().ok_or(Refusal::NoRing)?;
        let played = |region| self.regions.contains_key(&region);
        rules::vacant(&self.duels, rings, played)
    }

    /// Calls off a duel, or withdraws the player's own challenge.
    fn cancel_duel(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let challenge = self.duels.challenges.get(id);
        if challenge.is_some_and(|of| of.from == *who) {
            self.drop_challenge(id, None, out);
            return Ok(());
        }
        if !self.own_duel(who, id)?.stage.prepares() {
            return Err(Refusal::WrongStage);
        }
        self.end_duel(id, DuelEnd::Cancelled, Some(who), out);
        Ok(())
    }

    /// Shows both players the part of the duel that a player has changed.
    pub(crate) fn show_duel(
        &self,
        id: &EntityId,
        part: DuelPart,
        by: &CharacterId,
        out: &mut Outcome,
    ) {
        let Some(duel) = self.duels.all.get(id) else {
            return;
        };
        for who in duel.fighters() {
            if self.players.contains_key(&who) {
                out.emit(told::shown(part, by, who, duel, &self.content));
            }
        }
    }

    /// Shows both players the whole duel, which is at another stage now.
    pub(crate) fn show_stage(&self, id: &EntityId, out: &mut Outcome) {
        let Some(duel) = self.duels.all.get(id) else {
            return;
        };
        for who in duel.fighters() {
            if self.players.contains_key(&who) {
                out.emit(told::whole(who, duel, &self.content));
            }
        }
    }

    fn duel_begun(&self, id: &EntityId, who: &CharacterId) -> Option<Event> {
        let duel = self.duels.all.get(id)?;
        let opponent = self.players.get(duel.other(who));
        let name = opponent.map_or("", |player| &player.record.name);
        let started = told::started(duel, who, name);
        Some(duel::Event::Started(who.clone(), started).into())
    }

    /// Returns the duel of `who`, if it is in one.
    pub fn duel_of(&self, who: &CharacterId) -> Option<EntityId> {
        let player = self.players.get(who)?;
        let duel = self.duels.named(player.dealings.duel.as_ref())?;
        Some(duel.id.clone())
    }

    /// Returns whether the duel of `who` has come to the ring. `who` must then stay in the world
    /// until the duel ends.
    pub fn duels_now(&self, who: &CharacterId) -> bool {
        let player = self.players.get(who);
        let duel = player.and_then(|player| self.duels.named(player.dealings.duel.as_ref()));
        duel.is_some_and(|duel| !duel.stage.prepares())
    }

    /// Returns the notifications for a player that looks again: those about its duel that still
    /// matter, or else those about challenges to it.
    pub fn duel_shown(&self, who: &CharacterId) -> Vec<Event> {
        match self.players.get(who).and_then(|p| p.dealings.duel.as_ref()) {
            Some(id) => self.duel_events(who, id),
            None => self.challenge_events(who),
        }
    }

    fn duel_events(&self, who: &CharacterId, id: &EntityId) -> Vec<Event> {
        let Some(duel) = self.duels.all.get(id) else {
            return Vec::new();
        };
        let mut told: Vec<Event> = self.duel_begun(id, who).into_iter().collect();
        told.push(told::whole(who.clone(), duel, &self.content).into());
        if duel.stage == DuelStage::Fighting {
            told.extend(self.fight_event(duel, who).map(Event::from));
        }
        told
    }

    fn challenge_events(&self, who: &CharacterId) -> Vec<Event> {
        let waiting = self.duels.challenges.iter().filter(|(_, of)| of.to == *who);
        let told = waiting.filter_map(|(id, of)| {
            let from = self.players.get(&of.from)?;
            Some(duel::Event::Incoming(who.clone(), told::incoming(id, from)).into())
        });
        told.collect()
    }
}
