//! Training: an action gives its player experience in the skill of the action.
//!
//! Always: experience never falls; beyond the greatest amount a player gains and hears nothing.

use super::experience::{self, XP_TENTHS_MAX};
use super::skill::Skill;
use crate::entity::player::Player;
use crate::features::training::experience::SkillXp;

/// Experience that somebody gained in one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gain {
    /// Gained experience, in tenths; at least 1.
    pub(crate) gained_tenths: u64,
    pub(crate) before: SkillXp,
    pub(crate) now: SkillXp,
}

impl Gain {
    pub(crate) fn leveled_up(&self) -> bool {
        self.now.level > self.before.level
    }
}

/// Adds up to `tenths` of experience in `skill`, as far as there is room; `None` if there is none.
/// A new level in constitution raises the most health, and leaves health as it is.
pub(crate) fn gain(player: &mut Player, skill: Skill, tenths: u64) -> Option<Gain> {
    let record = &mut player.record;
    let before = record.skill(skill);
    let room = XP_TENTHS_MAX.saturating_sub(before.xp_tenths);
    let gained_tenths = tenths.min(room);
    if gained_tenths == 0 {
        return None;
    }
    let now = SkillXp::of(before.xp_tenths + gained_tenths);
    record.skills.insert(skill, now);
    record.combat_level = experience::combat_level(|skill| record.level(skill));
    Some(Gain {
        gained_tenths,
        before,
        now,
    })
}
