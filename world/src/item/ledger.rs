//! Who gained or lost what, and why: a row for every change of a holder.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::CharacterId;

/// Who may hold something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Holder {
    /// A character: in its pack, pouch or bank, worn, or at stake.
    Character(CharacterId),
    /// All that lies on the ground.
    Ground,
}

/// Why something was made, moved or destroyed. The list is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// Made: what a new character begins with.
    Starter,
    /// Moved: from a pack to the ground.
    Drop,
    /// Moved: from the ground to a character.
    Pickup,
    /// Destroyed: it lay on the ground for too long, or under too much.
    Expire,
    /// Changed: a thing into its note at a bank, or back; or one that was saved under an alias
    /// into the same under its id.
    Note,
    /// Destroyed: it was eaten.
    Eat,
    /// Destroyed: it was buried.
    Bury,
    /// Destroyed: a lamp that was rubbed for what it teaches.
    Rub,
    /// Made: gathered from the land. Bait is destroyed by it.
    Gather,
    /// Changed: things became others by somebody's work.
    Make,
    /// Destroyed: logs went into a fire.
    Burn,
    /// Made: what a fire leaves on the ground.
    Ashes,
    /// Made: what a quest gives.
    Quest,
    /// Made: what somebody gave in a talk.
    Gift,
    /// Made: what a dead NPC left behind.
    Loot,
    /// Moved: an arrow, from a quiver to the ground.
    Shoot,
    /// Destroyed: runes that a spell took, arrows that broke.
    Spend,
    /// Moved: from one character to another, by a trade.
    Trade,
    /// Made and destroyed: things of a shop, for the coins that they cost.
    ShopBuy,
    /// Destroyed and made: what a shop bought, for the coins that it pays.
    ShopSell,
    /// Moved: from one who died to the ground, in a grave or not.
    Death,
    /// Moved: from one who lost a duel to the one who won it.
    Duel,
}

/// What a cause does to the sum of all that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Balance {
    Makes,
    Moves,
    Destroys,
    /// Each holder has as many things as before, but other ones.
    Changes,
    /// Only characters, and nobody loses more things than it gains.
    Gathers,
    /// Only characters, and nobody gains without a loss.
    Works,
    /// Destroys coins and makes other things.
    Buys,
    /// Makes coins and destroys other things.
    Sells,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 22] = [
        Cause::Starter,
        Cause::Drop,
        Cause::Pickup,
        Cause::Expire,
        Cause::Note,
        Cause::Eat,
        Cause::Bury,
        Cause::Rub,
        Cause::Gather,
        Cause::Make,
        Cause::Burn,
        Cause::Ashes,
        Cause::Quest,
        Cause::Gift,
        Cause::Loot,
        Cause::Shoot,
        Cause::Spend,
        Cause::Trade,
        Cause::ShopBuy,
        Cause::ShopSell,
        Cause::Death,
        Cause::Duel,
    ];

    pub(crate) const fn balance(self) -> Balance {
        match self {
            Cause::Starter | Cause::Ashes | Cause::Quest | Cause::Gift | Cause::Loot => {
                Balance::Makes
            }
            Cause::Drop
            | Cause::Pickup
            | Cause::Shoot
            | Cause::Trade
            | Cause::Death
            | Cause::Duel => Balance::Moves,
            Cause::Expire | Cause::Eat | Cause::Bury | Cause::Rub | Cause::Burn | Cause::Spend => {
                Balance::Destroys
            }
            Cause::Note => Balance::Changes,
            Cause::Gather => Balance::Gathers,
            Cause::Make => Balance::Works,
            Cause::ShopBuy => Balance::Buys,
            Cause::ShopSell => Balance::Sells,
        }
    }
}

/// A holder's gain or loss of one item by one deed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Who gained or lost it.
    pub holder: Holder,
    /// Which item.
    pub item: Arc<str>,
    /// Why.
    pub cause: Cause,
    /// How much; never 0, below it when lost.
    pub delta: i64,
}
