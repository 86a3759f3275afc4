//! Everything private of the own character.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

/// A skill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    /// 1 to 99.
    pub level: u32,
    /// Experience.
    pub xp: f64,
}

/// Where something stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// East, in tiles.
    pub x: i32,
    /// Height.
    pub y: f32,
    /// North, in tiles.
    pub z: i32,
}

/// Health now and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Points now.
    pub current: u32,
    /// Points when well.
    pub max: u32,
}

/// Boosts and poison of the own character.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effects {
    /// Levels on top of those of experience, by skill. They count in a fight, and fade by one a
    /// minute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub boosts: BTreeMap<String, u32>,
    /// Damage of the next strike of poison; only said of a poisoned character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poison: Option<u32>,
}

/// A stack in a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stack {
    /// The item's id.
    pub item_id: String,
    /// How many.
    pub quantity: u32,
}

/// What a character has chosen for itself. It is kept from one login to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// It runs rather than walks.
    pub run: bool,
    /// It turns to whoever attacks it.
    pub retaliate: bool,
    /// The bank keeps the place of what is taken out.
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
    /// Where it stands.
    pub position: Position,
    /// Its health.
    pub health: Health,
    /// By name.
    pub skills: BTreeMap<String, Skill>,
    /// 28 slots.
    pub inventory: Vec<Option<Stack>>,
    /// By slot name.
    pub equipment: BTreeMap<String, Stack>,
    /// In the pouch.
    pub coins: u64,
    /// Run energy, 0 to 100.
    pub energy: f64,
    /// It runs rather than walks.
    pub run: bool,
    /// Quests that were ever begun, by id.
    #[serde(default)]
    pub quests: Vec<super::quest::QuestProgress>,
    /// Its prayer points, and the prayers that are on.
    #[serde(default)]
    pub prayer: super::prayer::Prayer,
    /// What it has chosen of fighting.
    #[serde(default)]
    pub combat: super::combat::Combat,
    /// What it has chosen for itself.
    #[serde(default)]
    pub settings: Settings,
    /// It has no health left and stands up again in its time; only said when it has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead: bool,
    /// Its boosts and its poison; only said when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
}

/// `vitals:update`: what changed of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VitalsUpdate {
    /// Health.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Run energy, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<f64>,
    /// It runs rather than walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<bool>,
    /// Boosts and poison. A message with health and without these says that there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
}

/// `teleport`: the own character stands elsewhere at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Teleport {
    /// Where.
    pub position: Position,
}

server_events! {
    PlayerSync => "player:sync",
    VitalsUpdate => "vitals:update",
    Teleport => "teleport",
}
