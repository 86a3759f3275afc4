//! Quests: the conditions to begin them, the acts that count for their stages, and their gifts.
//!
//! Always: a count never falls while its quest is under way, and never exceeds the amount for the
//! stage. Kills, talks and journeys count only for the stage under way, all else for later stages too.
//! A quest gives its first gifts once. Who gives up a quest of welcome keeps its counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Achievement, QuestState, QuestStatus, Quests, status};
use crate::content::{Content, EquipSlot, Quest, Reward, Stage, StageKind};
use crate::entity::ids::CharacterId;
use crate::entity::player::record::PlayerRecord;
use crate::features::training::experience::SkillXp;
use crate::geometry::tile::Tile;
use crate::item::bank::Bank;
use crate::item::inventory::{self, Pack};
use crate::item::leg::Leg;
use crate::item::worn::Worn;
use crate::item::{COINS, QUANTITY_MAX, Stack};
use crate::refusal::Refusal;

/// Counts an act for the quests under way. Returns those that changed.
pub(crate) fn counts(
    quests: &mut Quests,
    content: &Content,
    achievement: Achievement<'_>,
) -> Vec<Arc<str>> {
    let mut changed = Vec::new();
    for (id, state) in quests.iter_mut() {
        let quest = content.quests().get(id);
        if let Some(quest) = quest.filter(|quest| count(quest, state, achievement)) {
            changed.push(Arc::clone(&quest.id));
        }
    }
    changed
}

/// Returns whether some quest could count an act of this kind at all.
pub(crate) fn under_way(quests: &Quests) -> bool {
    quests.values().any(|state| state.stage.is_some())
}

/// Counts an act for one quest. Returns whether something changed.
fn count(quest: &Quest, state: &mut QuestState, achievement: Achievement<'_>) -> bool {
    let Some(current) = at(quest, state) else {
        return false;
    };
    if state.ready {
        return false;
    }
    let mut changed = false;
    for (index, stage) in quest.stages.iter().enumerate().skip(current) {
        if index > current && !counts_early(&stage.kind) {
            continue;
        }
        let before = state.counts.get(&stage.id).copied().unwrap_or(0);
        let done = counted(quest, stage, achievement, before).min(asked(stage));
        if done > before {
            state.counts.insert(Arc::clone(&stage.id), done);
            changed = true;
        }
    }
    changed && {
        settle(quest, state);
        true
    }
}

/// Returns whether an act counts before its stage is under way.
fn counts_early(kind: &StageKind) -> bool {
    match kind {
        StageKind::Gather
        | StageKind::Interact
        | StageKind::Wield
        | StageKind::Sell
        | StageKind::Deposit
        | StageKind::Pray => true,
        StageKind::Dialogue | StageKind::Kill | StageKind::Travel | StageKind::Other(_) => false,
    }
}

/// Returns how much of a stage is done with the act, if `before` of it was done without it.
fn counted(quest: &Quest, stage: &Stage, achievement: Achievement<'_>, before: u32) -> u32 {
    let target = &*stage.target;
    let more = match (&stage.kind, achievement) {
        (StageKind::Kill, Achievement::Killed(kind)) => u32::from(kind == target),
        (StageKind::Gather, Achievement::Gathered(item, many))
        | (StageKind::Interact, Achievement::Made(item, many))
            if means(stage, item) =>
        {
            many
        }
        (StageKind::Sell, Achievement::Sold(item, many))
        | (StageKind::Deposit, Achievement::Banked(item, many))
            if target.is_empty() || means(stage, item) =>
        {
            many
        }
        (StageKind::Pray, Achievement::Prayed) => 1,
        (StageKind::Wield, Achievement::Wears(worn)) => {
            return before.max(u32::from(wields(stage, worn)));
        }
        (StageKind::Interact, Achievement::Lit) => u32::from(target.eq_ignore_ascii_case("fire")),
        (StageKind::Dialogue, Achievement::Talked(kind)) => {
            u32::from(*kind == **partner(quest, stage))
        }
        (StageKind::Travel, Achievement::Stood(tile)) => {
            let near = |(to, radius): (Tile, u32)| tile.steps_to(to) <= radius;
            u32::from(stage.place.is_some_and(near))
        }
        (StageKind::Gather, Achievement::Has(pack)) => {
            let items = std::iter::once(&stage.target).chain(&stage.alternatives);
            let there: u64 = items.map(|item| inventory::count(pack, item)).sum();
            return before.max(u32::try_from(there).unwrap_or(u32::MAX));
        }
        _ => 0,
    };
    before.saturating_add(more)
}

