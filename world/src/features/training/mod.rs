//! Training: skills, and the experience that makes their levels.
//!
//! Always: experience alone makes a level, the saved level never counts; experience never falls.

pub mod experience;
pub(crate) mod rules;
pub mod skill;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::entity::player::record::SkillXp;
use crate::features::training::skill::Skill;

/// Fact about experience that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player gained experience. Of value: the zone holds it back until the store has saved it.
    Gained {
        /// Player that gained.
        who: CharacterId,
        /// Skill of the experience.
        skill: Skill,
        /// Gained experience, in tenths.
        gained_tenths: u64,
        /// Experience and level after the gain.
        now: SkillXp,
        /// Whether the gain made a new level.
        leveled_up: bool,
    },
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Gained { who, .. } => who,
        }
    }
}
