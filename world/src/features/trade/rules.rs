//! Trading: two players swap items after each has agreed twice.
//!
//! Always: a player is in at most one open trade. Neither pack changes while the trade is open. The
//! sum of each item over both players is the same after a trade as before it. Before anything
//! moves, the server looks up each offered item in its owner's pack again.

use super::{Offer, Offered, Screen, Trade, TradeEnd, Trades};
use crate::content::Content;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::{Player, Players};
use crate::geometry::tile::Tile;
use crate::item::leg::Leg;
use crate::item::{COINS, SLOTS, Stack, inventory};
use crate::refusal::Refusal;
use crate::time::Tick;

/// Most steps between two players that trade.
const REACH_TILES: u32 = 2;
/// Lifetime of a request without an answer: 30 s.
const REQUEST_TICKS: u64 = 50;
/// Time for which a trade lives while nobody does anything: 5 min.
const TRADE_TICKS: u64 = 500;
/// Time between two requests by one player to the same other player: 3 s.
const AGAIN_TICKS: u64 = 5;
/// Most requests that may wait for one player. A new one replaces the oldest.
const REQUESTS_MAX: usize = 16;

/// Returns whether two players at these places can trade.
pub(crate) fn in_reach(one: Tile, other: Tile) -> bool {
    one.steps_to(other) <= REACH_TILES
}

/// Checks whether `who` may ask `target`, a player of this world, for a trade.
///
/// # Errors
/// `SelfTrade`; `InterfaceOpen`: `who` has something open; `InTrade`: the trade or request of `who`
/// must end first; `Cooldown`; `TooFar`; `PlayerBusy`: `who` is in combat, or `target` is busy.
pub(crate) fn may_ask(
    trades: &Trades,
    who: &Player,
    target: &Player,
    now: Tick,
) -> Result<(), Refusal> {
    if who.record.id == target.record.id {
        return Err(Refusal::SelfTrade);
    }
    if who.open.is_some() {
        return Err(Refusal::InterfaceOpen);
    }
    if who.dealings.trade.is_some() {
        return Err(Refusal::InTrade);
    }
    let again = who.dealings.asked_trade.as_ref();
    let again = again.filter(|(whom, at)| *whom == target.record.id && now < at.after(AGAIN_TICKS));
    if again.is_some() {
        return Err(Refusal::Cooldown);
    }
    if !in_reach(who.tile(), target.tile()) {
        return Err(Refusal::TooFar);
    }
    if who.fight.clash.in_combat(now) || !free(trades, target, now) {
        return Err(Refusal::PlayerBusy);
    }
    Ok(())
}

/// Returns the oldest request to `target`, if no further request may wait for it. Each asker has
/// one request at most, so that nobody keeps others from asking.
pub(crate) fn crowded_out(trades: &Trades, target: &CharacterId) -> Option<EntityId> {
    let waiting = trades.all.values();
    let waiting = waiting.filter(|t| t.screen.is_none() && t.sides[1].who == *target);
    let mut waiting: Vec<(Tick, &EntityId)> = waiting.map(|t| (t.since, &t.id)).collect();
    waiting.sort_unstable();
    let full = waiting.len() >= REQUESTS_MAX;
    waiting
        .first()
        .filter(|_| full)
        .map(|(_, id)| (*id).clone())
}

/// Returns whether nothing keeps `player` from beginning a trade now.
fn free(trades: &Trades, player: &Player, now: Tick) -> bool {
    let trading = trades.open(player.dealings.trade.as_ref()).is_some();
    let fights = player.fight.clash.in_combat(now);
    let about = trading || fights || player.open.is_some() || player.dealings.duel.is_some();
    !about && player.free()
}

