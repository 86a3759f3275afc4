//! Items of value: packs, worn items, banks, coins, ground items, and the ledger of their gains and
//! losses.
//!
//! Always: coins count as the item [`COINS`], in the pouch or as a stack.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::model::Region;
use super::row::{FromRow, Read, Row};
use super::stored::{Bank, Worn};

/// Item of coins.
pub(crate) const COINS: &str = "coins";
/// Cause of a deleted character's losses. Only the store writes it.
pub(crate) const DELETED: &str = "deleted";
/// Places for stakes, numbered from 0.
pub(crate) const STAKES: u32 = 56;
/// Slots of a pack, numbered from 0.
pub(crate) const SLOTS: u32 = 28;
/// Greatest change in a row of the ledger, so that the sum over a batch fits the type.
pub(crate) const DELTA_MAX: u64 = 1 << 40;

/// Columns of a whole ground item.
pub(crate) const GROUND: &str =
    "id, region_x, region_z, x, z, item_id, quantity, owner_id, public_tick,
 expires_tick, grave_id";

/// Some of an item, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stack {
    pub(crate) item: String,
    pub(crate) quantity: i32,
}

/// The slots that hold something, by number.
pub(crate) type Pack = BTreeMap<i32, Stack>;

/// All that a character has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    pub(crate) coins: i32,
    pub(crate) pack: Pack,
    pub(crate) worn: Worn,
    /// Stakes in a duel, by place.
    pub(crate) stakes: Pack,
    pub(crate) bank: Bank,
}

impl Holdings {
    /// Returns the amounts of all items; an item appears once for each place that holds it.
    pub(crate) fn amounts(&self) -> impl Iterator<Item = (&str, i64)> {
        let kept = self.banked().chain(self.staked());
        self.carried().chain(self.dressed()).chain(kept)
    }

    /// Returns the amounts in the pack and in the pouch.
    pub(crate) fn carried(&self) -> impl Iterator<Item = (&str, i64)> {
        self.pack
            .values()
            .map(amount)
            .chain([(COINS, i64::from(self.coins))])
    }

    /// Returns the amounts of worn items.
    pub(crate) fn dressed(&self) -> impl Iterator<Item = (&str, i64)> {
        self.worn.values().map(amount)
    }

    /// Returns the amounts at stake.
    pub(crate) fn staked(&self) -> impl Iterator<Item = (&str, i64)> {
        self.stakes.values().map(amount)
    }

    /// Returns the amounts in the bank.
    pub(crate) fn banked(&self) -> impl Iterator<Item = (&str, i64)> {
        let there = self.bank.iter();
        let there = there.filter_map(|(item, lies)| Some((item, (*lies)?)));
        there.map(|(item, lies)| (item.as_str(), i64::from(lies.quantity)))
    }

    /// Returns the ledger rows that write all of it off with its holder.
    pub(crate) fn written_off(&self, character: &str) -> Vec<LedgerRow> {
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for (item, amount) in self.amounts().filter(|(_, amount)| *amount != 0) {
            *sums.entry(item).or_default() += amount;
        }
        let row = |(item, amount): (&str, i64)| LedgerRow {
            character: Some(character.to_owned()),
            item: item.to_owned(),
            cause: DELETED.to_owned(),
            balance: Balance::Consumes,
            delta: -amount,
        };
        sums.into_iter().map(row).collect()
    }
}

/// What the ledger wrote off with its holders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WrittenOff {
    pub(crate) coins: u64,
    /// Items other than coins.
    pub(crate) items: u64,
}

impl WrittenOff {
    /// Sums the rows that write something off.
    pub(crate) fn of(rows: &[LedgerRow]) -> WrittenOff {
        let mut all = WrittenOff::default();
        for row in rows {
            let sum = match row.item.as_str() {
                COINS => &mut all.coins,
                _other_item => &mut all.items,
            };
            *sum += row.delta.unsigned_abs();
        }
        all
    }

    /// Adds what another deletion wrote off.
    pub(crate) fn add(&mut self, more: WrittenOff) {
        self.coins += more.coins;
        self.items += more.items;
    }
}

fn amount(stack: &Stack) -> (&str, i64) {
    (stack.item.as_str(), i64::from(stack.quantity))
}

/// An item that lies on the ground and belongs to `region`, wherever it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroundItem {
    pub(crate) id: String,
    pub(crate) region: Region,
    pub(crate) x: i32,
    pub(crate) z: i32,
    pub(crate) stack: Stack,
    /// Character that alone may take it at first; empty: anybody.
    pub(crate) owner: String,
    pub(crate) public_tick: i64,
    pub(crate) expires_tick: i64,
    /// Grave that holds it until it is public; empty: none.
    pub(crate) grave: String,
}

/// Reads a row of [`GROUND`].
impl FromRow for GroundItem {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(GroundItem {
            id: row.column(0)?,
            region: row.region(1)?,
            x: row.column(3)?,
            z: row.column(4)?,
            stack: Stack {
                item: row.column(5)?,
                quantity: row.column(6)?,
            },
            owner: row.column(7)?,
            public_tick: row.column(8)?,
            expires_tick: row.column(9)?,
            grave: row.column(10)?,
        })
    }
}

/// A ground item that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroundGone {
    pub(crate) id: String,
    pub(crate) region: Region,
}

/// Persistent objects of a chunk, which outlive the run that plays it. The store does not read
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) x: i32,
    pub(crate) z: i32,
    /// A JSON object.
    pub(crate) data: String,
}

impl FromRow for Chunk {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Chunk {
            x: row.column(0)?,
            z: row.column(1)?,
            data: row.column(2)?,
        })
    }
}

impl Chunk {
    /// Chunks on each side of a region.
    pub(crate) const OF_REGION: i32 = 8;

    /// Returns the region that contains it.
    pub(crate) fn region(&self) -> Region {
        Region {
            x: self.x.div_euclid(Chunk::OF_REGION),
            z: self.z.div_euclid(Chunk::OF_REGION),
        }
    }
}

/// Effect that a ledger cause may have on holdings. The zone servers name causes; the store judges
/// the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Balance {
    Makes,
    /// For characters only.
    Grants,
    /// On the ground only.
    Leaves,
    Moves,
    /// Between characters only.
    Exchanges,
    Destroys,
    /// Of characters only.
    Consumes,
    /// Items of a character become as many others.
    Changes,
    /// No character loses more items than it gains.
    Gathers,
    /// No character gains an item without losing one.
    Works,
    /// Coins become other items.
    Buys,
    /// Other items become coins.
    Sells,
}

/// The amount of an item that a holder gained or lost for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerRow {
    /// `None`: the ground.
    pub(crate) character: Option<String>,
    pub(crate) item: String,
    /// Name of the cause: 1 to 32 of a to z and _.
    pub(crate) cause: String,
    pub(crate) balance: Balance,
    pub(crate) delta: i64,
}

/// State of a region that stands at `epoch`: NPCs, resources and shops. The store does not read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegionState {
    pub(crate) region: Region,
    pub(crate) epoch: i64,
    pub(crate) state: Bytes,
}

/// Gives a region that stands at `epoch` to another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegionGive {
    pub(crate) region: Region,
    pub(crate) epoch: i64,
    pub(crate) to: i64,
}
