//! Duels from the ring on: the countdown, the fight, its end, and the return of the stakes.
//!
//! Always: a winner has the stakes in the tick in which it wins. A death in a ring is no real
//! death. A player in no duel gets its stakes back as soon as there is room.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::told::{self, DuelCompleted, DuelCountdownStart, DuelCountdownTick, DuelFightStart};
use super::{Duel, DuelEnd, DuelRule, DuelStage, Event, Fighter, Verdict, rules};
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::combat::{Dying, HitKind};
use crate::features::potions::PotionState;
use crate::features::{death, movement, prayer, visit, vitals};
use crate::geometry::tile::{Chunk, Region, Tile};
use crate::item::ledger::Cause;
use crate::item::{Stack, Value};
use crate::refusal::Refusal;
use crate::tick::{Outcome, interrupt};
use crate::told::stacks;
use crate::world::World;

/// Ticks between two tries to return stakes for which there was no room.
const RETURN_TICKS: u64 = 8;

impl World {
    /// Plays one tick of all challenges and duels, and tells players of ends that they have not
    /// heard. Also tries to return the stakes of players in no duel. `away`: the players that
    /// nobody plays now.
    pub(crate) fn play_duels(
        &mut self,
        away: &BTreeSet<CharacterId>,
        value: Value,
        out: &mut Outcome,
    ) {
        for (who, id, why) in std::mem::take(&mut self.duels.ended) {
            self.leave_duel(&who, &id, why, None, out);
        }
        self.play_challenges(out);
        for id in self.duels.all.keys().cloned().collect::<Vec<_>>() {
            self.note_away(&id, away, out);
            self.play_duel(&id, value, out);
        }
        let parted = self.players.values().filter_map(|player| {
            let id = player.dealings.duel.as_ref()?;
            let known = self.duels.all.contains_key(id);
            (!known).then(|| (player.record.id.clone(), id.clone()))
        });
        for (who, id) in parted.collect::<Vec<_>>() {
            self.leave_duel(&who, &id, DuelEnd::Server, None, out);
        }
        if value != Value::Unavailable && self.now.0.is_multiple_of(RETURN_TICKS) {
            let owed = self.players.values().filter(|player| {
                let waits = !player.record.stakes.is_empty() && player.dealings.duel.is_none();
                waits && !player.gait.held
            });
            for who in owed.map(|p| p.record.id.clone()).collect::<Vec<_>>() {
                self.return_stakes(&who, out);
            }
        }
    }