/// Returns the request `id`, if it asks `who` for a trade.
///
/// # Errors
/// `InvalidTrade`.
pub(crate) fn request<'t>(
    trades: &'t Trades,
    who: &CharacterId,
    id: &EntityId,
) -> Result<&'t Trade, Refusal> {
    let trade = trades.all.get(id);
    let trade = trade.filter(|trade| trade.screen.is_none() && trade.sides[1].who == *who);
    trade.ok_or(Refusal::InvalidTrade)
}

/// Checks whether the requested trade can begin.
///
/// # Errors
/// `InTrade`, `InterfaceOpen`: of the player that answers; `PlayerBusy`: the player that answers is
/// in combat, or the one that asked is busy; `PlayerOffline`; `TooFar`.
pub(crate) fn may_begin(
    trades: &Trades,
    players: &Players,
    trade: &Trade,
    now: Tick,
) -> Result<(), Refusal> {
    let [asker, asked] = &trade.sides;
    let asked = players.get(&asked.who).ok_or(Refusal::NotFound)?;
    let asker = players.get(&asker.who).ok_or(Refusal::PlayerOffline)?;
    if trades.open(asked.dealings.trade.as_ref()).is_some() {
        return Err(Refusal::InTrade);
    }
    if asked.open.is_some() {
        return Err(Refusal::InterfaceOpen);
    }
    if asked.fight.clash.in_combat(now) || !free(trades, asker, now) {
        return Err(Refusal::PlayerBusy);
    }
    if !in_reach(asked.tile(), asker.tile()) {
        return Err(Refusal::TooFar);
    }
    Ok(())
}

/// Returns the open trade `id` of `player`.
///
/// # Errors
/// `NotInTrade`: the player is in no trade. `InvalidTrade`: the player is in another trade.
pub(crate) fn of<'t>(
    trades: &'t mut Trades,
    player: &Player,
    id: &EntityId,
) -> Result<&'t mut Trade, Refusal> {
    let open = trades.open(player.dealings.trade.as_ref());
    let open = open.ok_or(Refusal::NotInTrade)?;
    if open.id != *id {
        return Err(Refusal::InvalidTrade);
    }
    trades.all.get_mut(id).ok_or(Refusal::NotInTrade)
}

/// Offers `quantity` (`None`: all) of the items in `slot`, instead of any offer from that slot
/// before. Returns the offered stack.
///
/// # Errors
/// `EmptySlot`, `InvalidItem`, `Untradeable`, `InvalidQuantity`.
pub(crate) fn offer(
    trade: &mut Trade,
    player: &Player,
    content: &Content,
    slot: u8,
    quantity: Option<u32>,
    now: Tick,
) -> Result<Stack, Refusal> {
    let record = player.record();
    let there = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    if *there.item != *COINS {
        let kind = content.item(&there.item).ok_or(Refusal::InvalidItem)?;
        if !kind.tradeable {
            return Err(Refusal::Untradeable);
        }
    }
    let quantity = quantity.unwrap_or(there.quantity);
    if quantity == 0 || quantity > there.quantity {
        return Err(Refusal::InvalidQuantity);
    }
    let stack = Stack::new(there.item.clone(), quantity);
    let things = &mut trade
        .offer_mut(&record.id)
        .ok_or(Refusal::NotInTrade)?
        .things;
    let same = things.iter().find(|(_, offered)| offered.slot == slot);
    let same = same.map(|(place, _)| *place);
    let free = || (0..SLOTS).find(|place| !things.contains_key(place));
    let place = same.or_else(free).ok_or(Refusal::InvalidQuantity)?;
    let offered = Offered {
        slot,
        stack: stack.clone(),
    };
    things.insert(place, offered);
    trade.show(Screen::Offer, now);
    Ok(stack)
}

/// Returns the slot of the pack from which `who` offers something at `place`.
///
/// # Errors
/// `EmptySlot`: `who` offers nothing there.
pub(crate) fn slot_at(trade: &Trade, who: &CharacterId, place: u8) -> Result<u8, Refusal> {
    let (mine, _) = trade.sides_of(who).ok_or(Refusal::NotInTrade)?;
    let offered = mine.offer.things.get(&place).ok_or(Refusal::EmptySlot)?;
    Ok(offered.slot)
}

