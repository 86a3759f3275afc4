//! Fights of players: setting out, keeping up, and attacking in time.
//!
//! Always: a player attacks only from where it reaches its target, and no sooner than its weapon
//! lets it. Nobody attacks while the store could not save the gains.

use std::collections::VecDeque;
use std::sync::Arc;

use super::attack_rules::{self, Side};
use super::{Aim, COMING_MAX, Clash, Event, Intent, Style, fighter, reach, roll, style, supplies};
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::training::skill::Skill;
use crate::features::{movement, visit};
use crate::geometry::tile::{Region, Tile};
use crate::item::Value;
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::rng;
use crate::tick::{Outcome, PhaseClock, failed, turn_away};
use crate::world::World;

/// Divisor of a tick's searches: the share for players that run after a target.
const SEARCH_SHARE: u64 = 4;
/// Sets the dice of a fight apart from other dice of the same player.
pub(crate) const DICE: u64 = 0xf1_6874;

impl World {
    /// Answers a request about fighting.
    pub(crate) fn answer_combat(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Attack { target } => return self.attack(who, target, searches_end, out),
            Intent::Style(style) => self.fight_as(who, style, out)?,
            Intent::Retaliate { on } => self.retaliate(who, on, out)?,
            Intent::Autocast { spell } => self.autocast(who, spell.as_deref(), out)?,
        }
        Ok(Answer::Done { value: false })
    }

    /// Returns the tile and the region of a fighter, if it can fight now.
    pub(crate) fn fighter_at(&self, id: &EntityId) -> Option<(Tile, Region)> {
        if let Some(npc) = self.npcs.get(id) {
            return npc.lives().then_some((npc.state.tile, npc.region));
        }
        let player = self.players.get(&id.character())?;
        player.lives().then(|| (player.tile(), player.region))
    }

    /// Returns whether blows may reach somebody now. None reaches a player that is being handed
    /// over.
    pub(crate) fn may_be_struck(&self, id: &EntityId) -> bool {
        let player = self.players.get(&id.character());
        player.map_or_else(
            || {
                self.npcs
                    .get(id)
                    .is_some_and(crate::entity::npc::Npc::lives)
            },
            crate::entity::player::Player::free,
        )
    }

    pub(crate) fn clash(&self, id: &EntityId) -> Option<&Clash> {
        if let Some(npc) = self.npcs.get(id) {
            return Some(&npc.state.combat.clash);
        }
        let player = self.players.get(&id.character())?;
        Some(&player.fight.clash)
    }

    pub(crate) fn clash_mut(&mut self, id: &EntityId) -> Option<&mut Clash> {
        if let Some(npc) = self.npcs.get_mut(id) {
            return Some(&mut npc.state.combat.clash);
        }
        let player = self.players.get_mut(&id.character())?;
        Some(&mut player.fight.clash)
    }

    /// Checks whether `by` may attack `target`, both of whom are here.
    ///
    /// # Errors
    /// `NotFound`, `NotAttackable`, `PlayersSafe`, `Engaged`, `InDuel`.
    pub(crate) fn may_attack(&self, by: &EntityId, target: &EntityId) -> Result<(), Refusal> {
        let (from, _) = self.fighter_at(by).ok_or(Refusal::NotFound)?;
        let (to, _) = self.fighter_at(target).ok_or(Refusal::NotFound)?;
        let tame = self
            .npcs
            .get(target)
            .is_some_and(|npc| !npc.placement.kind.attackable);
        if by == target || tame {
            return Err(Refusal::NotAttackable);
        }
        if self.may_fight_in_ring(by, target)? {
            return Ok(());
        }
        if !self.npcs.contains_key(by) && !self.npcs.contains_key(target) {
            attack_rules::players(&self.content, from, to)?;
        }
        let one = (self.clash(by), self.clash(target));
        let (Some(mine), Some(theirs)) = one else {
            return Err(Refusal::NotFound);
        };
        let side = |id, tile, clash| Side { id, tile, clash };
        let sides = (side(by, from, mine), side(target, to, theirs));
        attack_rules::alone(&self.content, sides.0, sides.1, self.now)
    }

    /// Lets a player set out to fight a target.
    pub(crate) fn attack(
        &mut self,
        who: &CharacterId,
        target: EntityId,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let from = self.players.get(who).ok_or(Refusal::NotFound)?.tile();
        let Some((at, region)) = self.fighter_at(&target) else {
            let there = self.npcs.contains_key(&target) || self.look(&target).is_some();
            if !there && self.may_be_elsewhere(from) {
                return Ok(Answer::Elsewhere { target });
            }
            let thing = there && self.clash(&target).is_none();
            return Err(if thing {
                Refusal::NotAttackable
            } else {
                Refusal::NotFound
            });
        };
        self.may_attack(&who.entity(), &target)?;
        if from.steps_to(at) > reach::CHASE_TILES {
            return Err(Refusal::TooFar);
        }
        let path = self.approach(who, at, searches_end)?;
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        turn_away(player, out);
        visit::tick::close(player, out);
        player.gait.path = path;
        player.fight.aim = Some(Aim {
            target,
            region,
            seen_at: at,
        });
        Ok(Answer::Done { value: false })
    }

    /// Returns the way on which a player comes into reach of a target at `to`, no further than
    /// needed.
    fn approach(
        &mut self,
        who: &CharacterId,
        to: Tile,
        searches_end: u64,
    ) -> Result<VecDeque<Tile>, Refusal> {
        let (router, terrain) = (&mut self.router, self.content.terrain());
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let attack = fighter::player(&self.content, player.record());
        let blow = attack.blow();
        let from = player.tile();
        if reach::reaches(terrain, blow, from, to) {
            return Ok(VecDeque::new());
        }
        if from == to {
            let duel = self.ring_duel(who);
            let ring = duel.and_then(|duel| self.content.rings()?.ring(duel.ring?));
            let free = |to: Tile| ring.is_none_or(|ring| ring.bounds.contains(to));
            return Ok(reach::aside(terrain, from, free).into_iter().collect());
        }
        if let Some(side) = reach::beside(terrain, blow, from, to) {
            let path = movement::way(player, router, terrain, searches_end, side)?;
            if path.back() == Some(&side) {
                return Ok(reach::shortened(terrain, blow, path, to));
            }
        }
        let path = movement::way(player, router, terrain, searches_end, to)?;
        Ok(reach::shortened(terrain, blow, path, to))
    }

    /// Lets players that fight keep up with their targets, and attack when it is time. The order is
    /// that of their player slots.
    pub(crate) fn play_fights(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let fighting = self.players.values();
        let fighting = fighting.filter(|p| p.fight.aim.is_some() && p.free());
        let mut fighting: Vec<(u32, CharacterId)> = fighting
            .map(|player| (player.pid, player.record.id.clone()))
            .collect();
        fighting.sort_unstable();
        let askers = fighting.iter().map(|(_, who)| who);
        let mut searches = self.share_searches(SEARCH_SHARE, askers);
        for (_, who) in fighting {
            let end = searches.turn(&who);
            if let Some(player) = self.players.get(&who) {
                phases.region(player.region);
            }
            if let Err(why) = self.play_fight(&who, value, end, out) {
                self.give_up_fight(&who, why, out);
            }
        }
    }

    /// Ends a fight. Tells the player the reason, unless the target is dead.
    fn give_up_fight(&mut self, who: &CharacterId, why: Refusal, out: &mut Outcome) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        player.gait.path.clear();
        if player.fight.aim.take().is_some() && why != Refusal::Dead {
            out.events.push(failed(player, why));
        }
    }

    /// Plays one tick of a fight.
    ///
    /// # Errors
    /// The reason why the fight ends; `Dead`: the target is dead.
    fn play_fight(
        &mut self,
        who: &CharacterId,
        value: Value,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let aim = player.fight.aim.clone().ok_or(Refusal::NotFound)?;
        let from = player.tile();
        let Some((at, _)) = self.fighter_at(&aim.target) else {
            let dead = self.clash(&aim.target).is_some();
            return Err(if dead {
                Refusal::Dead
            } else {
                Refusal::Interrupted
            });
        };
        self.may_attack(&who.entity(), &aim.target)?;
        if from.steps_to(at) > reach::CHASE_TILES {
            return Err(Refusal::TooFar);
        }
        let attack = fighter::player(&self.content, player.record());
        let blow = attack.blow();
        if !reach::reaches(self.content.terrain(), blow, from, at) {
            return self.keep_up(who, &aim, at, searches_end);
        }
        let ready = self.now >= player.fight.clash.attacks_at;
        let ready = self.may_strike(who, attack.kind, value)? && ready;
        if let Some(player) = self.players.get_mut(who) {
            player.gait.path.clear();
            if let Some(aim) = &mut player.fight.aim {
                aim.seen_at = at;
            }
        }
        let coming = self
            .clash(&aim.target)
            .map_or(0, |clash| clash.coming.len());
        if !ready || !self.may_be_struck(&aim.target) || coming >= COMING_MAX {
            return Ok(());
        }
        let mut dice = self.mint.dice(rng::key(who.as_str()) ^ DICE, self.now);
        let record = self.players.get(who).ok_or(Refusal::NotFound)?.record();
        let used = supplies::used(&self.content, record, &mut dice)?;
        self.use_up(who, used, at, out)?;
        let guard = self.guard(&aim.target, attack.against);
        let damage = roll::damage(attack.weight, guard, attack.max_hit, &mut dice);
        self.deal(&who.entity(), &aim.target, &attack, damage, out);
        Ok(())
    }

    /// Returns whether `who` waits for `target` to step aside. They attack each other on the same
    /// tile, and the one with the lower id waits for nobody.
    fn waits_for(&self, who: &CharacterId, target: &EntityId) -> bool {
        let other = self.players.get(&target.character());
        let aims = other.and_then(|other| other.fight.aim.as_ref());
        let at_me = aims.is_some_and(|aim| aim.target == who.entity());
        at_me && target.character() < *who
    }

    /// Sends a player after a target that it does not reach.
    fn keep_up(
        &mut self,
        who: &CharacterId,
        aim: &Aim,
        at: Tile,
        searches_end: u64,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if aim.seen_at == at && !player.gait.path.is_empty() {
            return Ok(());
        }
        if player.tile() == at && self.waits_for(who, &aim.target) {
            return Ok(());
        }
        let path = match self.approach(who, at, searches_end) {
            // The world is busy: the player keeps the way that it has.
            Err(Refusal::Busy) => return Ok(()),
            Err(why) => return Err(why),
            Ok(path) if path.is_empty() => return Err(Refusal::Unreachable),
            Ok(path) => path,
        };
        if let Some(player) = self.players.get_mut(who) {
            player.gait.path = path;
            if let Some(aim) = &mut player.fight.aim {
                aim.seen_at = at;
            }
        }
        Ok(())
    }

    /// Sets a player's style. A style other than casting ends casting.
    pub(crate) fn fight_as(
        &mut self,
        who: &CharacterId,
        chosen: Style,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let content = Arc::clone(&self.content);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let record = &mut player.record;
        let allowed = style::allowed(fighter::weapon_sort(&content, record));
        let casts = record.combat_settings.spell.is_some();
        if !allowed.contains(&chosen) || (chosen == Style::Autocast && !casts) {
            return Err(Refusal::WrongStyle);
        }
        record.combat_settings.style = chosen;
        if chosen != Style::Autocast {
            record.combat_settings.spell = None;
        }
        self.chose(who, out);
        Ok(())
    }

    /// Sets whether a player turns to its attackers.
    pub(crate) fn retaliate(
        &mut self,
        who: &CharacterId,
        on: bool,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        player.record.combat_settings.retaliates = on;
        self.chose(who, out);
        Ok(())
    }

    /// Sets a player's spell, or none.
    pub(crate) fn autocast(
        &mut self,
        who: &CharacterId,
        spell: Option<&str>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let content = Arc::clone(&self.content);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let chosen = match spell {
            None => None,
            Some(id) => {
                let spell = content.spells().get(id).ok_or(Refusal::NotFound)?;
                if player.record.boosted(Skill::Magic) < u32::from(spell.level) {
                    return Err(Refusal::LevelTooLow);
                }
                Some(spell.id.clone())
            }
        };
        player.record.combat_settings.spell = chosen;
        self.chose(who, out);
        Ok(())
    }

    /// Notes that a player holds another weapon, or none. A weapon without casting ends casting.
    pub(crate) fn rearm(&mut self, who: &CharacterId, out: &mut Outcome) {
        let content = Arc::clone(&self.content);
        if let Some(player) = self.players.get_mut(who) {
            let allowed = style::allowed(fighter::weapon_sort(&content, &player.record));
            if !allowed.contains(&Style::Autocast) {
                player.record.combat_settings.spell = None;
            }
            self.chose(who, out);
        }
    }

    fn chose(&mut self, who: &CharacterId, out: &mut Outcome) {
        out.changes.altered.insert(who.clone());
        out.emit(Event::Settings { who: who.clone() });
    }
}
