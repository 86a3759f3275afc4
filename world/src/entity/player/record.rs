//! A player at rest (its saved part) and in motion (the part that a handover moves besides).
//!
//! A saved character has one form, the document: its version, then a MessagePack map with named
//! fields. The document of a [`PlayerRecord`] has every field; it goes to the next owner in a
//! handover, and a region's image holds its map. The document of a [`CharacterState`] goes to the
//! store, and has only the fields without a column or a table there.
//!
//! Always: the store has each field once, in [`Columns`] or in [`CharacterState`]. If this build
//! cannot read a document whole, it refuses the document and guesses nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Dealings;
use crate::entity::ids::CharacterId;
use crate::features::agents::Agent;
use crate::features::combat::state::{CombatSettings, Fight};
use crate::features::ground_items::state::Pickup;
use crate::features::home_teleport::state::Homeward;
use crate::features::movement::follow::Follow;
use crate::features::potions::PotionState;
use crate::features::prayer::state::PrayerState;
use crate::features::quests::state::Quests;
use crate::features::skilling::state::Skilling;
use crate::features::training::experience::{self, SkillXp};
use crate::features::training::skill::Skill;
use crate::features::visit::state::{Open, Visit};
use crate::geometry::tile::Tile;
use crate::item::Stack;
use crate::item::bank::{Bank, Deposit};
use crate::item::worn::Worn;
use crate::time::Tick;

mod document;

pub use document::BadDocument;

/// The version of the documents that this build writes. It rises by one with each change of a field
/// below. A new field has a `#[serde(default)]`, so that this build reads older documents. Any
/// other change needs a `from_v…` in `record/document.rs`.
const VERSION: u32 = 3;

/// Full run energy.
pub const ENERGY_FULL: u32 = 10_000;

/// A player at rest: its saved fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerRecord {
    /// Id of the character.
    pub id: CharacterId,
    /// Name that others see.
    pub name: String,
    /// Tile on which it stands.
    pub tile: Tile,
    /// Height there, in whole tiles.
    pub y: i32,
    /// Health points.
    pub health: u32,
    /// Skills that it ever trained; ask [`PlayerRecord::skill`].
    pub skills: BTreeMap<Skill, SkillXp>,
    /// Coins in the pouch.
    pub coins: u64,
    /// Run energy, 0 to 10000.
    pub energy: u32,
    /// Whether it runs rather than walks.
    pub running: bool,
    /// 3 to 126.
    pub combat_level: u32,
    /// Whether it ever stood in the world; if not, `tile` means nothing yet.
    pub placed: bool,
    /// Contents of the slots of the pack, 0 to 27.
    #[serde(default)]
    pub inventory: BTreeMap<u8, Stack>,
    /// Stacks that it wears.
    #[serde(default)]
    pub equipment: Worn,
    /// Contents of the bank.
    #[serde(default)]
    pub bank: Bank,
    /// Tick from which it may begin a home teleport.
    #[serde(default)]
    pub home_ready_at: Tick,
    /// Its quest states.
    #[serde(default)]
    pub quests: Quests,
    /// Its combat settings.
    #[serde(default)]
    #[serde(rename = "ways")]
    pub combat_settings: CombatSettings,
    /// Its prayer points, and the prayers that are on.
    #[serde(default)]
    pub prayer: PrayerState,
    /// Stacks that it has at stake in a duel, or could not take back yet, by place.
    #[serde(default)]
    pub stakes: BTreeMap<u8, Stack>,
    /// Ticks of play; the world counts them until it is no newcomer.
    #[serde(default)]
    pub played_ticks: u64,
    /// Its boosts and its poison; most of the time none.
    #[serde(default, skip_serializing_if = "PotionState::is_none")]
    pub potions: PotionState,
}

impl PlayerRecord {
    /// Returns level and experience in `skill`.
    pub fn skill(&self, skill: Skill) -> SkillXp {
        let trained = self.skills.get(&skill).copied();
        trained.unwrap_or_else(|| SkillXp::fresh(skill))
    }