/// Takes the item at `place` out of the offer of `who`, and returns it.
///
/// # Errors
/// `EmptySlot`: `who` offers nothing there.
pub(crate) fn withdraw(
    trade: &mut Trade,
    who: &CharacterId,
    place: u8,
    now: Tick,
) -> Result<Stack, Refusal> {
    let offer = trade.offer_mut(who).ok_or(Refusal::NotInTrade)?;
    let offered = offer.things.remove(&place).ok_or(Refusal::EmptySlot)?;
    trade.show(Screen::Offer, now);
    Ok(offered.stack)
}

/// Returns whether each offered item still lies in its slot.
pub(crate) fn still_there(trade: &Trade, players: &Players) -> bool {
    trade.sides.iter().all(|side| {
        let mut things = side.offer.things.values();
        let who = players.get(&side.who);
        who.is_some_and(|who| things.all(|offered| offered.lies_in(&who.record().inventory)))
    })
}

/// Returns the legs of the swap. Both offers leave their packs before either arrives, so that they
/// make room.
pub(crate) fn swap(trade: &Trade) -> Vec<Leg> {
    let [one, other] = &trade.sides;
    let mut legs = Vec::new();
    for side in [one, other] {
        legs.extend(side.offer.things.values().map(|offered| Leg::FromSlot {
            who: side.who.clone(),
            slot: offered.slot,
            quantity: offered.stack.quantity,
        }));
    }
    for (from, to) in [(one, other), (other, one)] {
        legs.extend(from.offer.things.values().map(|offered| Leg::ToPack {
            who: to.who.clone(),
            stack: offered.stack.clone(),
        }));
    }
    legs
}

/// Returns the worth of an offer, in coins.
pub(crate) fn worth(content: &Content, offer: &Offer) -> u64 {
    let worth = |offered: &Offered| {
        let kind = content.item(&offered.stack.item);
        let coin = u64::from(*offered.stack.item == *COINS);
        let each = kind.map_or(coin, |kind| kind.value);
        each.saturating_mul(u64::from(offered.stack.quantity))
    };
    offer
        .things
        .values()
        .map(worth)
        .fold(0, u64::saturating_add)
}

/// Returns the sums of an offer, each item once.
pub(crate) fn sums(offer: &Offer) -> Vec<Stack> {
    let mut sums: Vec<Stack> = Vec::new();
    for Offered { stack, .. } in offer.things.values() {
        match sums.iter_mut().find(|sum| sum.item == stack.item) {
            Some(sum) => sum.quantity = sum.quantity.saturating_add(stack.quantity),
            None => sums.push(stack.clone()),
        }
    }
    sums
}

/// Returns the number of empty slots in a player's pack.
pub(crate) fn free_slots(player: &Player) -> u32 {
    inventory::free_slots(&player.record().inventory)
}

/// Returns the reason why a trade cannot go on after this tick, if there is one.
pub(crate) fn over(trade: &Trade, players: &Players, now: Tick) -> Option<TradeEnd> {
    let [one, other] = &trade.sides;
    let (one, other) = (players.get(&one.who), players.get(&other.who));
    let (Some(one), Some(other)) = (one, other) else {
        return Some(TradeEnd::Server);
    };
    let knows = |player: &Player| player.dealings.trade.as_ref() == Some(&trade.id);
    if !knows(one) || (trade.screen.is_some() && !knows(other)) {
        return Some(TradeEnd::Server);
    }
    let lives = match trade.screen {
        None => REQUEST_TICKS,
        Some(_) => TRADE_TICKS,
    };
    if !in_reach(one.tile(), other.tile()) {
        Some(TradeEnd::TooFar)
    } else if now.since(trade.since) >= lives {
        Some(TradeEnd::Timeout)
    } else {
        None
    }
}
