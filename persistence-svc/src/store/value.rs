//! What is of value: packs, clothes, banks, coins, ground items, and the ledger of how they came and went.
//!
//! Always: coins count as the item [`COINS`], in the pouch or as a stack.

use std::collections::BTreeMap;

use super::model::Region;
use super::stored::{Bank, Worn};

/// The item that coins are.
pub(crate) const COINS: &str = "coins";
/// The cause of a deleted character's losses. Only the store says it.
pub(crate) const DELETED: &str = "deleted";
/// Places for what is at stake, numbered from 0.
pub(crate) const STAKES: u32 = 56;
/// Slots of a pack, numbered from 0.
pub(crate) const SLOTS: u32 = 28;
/// No change of the ledger is greater: the sum over a batch never leaves the type.
pub(crate) const DELTA_MAX: u64 = 1 << 40;

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
    /// What is at stake in a duel, by place.
    pub(crate) stakes: Pack,
    pub(crate) bank: Bank,
}

impl Holdings {
    /// What it has of each item, an item once for each place where it is.
    pub(crate) fn amounts(&self) -> impl Iterator<Item = (&str, i64)> {
        let kept = self.banked().chain(self.staked());
        self.carried().chain(self.dressed()).chain(kept)
    }

    /// What is in the pack and in the pouch.
    pub(crate) fn carried(&self) -> impl Iterator<Item = (&str, i64)> {
        self.pack
            .values()
            .map(amount)
            .chain([(COINS, i64::from(self.coins))])
    }

    /// What is worn.
    pub(crate) fn dressed(&self) -> impl Iterator<Item = (&str, i64)> {
        self.worn.values().map(amount)
    }

    /// What is at stake.
    pub(crate) fn staked(&self) -> impl Iterator<Item = (&str, i64)> {
        self.stakes.values().map(amount)
    }

    /// What is in the bank.
    pub(crate) fn banked(&self) -> impl Iterator<Item = (&str, i64)> {
        let there = self.bank.iter();
        let there = there.filter_map(|(item, lies)| Some((item, (*lies)?)));
        there.map(|(item, lies)| (item.as_str(), i64::from(lies.quantity)))
    }

    /// The rows that say that all of it is gone with its holder.
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
    /// Who alone may take it at first; empty: anybody.
    pub(crate) owner: String,
    pub(crate) public_tick: i64,
    pub(crate) expires_tick: i64,
    /// The grave in which it is until it is public; empty: it lies about.
    pub(crate) grave: String,
}

/// A ground item that lies no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroundGone {
    pub(crate) id: String,
    pub(crate) region: Region,
}

/// What outlives the loss of whoever plays a chunk; the store does not look into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) x: i32,
    pub(crate) z: i32,
    /// A JSON object.
    pub(crate) data: String,
}

impl Chunk {
    /// Chunks on each side of a region.
    pub(crate) const OF_REGION: i32 = 8;

    /// The region in which it lies.
    pub(crate) fn region(&self) -> Region {
        Region {
            x: self.x.div_euclid(Chunk::OF_REGION),
            z: self.z.div_euclid(Chunk::OF_REGION),
        }
    }
}

/// What a ledger cause may do to holdings. The zone servers name causes; the store judges the class.
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

/// How much of an item somebody gained or lost for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerRow {
    /// `None`: the ground.
    pub(crate) character: Option<String>,
    pub(crate) item: String,
    /// Its name, 1 to 32 of a to z and _.
    pub(crate) cause: String,
    pub(crate) balance: Balance,
    pub(crate) delta: i64,
}

/// Gives a region that stands at `epoch` to another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegionGive {
    pub(crate) region: Region,
    pub(crate) epoch: i64,
    pub(crate) to: i64,
}
