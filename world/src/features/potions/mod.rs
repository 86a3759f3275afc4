//! Potions: doses that raise levels for a while, give prayer or energy back, and cure poison; and
//! the poison of beasts.
//!
//! Always: a drink turns one dose into what its item leaves, and into nothing else; pouring leaves
//! the number of doses as it is. A boost only ever raises a level, and fades by one level in 100
//! ticks. Poison weakens from strike to strike and ends by itself. Death and a ring end both. All
//! times are ticks left, and count down only while the character is in the world.

mod rules;
pub(crate) mod tick;
pub mod told;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::features::training::skill::Skill;

/// Boosts and poison of a character; saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PotionState {
    /// Boosts by skill; none of no level.
    pub boosts: BTreeMap<Skill, Boost>,
    /// The poison in it.
    pub poison: Option<Poison>,
    /// Ticks for which no poison takes.
    pub safe_ticks: u32,
}

/// The players with something of a potion or poison in them, and perhaps some without. So a tick
/// costs nothing for all others.
#[derive(Debug, Default)]
pub(crate) struct Dosed(BTreeSet<CharacterId>);

impl Dosed {
    /// Notes a player that has come, or has drunk, or has been poisoned.
    pub(crate) fn note(&mut self, who: &CharacterId, state: &PotionState) {
        if !state.is_none() {
            self.0.insert(who.clone());
        }
    }
}

/// A raised level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boost {
    /// Levels above the level of experience; at least 1.
    pub levels: u32,
    /// Ticks until it fades by a level.
    pub ticks: u32,
}

/// Poison in a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poison {
    /// Strikes left; at least 1. The damage of each goes by it.
    pub strikes: u32,
    /// Ticks until the next strike.
    pub ticks: u32,
}

impl PotionState {
    /// Returns whether there is nothing to save: no boost, no poison and no protection from it.
    pub fn is_none(&self) -> bool {
        *self == PotionState::default()
    }

    /// Returns the levels by which `skill` is raised.
    pub fn boost(&self, skill: Skill) -> u32 {
        self.boosts.get(&skill).map_or(0, |boost| boost.levels)
    }

    /// Returns the damage of the next strike of poison; `None`: there is no poison.
    pub fn poison_damage(&self) -> Option<u32> {
        self.poison.map(|poison| rules::damage(poison.strikes))
    }
}
