//! Quests: their requests and notifications.

use std::collections::BTreeMap;
use std::sync::Arc;

use proto::client::{
    quest::{
        QuestCompleted, QuestDetail, QuestEntry, QuestList, QuestProgress, QuestRequirements,
        QuestRewards, QuestStage, QuestStatus, QuestUpdate,
    },
    sync::Stack,
};
use world::{
    Content, PlayerRecord, QuestState, Quests,
    content::{Quest, Reward, Stage, StageKind},
    quests::Event,
};

use super::{Told, skill};

fn status(quests: &Quests, quest: &str) -> QuestStatus {
    match world::quests::status(quests, quest) {
        world::QuestStatus::NotStarted => QuestStatus::NotStarted,
        world::QuestStatus::InProgress => QuestStatus::InProgress,
        world::QuestStatus::ReadyToComplete => QuestStatus::ReadyToComplete,
        world::QuestStatus::Completed => QuestStatus::Completed,
    }
}

/// The points of all quests that are over.
fn points(quests: &Quests, content: &Content) -> u32 {
    let over = quests.iter().filter(|(_, state)| state.completed > 0);
    let known = over.filter_map(|(id, _)| content.quests().get(id));
    known.map(|quest| quest.points).sum()
}

/// All that there are.
pub(crate) fn all(quests: &Quests, content: &Content) -> QuestList {
    let entries = content.quests().iter().map(|quest| QuestEntry {
        id: quest.id.to_string(),
        name: quest.name.to_string(),
        status: status(quests, &quest.id),
        difficulty: quest.difficulty.name().to_owned(),
        quest_points: quest.points,
    });
    QuestList {
        quests: entries.collect(),
        quest_points: points(quests, content),
    }
}

/// Those that were ever begun.
pub(crate) fn progress(quests: &Quests) -> Vec<QuestProgress> {
    let begun = quests.iter().map(|(id, state)| QuestProgress {
        id: id.to_string(),
        status: status(quests, id),
        stage: state.stage.as_deref().map(str::to_owned),
        progress: counts(state),
    });
    begun.collect()
}

fn counts(state: &QuestState) -> BTreeMap<String, u32> {
    let counts = state.counts.iter();
    counts.map(|(id, count)| (id.to_string(), *count)).collect()
}

/// All about one; none that the content does not know.
pub(crate) fn detail(
    quests: &Quests,
    content: &Content,
    id: &str,
    offered: bool,
) -> Option<QuestDetail> {
    let quest = content.quests().get(id)?;
    let state = quests.get(id).cloned().unwrap_or_default();
    let giver = content.npc_kinds().get(&quest.giver);
    let texts = |list: &[Arc<str>]| list.iter().map(|id| id.to_string()).collect();
    let levels = quest.levels.iter();
    Some(QuestDetail {
        id: quest.id.to_string(),
        name: quest.name.to_string(),
        description: quest.description.to_string(),
        status: status(quests, id),
        difficulty: quest.difficulty.name().to_owned(),
        start_npc: quest.giver.to_string(),
        start_npc_name: giver.map_or_else(String::new, |kind| kind.name.to_string()),
        current_stage: state.stage.as_deref().map(str::to_owned),
        stage_progress: counts(&state),
        stages: quest.stages.iter().map(stage).collect(),
        requirements: QuestRequirements {
            quests: texts(&quest.after),
            skills: levels
                .map(|(skill, level)| (skill.name().to_owned(), u32::from(*level)))
                .collect(),
            items: texts(&quest.needs),
        },
        rewards: rewards(quest),
        offered,
    })
}

fn stage(stage: &Stage) -> QuestStage {
    let counts = !matches!(stage.kind, StageKind::Dialogue | StageKind::Travel);
    QuestStage {
        id: stage.id.to_string(),
        description: stage.description.to_string(),
        kind: stage.kind.name().to_owned(),
        target: stage.target.to_string(),
        count: counts.then_some(stage.count),
    }
}

fn rewards(quest: &Quest) -> QuestRewards {
    let stack = |reward: &Reward| Stack {
        item_id: reward.item.to_string(),
        quantity: reward.quantity,
    };
    let xp = quest.xp_tenths.iter();
    QuestRewards {
        quest_points: quest.points,
        items: quest.rewards.iter().map(stack).collect(),
        xp: xp
            .map(|(of, tenths)| (of.name().to_owned(), skill::points(u64::from(*tenths))))
            .collect(),
    }
}

/// How far one is now.
pub(crate) fn update(quests: &Quests, content: &Content, id: &str) -> Option<QuestUpdate> {
    let quest = content.quests().get(id)?;
    let state = quests.get(id).cloned().unwrap_or_default();
    let under_way = state.stage.as_ref();
    let stage = under_way.and_then(|id| quest.stages.iter().find(|stage| stage.id == *id));
    Some(QuestUpdate {
        quest_id: quest.id.to_string(),
        name: quest.name.to_string(),
        status: status(quests, id),
        stage: state.stage.as_deref().map(str::to_owned),
        progress: counts(&state),
        description: stage.map_or_else(String::new, |stage| next(quest, stage, &state, content)),
        quest_points: points(quests, content),
    })
}

/// Returns what the player has to do now, in words. If a quest is ready, its last stage is done:
/// only its giver has to hear of it.
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
        quest_id: quest.id.to_string(),
        name: quest.name.to_string(),
        rewards: rewards(quest),
    })
}

/// Returns what a player is told of quests; nothing of those that the content does not know.
pub(crate) fn told(event: &Event, record: &PlayerRecord, content: &Content) -> Option<Told> {
    let quests = &record.quests;
    Some(match event {
        Event::Listed { .. } => Told::of_value(&all(quests, content)),
        Event::Shown { quest, .. } => Told::of_value(&detail(quests, content, quest, false)?),
        Event::Progressed { quest, .. } => Told::of_value(&update(quests, content, quest)?),
        Event::Completed { quest, .. } => Told::of_value(&completed(content, quest)?),
    })
}