/// Returns whether a stage means an item.
fn means(stage: &Stage, item: &str) -> bool {
    let mut items = std::iter::once(&stage.target).chain(&stage.alternatives);
    items.any(|meant| **meant == *item)
}

/// Returns whether somebody who wears this wields the item that a stage means; any weapon, if it
/// means none.
fn wields(stage: &Stage, worn: &Worn) -> bool {
    if stage.target.is_empty() {
        return worn.contains_key(&EquipSlot::Weapon);
    }
    worn.values().any(|stack| means(stage, &stack.item))
}

/// Returns the kind of NPC with which one talks in a stage.
fn partner<'a>(quest: &'a Quest, stage: &'a Stage) -> &'a Arc<str> {
    if stage.npc.is_empty() {
        &quest.giver
    } else {
        &stage.npc
    }
}

/// Returns the amount for a stage.
pub(crate) fn asked(stage: &Stage) -> u32 {
    match stage.kind {
        StageKind::Dialogue | StageKind::Travel | StageKind::Wield => 1,
        StageKind::Kill
        | StageKind::Gather
        | StageKind::Interact
        | StageKind::Sell
        | StageKind::Deposit
        | StageKind::Pray
        | StageKind::Other(_) => stage.count,
    }
}

/// Returns the place of the stage under way. If the content does not have that stage any more, it
/// is the first.
fn at(quest: &Quest, state: &QuestState) -> Option<usize> {
    let under_way = state.stage.as_ref()?;
    let found = quest.stages.iter().position(|stage| stage.id == *under_way);
    Some(found.unwrap_or(0))
}

/// Goes on to the first stage that is not done.
fn settle(quest: &Quest, state: &mut QuestState) {
    let Some(mut index) = at(quest, state) else {
        return;
    };
    let last = quest.stages.len().saturating_sub(1);
    state.ready = loop {
        let Some(stage) = quest.stages.get(index) else {
            break true;
        };
        state.stage = Some(Arc::clone(&stage.id));
        // Telling the giver completes it.
        let back = stage.kind == StageKind::Dialogue && *partner(quest, stage) == quest.giver;
        if index == last && back {
            break true;
        }
        if state.counts.get(&stage.id).copied().unwrap_or(0) < asked(stage) {
            break false;
        }
        if index == last {
            break true;
        }
        index += 1;
    };
}

/// Checks whether a character may begin a quest.
///
/// # Errors
/// `QuestStage`: it is under way, or over for ever. `QuestLocked`: other quests, levels or items
/// come before.
pub(crate) fn may_begin(record: &PlayerRecord, quest: &Quest) -> Result<(), Refusal> {
    match status(&record.quests, &quest.id) {
        QuestStatus::InProgress | QuestStatus::ReadyToComplete => return Err(Refusal::QuestStage),
        QuestStatus::Completed if !quest.replayable => return Err(Refusal::QuestStage),
        QuestStatus::Completed | QuestStatus::NotStarted => {}
    }
    let over = |id: &Arc<str>| record.quests.get(id).is_some_and(|s| s.completed > 0);
    let levels = &quest.levels;
    let able = |(skill, level): (&crate::Skill, &u8)| record.level(*skill) >= u32::from(*level);
    let has = |item: &Arc<str>| inventory::count(&record.inventory, item) > 0;
    let may =
        quest.after.iter().all(over) && levels.iter().all(able) && quest.needs.iter().all(has);
    if may {
        Ok(())
    } else {
        Err(Refusal::QuestLocked)
    }
}

