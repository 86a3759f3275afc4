//! Requests at an open bank.

use super::{Intent, rules};
use crate::entity::ids::CharacterId;
use crate::entity::player::record::PlayerRecord;
use crate::features::visit::Interface;
use crate::item::leg::Leg;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Follows a request about the own bank: to open or close it, or to use it while it is open.
    pub(crate) fn answer_bank(
        &mut self,
        asked: Asked<'_>,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let who = asked.who;
        let (cause, legs) = match intent {
            Intent::Open { target } => {
                return self.visit(asked, target, Interface::Bank, searches_end, out);
            }
            Intent::Close => {
                self.shut(who, &Interface::Bank, out)?;
                return Ok(Answer::Done { value: false });
            }
            Intent::Deposit {
                slot,
                quantity,
                tab,
            } => rules::deposit(self.at_bank(who)?, &self.content, slot, quantity, tab)?,
            Intent::DepositAll { tab } => {
                rules::deposit_all(self.at_bank(who)?, &self.content, tab)?
            }
            Intent::DepositWorn { tab } => {
                rules::deposit_worn(self.at_bank(who)?, &self.content, tab)?
            }
            Intent::Withdraw {
                item,
                quantity,
                noted,
            } => rules::withdraw(self.at_bank(who)?, &self.content, &item, quantity, noted)?,
            Intent::Coins { amount, out } => rules::coins(self.at_bank(who)?, amount, out),
            Intent::Arrange(how) => {
                let who = self.at_bank(who)?.id.clone();
                (None, vec![Leg::Arrange { who, how }])
            }
        };
        self.transfer(cause, &legs, out)?;
        Ok(Answer::Done { value: true })
    }

    /// Returns the record of a player that has its bank open.
    fn at_bank(&self, who: &CharacterId) -> Result<&PlayerRecord, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        if player.has_open(&Interface::Bank) {
            Ok(player.record())
        } else {
            Err(Refusal::NotOpen)
        }
    }
}
