//! Quests: the conditions to begin them, the acts that count for their stages, and their gifts.
//!
//! Always: a count never falls while its quest is under way, and never exceeds the amount for the
//! stage. Gathered or made items count for later stages too, all else only for the stage under way.
//! A quest gives its first gifts once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Achievement, QuestState, QuestStatus, Quests, status};
use crate::content::{Content, Quest, Reward, Stage, StageKind};
use crate::entity::ids::CharacterId;
use crate::entity::player::record::PlayerRecord;
use crate::geometry::tile::Tile;
use crate::item::bank::Bank;
use crate::item::inventory::{self, Pack};
use crate::item::leg::Leg;
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
        let early = matches!(stage.kind, StageKind::Gather | StageKind::Interact);
        if index > current && !early {
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

/// Returns how much of a stage is done with the act, if `before` of it was done without it.
fn counted(quest: &Quest, stage: &Stage, achievement: Achievement<'_>, before: u32) -> u32 {
    let target = &*stage.target;
    let more = match (&stage.kind, achievement) {
        (StageKind::Kill, Achievement::Killed(kind)) => u32::from(kind == target),
        (StageKind::Gather, Achievement::Gathered(item, many))
        | (StageKind::Interact, Achievement::Made(item, many))
            if item == target =>
        {
            many
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
            let there = inventory::count(pack, target);
            return before.max(u32::try_from(there).unwrap_or(u32::MAX));
        }
        _ => 0,
    };
    before.saturating_add(more)
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
        StageKind::Dialogue | StageKind::Travel => 1,
        _ => stage.count,
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

/// Begins a quest. The first stages are done if they are only about talking with the giver: that
/// has happened.
pub(crate) fn begin(quest: &Quest, state: &mut QuestState) {
    let opening =
        |stage: &&Stage| stage.kind == StageKind::Dialogue && *partner(quest, stage) == quest.giver;
    let first = quest.stages.iter().take_while(opening).count();
    let first = quest.stages.get(first).or(quest.stages.last());
    state.stage = Some(first.map_or_else(|| "".into(), |stage| Arc::clone(&stage.id)));
    state.counts = BTreeMap::new();
    state.ready = false;
    state.given = true;
    settle(quest, state);
}

/// Gives a quest up, and forgets its counts.
///
/// # Errors
/// `QuestStage`: it is not under way.
pub(crate) fn give_up(state: &mut QuestState) -> Result<(), Refusal> {
    state.stage.take().ok_or(Refusal::QuestStage)?;
    state.counts = BTreeMap::new();
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
mod tests {
    use super::*;
    use crate::content::Difficulty;

    fn stage(id: &str, kind: StageKind, npc: &str, target: &str, count: u32) -> Stage {
        Stage {
            id: id.into(),
            kind,
            description: "".into(),
            npc: npc.into(),
            target: target.into(),
            count,
            place: (id == "there").then_some((Tile::new(10, 10), 2)),
        }
    }

    fn quest(stages: Vec<Stage>) -> Quest {
        Quest {
            id: "errand".into(),
            name: "Errand".into(),
            description: "".into(),
            difficulty: Difficulty::Novice,
            points: 1,
            replayable: false,
            after: Vec::new(),
            levels: BTreeMap::new(),
            needs: Vec::new(),
            giver: "tom".into(),
            stages,
            given: Vec::new(),
            rewards: Vec::new(),
            xp_tenths: BTreeMap::new(),
        }
    }

    fn errand() -> Quest {
        quest(vec![
            stage("ask", StageKind::Dialogue, "tom", "", 1),
            stage("rats", StageKind::Kill, "", "rat", 2),
            stage("logs", StageKind::Gather, "", "logs", 3),
            stage("fire", StageKind::Interact, "", "fire", 1),
            stage("there", StageKind::Travel, "", "", 1),
            stage("eve", StageKind::Dialogue, "eve", "", 1),
            stage("back", StageKind::Dialogue, "tom", "", 1),
        ])
    }

    fn begun(quest: &Quest) -> QuestState {
        let mut state = QuestState::default();
        begin(quest, &mut state);
        state
    }

    fn stage_of(state: &QuestState) -> &str {
        state.stage.as_deref().unwrap_or("none")
    }

    #[test]
    fn each_kind_of_stage_is_done_by_its_achievements_and_no_others() {
        let (quest, mut state) = {
            let quest = errand();
            let state = begun(&quest);
            (quest, state)
        };
        let here = Tile::new(8, 12);
        // The act, whether something changed, and the stage then.
        let story = [
            (Achievement::Killed("cat"), false, "rats"),
            (Achievement::Killed("rat"), true, "rats"),
            // Gathered before its stage: that counts; other acts do not.
            (Achievement::Gathered("logs", 2), true, "rats"),
            (Achievement::Stood(here), false, "rats"),
            (Achievement::Talked("eve"), false, "rats"),
            (Achievement::Killed("rat"), true, "logs"),
            (Achievement::Killed("rat"), false, "logs"),
            (Achievement::Gathered("stone", 9), false, "logs"),
            (Achievement::Gathered("logs", 9), true, "fire"),
            (Achievement::Made("logs", 1), false, "fire"),
            (Achievement::Lit, true, "there"),
            (Achievement::Stood(Tile::new(7, 10)), false, "there"),
            (Achievement::Stood(here), true, "eve"),
            (Achievement::Talked("tom"), false, "eve"),
            (Achievement::Talked("eve"), true, "back"),
            (Achievement::Talked("tom"), false, "back"),
        ];
        for (index, (achievement, changes, then)) in story.into_iter().enumerate() {
            assert_eq!(
                count(&quest, &mut state, achievement),
                changes,
                "{index}: {achievement:?}"
            );
            assert_eq!(stage_of(&state), then, "{index}: {achievement:?}");
        }
        assert!(state.ready);
        assert_eq!(
            state.counts.get("logs"),
            Some(&3),
            "never more than asked for"
        );
        complete(&mut state);
        assert_eq!(state.status(), QuestStatus::Completed);
        assert!(!count(&quest, &mut state, Achievement::Killed("rat")));
    }

    #[test]
    fn what_one_has_counts_as_gathered_and_laying_it_down_takes_nothing_away() {
        let quest = quest(vec![stage("logs", StageKind::Gather, "", "logs", 3)]);
        let mut state = begun(&quest);
        let pack = |many: u8| {
            (0..many)
                .map(|slot| (slot, Stack::new("logs", 1)))
                .collect::<Pack>()
        };
        assert!(count(&quest, &mut state, Achievement::Has(&pack(2))));
        assert!(!count(&quest, &mut state, Achievement::Has(&pack(0))));
        // The same ones again are not more.
        assert!(!count(&quest, &mut state, Achievement::Has(&pack(2))));
        assert!(!state.ready);
        assert!(count(&quest, &mut state, Achievement::Has(&pack(4))));
        assert!(state.ready, "no stage leads back: it is ready at once");
    }

    #[test]
    fn what_was_gathered_before_is_not_asked_for_again() {
        let quest = quest(vec![
            stage("rats", StageKind::Kill, "", "rat", 1),
            stage("logs", StageKind::Gather, "", "logs", 1),
            stage("board", StageKind::Interact, "", "board", 1),
            stage("back", StageKind::Dialogue, "", "", 1),
        ]);
        let mut state = begun(&quest);
        assert!(count(&quest, &mut state, Achievement::Made("board", 1)));
        assert!(count(&quest, &mut state, Achievement::Gathered("logs", 1)));
        assert_eq!(stage_of(&state), "rats");
        assert!(count(&quest, &mut state, Achievement::Killed("rat")));
        assert_eq!((stage_of(&state), state.ready), ("back", true));
    }

    #[test]
    fn who_gives_up_begins_anew_but_is_given_nothing_again() {
        let quest = errand();
        let mut state = begun(&quest);
        count(&quest, &mut state, Achievement::Killed("rat"));
        give_up(&mut state).unwrap();
        assert_eq!(give_up(&mut state), Err(Refusal::QuestStage));
        assert_eq!(state.status(), QuestStatus::NotStarted);
        assert!(state.given && state.counts.is_empty());
    }
}
