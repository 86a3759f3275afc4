//! Wearing something, and taking it off.

use super::Intent;
use crate::content::EquipSlot;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::look::Field;
use crate::features::equipment;
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Plays a request to wear something, or to take it off.
    pub(crate) fn answer_equipment(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Equip { slot } => self.equip(who, slot, out)?,
            Intent::Unequip { place } => self.unequip(who, place, out)?,
        }
        Ok(Answer::Done { value: true })
    }

    pub(crate) fn equip(
        &mut self,
        who: &CharacterId,
        slot: u8,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = equipment::rules::equip(player, &self.content, slot)?;
        self.transfer(None, &legs, out)
    }

    pub(crate) fn unequip(
        &mut self,
        who: &CharacterId,
        place: EquipSlot,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = equipment::rules::remove(player, place)?;
        self.transfer(None, &legs, out)
    }

    /// Returns the public field of the equipment that the player `id` wears, if any.
    pub(crate) fn worn_field(&self, id: &EntityId) -> Option<(&'static str, Field)> {
        let player = self.players.get(&id.character())?;
        let worn = equipment::rules::seen(&player.record().equipment)?;
        Some(("worn", worn.as_str().into()))
    }
}
