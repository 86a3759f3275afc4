//! `skill:xp`: experience, as clients read it.

use proto::client::skill::SkillGain;
use world::{Skill, SkillXp, training::Event};

use super::Told;

/// So many tenths were gained.
pub(crate) fn gain(skill: Skill, gained_tenths: u64, now: SkillXp, leveled_up: bool) -> SkillGain {
    SkillGain {
        skill: skill.name().to_owned(),
        gained: points(gained_tenths),
        xp: points(now.xp_tenths),
        level: now.level,
        leveled_up,
    }
}

/// Tenths as points; at most 200,000,000.0, and so exact as far as people see.
pub(crate) fn points(tenths: u64) -> f64 {
    tenths as f64 / 10.0
}

/// Returns what a player is told of its training.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Gained {
            skill,
            gained_tenths,
            now,
            leveled_up,
            ..
        } => Told::of_value(&gain(*skill, *gained_tenths, *now, *leveled_up)),
    }
}
