//! Faults of quests: a player must be able to begin, play and end each.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::goods::Goods;
use super::reach::{Reach, npcs};
use super::{Faults, trade};
use crate::content::{Content, Effect, NpcPlacement, Quest, Stage, StageKind};

/// Target of a stage that a player makes, though it is no item.
const FIRE: &str = "fire";
/// Kind of station at which players pray.
const ALTAR: &str = "altar";
/// Combat level of a new character.
const NEW_LEVEL: u32 = 3;
/// Combat level from which a player may face anybody.
const MASTER_LEVEL: u32 = 100;

pub(super) fn inspect(content: &Content, reach: &Reach, goods: &Goods, faults: &mut Faults) {
    for quest in content.quests().iter() {
        for what in wrong(content, reach, goods, quest) {
            faults.add("quest", &quest.id, what);
        }
    }
}

fn wrong(content: &Content, reach: &Reach, goods: &Goods, quest: &Quest) -> Vec<String> {
    let mut wrong = Vec::new();
    let met = |id: &str| npcs(content).find(|npc| npc.kind.id.as_ref() == id && reach.meets(npc));
    match met(&quest.giver) {
        None => wrong.push(format!("nobody can meet {}, who gives it", quest.giver)),
        Some(giver) => wrong.extend(unoffered(giver, quest)),
    }
    if quest.stages.is_empty() {
        wrong.push("asks for nothing".to_owned());
    }
    if let Some(item) = quest.needs.iter().find(|item| !goods.has(item)) {
        wrong.push(format!("takes {item}, which nobody can get"));
    }
    if before(content, quest).contains(&quest.id) {
        wrong.push("must be done before it can be begun".to_owned());
    }
    let mut ids = BTreeSet::new();
    for stage in &quest.stages {
        if !ids.insert(&stage.id) {
            wrong.push(format!("has the stage {} twice", stage.id));
        }
        let what = undone(content, reach, goods, stage, &met);
        let what = what.into_iter().chain(perils(content, quest, stage));
        wrong.extend(what.map(|what| format!("stage {}: {what}", stage.id)));
    }
    wrong
}

/// Returns the reason why `stage` sends players against somebody who is too strong for them, if there
/// is one. New characters meet only foes that cannot hurt them. All others meet a stronger one only
/// in a quest that recommends at least its level, or that of a master.
fn perils(content: &Content, quest: &Quest, stage: &Stage) -> Option<String> {
    let foe = content.npc_kinds().get(&stage.target);
    let foe = foe.filter(|_| stage.kind == StageKind::Kill)?;
    if quest.welcome && !foe.fight.harmless {
        return Some(format!("sends new characters against {}", foe.id));
    }
    let fit = quest.recommended_level.max(NEW_LEVEL);
    (foe.level.min(MASTER_LEVEL) > fit).then(|| {
        let (id, level) = (&foe.id, foe.level);
        format!("sends players of level {fit} against {id} of level {level}")
    })
}

/// Returns the faults that keep `giver` from beginning and ending `quest`. The talk with somebody
/// new must reach the offer; the talk with one who has done all stages must reach the end.
fn unoffered(giver: &NpcPlacement, quest: &Quest) -> Vec<String> {
    let Some(dialogue) = giver.dialogue.as_deref() else {
        return vec![format!("{} says nothing", quest.giver)];
    };
    let begin = Effect::StartQuest(Arc::clone(&quest.id));
    let end = Effect::CompleteQuest(Arc::clone(&quest.id));
    let ready = dialogue.overrides.get(&quest.id);
    let ready = ready.and_then(|o| o.ready_to_complete.as_ref());
    let mut wrong = Vec::new();
    // A quest of welcome begins by itself, but its giver takes it up again with those who left it.
    if !trade::leads(dialogue, &dialogue.entry, &begin) {
        wrong.push(format!("{} never offers it", quest.giver));
    }
    if !trade::leads(dialogue, ready.unwrap_or(&dialogue.entry), &end) {
        wrong.push(format!("{} never ends it", quest.giver));
    }
    wrong
}

/// Returns the reason why nobody can do `stage`, if there is one.
fn undone<'c>(
    content: &'c Content,
    reach: &Reach,
    goods: &Goods,
    stage: &Stage,
    met: &dyn Fn(&str) -> Option<&'c NpcPlacement>,
) -> Option<String> {
    match stage.kind {
        StageKind::Dialogue => {
            let npc = met(&stage.npc);
            let talks = npc.is_some_and(|npc| npc.dialogue.is_some());
            (!talks).then(|| format!("nobody can talk with {:?}", stage.npc))
        }
        StageKind::Kill => {
            let prey = met(&stage.target).is_some_and(|npc| npc.kind.attackable);
            (!prey).then(|| format!("nobody can fight {:?}", stage.target))
        }
        StageKind::Gather => {
            let had = goods.has(&stage.target);
            (!had).then(|| format!("nobody can get {:?}", stage.target))
        }
        StageKind::Interact => {
            let fires = !content.recipes().firemaking.is_empty();
            let made = if stage.target.eq_ignore_ascii_case(FIRE) {
                fires
            } else {
                goods.has(&stage.target) && super::goods::made(content, &stage.target)
            };
            (!made).then(|| format!("nobody can make {:?}", stage.target))
        }
        StageKind::Travel => match stage.place {
            None => Some("says not where to go".to_owned()),
            Some((tile, radius)) => {
                let radius = i32::try_from(radius).unwrap_or(i32::MAX).min(64);
                let there = reach.near(tile, radius);
                (!there).then(|| format!("nobody can come to ({}, {})", tile.x, tile.z))
            }
        },
        StageKind::Wield => {
            let item = content.item(&stage.target);
            let wielded =
                item.is_some_and(|item| item.equip_slot.is_some()) && goods.has(&stage.target);
            let able = stage.target.is_empty() || wielded;
            (!able).then(|| format!("nobody can wield {:?}", stage.target))
        }
        StageKind::Sell | StageKind::Deposit => {
            let able = stage.target.is_empty() || goods.has(&stage.target);
            (!able).then(|| format!("nobody can get {:?}", stage.target))
        }
        StageKind::Pray => {
            let altar = goods.station(ALTAR);
            (!altar).then(|| "there is no altar".to_owned())
        }
        StageKind::Other(ref kind) => Some(format!("nobody knows how to {kind}")),
    }
}

/// Returns the quests that a player must do before `quest`, also through others.
fn before(content: &Content, quest: &Quest) -> BTreeSet<Arc<str>> {
    let mut known = BTreeSet::new();
    let mut open = quest.after.clone();
    while let Some(id) = open.pop() {
        if known.insert(Arc::clone(&id)) {
            let after = content.quests().get(&id).map(|q| q.after.clone());
            open.extend(after.unwrap_or_default());
        }
    }
    known
}
