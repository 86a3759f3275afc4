//! Dropping and picking up. A dropped thing is its owner's for 100 ticks, anybody's until 300, and
//! gone then.
//!
//! Always: nothing lies where nobody stood. A tile holds 128 things at most: the one that would
//! expire first makes room for one more.

use super::Pickup;
use crate::content::Content;
use crate::entity::ground_item::{Ground, GroundItem};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::features::newcomer;
use crate::geometry::tile::{Region, Tile};
use crate::item::transfer::Leg;
use crate::item::{COINS, QUANTITY_MAX, Stack};
use crate::refusal::Refusal;
use crate::rules::Rules;
use crate::time::Tick;

/// Steps within which one may set out for something.
const REACH_TILES: u32 = 32;
/// Steps within which a region may hold something in reach: nobody goes further past a border.
const REGION_REACH_TILES: u32 = REACH_TILES + crate::features::movement::border::PAST_TILES_MAX;
/// A year in ticks: nothing lies so long past its time.
const NEVER_TICKS: u64 = 52_560_000;
/// Most things on a tile.
pub(crate) const PILE_MAX: usize = 128;
/// Most things on the ground of a world.
const GROUND_MAX: usize = 65_536;

/// Returns the legs that lay `quantity` (`None`: all) of the stack in `slot` on the ground, as
/// `id`.
///
/// # Errors
/// `EmptySlot`, `NotEnough`; `Busy`: too much lies about.
pub(crate) fn drop(
    player: &Player,
    content: &Content,
    ground: &Ground,
    (now, rules): (Tick, &Rules),
    (slot, quantity): (u8, Option<u32>),
    id: EntityId,
) -> Result<Vec<Leg>, Refusal> {
    let record = player.record();
    let stack = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    let quantity = quantity.unwrap_or(stack.quantity);
    let (public_at, expires_at) = times(record, rules, now);
    let item = GroundItem {
        id,
        region: player.region(),
        tile: record.tile,
        item: stack.item.clone(),
        quantity,
        owner: Some(record.id.clone()),
        public_at,
        expires_at,
        grave: None,
    };
    let who = record.id.clone();
    let from = Leg::FromSlot {
        who,
        slot,
        quantity,
    };
    Ok(vec![from, laid(content, ground, now, item)?])
}

/// Returns when a thing that `record` drops becomes anybody's, and when it expires. A newcomer's
/// thing never becomes anybody's.
fn times(record: &PlayerRecord, rules: &Rules, now: Tick) -> (Tick, Tick) {
    let expires_at = now.after(rules.ground_ticks);
    if newcomer::is_newcomer(record, rules) {
        (never_public(expires_at), expires_at)
    } else {
        (now.after(rules.ground_own_ticks), expires_at)
    }
}

/// Returns the tick at which a thing that expires at `expires_at` becomes anybody's, if it never
/// may. That tick is so late that the thing is gone by then, even if its removal was late.
pub(crate) fn never_public(expires_at: Tick) -> Tick {
    expires_at.after(NEVER_TICKS)
}

/// Returns the leg that lays `item` on the ground, by itself or on a stack of its like.
///
/// # Errors
/// `Busy`: too much lies about.
pub(crate) fn laid(
    content: &Content,
    ground: &Ground,
    now: Tick,
    item: GroundItem,
) -> Result<Leg, Refusal> {
    let merges_with = merges(content, ground, now, &item);
    if merges_with.is_none() && ground.len() >= GROUND_MAX {
        return Err(Refusal::Busy);
    }
    Ok(Leg::ToGround { item, merges_with })
}

/// Returns the stack of its like on the same tile with the same protected owner, if `item` stacks.
fn merges(content: &Content, ground: &Ground, now: Tick, item: &GroundItem) -> Option<EntityId> {
    if !content.stackable(&item.item) {
        return None;
    }
    let same = |there: &&GroundItem| {
        there.item == item.item
            && there.region == item.region
            && there.protected_for(now) == item.owner.as_ref()
            // A thing that never becomes anybody's must not merge with one that does.
            && (there.public_at > there.expires_at) == (item.public_at > item.expires_at)
            && there.quantity.saturating_add(item.quantity) <= QUANTITY_MAX
    };
    ground
        .pile(item.tile)
        .find(same)
        .map(|there| there.id.clone())
}

/// Returns the thing that must go from `tile` for the limit of 128: the first to expire.
pub(crate) fn buried(ground: &Ground, tile: Tile) -> Option<EntityId> {
    if ground.pile_len(tile) <= PILE_MAX {
        return None;
    }
    let first = ground
        .pile(tile)
        .min_by_key(|item| (item.expires_at, &item.id));
    first.map(|item| item.id.clone())
}

/// Checks whether `who` at `from` may set out for `item`, or take it.
///
/// # Errors
/// `TooFar`; `Protected`: it belongs to another for now.
pub(crate) fn may_take(
    item: &GroundItem,
    who: &CharacterId,
    from: Tile,
    now: Tick,
) -> Result<(), Refusal> {
    if from.steps_to(item.tile) > REACH_TILES {
        return Err(Refusal::TooFar);
    }
    if item.protected_for(now).is_some_and(|owner| owner != who) {
        return Err(Refusal::Protected);
    }
    Ok(())
}

/// Returns the way to `item` for the input `number`.
pub(crate) fn pending(item: &GroundItem, number: u64) -> Pickup {
    Pickup {
        number,
        target: item.seen().clone(),
        region: item.region,
    }
}

/// Returns the legs by which `player` takes all of `item`. Coins go into the pouch if all of them
/// fit; all else goes into the pack.
pub(crate) fn take(player: &Player, item: &GroundItem) -> Vec<Leg> {
    let record = player.record();
    let who = record.id.clone();
    let room = u64::from(QUANTITY_MAX).saturating_sub(record.coins);
    let to = if *item.item == *COINS && u64::from(item.quantity) <= room {
        let amount = item.quantity;
        Leg::ToPouch { who, amount }
    } else {
        let stack = Stack::new(item.item.clone(), item.quantity);
        Leg::ToPack { who, stack }
    };
    let id = item.id.clone();
    vec![Leg::FromGround { id }, to]
}

/// Returns whether something that a player at `tile` may reach can lie where others play.
pub(crate) fn may_be_elsewhere(
    content: &Content,
    tile: Tile,
    played: impl Fn(Region) -> bool,
) -> bool {
    let near = |region: &&Region| region.tiles_past(tile) <= REGION_REACH_TILES;
    content
        .regions()
        .iter()
        .filter(near)
        .any(|region| !played(*region))
}
