//! Training: skills, and the experience that makes their levels.
//!
//! Always: experience makes a level, never a saved level; experience never falls.

pub mod experience;
pub(crate) mod rules;
pub mod skill;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::entity::player::record::SkillXp;
use crate::features::training::skill::Skill;

/// A fact about experience that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Experience was gained. Of value: to be held back until that is saved.
    Gained {
        /// Whose.
        who: CharacterId,
        /// In what.
        skill: Skill,
        /// How much, in tenths.
        gained_tenths: u64,
        /// What there is of it now.
        now: SkillXp,
        /// It made a new level.
        leveled_up: bool,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Gained { who, .. } => who,
        }
    }
}
