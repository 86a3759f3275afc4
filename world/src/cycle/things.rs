//! What players do with what is their own: wear it, and bring it to the bank.

use super::{Outcome, visits};
use crate::content::EquipSlot;
use crate::event::Event;
use crate::ids::CharacterId;
use crate::intent::Banking;
use crate::interface::Interface;
use crate::item::transfer::Leg;
use crate::refusal::Refusal;
use crate::rules::combat::timing::BITE_TICKS;
use crate::rules::use_item::{self, Effect};
use crate::rules::{bank, wear};
use crate::skill::Skill;
use crate::world::World;

impl World {
    pub(super) fn equip(
        &mut self,
        who: &CharacterId,
        slot: u8,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = wear::equip(player, &self.content, slot)?;
        self.transfer(None, &legs, out)
    }

    /// Uses what lies in a slot for what it is.
    pub(super) fn use_item(
        &mut self,
        who: &CharacterId,
        slot: u8,
        skill: Option<Skill>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let now = self.now;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let used = use_item::used(player, &self.content, (slot, skill), now)?;
        let effect = used.effect;
        if let Some((cause, leg)) = used.gone {
            self.transfer(Some(cause), &[leg], out)?;
        }
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let clash = &mut player.fight.clash;
        if matches!(effect, Effect::Eaten { .. }) && clash.attacks_at > now {
            clash.attacks_at = clash.attacks_at.after(BITE_TICKS);
        }
        if use_item::done(player, effect, now) {
            out.events.push(Event::Vitals { who: who.clone() });
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

    pub(super) fn unequip(
        &mut self,
        who: &CharacterId,
        place: EquipSlot,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = wear::remove(player, place)?;
        self.transfer(None, &legs, out)
    }

    /// What one who has its bank open does there.
    pub(super) fn bank(
        &mut self,
        who: &CharacterId,
        wish: &Banking,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if !player.has_open(&Interface::Bank) {
            return Err(Refusal::NotOpen);
        }
        let (record, content) = (player.record(), &*self.content);
        let (cause, legs) = match wish {
            Banking::Deposit {
                slot,
                quantity,
                tab,
            } => bank::deposit(record, content, (*slot, *quantity), *tab)?,
            Banking::DepositAll { tab } => bank::deposit_all(record, content, *tab)?,
            Banking::DepositWorn { tab } => bank::deposit_worn(record, content, *tab)?,
            Banking::Withdraw {
                item,
                quantity,
                noted,
            } => bank::withdraw(record, content, item, *quantity, *noted)?,
            Banking::Coins { amount, out } => bank::coins(record, *amount, *out),
            Banking::Arrange(how) => {
                let (who, how) = (who.clone(), how.clone());
                (None, vec![Leg::Arrange { who, how }])
            }
        };
        self.transfer(cause, &legs, out)
    }

    /// Closes `what`, if that is open.
    pub(super) fn shut(
        &mut self,
        who: &CharacterId,
        what: &Interface,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        if !player.has_open(what) {
            return Err(Refusal::NotOpen);
        }
        visits::close(player, out);
        Ok(())
    }
}