    /// Returns the level in `skill`.
    pub fn level(&self, skill: Skill) -> u32 {
        self.skill(skill).level
    }

    /// Returns the level in `skill` with its boost. It counts in a fight; [`PlayerRecord::level`]
    /// decides the things that a player may wear or learn.
    pub fn boosted(&self, skill: Skill) -> u32 {
        self.level(skill).saturating_add(self.potions.boost(skill))
    }

    /// Returns the health when well: the level in constitution.
    pub fn max_health(&self) -> u32 {
        self.level(Skill::Constitution)
    }

    /// Sets every level, and the combat level, by the experience, whatever the store had.
    pub(crate) fn settle_skills(&mut self) {
        let skills = self.skills.values_mut();
        skills.for_each(|skill| *skill = SkillXp::of(skill.xp_tenths));
        self.combat_level = experience::combat_level(|skill| self.level(skill));
    }
}

/// The fields of a character that the store keeps in columns and tables. The specification names
/// them, SQL asks about them, or the store compares them with the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The character's id.
    pub id: CharacterId,
    /// As others see it.
    pub name: String,
    /// Tile on which it stands.
    pub tile: Tile,
    /// The height there, in whole tiles.
    pub y: i32,
    /// Health points.
    pub health: u32,
    /// Level and experience in each skill.
    pub skills: BTreeMap<Skill, SkillXp>,
    /// Coins in the pouch.
    pub coins: u64,
    /// 3 to 126.
    pub combat_level: u32,
    /// False: it never stood in the world.
    pub placed: bool,
    /// The items in the pack, by slot.
    pub inventory: BTreeMap<u8, Stack>,
    /// The items that it wears.
    pub equipment: Worn,
    /// The items in the bank.
    pub bank: BTreeMap<Arc<str>, Deposit>,
    /// The items at stake in a duel, by place.
    pub stakes: BTreeMap<u8, Stack>,
}

/// The fields of a character that the store keeps in the document alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharacterState {
    /// As [`PlayerRecord::energy`].
    pub energy: u32,
    /// As [`PlayerRecord::running`].
    pub running: bool,
    /// As [`Bank::placeholders`].
    pub bank_placeholders: bool,
    /// As [`PlayerRecord::home_ready_at`].
    pub home_ready_at: Tick,
    /// As [`PlayerRecord::quests`].
    pub quests: Quests,
    /// As [`PlayerRecord::combat_settings`].
    #[serde(rename = "ways")]
    pub combat_settings: CombatSettings,
    /// As [`PlayerRecord::prayer`].
    pub prayer: PrayerState,
    /// As [`PlayerRecord::played_ticks`].
    pub played_ticks: u64,
    /// As [`PlayerRecord::potions`].
    #[serde(default, skip_serializing_if = "PotionState::is_none")]
    pub potions: PotionState,
}

/// A character that has just been created.
impl Default for CharacterState {
    fn default() -> CharacterState {
        CharacterState {
            energy: ENERGY_FULL,
            running: false,
            bank_placeholders: false,
            home_ready_at: Tick::default(),
            quests: Quests::default(),
            combat_settings: CombatSettings::default(),
            prayer: PrayerState::default(),
            played_ticks: 0,
            potions: PotionState::default(),
        }
    }
}

impl CharacterState {
    /// Returns the document that the store keeps.
    pub fn to_document(&self) -> Vec<u8> {
        document::written(self)
    }

    /// Reads a document of the store, of this version or an older one.
    ///
    /// # Errors
    /// The document is damaged, or a newer build wrote it.
    pub fn from_document(document: &[u8]) -> Result<CharacterState, BadDocument> {
        document::read(document)
    }
}

impl PlayerRecord {
    /// Returns the document with every field, for the next owner of the character.
    pub fn to_document(&self) -> Vec<u8> {
        document::written(self)
    }

