//! Requests to use an item for its own effect.

use super::Intent;
use crate::entity::ids::CharacterId;
use crate::features::combat::timing::BITE_TICKS;
use crate::features::training::skill::Skill;
use crate::features::use_item::rules::Effect;
use crate::features::{use_item, vitals};
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Plays a request to use an item.
    pub(crate) fn answer_use_item(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Use { slot, skill } => self.use_item(who, slot, skill, out)?,
        }
        Ok(Answer::Done { value: true })
    }

    /// Uses the item in `slot` for its own effect.
    pub(crate) fn use_item(
        &mut self,
        who: &CharacterId,
        slot: u8,
        skill: Option<Skill>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let now = self.now;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let items = self.content.items();
        let stack = player.record.inventory.get(&slot);
        if stack.is_some_and(|stack| items.drinkable(&stack.item).is_some()) {
            return self.drink(who, slot, out);
        }
        let used = use_item::rules::used(player, &self.content, slot, skill, now)?;
        let effect = used.effect;
        if let Some((cause, leg)) = used.gone {
            self.transfer(Some(cause), &[leg], out)?;
        }
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let clash = &mut player.fight.clash;
        if matches!(effect, Effect::Eaten { .. }) && clash.attacks_at > now {
            clash.attacks_at = clash.attacks_at.after(BITE_TICKS);
        }
        if use_item::rules::done(player, effect, now) {
            out.emit(vitals::Event::Changed { who: who.clone() });
            out.touched.insert(who.entity());
        }
        match effect {
            Effect::Buried { xp_tenths } => {
                self.train(who, Skill::Prayer, u64::from(xp_tenths), out);
            }
            Effect::Learned { skill, xp_tenths } => {
                self.train(who, skill, u64::from(xp_tenths), out);
            }
            Effect::Eaten { .. } => {}
        }
        Ok(())
    }
}
