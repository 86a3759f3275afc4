//! Everything private of the own character.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use world::combat::told::Combat;
pub use world::potions::told::Effects;
use world::prayer::told::Prayer;
use world::quests::told::QuestProgress;
pub use world::told::{Hundredths, Position, Stack};
pub use world::training::told::SkillShown;
pub use world::vitals::told::Health;

use super::table::server_events;

/// Choices of a character for itself. The server keeps them from one login to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// It runs rather than walks.
    pub run: bool,
    /// It turns to whoever attacks it.
    pub retaliate: bool,
    /// The bank keeps the place of an item whose last piece is withdrawn.
    pub bank_placeholders: bool,
}

/// `player:sync`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlayerSync {
    /// The tick that this shows.
    pub tick: u64,
    /// Its id, name and combat level.
    pub character: super::session::Character,
    /// Position of the character.
    pub position: Position,
    /// Its health.
    pub health: Health,
    /// By name.
    pub skills: BTreeMap<String, SkillShown>,
    /// 28 slots.
    pub inventory: Vec<Option<Stack>>,
    /// By slot name.
    pub equipment: BTreeMap<String, Stack>,
    /// In the pouch.
    pub coins: u64,
    /// Run energy, 0 to 100.
    pub energy: Hundredths,
    /// It runs rather than walks.
    pub run: bool,
    /// Quests that were ever begun, by id.
    #[serde(default)]
    pub quests: Vec<QuestProgress>,
    /// Its prayer points, and its active prayers.
    #[serde(default)]
    pub prayer: Prayer,
    /// Combat settings.
    #[serde(default)]
    pub combat: Combat,
    /// Choices of the character for itself.
    #[serde(default)]
    pub settings: Settings,
    /// It has no health left and stands up again in its time; only said when it has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead: bool,
    /// Its boosts and its poison; only said when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
}

server_events! {
    PlayerSync => "player:sync",
}