    /// Reads a document that [`PlayerRecord::to_document`] of this version or an older one wrote.
    ///
    /// # Errors
    /// The document is damaged, or a newer build wrote it.
    pub fn from_document(document: &[u8]) -> Result<PlayerRecord, BadDocument> {
        document::read(document)
    }

    /// Returns the fields that the store keeps in the document alone.
    pub fn state(&self) -> CharacterState {
        // Each field is named, so that a new one does not compile until it has a place here or in
        // the columns.
        let PlayerRecord {
            id: _,
            name: _,
            tile: _,
            y: _,
            health: _,
            skills: _,
            coins: _,
            energy,
            running,
            combat_level: _,
            placed: _,
            inventory: _,
            equipment: _,
            bank,
            home_ready_at,
            quests,
            combat_settings,
            prayer,
            stakes: _,
            played_ticks,
            potions,
        } = self;
        CharacterState {
            energy: *energy,
            running: *running,
            bank_placeholders: bank.placeholders,
            home_ready_at: *home_ready_at,
            quests: quests.clone(),
            combat_settings: combat_settings.clone(),
            prayer: prayer.clone(),
            played_ticks: *played_ticks,
            potions: potions.clone(),
        }
    }

    /// Reads all that the store keeps of a character. Only a character that never stood in the world
    /// has no document.
    ///
    /// # Errors
    /// The document is missing or damaged, or a newer build wrote it.
    pub fn from_store(columns: Columns, document: &[u8]) -> Result<PlayerRecord, BadDocument> {
        let state = match document {
            [] if columns.placed => return Err(BadDocument::Missing),
            [] => CharacterState::default(),
            document => CharacterState::from_document(document)?,
        };
        Ok(PlayerRecord::new(columns, state))
    }

    /// Puts a character together.
    pub fn new(columns: Columns, state: CharacterState) -> PlayerRecord {
        PlayerRecord {
            id: columns.id,
            name: columns.name,
            tile: columns.tile,
            y: columns.y,
            health: columns.health,
            skills: columns.skills,
            coins: columns.coins,
            energy: state.energy,
            running: state.running,
            combat_level: columns.combat_level,
            placed: columns.placed,
            inventory: columns.inventory,
            equipment: columns.equipment,
            bank: Bank {
                items: columns.bank,
                placeholders: state.bank_placeholders,
            },
            home_ready_at: state.home_ready_at,
            quests: state.quests,
            combat_settings: state.combat_settings,
            prayer: state.prayer,
            stakes: columns.stakes,
            played_ticks: state.played_ticks,
            potions: state.potions,
        }
    }
}

/// Activity of a player: not saved, but moved along when another owner goes on with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerHot {
    /// The steps that it still has to take, the next one first.
    pub path: Vec<Tile>,
    /// Tile that it left last.
    pub trail: Option<Tile>,
    /// Player that it follows.
    pub follow: Option<Follow>,
    /// Item that it is on the way to take.
    pub pickup: Option<Pickup>,
    /// State of its home teleport.
    pub homeward: Homeward,
    /// State of an agent.
    pub agent: Option<Agent>,
    /// Visit for which it has set out.
    pub visit: Option<Visit>,
    /// Interface that it has open.
    pub open: Option<Open>,
    /// State of its work.
    #[serde(flatten)]
    pub skilling: Skilling,
    /// Its part in fights.
    pub fight: Fight,
    /// Its trades and duels.
    #[serde(flatten)]
    pub dealings: Dealings,
}

/// Unreadable bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBytes(pub String);

impl std::fmt::Display for BadBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a player: {}", self.0)
    }
}

impl std::error::Error for BadBytes {}

impl PlayerHot {
    /// Returns it as MessagePack with named fields.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        document::append(&mut bytes, self);
        bytes
    }

    /// Reads the bytes that [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are not in that form.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadBytes> {
        rmp_serde::from_slice(bytes).map_err(|e| BadBytes(e.to_string()))
    }
}

#[cfg(test)]
#[path = "record/tests.rs"]
pub(crate) mod tests;
