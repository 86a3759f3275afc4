//! The skills.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// A skill, in the order in which players see them.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[expect(missing_docs, reason = "a skill is its name")]
pub enum Skill {
    Attack,
    Strength,
    #[strum(to_string = "defense", serialize = "defence")]
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
    pub const ALL: &[Skill] = <Skill as VariantArray>::VARIANTS;
    /// Their names, in the same order.
    pub const NAMES: &[&str] = <Skill as VariantNames>::VARIANTS;

    /// Returns the skill's name, as the store keeps it and the wire carries it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the skill called `name`, in any case; `defence` is `defense`.
    pub fn named(name: &str) -> Option<Skill> {
        name.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skill_is_found_by_its_name_and_defence_is_defense() {
        for &skill in Skill::ALL {
            assert_eq!(Skill::named(skill.name()), Some(skill));
            assert_eq!(Skill::named(&skill.name().to_uppercase()), Some(skill));
        }
        assert_eq!(Skill::named("Defence"), Some(Skill::Defense));
        assert_eq!(Skill::named("juggling"), None);
    }
}
