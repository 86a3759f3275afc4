//! Work at which a player is: gathering, and making things. It moves along in a handover.
//!
//! Always: a player is at one piece of work at most; work at something belongs to the region of
//! that thing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::EntityId;
use crate::skill::Skill;
use crate::tick::Tick;
use crate::tile::Region;

/// As many things as one may ask to be made at a time.
pub const MAKE_MAX: u32 = 10_000;

/// A way of making things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Trade {
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

impl Trade {
    /// All of them.
    pub const ALL: [Trade; 8] = [
        Trade::Cook,
        Trade::Light,
        Trade::Smelt,
        Trade::Smith,
        Trade::Craft,
        Trade::Fletch,
        Trade::Tan,
        Trade::Runecraft,
    ];

    /// The word for it, as players ask for it and are told of it.
    pub const fn name(self) -> &'static str {
        match self {
            Trade::Cook => "cook",
            Trade::Light => "light",
            Trade::Smelt => "smelt",
            Trade::Smith => "smith",
            Trade::Craft => "craft",
            Trade::Fletch => "fletch",
            Trade::Tan => "tan",
            Trade::Runecraft => "runecraft",
        }
    }

    /// The trade of that name.
    pub fn named(name: &str) -> Option<Trade> {
        Trade::ALL.into_iter().find(|trade| trade.name() == name)
    }

    /// The skill that it takes and trains; tanners do their work themselves.
    pub const fn skill(self) -> Option<Skill> {
        Some(match self {
            Trade::Cook => Skill::Cooking,
            Trade::Light => Skill::Firemaking,
            Trade::Smelt | Trade::Smith => Skill::Smithing,
            Trade::Craft => Skill::Crafting,
            Trade::Fletch => Skill::Fletching,
            Trade::Runecraft => Skill::Runecrafting,
            Trade::Tan => return None,
        })
    }
}

/// A recipe: of which trade, and its key among those of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Craft {
    /// The trade.
    pub trade: Trade,
    /// The key in the catalog of its recipes: what is cooked, lit or tanned, else what is made; of
    /// fletching both.
    pub key: Arc<str>,
}

/// What sort of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Job {
    /// Wood, ore or fish.
    Gather,
    /// Something by a recipe.
    Make(Craft),
}

/// Work that somebody has set out for, or is at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labour {
    /// The number of the input that asked for it.
    pub number: u64,
    /// What sort of work.
    pub job: Job,
    /// At what; none: wherever one is.
    pub target: Option<EntityId>,
    /// The region to which that belongs.
    pub region: Option<Region>,
    /// It is there.
    pub begun: bool,
    /// When the next deed of it is done.
    pub due_at: Tick,
    /// How many deeds are still to be done.
    pub left: u32,
}