/// Returns whether a quest begins by itself for a character that comes into the world for the first
/// time. It does not for one that has levels already.
pub(crate) fn welcomes(record: &PlayerRecord, quest: &Quest) -> bool {
    let new = |skill: &crate::Skill| record.level(*skill) == SkillXp::fresh(*skill).level;
    let begun = record.quests.contains_key(&quest.id);
    quest.welcome && !begun && crate::Skill::ALL.iter().all(new) && may_begin(record, quest).is_ok()
}

/// Begins a quest. If the character has `met` the giver, the first stages that are only about talking
/// with the giver are done: that has happened.
pub(crate) fn begin(quest: &Quest, state: &mut QuestState, met: bool) {
    let opening =
        |stage: &&Stage| stage.kind == StageKind::Dialogue && *partner(quest, stage) == quest.giver;
    let first = quest
        .stages
        .iter()
        .take_while(|s| met && opening(s))
        .count();
    let first = quest.stages.get(first).or(quest.stages.last());
    state.stage = Some(first.map_or_else(|| "".into(), |stage| Arc::clone(&stage.id)));
    if !quest.welcome {
        state.counts = BTreeMap::new();
    }
    state.ready = false;
    state.given = true;
    settle(quest, state);
}

/// Gives a quest up, and forgets its counts unless it is one of welcome. `quest` is none if the
/// content does not know it.
///
/// # Errors
/// `QuestStage`: it is not under way.
pub(crate) fn give_up(quest: Option<&Quest>, state: &mut QuestState) -> Result<(), Refusal> {
    state.stage.take().ok_or(Refusal::QuestStage)?;
    if !quest.is_some_and(|quest| quest.welcome) {
        state.counts = BTreeMap::new();
    }
    state.ready = false;
    Ok(())
}

/// Ends a quest as completed.
pub(crate) fn complete(state: &mut QuestState) {
    state.stage = None;
    state.counts = BTreeMap::new();
    state.ready = false;
    state.given = false;
    state.completed = state.completed.saturating_add(1);
}

/// Returns the legs that put the gifts into the pack, or into the bank if they do not fit. Coins go
/// into the pouch.
///
/// # Errors
/// `InventoryFull`: there is no room for something anywhere.
pub(crate) fn gifts(
    record: &PlayerRecord,
    content: &Content,
    gifts: &[Reward],
) -> Result<Vec<Leg>, Refusal> {
    let mut room = Room {
        who: &record.id,
        content,
        pack: record.inventory.clone(),
        bank: record.bank.clone(),
        coins: record.coins,
    };
    let legs = gifts.iter().map(|gift| room.put(gift));
    legs.collect()
}

/// Room that a character has.
struct Room<'a> {
    who: &'a CharacterId,
    content: &'a Content,
    pack: Pack,
    bank: Bank,
    coins: u64,
}

impl Room<'_> {
    fn put(&mut self, gift: &Reward) -> Result<Leg, Refusal> {
        let (who, stack) = (
            self.who.clone(),
            Stack::new(gift.item.clone(), gift.quantity),
        );
        let sum = self.coins + u64::from(gift.quantity);
        if *gift.item == *COINS && sum <= u64::from(QUANTITY_MAX) {
            self.coins = sum;
            let amount = gift.quantity;
            return Ok(Leg::ToPouch { who, amount });
        }
        let mut pack = self.pack.clone();
        if inventory::put(&mut pack, self.content, &stack).is_ok() {
            self.pack = pack;
            return Ok(Leg::ToPack { who, stack });
        }
        let into = self.bank.put(&gift.item, gift.quantity, 0);
        into.map_err(|_| Refusal::InventoryFull)?;
        Ok(Leg::ToBank { who, stack, tab: 0 })
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
