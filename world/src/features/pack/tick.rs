//! Putting the pack in order, and coins in or out of the pouch.

use super::Intent;
use crate::entity::ids::CharacterId;
use crate::features::pack::coins;
use crate::item::leg::Leg;
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Plays a request about the pack or the pouch.
    pub(crate) fn answer_pack(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::MoveSlot { from, to } => self.move_slot(who, from, to, out)?,
            Intent::WithdrawCoins { amount } => self.withdraw(who, amount, out)?,
            Intent::DepositCoins { amount } => self.deposit(who, amount, out)?,
        }
        Ok(Answer::Done { value: true })
    }

    pub(crate) fn move_slot(
        &mut self,
        who: &CharacterId,
        from: u8,
        to: u8,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let who = who.clone();
        self.transfer(None, &[Leg::Swap { who, from, to }], out)
    }

    pub(crate) fn withdraw(
        &mut self,
        who: &CharacterId,
        amount: u32,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = coins::withdraw(player, amount);
        self.transfer(None, &legs, out)
    }

    pub(crate) fn deposit(
        &mut self,
        who: &CharacterId,
        amount: Option<u32>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let legs = coins::deposit(player, amount)?;
        self.transfer(None, &legs, out)
    }
}
