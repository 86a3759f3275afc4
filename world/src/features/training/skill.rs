//! The seventeen skills.

use serde::{Deserialize, Serialize};

/// A skill, in the order in which players see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a skill is its name")]
pub enum Skill {
    Attack,
    Strength,
    Defense,
    Constitution,
    Ranged,
    Magic,
    Prayer,
    Woodcutting,
    Mining,
    Fishing,
    Firemaking,
    Cooking,
    Smithing,
    Agility,
    Crafting,
    Fletching,
    Runecrafting,
}

impl Skill {
    /// All skills, in order.
    pub const ALL: [Skill; 17] = [
        Skill::Attack,
        Skill::Strength,
        Skill::Defense,
        Skill::Constitution,
        Skill::Ranged,
        Skill::Magic,
        Skill::Prayer,
        Skill::Woodcutting,
        Skill::Mining,
        Skill::Fishing,
        Skill::Firemaking,
        Skill::Cooking,
        Skill::Smithing,
        Skill::Agility,
        Skill::Crafting,
        Skill::Fletching,
        Skill::Runecrafting,
    ];

    /// Returns the skill's name, as the store keeps it and the wire carries it.
    pub const fn name(self) -> &'static str {
        match self {
            Skill::Attack => "attack",
            Skill::Strength => "strength",
            Skill::Defense => "defense",
            Skill::Constitution => "constitution",
            Skill::Ranged => "ranged",
            Skill::Magic => "magic",
            Skill::Prayer => "prayer",
            Skill::Woodcutting => "woodcutting",
            Skill::Mining => "mining",
            Skill::Fishing => "fishing",
            Skill::Firemaking => "firemaking",
            Skill::Cooking => "cooking",
            Skill::Smithing => "smithing",
            Skill::Agility => "agility",
            Skill::Crafting => "crafting",
            Skill::Fletching => "fletching",
            Skill::Runecrafting => "runecrafting",
        }
    }

    /// Returns the skill called `name`, in any case; `defence` is `defense`.
    pub fn named(name: &str) -> Option<Skill> {
        if name.eq_ignore_ascii_case("defence") {
            return Some(Skill::Defense);
        }
        let mut all = Skill::ALL.into_iter();
        all.find(|skill| skill.name().eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skill_is_found_by_its_name_and_defence_is_defense() {
        for skill in Skill::ALL {
            assert_eq!(Skill::named(skill.name()), Some(skill));
            assert_eq!(Skill::named(&skill.name().to_uppercase()), Some(skill));
        }
        assert_eq!(Skill::named("Defence"), Some(Skill::Defense));
        assert_eq!(Skill::named("juggling"), None);
    }
}
