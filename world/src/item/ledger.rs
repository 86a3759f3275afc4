//! Gains and losses of holders, with their causes: a row for every change of a holder.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;

/// A party that may hold something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Holder {
    /// A character: in its pack, pouch or bank, worn, or at stake.
    Character(CharacterId),
    /// All that lies on the ground.
    Ground,
}

/// Defines [`Cause`] from one row per cause: its doc, its variant, its name in the ledger and its
/// balance class.
macro_rules! causes {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal, $balance:ident;)+) => {
        /// Reason for which items or coins were made, moved or destroyed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Cause {
            $($(#[$doc])+ $variant,)+
        }

        impl Cause {
            /// All of them.
            pub const ALL: &[Cause] = &[$(Cause::$variant),+];

            /// Returns the name that the ledger keeps.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Cause::$variant => $name,)+
                }
            }

            /// Returns the changes of holdings that the cause allows.
            pub const fn balance(self) -> Balance {
                match self {
                    $(Cause::$variant => Balance::$balance,)+
                }
            }
        }
    };
}

// A cause is defined here and nowhere else. The store judges the class and keeps the name.
causes! {
    /// The pack of a new character.
    Starter = "starter", Makes;
    /// From a pack to the ground.
    Drop = "drop", Moves;
    /// From the ground to a character.
    Pickup = "pickup", Moves;
    /// An item lay on the ground for too long, or under too much.
    Expire = "expire", Destroys;
    /// An item became its note at a bank, or a note the item; or a saved alias became the item's id.
    Note = "note", Changes;
    /// An item was eaten.
    Eat = "eat", Consumes;
    /// A dose was drunk: the potion became the one with a dose less, or a vial.
    Drink = "drink", Changes;
    /// Doses were poured from one vial into another.
    Pour = "pour", Changes;
    /// An item was buried.
    Bury = "bury", Consumes;
    /// The character rubbed a lamp for its lesson.
    Rub = "rub", Consumes;
    /// Gathered from the land, with the bait that this uses up.
    Gather = "gather", Gathers;
    /// Items became others by somebody's work.
    Make = "make", Works;
    /// Logs went into a fire.
    Burn = "burn", Consumes;
    /// A fire left ashes on the ground.
    Ashes = "ashes", Leaves;
    /// A quest's reward.
    Quest = "quest", Makes;
    /// Somebody gave it in a talk.
    Gift = "gift", Grants;
    /// A dead NPC left it behind.
    Loot = "loot", Leaves;
    /// An arrow fell from a quiver to the ground.
    Shoot = "shoot", Moves;
    /// A spell used runes, or an arrow broke.
    Spend = "spend", Consumes;
    /// From one character to another by a trade.
    Trade = "trade", Exchanges;
    /// A shop sold items for coins.
    ShopBuy = "shop_buy", Buys;
    /// A shop bought items for coins.
    ShopSell = "shop_sell", Sells;
    /// From a dead character to the ground, in a grave or not.
    Death = "death", Moves;
    /// From the loser of a duel to the winner.
    Duel = "duel", Exchanges;
}

/// Effect that a cause may have on holdings. The store knows these classes and no causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    /// Makes items, for anybody.
    Makes,
    /// Makes items for characters only.
    Grants,
    /// Makes items on the ground only.
    Leaves,
    /// Moves items between holders: the sum of each item stays.
    Moves,
    /// Moves items between characters only: the sum of each item stays.
    Exchanges,
    /// Destroys items, of anybody.
    Destroys,
    /// Destroys items of characters only.
    Consumes,
    /// Changes items of a character into as many others.
    Changes,
    /// Characters only: no one loses more items than it gains.
    Gathers,
    /// Characters only: no one gains an item without losing one.
    Works,
    /// Characters only: destroys coins and makes other items.
    Buys,
    /// Characters only: makes coins and destroys other items.
    Sells,
}

/// A holder's gain or loss of one item by one act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Holder that gained or lost it.
    pub holder: Holder,
    /// Id of the item.
    pub item: Arc<str>,
    /// Cause of the change.
    pub cause: Cause,
    /// Amount; never 0, below it when lost.
    pub delta: i64,
}
