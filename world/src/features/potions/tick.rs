//! Drinks, fading boosts and poison in a tick.

use std::sync::Arc;

use super::{PotionState, rules};
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::{prayer, vitals};
use crate::item::Value;
use crate::item::ledger::Cause;
use crate::refusal::Refusal;
use crate::rng;
use crate::tick::Outcome;
use crate::world::World;

/// Dealer of the last blow of those who die of poison: it is nobody, so it gets nothing.
const POISON: &str = "poison";
/// Sets the dice of poison apart from other dice of the same beast.
const DICE: u64 = 0x0b_1e55;

impl World {
    /// Drinks a dose of the potion in `slot`.
    ///
    /// # Errors
    /// `EmptySlot`; `Unsupported`: it is no potion. `Cooldown`: the player has just used something.
    pub(crate) fn drink(
        &mut self,
        who: &CharacterId,
        slot: u8,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let (now, content) = (self.now, Arc::clone(&self.content));
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let stack = player.record.inventory.get(&slot);
        let stack = stack.ok_or(Refusal::EmptySlot)?;
        let potion = content.items().drinkable(&stack.item);
        let potion = potion.ok_or(Refusal::Unsupported)?;
        if now < player.skilling.next_action_at {
            return Err(Refusal::Cooldown);
        }
        let legs = rules::exchange(&player.record, slot, potion);
        self.transfer(Some(Cause::Drink), &legs, out)?;
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let prays = rules::drink(&mut player.record, potion);
        self.dosed.note(&player.record.id, &player.record.potions);
        player.skilling.next_action_at = now.after(rules::DRINK_TICKS);
        player.gait.reported_energy = player.record.energy;
        out.emit(vitals::Event::Changed { who: who.clone() });
        if prays {
            out.emit(prayer::Event::Changed { who: who.clone() });
        }
        Ok(())
    }

    /// Pours doses from the potion in `slot` to the one in `other`. Returns whether any went in.
    ///
    /// # Errors
    /// Those of [`World::transfer`].
    pub(crate) fn pour(
        &mut self,
        who: &CharacterId,
        slot: u8,
        other: u8,
        out: &mut Outcome,
    ) -> Result<bool, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let Some(legs) = rules::pour(&self.content, &player.record, slot, other) else {
            return Ok(false);
        };
        self.transfer(Some(Cause::Pour), &legs, out)?;
        Ok(true)
    }

    /// Lets the blows of this tick poison, and poison strike. Adds those whose last health that
    /// takes to `dead`. Nobody dies while the store could not save it.
    pub(crate) fn play_poison(
        &mut self,
        value: Value,
        dead: &mut Vec<(EntityId, EntityId)>,
        out: &mut Outcome,
    ) {
        if value == Value::Unavailable {
            return;
        }
        self.infect(out);
        for who in &self.dosed.0 {
            let player = self.players.get_mut(who);
            let Some(player) = player.filter(|p| p.free() && p.record.health > 0) else {
                continue;
            };
            let Some(damage) = rules::strike(&mut player.record.potions) else {
                continue;
            };
            let record = &mut player.record;
            record.health = record.health.saturating_sub(damage);
            if record.health == 0 {
                dead.push((who.entity(), EntityId::from(POISON)));
            }
            out.changes.altered.insert(who.clone());
            out.touched.insert(who.entity());
            out.emit(vitals::Event::Changed { who: who.clone() });
        }
    }

    /// Poisons players that a venomous beast has just hurt, by chance.
    fn infect(&mut self, out: &mut Outcome) {
        let now = self.now;
        let mut poisoned = Vec::new();
        for hit in out.hits.iter().filter(|hit| hit.damage > 0) {
            let (beast, who) = (self.npcs.get(&hit.attacker), hit.target.character());
            let (Some(beast), Some(player)) = (beast, self.players.get_mut(&who)) else {
                continue;
            };
            let key = beast.placement.key ^ rng::key(who.as_str()) ^ DICE;
            let mut dice = self.mint.dice(key, now);
            let strikes = rules::venom(&beast.placement.kind, &mut dice);
            let takes = |strikes| rules::poison(&mut player.record.potions, strikes);
            if player.record.health > 0 && strikes.is_some_and(takes) {
                self.dosed.note(&player.record.id, &player.record.potions);
                poisoned.push(who);
            }
        }
        for who in poisoned {
            out.changes.altered.insert(who.clone());
            out.emit(vitals::Event::Changed { who });
        }
    }

    /// Lets boosts fade by a tick. Death ends boosts and poison.
    pub(crate) fn fade_potions(&mut self, out: &mut Outcome) {
        let players = &mut self.players;
        self.dosed.0.retain(|who| {
            let Some(player) = players.get_mut(who) else {
                return false;
            };
            let state = &mut player.record.potions;
            if state.is_none() {
                return false;
            }
            let dead = player.fight.dying.is_some();
            let changed = if dead {
                *state = PotionState::default();
                true
            } else {
                !player.gait.held && rules::fade(state)
            };
            if changed {
                out.changes.altered.insert(who.clone());
                out.emit(vitals::Event::Changed { who: who.clone() });
            }
            !player.record.potions.is_none()
        });
    }

    /// Returns whether the world watches each player with something of a potion or poison in it.
    /// It always does.
    pub fn watches_the_dosed(&self) -> bool {
        let knows = |who: &CharacterId| self.dosed.0.contains(who);
        let mut players = self.players.iter();
        players.all(|(who, player)| player.record.potions.is_none() || knows(who))
    }
}
