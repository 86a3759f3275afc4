//! A player at rest (what is saved) and in motion (what moves along in a handover besides).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::errand::{Follow, Homeward, Pickup};
use crate::experience;
use crate::fight::{Fight, Ways};
use crate::ids::{CharacterId, EntityId};
use crate::interface::{Open, Visit};
use crate::item::Stack;
use crate::item::bank::Bank;
use crate::item::worn::Worn;
use crate::labour::Labour;
use crate::prayer::Devotion;
use crate::quest::Quests;
use crate::skill::Skill;
use crate::tick::Tick;
use crate::tile::Tile;

/// Full run energy.
pub const ENERGY_FULL: u32 = 10_000;

/// Level and experience in one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillXp {
    /// 1 to 99.
    pub level: u32,
    /// Experience in tenths.
    pub xp_tenths: u64,
}

/// A player at rest: all that is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerRecord {
    /// Who.
    pub id: CharacterId,
    /// As others see it.
    pub name: String,
    /// Where it stands.
    pub tile: Tile,
    /// The height there, in whole tiles.
    pub y: i32,
    /// Health points.
    pub health: u32,
    /// Those that were ever trained; ask [`PlayerRecord::skill`].
    pub skills: BTreeMap<Skill, SkillXp>,
    /// Coins in the pouch.
    pub coins: u64,
    /// Run energy, 0 to 10000.
    pub energy: u32,
    /// It runs rather than walks.
    pub running: bool,
    /// 3 to 126.
    pub combat_level: u32,
    /// False: it never stood in the world, and `tile` means nothing yet.
    pub placed: bool,
    /// What lies in the slots of the pack, 0 to 27.
    #[serde(default)]
    pub inventory: BTreeMap<u8, Stack>,
    /// What it wears.
    #[serde(default)]
    pub equipment: Worn,
    /// What it has in the bank.
    #[serde(default)]
    pub bank: Bank,
    /// When it may next begin to go home by magic.
    #[serde(default)]
    pub home_ready_at: Tick,
    /// How far it is with quests.
    #[serde(default)]
    pub quests: Quests,
    /// What it has chosen of fighting.
    #[serde(default)]
    pub ways: Ways,
    /// Its prayer points, and the prayers that are on.
    #[serde(default)]
    pub prayer: Devotion,
    /// What it has at stake in a duel, or could not take back yet, by place.
    #[serde(default)]
    pub stakes: BTreeMap<u8, Stack>,
    /// Ticks for which it was played; counted until it is no newcomer.
    #[serde(default)]
    pub played_ticks: u64,
}

impl PlayerRecord {
    /// Level and experience in `skill`.
    pub fn skill(&self, skill: Skill) -> SkillXp {
        let trained = self.skills.get(&skill).copied();
        trained.unwrap_or_else(|| SkillXp::fresh(skill))
    }

    /// The level in `skill`.
    pub fn level(&self, skill: Skill) -> u32 {
        self.skill(skill).level
    }

    /// Health when well: the level in constitution.
    pub fn max_health(&self) -> u32 {
        self.level(Skill::Constitution)
    }

    /// Every level is the one that its experience makes, whatever was saved.
    pub(crate) fn settle_skills(&mut self) {
        let skills = self.skills.values_mut();
        skills.for_each(|skill| *skill = SkillXp::of(skill.xp_tenths));
        self.combat_level = experience::combat_level(|skill| self.level(skill));
    }
}

