//! Dropping and picking up. What one drops is its own for 100 ticks, anybody's until 300, and
//! gone then.
//!
//! Always: nothing lies where nobody stood; a tile holds 128 things at most, and the one that
//! would go first makes room for one more.

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

/// As far as one may reach out for something, in steps.
const REACH_TILES: u32 = 32;
/// A region that is further away has nothing within reach: nobody goes further past a border.
const REGION_REACH_TILES: u32 = REACH_TILES + crate::features::movement::border::PAST_TILES_MAX;
/// A year: nothing lies so long past its time.
const NEVER_TICKS: u64 = 52_560_000;
/// Things on a tile.
pub(crate) const PILE_MAX: usize = 128;
/// Things on the ground of a world.
const GROUND_MAX: usize = 65_536;

/// How `player` lays `quantity` (`None`: all) of what is in `slot` on the ground, as `id`.
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

/// When what `record` drops is anybody's, and when it is gone. A newcomer's is never anybody's.
fn times(record: &PlayerRecord, rules: &Rules, now: Tick) -> (Tick, Tick) {
    let expires_at = now.after(rules.ground_ticks);
    if newcomer::is_newcomer(record, rules) {
        (never_public(expires_at), expires_at)
    } else {
        (now.after(rules.ground_own_ticks), expires_at)
    }
}

/// When something is anybody's that is gone at `expires_at`, and nobody else's before: so late
/// that it is gone by then, even if it could not be taken away in time.
pub(crate) fn never_public(expires_at: Tick) -> Tick {
    expires_at.after(NEVER_TICKS)
}

/// How `item` comes to lie on the ground, by itself or with its like.
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

/// The stack on the same tile that is as much the dropper's own, if the item can be stacked.
fn merges(content: &Content, ground: &Ground, now: Tick, item: &GroundItem) -> Option<EntityId> {
    if !content.stackable(&item.item) {
        return None;
    }
    let same = |there: &&GroundItem| {
        there.item == item.item
            && there.region == item.region
            && there.protected_for(now) == item.owner.as_ref()
            // What is never anybody's does not become so on another stack.
            && (there.public_at > there.expires_at) == (item.public_at > item.expires_at)
            && there.quantity.saturating_add(item.quantity) <= QUANTITY_MAX
    };
    ground
        .pile(item.tile)
        .find(same)
        .map(|there| there.id.clone())
}

/// What must go so that no more than 128 things lie on `tile`: what would be gone first.
pub(crate) fn buried(ground: &Ground, tile: Tile) -> Option<EntityId> {
    if ground.pile_len(tile) <= PILE_MAX {
        return None;
    }
    let first = ground
        .pile(tile)
        .min_by_key(|item| (item.expires_at, &item.id));
    first.map(|item| item.id.clone())
}

/// Whether `who` at `from` may set out for `item`, or take it.
///
/// # Errors
/// `TooFar`; `Protected`: it is another's for now.
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

/// One who is on its way to `item`, as the input of that number asks.
pub(crate) fn pending(item: &GroundItem, number: u64) -> Pickup {
    Pickup {
        number,
        target: item.seen().clone(),
        region: item.region,
    }
}

/// How `player` takes all of `item`: coins into the pouch while they fit, the rest into the pack.
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

/// Whether something that one at `tile` may reach can lie where others play.
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
