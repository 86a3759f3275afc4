//! Quests: which there are, what one asks for, and how far the own character is.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{sync::Stack, table::server_events};

/// How far one is with a quest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestStatus {
    /// Not begun.
    #[default]
    NotStarted,
    /// Begun.
    InProgress,
    /// All is done; whoever gave it waits to hear of it.
    ReadyToComplete,
    /// Over.
    Completed,
}

/// A quest as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestEntry {
    /// Which.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How far the own character is.
    pub status: QuestStatus,
    /// novice, intermediate, experienced, master or grandmaster.
    pub difficulty: String,
    /// The points that it gives.
    pub quest_points: u32,
}

/// `quest:list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestList {
    /// All that there are, by id.
    pub quests: Vec<QuestEntry>,
    /// Those that the own character has.
    pub quest_points: u32,
}

/// A stage of a quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestStage {
    /// Which.
    pub id: String,
    /// What is to be done.
    pub description: String,
    /// dialogue, kill, gather, interact or travel.
    #[serde(rename = "type")]
    pub kind: String,
    /// What to kill, gather or make.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// How many, where they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// What it takes to begin a quest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestRequirements {
    /// Quests that must be over.
    pub quests: Vec<String>,
    /// Levels, by skill.
    pub skills: BTreeMap<String, u32>,
    /// Items that one must have with one.
    pub items: Vec<String>,
}

/// What a quest gives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestRewards {
    /// Points.
    pub quest_points: u32,
    /// Things; coins go into the pouch.
    pub items: Vec<Stack>,
    /// Experience, by skill.
    pub xp: BTreeMap<String, f64>,
}

/// `quest:detail`: all about one. Said also when somebody offers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestDetail {
    /// Which.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// How far the own character is.
    pub status: QuestStatus,
    /// novice, intermediate, experienced, master or grandmaster.
    pub difficulty: String,
    /// Who gives it: an NPC's kind.
    pub start_npc: String,
    /// Its name.
    pub start_npc_name: String,
    /// The stage that is under way; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_stage: Option<String>,
    /// How many were counted, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stage_progress: BTreeMap<String, u32>,
    /// All stages, in order.
    pub stages: Vec<QuestStage>,
    /// What it takes to begin.
    pub requirements: QuestRequirements,
    /// What it gives.
    pub rewards: QuestRewards,
    /// Somebody offers it right now: `quest:accept` begins it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
}

/// How far the own character is with a quest, as `player:sync` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestProgress {
    /// Which.
    pub id: String,
    /// How far.
    pub status: QuestStatus,
    /// The stage that is under way; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// How many were counted, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub progress: BTreeMap<String, u32>,
}

/// `quest:update`: how far the own character is with a quest now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestUpdate {
    /// Which.
    pub quest_id: String,
    /// Its name.
    pub name: String,
    /// How far.
    pub status: QuestStatus,
    /// The stage that is under way; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// How many were counted, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub progress: BTreeMap<String, u32>,
    /// What is to be done now, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The points that the own character has.
    pub quest_points: u32,
}

/// `quest:completed`: a quest is over, and this is what it gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestCompleted {
    /// Which.
    pub quest_id: String,
    /// Its name.
    pub name: String,
    /// What it gave.
    pub rewards: QuestRewards,
}

server_events! {
    QuestList => "quest:list",
    QuestDetail => "quest:detail",
    QuestUpdate => "quest:update",
    QuestCompleted => "quest:completed",
}
