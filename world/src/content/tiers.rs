//! `tier-requirements.json`: the levels that go with bronze, iron, leather …

use std::collections::BTreeMap;

use super::items::AttackType;
use super::reader::Reader;
use crate::features::training::skill::Skill;

/// File of the tiers.
const FILE: &str = "tier-requirements.json";

type Levels = BTreeMap<Skill, u8>;

/// Levels by tier, from each table of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tiers {
    melee: BTreeMap<String, Levels>,
    tools: BTreeMap<String, Levels>,
    ranged: BTreeMap<String, Levels>,
    magic: BTreeMap<String, Levels>,
}

/// Use of a thing of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// Tool of a skill.
    Tool(Skill),
    /// Weapon with that sort of attack.
    Weapon(AttackType),
    /// Armour.
    Armor,
}

impl Tiers {
    /// Returns the levels that something of `tier` takes; none if the tier has no row.
    pub fn levels(&self, tier: &str, to: &Use) -> BTreeMap<Skill, u8> {
        let row = |table: &BTreeMap<String, Levels>, skills: &[Skill]| {
            let row = table.get(tier).into_iter().flatten();
            let named = row.filter(|(skill, _)| skills.contains(skill));
            named.map(|(skill, level)| (*skill, *level)).collect()
        };
        match to {
            Use::Tool(skill) => row(&self.tools, &[Skill::Attack, *skill]),
            Use::Weapon(AttackType::Ranged) => row(&self.ranged, &[Skill::Ranged]),
            Use::Weapon(AttackType::Magic) => row(&self.magic, &[Skill::Magic]),
            Use::Weapon(_) => row(&self.melee, &[Skill::Attack]),
            Use::Armor if self.ranged.contains_key(tier) => {
                row(&self.ranged, &[Skill::Ranged, Skill::Defense])
            }
            Use::Armor if self.magic.contains_key(tier) => {
                row(&self.magic, &[Skill::Magic, Skill::Defense])
            }
            Use::Armor => row(&self.melee, &[Skill::Defense]),
        }
    }
}

pub(crate) fn load(reader: &Reader) -> Tiers {
    let Some(root) = reader.object(FILE) else {
        return Tiers::default();
    };
    let table = |name: &str| {
        let rows = root.object(name).map_or_else(Vec::new, |map| map.entries());
        let read = rows
            .into_iter()
            .map(|(tier, row)| (tier.to_lowercase(), row.levels()));
        read.collect()
    };
    Tiers {
        melee: table("melee"),
        tools: table("tools"),
        ranged: table("ranged"),
        magic: table("magic"),
    }
}