/// What a player is doing: not saved, but moved along when another owner goes on with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerHot {
    /// The steps that it still has to take, the next one first.
    pub path: Vec<Tile>,
    /// The tile that it stepped off last.
    pub trail: Option<Tile>,
    /// Whom it follows.
    pub follow: Option<Follow>,
    /// What it is on the way to take.
    pub pickup: Option<Pickup>,
    /// Where it is in going home by magic.
    pub homeward: Homeward,
    /// What makes it an agent.
    pub agent: Option<Agent>,
    /// Where it is going to open something.
    pub visit: Option<Visit>,
    /// What it has open.
    pub open: Option<Open>,
    /// When it may next use something.
    pub hands_free_at: Tick,
    /// Tiles gone on foot since it last gained experience for them.
    pub tiles_gone: u32,
    /// The work that it set out for, or is at.
    pub labour: Option<Labour>,
    /// What is left of things that last for several deeds, by item.
    pub spools: BTreeMap<Arc<str>, u32>,
    /// What it has of fights.
    pub fight: Fight,
    /// The trade in which it was, or for which it had asked.
    pub trade: Option<EntityId>,
    /// Whom it asked last for a trade, and when.
    pub asked_trade: Option<(CharacterId, Tick)>,
    /// The duel in which it was.
    pub duel: Option<EntityId>,
    /// Whom it challenged last to a duel, and when.
    pub asked_duel: Option<(CharacterId, Tick)>,
}

/// Bytes that are not what they should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBytes(pub String);

impl std::fmt::Display for BadBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a player: {}", self.0)
    }
}

impl std::error::Error for BadBytes {}

macro_rules! bytes {
    ($type:ty) => {
        impl $type {
            /// As MessagePack with named fields.
            pub fn to_bytes(&self) -> Vec<u8> {
                // Strings, integers and maps with plain keys always encode into memory.
                rmp_serde::to_vec_named(self).unwrap_or_default()
            }

            /// Reads what [`Self::to_bytes`] wrote.
            ///
            /// # Errors
            /// The bytes are not that.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadBytes> {
                rmp_serde::from_slice(bytes).map_err(|e| BadBytes(e.to_string()))
            }
        }
    };
}

bytes!(PlayerRecord);
bytes!(PlayerHot);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::EquipSlot;
    use crate::fight::Style;
    use crate::item::bank::Deposit;
    use crate::quest::QuestState;
    use crate::tile::Region;

    #[test]
    #[allow(clippy::too_many_lines, reason = "one record with all of it")]
    fn records_survive_their_bytes() {
        let deposit = Deposit {
            quantity: 3,
            tab: 8,
            place: 70_000,
        };
        let record = PlayerRecord {
            id: CharacterId::from("c1"),
            name: "Ann".to_owned(),
            tile: Tile::new(-5, 70),
            y: 4,
            health: 9,
            skills: BTreeMap::from([(
                Skill::Agility,
                SkillXp {
                    level: 3,
                    xp_tenths: 1740,
                },
            )]),
            coins: 12,
            energy: 9_000,
            running: true,
            combat_level: 3,
            placed: true,
            inventory: BTreeMap::from([(27, Stack::new("logs", 1))]),
            equipment: Worn::from([(EquipSlot::Ring, Stack::new("ring", 1))]),
            bank: Bank {
                items: BTreeMap::from([("logs".into(), deposit)]),
                placeholders: true,
            },
            home_ready_at: Tick(9),
            quests: Quests::from([("errand".into(), QuestState::default())]),
            ways: Ways {
                style: Style::Rapid,
                retaliates: false,
                spell: Some("spark".into()),
            },
            prayer: Devotion {
                points: 7,
                active: ["socks".into()].into(),
            },
            stakes: BTreeMap::from([(55, Stack::new("coins", 2))]),
            played_ticks: 1_499,
        };
        assert_eq!(PlayerRecord::from_bytes(&record.to_bytes()), Ok(record));
        let hot = PlayerHot {
            path: vec![Tile::new(1, 2)],
            pickup: Some(Pickup {
                number: 7,
                target: "item:1-2".into(),
                region: Region { x: 0, z: 1 },
            }),
            homeward: Homeward {
                done_at: Some(Tick(8)),
                ..Homeward::default()
            },
            ..PlayerHot::default()
        };
        assert_eq!(PlayerHot::from_bytes(&hot.to_bytes()), Ok(hot));
        assert!(PlayerRecord::from_bytes(&[1, 2, 3]).is_err());
        assert_eq!(
            PlayerHot::from_bytes(&[0x80]),
            Ok(PlayerHot::default()),
            "all is optional"
        );
    }
}
