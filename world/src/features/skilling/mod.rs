//! Work at which a player is: gathering, and making things. It moves along in a handover.
//!
//! Always: a player is at one piece of work at most; work at something belongs to the region of
//! that thing.

pub(crate) mod chance;
pub(crate) mod firemaking;
pub(crate) mod gather;
pub(crate) mod make;
mod rules;
pub(crate) mod tick;
pub mod told;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::training::skill::Skill;
use crate::geometry::tile::Region;
use crate::time::Tick;
use crate::told::{Message, Recipient};

use told::ActivityUpdate;

/// Most things that one may ask to make at a time.
pub const MAKE_MAX: u32 = 10_000;

/// A way of making things.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum RecipeKind {
    /// Food, at a fire or a range.
    Cook,
    /// A fire, of logs, where one stands.
    Light,
    /// Bars, at a furnace.
    Smelt,
    /// Things of metal, at an anvil.
    Smith,
    /// Clothes and jewels; some at a furnace.
    Craft,
    /// Bows and arrows.
    Fletch,
    /// Leather, at a tanner.
    Tan,
    /// Runes, at their altar.
    Runecraft,
}

impl RecipeKind {
    /// All of them.
    pub const ALL: &[RecipeKind] = RecipeKind::VARIANTS;

    /// Returns the word for it in requests and answers.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the trade of that name.
    pub fn named(name: &str) -> Option<RecipeKind> {
        name.parse().ok()
    }

    /// Returns the skill that it takes and trains; tanners do their work themselves.
    pub const fn skill(self) -> Option<Skill> {
        Some(match self {
            RecipeKind::Cook => Skill::Cooking,
            RecipeKind::Light => Skill::Firemaking,
            RecipeKind::Smelt | RecipeKind::Smith => Skill::Smithing,
            RecipeKind::Craft => Skill::Crafting,
            RecipeKind::Fletch => Skill::Fletching,
            RecipeKind::Runecraft => Skill::Runecrafting,
            RecipeKind::Tan => return None,
        })
    }
}

/// A recipe: its trade, and its key among those of that trade.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Craft {
    /// The trade.
    pub trade: RecipeKind,
    /// Key in the catalog of its recipes: the item that is cooked, lit or tanned, else the product;
    /// for fletching both.
    pub key: Arc<str>,
}

/// Sort of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Job {
    /// Wood, ore or fish.
    Gather,
    /// Something by a recipe.
    Make(Craft),
}

/// State of a player's work, of its next use of an item, and of its spools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skilling {
    /// Tick from which the player may use something again.
    #[serde(rename = "hands_free_at")]
    pub next_action_at: Tick,
    /// Tiles gone on foot since it last gained experience for them.
    pub tiles_gone: u32,
    /// Work for which it has set out, or which it does.
    #[serde(rename = "labour")]
    pub work: Option<Work>,
    /// Uses left of things that last for several pieces of work, by item.
    pub spools: BTreeMap<Arc<str>, u32>,
}

impl Skilling {
    /// Moves all its times later by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.next_action_at = self.next_action_at.after(ticks);
        if let Some(work) = &mut self.work {
            work.due_at = work.due_at.after(ticks);
        }
    }
}

/// Work for which a player has set out, or which it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Number of the input that asked for it.
    pub number: u64,
    /// Sort of work.
    pub job: Job,
    /// Place of the work; `None`: wherever one is.
    pub target: Option<EntityId>,
    /// Region to which the target belongs.
    pub region: Option<Region>,
    /// Whether the player is there and works.
    pub begun: bool,
    /// Tick of the next piece of work.
    pub due_at: Tick,
    /// Number of pieces of work still to do.
    pub left: u32,
}

/// A request to work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Use the item in a slot of the pack with the item in another.
    UseWith {
        /// Slot of one item.
        slot: u8,
        /// Slot of the other item.
        other: u8,
    },
    /// Use the item in a slot of the pack on something.
    UseOn {
        /// Slot of the item.
        slot: u8,
        /// Target of the use.
        target: EntityId,
    },
    /// Go to a tree, a rock or a fishing spot and gather there.
    Gather {
        /// The tree, rock or fishing spot.
        target: EntityId,
    },
    /// Make things by a recipe.
    Make {
        /// The trade.
        trade: RecipeKind,
        /// Item that is cooked, lit or tanned, else the product; `None`: the only one possible.
        what: Option<Arc<str>>,
        /// Furnace, anvil, fire … of the work; `None`: wherever one is.
        target: Option<EntityId>,
        /// Number of things; `None`: as many as possible.
        quantity: Option<u32>,
    },
}

/// A notification about work to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player has begun to work. The zone holds it back like the results.
    Begun(CharacterId, ActivityUpdate),
    /// A player works no more. Of value: the zone holds it back until the store has saved that.
    Stopped(CharacterId, ActivityUpdate),
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Begun(who, _) | Event::Stopped(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        // The zone tells nothing to a player who is not here.
        to.record?;
        match self {
            Event::Begun(_, told) | Event::Stopped(_, told) => Some(Message::of_value(told)),
        }
    }
}
