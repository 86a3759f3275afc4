//! A player at rest (what is saved) and in motion (what moves along in a handover besides).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::errand::{Homeward, Pickup};
use crate::ids::CharacterId;
use crate::item::Stack;
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
    /// By name: attack, woodcutting …
    pub skills: BTreeMap<String, SkillXp>,
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
}

impl PlayerRecord {
    /// The level in `skill`; 1 when it has none.
    pub fn level(&self, skill: &str) -> u32 {
        self.skills.get(skill).map_or(1, |s| s.level)
    }

    /// Health when well: the level in constitution, 10 for one who has none.
    pub fn max_health(&self) -> u32 {
        self.skills
            .get("constitution")
            .map_or(10, |s| s.level.max(1))
    }
}

/// What a player is doing: not saved, but moved along when another owner goes on with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerHot {
    /// The steps that it still has to take, the next one first.
    pub path: Vec<Tile>,
    /// What it is on the way to take.
    pub pickup: Option<Pickup>,
    /// Where it is in going home by magic.
    pub homeward: Homeward,
    /// What makes it an agent.
    pub agent: Option<Agent>,
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
    use crate::tick::Tick;
    use crate::tile::Region;

    #[test]
    fn records_survive_their_bytes() {
        let record = PlayerRecord {
            id: CharacterId::from("c1"),
            name: "Ann".to_owned(),
            tile: Tile::new(-5, 70),
            y: 4,
            health: 9,
            skills: BTreeMap::from([(
                "agility".to_owned(),
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
