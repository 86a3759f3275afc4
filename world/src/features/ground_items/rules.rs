//! Dropping and picking up. A dropped thing is its owner's for 100 ticks, anybody's until 300, and
//! gone then.
//!
//! Always: nothing lies where nobody stood.

use super::Pickup;
use crate::content::Content;
use crate::entity::ground_item::{Ground, GroundItem};
use crate::entity::ids::EntityId;
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::features::newcomer;
use crate::item::leg::Leg;
use crate::refusal::Refusal;
use crate::rules::Rules;
use crate::time::Tick;

/// Part of a stack that its owner drops.
#[derive(Debug)]
pub(crate) struct Dropped {
    /// Slot of the stack.
    pub(crate) slot: u8,
    /// Number of its items; `None`: all.
    pub(crate) quantity: Option<u32>,
    /// Id of the thing that will lie on the ground.
    pub(crate) id: EntityId,
}

/// Returns the legs that lay what a player drops on the ground.
///
/// # Errors
/// `EmptySlot`, `NotEnough`; `Busy`: too much lies about.
pub(crate) fn drop(
    player: &Player,
    content: &Content,
    ground: &Ground,
    now: Tick,
    rules: &Rules,
    dropped: Dropped,
) -> Result<Vec<Leg>, Refusal> {
    let Dropped { slot, quantity, id } = dropped;
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
    Ok(vec![from, Leg::laying(ground, content, now, item)?])
}

/// Returns when a thing that `record` drops becomes anybody's, and when it expires. A newcomer's
/// thing never becomes anybody's.
fn times(record: &PlayerRecord, rules: &Rules, now: Tick) -> (Tick, Tick) {
    let expires_at = now.after(rules.ground_ticks);
    if newcomer::is_newcomer(record, rules) {
        (GroundItem::never_public(expires_at), expires_at)
    } else {
        (now.after(rules.ground_own_ticks), expires_at)
    }
}

/// Returns the way to `item` for the input `number`.
pub(crate) fn pending(item: &GroundItem, number: u64) -> Pickup {
    Pickup {
        number,
        target: item.seen().clone(),
        region: item.region,
    }
}
