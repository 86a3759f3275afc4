//! Messages about quests: their list, the demands of one, and the own character's progress.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{QuestState, QuestStatus, Quests, status};
use crate::content::{Content, Quest, Reward, Stage, StageKind};
use crate::server_events;
use crate::told::{Stack, Tenths};

/// A quest as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestEntry {
    /// Id of the quest.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Progress of the own character.
    pub status: QuestStatus,
    /// novice, intermediate, experienced, master or grandmaster.
    pub difficulty: String,
    /// The points that it gives.
    pub quest_points: u32,
    /// Combat level from which it is recommended; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_level: Option<u32>,
}

/// `quest:list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestList {
    /// All that there are, by id.
    pub quests: Vec<QuestEntry>,
    /// Quest points of the own character.
    pub quest_points: u32,
}

/// A stage of a quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestStage {
    /// Id of the quest.
    pub id: Arc<str>,
    /// Task of the stage.
    pub description: String,
    /// dialogue, kill, gather, interact, travel, wield, sell, deposit or pray.
    #[serde(rename = "type")]
    pub kind: String,
    /// Thing to kill, gather, make, wield, sell or bank.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub target: Arc<str>,
    /// Number of things, where the stage counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// Requirements to begin a quest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestRequirements {
    /// Quests that must be over.
    pub quests: Vec<Arc<str>>,
    /// Levels, by skill.
    pub skills: BTreeMap<String, u32>,
    /// Items that one must have with one.
    pub items: Vec<Arc<str>>,
}

/// Rewards of a quest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestRewards {
    /// Points.
    pub quest_points: u32,
    /// Things; coins go into the pouch.
    pub items: Vec<Stack>,
    /// Experience, by skill.
    pub xp: BTreeMap<String, Tenths>,
}

/// `quest:detail`: all about one. Said also when somebody offers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestDetail {
    /// Id of the quest.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Story of the quest, in words.
    pub description: String,
    /// Progress of the own character.
    pub status: QuestStatus,
    /// novice, intermediate, experienced, master or grandmaster.
    pub difficulty: String,
    /// Combat level from which it is recommended; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_level: Option<u32>,
    /// Kind of the NPC that gives the quest.
    pub start_npc: Arc<str>,
    /// Its name.
    pub start_npc_name: String,
    /// The stage that is under way; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_stage: Option<Arc<str>>,
    /// Counted things, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stage_progress: BTreeMap<Arc<str>, u32>,
    /// All stages, in order.
    pub stages: Vec<QuestStage>,
    /// Requirements to begin.
    pub requirements: QuestRequirements,
    /// Rewards.
    pub rewards: QuestRewards,
    /// Somebody offers it right now: `quest:accept` begins it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
}

/// Progress of the own character in a quest, as `player:sync` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestProgress {
    /// Id of the quest.
    pub id: Arc<str>,
    /// Progress.
    pub status: QuestStatus,
    /// The stage that is under way; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Arc<str>>,
    /// Counted things, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub progress: BTreeMap<Arc<str>, u32>,
}

/// `quest:update`: how far the own character is with a quest now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestUpdate {
    /// Id of the quest.
    pub quest_id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Progress.
    pub status: QuestStatus,
    /// The stage that is under way; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Arc<str>>,
    /// Counted things, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub progress: BTreeMap<Arc<str>, u32>,
    /// Next task, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The points that the own character has.
    pub quest_points: u32,
}

/// `quest:completed`: a quest is over, with its rewards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestCompleted {
    /// Id of the quest.
    pub quest_id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Rewards that the player got.
    pub rewards: QuestRewards,
}

server_events! {
    QuestList => "quest:list",
    QuestDetail => "quest:detail",
    QuestUpdate => "quest:update",
    QuestCompleted => "quest:completed",
}

/// Returns the points of all quests that are over.
fn points(quests: &Quests, content: &Content) -> u32 {
    let over = quests.iter().filter(|(_, state)| state.completed > 0);
    let known = over.filter_map(|(id, _)| content.quests().get(id));
    known.map(|quest| quest.points).sum()
}

/// Returns all quests, with the progress of a player.
pub(crate) fn list(quests: &Quests, content: &Content) -> QuestList {
    let entries = content.quests().iter().map(|quest| QuestEntry {
        id: Arc::clone(&quest.id),
        name: Arc::clone(&quest.name),
        status: status(quests, &quest.id),
        difficulty: quest.difficulty.name().to_owned(),
        quest_points: quest.points,
        recommended_level: recommended(quest),
    });
    QuestList {
        quests: entries.collect(),
        quest_points: points(quests, content),
    }
}