    /// Drops each challenge that is too old, or whose two players have gone too far apart.
    fn play_challenges(&mut self, out: &mut Outcome) {
        let now = self.now;
        let over = self.duels.challenges.iter().filter(|(_, of)| {
            let both = (self.players.get(&of.from), self.players.get(&of.to));
            let near = matches!(both, (Some(a), Some(b)) if rules::near_enough(a, b));
            !near || now.since(of.since) >= rules::CHALLENGE_TICKS
        });
        for id in over.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.drop_challenge(&id, None, out);
        }
    }

    /// Notes which players of the duel went away or came back, and tells their opponents.
    fn note_away(&mut self, id: &EntityId, away: &BTreeSet<CharacterId>, out: &mut Outcome) {
        let now = self.now;
        let Some(duel) = self.duels.all.get_mut(id) else {
            return;
        };
        let ticks = rules::away_ticks(duel);
        let [one, other] = duel.fighters();
        let others = [other, one];
        for (side, whom) in duel.sides.iter_mut().zip(others) {
            let gone = away.contains(&side.who);
            if gone == side.away_since.is_some() {
                continue;
            }
            side.away_since = gone.then_some(now);
            out.emit(told::away(whom, id, gone.then_some(ticks)));
        }
    }

    /// Plays one tick of a duel.
    fn play_duel(&mut self, id: &EntityId, value: Value, out: &mut Outcome) {
        let Some(duel) = self.duels.all.get(id) else {
            return;
        };
        let ticks = self.now.since(duel.since);
        if duel.stage == DuelStage::Finished {
            if ticks >= rules::RESULT_TICKS {
                self.conclude(id, out);
            }
            return;
        }
        if let Some(why) = rules::over(duel, &self.players, self.now) {
            return self.end_duel(id, why, None, out);
        }
        match duel.stage {
            DuelStage::Countdown => self.count(id, ticks, out),
            DuelStage::Fighting if value == Value::Open => {
                let most = rules::away_ticks(duel);
                let gone = |side: &&Fighter| {
                    let since = side.away_since;
                    since.is_some_and(|since| self.now.since(since) >= most)
                };
                let gone: Vec<&Fighter> = duel.sides.iter().filter(gone).collect();
                match gone.as_slice() {
                    [] => {}
                    [one] => {
                        let who = one.who.clone();
                        self.decide(id, &who, true, out);
                        self.conclude(id, out);
                    }
                    _ => self.end_duel(id, DuelEnd::Disconnected, None, out),
                }
            }
            _ => {}
        }
    }

    /// Moves both players into the ring, after both have agreed to all, and begins the countdown.
    pub(crate) fn enter_ring(&mut self, id: &EntityId, number: u8, out: &mut Outcome) {
        let (now, content) = (self.now, Arc::clone(&self.content));
        let Some(duel) = self.duels.all.get_mut(id) else {
            return;
        };
        duel.ring = Some(number);
        duel.come_to(DuelStage::Countdown, now);
        let (fighters, still) = (duel.fighters(), duel.has(DuelRule::NoPrayer));
        let places = content.rings().and_then(|rings| rules::begins(duel, rings));
        let Some(places) = places else {
            return self.end_duel(id, DuelEnd::Server, None, out);
        };
        for (who, place) in fighters.iter().zip(places) {
            let Some(player) = self.players.get_mut(who) else {
                continue;
            };
            interrupt(player, out);
            visit::tick::close(player, out);
            player.fight.clash.forget();
            player.fight.clash.coming.clear();
            player.record.health = player.record.max_health();
            if still {
                player.record.prayer.active.clear();
                out.emit(prayer::Event::Changed { who: who.clone() });
            }
            self.put_at(who, place, out);
        }
        self.show_stage(id, out);
        for who in &fighters {
            let [challenger_id, target_id] = fighters.clone();
            let start = DuelCountdownStart {
                duel_id: id.clone(),
                arena_id: number,
                challenger_id,
                target_id,
            };
            out.emit(Event::Entered(who.clone(), start));
        }
        self.count(id, 0, out);
    }

    /// Tells both players the count `ticks` after they came to the ring. At 0 the fight begins.
    fn count(&mut self, id: &EntityId, ticks: u64, out: &mut Outcome) {
        let (now, count) = (self.now, rules::counted(ticks));
        let (Some(duel), Some(count)) = (self.duels.all.get_mut(id), count) else {
            return;
        };
        let fighters = duel.fighters();
        for who in &fighters {
            let [challenger_id, target_id] = fighters.clone();
            let counted = DuelCountdownTick {
                duel_id: id.clone(),
                count,
                challenger_id,
                target_id,
            };
            out.emit(Event::Counted(who.clone(), counted));
        }
        if count > 0 {
            return;
        }
        duel.come_to(DuelStage::Fighting, now);
        self.show_stage(id, out);
        for who in &fighters {
            let duel = self.duels.all.get(id);
            if let Some(told) = duel.and_then(|duel| self.fight_event(duel, who)) {
                out.emit(told);
            }
        }
    }

    /// Returns the event that tells `who` of its fight.
    pub(crate) fn fight_event(&self, duel: &Duel, who: &CharacterId) -> Option<Event> {
        let ring = self.content.rings()?.ring(duel.ring?)?;
        let start = DuelFightStart {
            duel_id: duel.id.clone(),
            arena_id: duel.ring?,
            opponent_id: duel.other(who).clone(),
            bounds: told::edges(ring.bounds),
        };
        Some(Event::Fight(who.clone(), start))
    }

    /// Returns the duel of `who`, if that duel has come to the ring.
    pub(crate) fn ring_duel(&self, who: &CharacterId) -> Option<&Duel> {
        let player = self.players.get(who)?;
        let duel = self.duels.named(player.dealings.duel.as_ref())?;
        (!duel.stage.prepares()).then_some(duel)
    }

    /// Returns whether the two players may fight each other in a ring. `false`: neither is in a
    /// ring.
    ///
    /// # Errors
    /// `InDuel`: one of the two is in a ring, but not in a fight with the other.
    pub(crate) fn may_fight_in_ring(
        &self,
        by: &EntityId,
        target: &EntityId,
    ) -> Result<bool, Refusal> {
        let [one, other] = [by, target].map(|id| self.ring_duel(&id.character()));
        match (one, other) {
            (None, None) => Ok(false),
            (Some(one), Some(other)) if one.id == other.id && one.stage == DuelStage::Fighting => {
                Ok(true)
            }
            _ => Err(Refusal::InDuel),
        }
    }

    /// Returns whether `who` may strike such a blow now. In a ring it may not while exchanges are
    /// stopped, because the stakes could not change owners.
    ///
    /// # Errors
    /// `AgainstRules`: the rules of its duel forbid such a blow.
    pub(crate) fn may_strike(
        &self,
        who: &CharacterId,
        kind: HitKind,
        value: Value,
    ) -> Result<bool, Refusal> {
        match self.ring_duel(who) {
            Some(duel) if rules::forbids(duel, kind) => Err(Refusal::AgainstRules),
            Some(_) => Ok(value == Value::Open),
            None => Ok(value != Value::Unavailable),
        }
    }

    /// Stops each player that must stand still in its ring.
    pub(crate) fn stand_still(&mut self) {
        for player in self
            .players
            .values_mut()
            .filter(|p| !p.gait.path.is_empty())
        {
            let duel = self.duels.named(player.dealings.duel.as_ref());
            let still = duel
                .filter(|duel| !duel.stage.prepares())
                .is_some_and(|duel| {
                    duel.stage != DuelStage::Fighting || duel.has(DuelRule::NoMovement)
                });
            if still {
                player.gait.path.clear();
            }
        }
    }

    /// Takes the players that fell in a ring out of `dead`, and ends their fights.
    pub(crate) fn fall(&mut self, dead: &mut Vec<(EntityId, EntityId)>, out: &mut Outcome) {
        let fell = dead.extract_if(.., |(id, _)| self.ring_duel(&id.character()).is_some());
        let fell: Vec<(CharacterId, EntityId)> =
            fell.map(|(id, killer)| (id.character(), killer)).collect();
        let until = self.now.after(rules::RESULT_TICKS);
        let mut duels: Vec<EntityId> = Vec::new();
        for (who, killer) in &fell {
            duels.extend(self.ring_duel(who).map(|duel| duel.id.clone()));
            let killer = self.players.get(&killer.character());
            let killer = killer.map(|killer| killer.record.name.as_str().into());
            let Some(player) = self.players.get_mut(who) else {
                continue;
            };
            interrupt(player, out);
            player.gait.path.clear();
            player.fight.dying = Some(Dying { until });
            player.record.health = 0;
            player.record.prayer.active.clear();
            let tile = player.tile();
            out.changes.altered.insert(who.clone());
            out.touched.insert(who.entity());
            let whose = || who.clone();
            out.emit(death::Event::Died {
                who: whose(),
                killer,
                tile,
                until,
            });
            out.emit(vitals::Event::Changed { who: whose() });
            out.emit(prayer::Event::Changed { who: whose() });
        }
        duels.sort_unstable();
        duels.dedup();
        for id in duels {
            let of = |who: &&CharacterId| {
                let duel = self.ring_duel(who);
                duel.is_some_and(|duel| duel.id == id)
            };
            let fallen: Vec<&CharacterId> = fell.iter().map(|(who, _)| who).filter(of).collect();
            match fallen.as_slice() {
                [loser] => self.decide(&id, loser, false, out),
                _ => self.finish(&id, None, out),
            }
        }
    }

    /// Lets `who` give up its fight.
    pub(crate) fn give_up_duel(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let own = self.own_duel(who, id)?;
        if own.stage != DuelStage::Fighting {
            return Err(Refusal::WrongStage);
        }
        if own.has(DuelRule::NoForfeit) {
            return Err(Refusal::NoForfeit);
        }
        self.decide(id, who, true, out);
        self.conclude(id, out);
        Ok(())
    }

    /// Decides the duel against `loser`: its stakes go to the winner.
    fn decide(&mut self, id: &EntityId, loser: &CharacterId, forfeit: bool, out: &mut Outcome) {
        let Some(duel) = self.duels.all.get(id) else {
            return;
        };
        let winner = duel.other(loser).clone();
        let Some(player) = self.players.get(loser) else {
            return self.end_duel(id, DuelEnd::Server, None, out);
        };
        let legs = rules::spoils(player.record(), &winner);
        let won: Vec<Stack> = player.record.stakes.values().cloned().collect();
        // The container has room for all that two players can stake, so nothing refuses the
        // transfer.
        let moved = legs.is_empty() || self.transfer(Some(Cause::Duel), &legs, out).is_ok();
        let verdict = moved.then_some(Verdict {
            winner,
            forfeit,
            won,
        });
        self.finish(id, verdict, out);
    }

    /// Ends the fight: nobody strikes any more.
    fn finish(&mut self, id: &EntityId, verdict: Option<Verdict>, out: &mut Outcome) {
        let now = self.now;
        let Some(duel) = self.duels.all.get_mut(id) else {
            return;
        };
        duel.verdict = verdict;
        duel.come_to(DuelStage::Finished, now);
        for who in duel.fighters() {
            if let Some(player) = self.players.get_mut(&who) {
                interrupt(player, out);
                player.gait.path.clear();
                player.fight.clash.forget();
                player.fight.clash.coming.clear();
            }
        }
        self.show_stage(id, out);
    }

    /// Tells both players the result, heals them and takes them out of the ring.
    fn conclude(&mut self, id: &EntityId, out: &mut Outcome) {
        let verdict = self.duels.all.get(id).map(|duel| duel.verdict.clone());
        let Some(verdict) = verdict.flatten() else {
            return self.end_duel(id, DuelEnd::Draw, None, out);
        };
        let Some(duel) = self.duels.all.remove(id) else {
            return;
        };
        let worth = |stack: &Stack| rules::worth(&self.content, stack);
        let worth = verdict.won.iter().map(worth).fold(0, u64::saturating_add);
        for who in duel.fighters() {
            let won = who == verdict.winner;
            let opponent = self.players.get(duel.other(&who));
            let (won_items, nothing) = (stacks(&verdict.won), Vec::new());
            let (items_received, items_lost) = if won {
                (won_items, nothing)
            } else {
                (nothing, won_items)
            };
            let completed = DuelCompleted {
                duel_id: id.clone(),
                won,
                opponent_name: opponent.map_or_else(String::new, |p| p.record.name.clone()),
                items_received,
                items_lost,
                total_value_won: if won { worth } else { 0 },
                total_value_lost: if won { 0 } else { worth },
                forfeit: verdict.forfeit,
            };
            self.out_of_duel(&who, id, out);
            if self.players.contains_key(&who) {
                out.emit(Event::Completed(who, completed));
            }
        }
    }

    /// Ends a duel without a winner: both players get their stakes back and hear the reason.
    pub(crate) fn end_duel(
        &mut self,
        id: &EntityId,
        why: DuelEnd,
        by: Option<&CharacterId>,
        out: &mut Outcome,
    ) {
        let Some(duel) = self.duels.all.remove(id) else {
            return;
        };
        for who in duel.fighters() {
            self.leave_duel(&who, id, why, by, out);
        }
    }

    /// Ends the duel of `who`, and drops all challenges by it or to it.
    pub(crate) fn end_duels_of(&mut self, who: &CharacterId, why: DuelEnd, out: &mut Outcome) {
        let challenges = self.duels.challenges.iter();
        let challenges = challenges.filter(|(_, of)| of.from == *who || of.to == *who);
        for id in challenges.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.drop_challenge(&id, None, out);
        }
        if let Some(id) = self.duel_of(who) {
            self.end_duel(&id, why, None, out);
        }
    }

    fn leave_duel(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        why: DuelEnd,
        by: Option<&CharacterId>,
        out: &mut Outcome,
    ) {
        let known = self.players.get(who);
        if known.is_none_or(|player| player.dealings.duel.as_ref() != Some(id)) {
            return;
        }
        self.out_of_duel(who, id, out);
        let cancelled = told::cancelled(id, why, by);
        out.emit(Event::Cancelled(who.clone(), cancelled));
    }

    /// Takes `who` out of that duel: out of its ring, healed, and with its stakes returned.
    fn out_of_duel(&mut self, who: &CharacterId, id: &EntityId, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        player.dealings.duel.take_if(|named| named == id);
        self.leave_ring(who, out);
        self.return_stakes(who, out);
    }

    /// Takes `who` out of the ring and heals it, if it stands in a ring without a duel.
    pub(crate) fn leave_ring(&mut self, who: &CharacterId, out: &mut Outcome) {
        let content = Arc::clone(&self.content);
        let (Some(rings), Some(player)) = (content.rings(), self.players.get_mut(who)) else {
            return;
        };
        if !rings.closes(player.record.tile) || player.dealings.duel.is_some() {
            return;
        }
        let rises = !player.lives();
        player.record.health = player.record.max_health();
        player.fight.clash.forget();
        player.fight.clash.coming.clear();
        player.fight.dying = None;
        let exit = content.terrain().settled(rings.exit);
        let place = exit.filter(|place| self.regions.contains_key(&Region::from(*place)));
        let tile = place.unwrap_or(player.record.tile);
        self.put_at(who, tile, out);
        if rises {
            let who = who.clone();
            out.emit(death::Event::Respawned { who, tile });
        }
    }

    /// Moves `who` to `place` at once.
    fn put_at(&mut self, who: &CharacterId, place: Tile, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let before = Chunk::from(player.tile());
        player.gait.path.clear();
        // As the health: no boost and no poison goes into a ring or out of it.
        player.record.potions = PotionState::default();
        player.stand(self.content.terrain(), place);
        self.index.shift(before, Chunk::from(place), &who.entity());
        out.changes.altered.insert(who.clone());
        out.touched.insert(who.entity());
        let whose = || who.clone();
        out.emit(movement::Event::Teleported {
            who: whose(),
            tile: place,
        });
        out.emit(vitals::Event::Changed { who: whose() });
    }

    /// Gives `who` its remaining stakes back, as far as its pack or bank has room.
    pub(crate) fn return_stakes(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Some(player) = self.players.get(who) else {
            return;
        };
        for place in player.record.stakes.keys().copied().collect::<Vec<_>>() {
            let content = Arc::clone(&self.content);
            let record = self.players.get(who).map(|player| &player.record);
            let ways = record.and_then(|record| rules::returns(record, &content, place));
            for (cause, legs) in ways.into_iter().flatten() {
                if self.transfer(cause, &legs, out).is_ok() {
                    break;
                }
            }
        }
    }
}
