//! State of a player that works.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::entity::ids::EntityId;
use crate::features::training::skill::Skill;
use crate::geometry::tile::Region;
use crate::time::Tick;

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