/// Returns the quests that a player ever began.
pub fn progress(quests: &Quests) -> Vec<QuestProgress> {
    let begun = quests.iter().map(|(id, state)| QuestProgress {
        id: Arc::clone(id),
        status: status(quests, id),
        stage: state.stage.clone(),
        progress: state.counts.clone(),
    });
    begun.collect()
}

/// Returns all about one quest; `None`: the content does not know it. `offered`: somebody offers it
/// now.
pub fn detail(quests: &Quests, content: &Content, id: &str, offered: bool) -> Option<QuestDetail> {
    let quest = content.quests().get(id)?;
    let state = quests.get(id).cloned().unwrap_or_default();
    let giver = content.npc_kinds().get(&quest.giver);
    let levels = quest.levels.iter();
    Some(QuestDetail {
        id: Arc::clone(&quest.id),
        name: Arc::clone(&quest.name),
        description: quest.description.to_string(),
        status: status(quests, id),
        difficulty: quest.difficulty.name().to_owned(),
        recommended_level: recommended(quest),
        start_npc: Arc::clone(&quest.giver),
        start_npc_name: giver.map_or_else(String::new, |kind| kind.name.to_string()),
        current_stage: state.stage.clone(),
        stage_progress: state.counts.clone(),
        stages: quest.stages.iter().map(stage).collect(),
        requirements: QuestRequirements {
            quests: quest.after.to_vec(),
            skills: levels
                .map(|(skill, level)| (skill.name().to_owned(), u32::from(*level)))
                .collect(),
            items: quest.needs.to_vec(),
        },
        rewards: rewards(quest),
        offered,
    })
}

fn recommended(quest: &Quest) -> Option<u32> {
    Some(quest.recommended_level).filter(|level| *level > 0)
}

fn stage(stage: &Stage) -> QuestStage {
    let once = matches!(
        stage.kind,
        StageKind::Dialogue | StageKind::Travel | StageKind::Wield
    );
    QuestStage {
        id: Arc::clone(&stage.id),
        description: stage.description.to_string(),
        kind: stage.kind.name().to_owned(),
        target: Arc::clone(&stage.target),
        count: (!once).then_some(stage.count),
    }
}

fn rewards(quest: &Quest) -> QuestRewards {
    let stack = |reward: &Reward| Stack {
        item_id: Arc::clone(&reward.item),
        quantity: reward.quantity,
    };
    let xp = quest.xp_tenths.iter();
    QuestRewards {
        quest_points: quest.points,
        items: quest.rewards.iter().map(stack).collect(),
        xp: xp
            .map(|(of, tenths)| (of.name().to_owned(), Tenths::from(*tenths)))
            .collect(),
    }
}

/// Returns the progress in one quest.
pub(crate) fn update(quests: &Quests, content: &Content, id: &str) -> Option<QuestUpdate> {
    let quest = content.quests().get(id)?;
    let state = quests.get(id).cloned().unwrap_or_default();
    let under_way = state.stage.as_ref();
    let stage = under_way.and_then(|id| quest.stages.iter().find(|stage| stage.id == *id));
    Some(QuestUpdate {
        quest_id: Arc::clone(&quest.id),
        name: Arc::clone(&quest.name),
        status: status(quests, id),
        stage: state.stage.clone(),
        progress: state.counts.clone(),
        description: stage.map_or_else(String::new, |stage| next(quest, stage, &state, content)),
        quest_points: points(quests, content),
    })
}

/// Returns the player's next task, in words. If a quest is ready, its last stage is done, and only
/// its giver has to hear of it.
fn next(quest: &Quest, stage: &Stage, state: &QuestState, content: &Content) -> String {
    let teller = stage.npc.is_empty() || stage.npc == quest.giver;
    let tells = stage.kind == StageKind::Dialogue && teller;
    let giver = content.npc_kinds().get(&quest.giver);
    match giver.filter(|_| state.ready && !tells) {
        Some(giver) => format!("Tell {} that it is done.", giver.name),
        None => stage.description.to_string(),
    }
}

/// Returns the message that a quest is over.
pub(crate) fn completed(content: &Content, id: &str) -> Option<QuestCompleted> {
    let quest = content.quests().get(id)?;
    Some(QuestCompleted {
        quest_id: Arc::clone(&quest.id),
        name: Arc::clone(&quest.name),
        rewards: rewards(quest),
    })
}
