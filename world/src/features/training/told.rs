//! Messages about experience.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::Gain;
use super::skill::Skill;
use crate::features::training::experience::SkillXp;
use crate::server_events;
use crate::told::{Parts, Tenths};

/// A skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillShown {
    /// 1 to 99.
    pub level: u32,
    /// Experience.
    pub xp: Tenths,
}

impl From<SkillXp> for SkillShown {
    fn from(has: SkillXp) -> SkillShown {
        SkillShown {
            level: has.level,
            xp: Parts(has.xp_tenths),
        }
    }
}

/// `skill:xp`: experience was gained, or (with nothing gained) what there is of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillGain {
    /// Its name, lower case.
    #[schemars(with = "String")]
    pub skill: Skill,
    /// Gained experience, to a tenth.
    pub gained: Tenths,
    /// Experience now, to a tenth.
    pub xp: Tenths,
    /// 1 to 99.
    pub level: u32,
    /// It made a new level; only said when it did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leveled_up: bool,
}

server_events! {
    SkillGain => "skill:xp",
}

/// Returns what there is of a skill, with nothing gained.
pub fn has(skill: Skill, now: SkillXp) -> SkillGain {
    SkillGain {
        skill,
        gained: Parts(0),
        xp: Parts(now.xp_tenths),
        level: now.level,
        leveled_up: false,
    }
}

/// Returns a gain of experience.
pub(crate) fn gained(skill: Skill, gain: &Gain) -> SkillGain {
    SkillGain {
        gained: Parts(gain.gained_tenths),
        leveled_up: gain.leveled_up(),
        ..has(skill, gain.now)
    }
}
