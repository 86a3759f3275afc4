//! The parts of a transfer.

use crate::content::{Content, EquipSlot};
use crate::entity::ground_item::{Ground, GroundItem};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::record::PlayerRecord;
use crate::item::bank::Arrange;
use crate::item::{COINS, QUANTITY_MAX, Stack};
use crate::refusal::Refusal;
use crate::time::Tick;

/// One part of a transfer. The transfer plays its parts in order: a part that takes something makes
/// room for those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leg {
    /// So many out of a slot.
    FromSlot {
        who: CharacterId,
        slot: u8,
        quantity: u32,
    },
    /// So many of an item from wherever it lies in the pack.
    FromPack { who: CharacterId, stack: Stack },
    /// Coins out of the pouch.
    FromPouch { who: CharacterId, amount: u32 },
    /// All of something on the ground.
    FromGround { id: EntityId },
    /// Into the pack, where it fits.
    ToPack { who: CharacterId, stack: Stack },
    /// Coins into the pouch.
    ToPouch { who: CharacterId, amount: u32 },
    /// Onto the ground: to a stack that `merges_with` names, or as a thing of its own.
    ToGround {
        item: GroundItem,
        merges_with: Option<EntityId>,
    },
    /// Two slots change places.
    Swap { who: CharacterId, from: u8, to: u8 },
    /// Into a slot that is empty then.
    ToSlot {
        who: CharacterId,
        slot: u8,
        stack: Stack,
    },
    /// The whole stack of so many that is worn in a place.
    FromWorn {
        who: CharacterId,
        slot: EquipSlot,
        quantity: u32,
    },
    /// To its place on the body, which is empty then or holds more of it.
    ToWorn {
        who: CharacterId,
        slot: EquipSlot,
        stack: Stack,
    },
    /// Out of the bank.
    FromBank { who: CharacterId, stack: Stack },
    /// Into the bank: to its like, or last in a tab.
    ToBank {
        who: CharacterId,
        stack: Stack,
        tab: u8,
    },
    /// To the stakes, in a place of its own.
    ToStakes { who: CharacterId, stack: Stack },
    /// So many out of a place of the stakes.
    FromStakes {
        who: CharacterId,
        place: u8,
        quantity: u32,
    },
    /// A new order of the bank.
    Arrange { who: CharacterId, how: Arrange },
}

impl Leg {
    /// Returns the legs by which a character takes all of `item`. Coins go into the pouch if all of
    /// them fit; all else goes into the pack.
    pub(crate) fn taking(item: &GroundItem, record: &PlayerRecord) -> [Leg; 2] {
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
        [Leg::FromGround { id }, to]
    }

    /// Returns the leg that lays `item` on the ground, by itself or on a stack of its like.
    ///
    /// # Errors
    /// `Busy`: too much lies about.
    pub(crate) fn laying(
        ground: &Ground,
        content: &Content,
        now: Tick,
        item: GroundItem,
    ) -> Result<Leg, Refusal> {
        let merges_with = ground.like(content, now, &item);
        if merges_with.is_none() && ground.is_full() {
            return Err(Refusal::Busy);
        }
        Ok(Leg::ToGround { item, merges_with })
    }
}
