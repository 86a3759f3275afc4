//! Work at which a player is: gathering, and making things. It moves along in a handover.
//!
//! Always: a player is at one piece of work at most; work at something belongs to the region of
//! that thing.

pub(crate) mod chance;
pub(crate) mod firemaking;
pub(crate) mod gather;
pub(crate) mod make;
pub(crate) mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::training::skill::Skill;
use crate::geometry::tile::Region;
use crate::refusal::Refusal;
use crate::time::Tick;

/// As many things as one may ask to be made at a time.
pub const MAKE_MAX: u32 = 10_000;

/// A way of making things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    pub const ALL: [RecipeKind; 8] = [
        RecipeKind::Cook,
        RecipeKind::Light,
        RecipeKind::Smelt,
        RecipeKind::Smith,
        RecipeKind::Craft,
        RecipeKind::Fletch,
        RecipeKind::Tan,
        RecipeKind::Runecraft,
    ];

    /// The word for it, as players ask for it and are told of it.
    pub const fn name(self) -> &'static str {
        match self {
            RecipeKind::Cook => "cook",
            RecipeKind::Light => "light",
            RecipeKind::Smelt => "smelt",
            RecipeKind::Smith => "smith",
            RecipeKind::Craft => "craft",
            RecipeKind::Fletch => "fletch",
            RecipeKind::Tan => "tan",
            RecipeKind::Runecraft => "runecraft",
        }
    }

    /// The trade of that name.
    pub fn named(name: &str) -> Option<RecipeKind> {
        RecipeKind::ALL
            .into_iter()
            .find(|trade| trade.name() == name)
    }

    /// The skill that it takes and trains; tanners do their work themselves.
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

/// A recipe: of which trade, and its key among those of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Craft {
    /// The trade.
    pub trade: RecipeKind,
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
pub struct Work {
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

/// A request to work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Use what lies in a slot of the pack with what lies in another.
    UseWith {
        /// Which slot.
        slot: u8,
        /// Which other.
        other: u8,
    },
    /// Use what lies in a slot of the pack on something.
    UseOn {
        /// Which slot.
        slot: u8,
        /// On what.
        target: EntityId,
    },
    /// Go to a tree, a rock or a fishing spot and gather what it gives.
    Gather {
        /// Which.
        target: EntityId,
    },
    /// Make things by a recipe.
    Make {
        /// The trade.
        trade: RecipeKind,
        /// What is cooked, lit or tanned, else what is made; `None`: whatever it can only be.
        what: Option<Arc<str>>,
        /// The furnace, anvil, fire … at which it is made; `None`: wherever one is.
        target: Option<EntityId>,
        /// How many; `None`: as many as can be.
        quantity: Option<u32>,
    },
}

/// A fact about work that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player has begun to work. To be held back like what comes of it.
    Begun {
        /// Who.
        who: CharacterId,
        /// At what work.
        job: Job,
        /// At what.
        target: Option<EntityId>,
    },
    /// A player works no more. Of value: to be held back until that is saved.
    Stopped {
        /// Who.
        who: CharacterId,
        /// Why; `None`: all is done.
        why: Option<Refusal>,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Begun { who, .. } | Event::Stopped { who, .. } => who,
        }
    }
}
