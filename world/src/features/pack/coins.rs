//! Coins between the pouch and a stack in the pack. They stay with their holder.

use crate::entity::player::Player;
use crate::item::leg::Leg;
use crate::item::{COINS, Stack, inventory};
use crate::refusal::Refusal;

/// Returns the legs that move coins from the pouch to the pack.
pub(crate) fn withdraw(player: &Player, amount: u32) -> Vec<Leg> {
    let who = &player.record().id;
    let from = Leg::FromPouch {
        who: who.clone(),
        amount,
    };
    let to = Leg::ToPack {
        who: who.clone(),
        stack: Stack::new(COINS, amount),
    };
    vec![from, to]
}

/// Returns the legs that move coins from the pack to the pouch; all coins without an `amount`.
///
/// # Errors
/// `NotEnough`: there are no coins to move.
pub(crate) fn deposit(player: &Player, amount: Option<u32>) -> Result<Vec<Leg>, Refusal> {
    let record = player.record();
    let all = inventory::count(&record.inventory, COINS);
    let all = u32::try_from(all).unwrap_or(u32::MAX);
    let amount = amount.unwrap_or(all);
    if amount == 0 {
        return Err(Refusal::NotEnough);
    }
    let who = &record.id;
    let from = Leg::FromPack {
        who: who.clone(),
        stack: Stack::new(COINS, amount),
    };
    let to = Leg::ToPouch {
        who: who.clone(),
        amount,
    };
    Ok(vec![from, to])
}
