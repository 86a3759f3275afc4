//! `quests.json`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::areas::position;
use super::catalog::Catalog;
use super::fields::Fields;
use super::items::Items;
use super::reader::{Of, Reader};
use super::words::words;
use crate::features::training::skill::Skill;
use crate::geometry::tile::Tile;

/// File of the quests.
const FILE: &str = "quests.json";

words! {
    /// Difficulty of a quest.
    Difficulty {
        Novice = "novice",
        Intermediate = "intermediate",
        Experienced = "experienced",
        Master = "master",
        Grandmaster = "grandmaster",
    }
}

words! {
    /// Task of a stage of a quest.
    StageKind {
        Dialogue = "dialogue",
        Kill = "kill",
        Gather = "gather",
        Interact = "interact",
        Travel = "travel",
        Wield = "wield",
        Sell = "sell",
        Deposit = "deposit",
        Pray = "pray",
    }
}

/// A quest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quest {
    /// Id, unique among quests.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Description for players.
    pub description: Arc<str>,
    /// Difficulty of the quest.
    pub difficulty: Difficulty,
    /// Quest points for it.
    pub points: u32,
    /// Whether a player can do it again.
    pub replayable: bool,
    /// Whether it begins by itself for a new character. Who gives it up keeps its counts, and may go
    /// on later.
    pub welcome: bool,
    /// Combat level from which the content recommends it; 0: any.
    pub recommended_level: u32,
    /// Quests that the player must have done before.
    pub after: Vec<Arc<str>>,
    /// Levels that it takes.
    pub levels: BTreeMap<Skill, u8>,
    /// Items that the player must carry to begin.
    pub needs: Vec<Arc<str>>,
    /// NPC that gives it, and to which the player returns.
    pub giver: Arc<str>,
    /// Stages, in order.
    pub stages: Vec<Stage>,
    /// Items that the player gets at its beginning.
    pub given: Vec<Reward>,
    /// Items that the player gets at its end.
    pub rewards: Vec<Reward>,
    /// XP at its end, in tenths.
    pub xp_tenths: BTreeMap<Skill, u32>,
}

/// Stage of a quest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Id, unique in the quest.
    pub id: Arc<str>,
    /// Task of the stage.
    pub kind: StageKind,
    /// Description of the task.
    pub description: Arc<str>,
    /// NPC for a talk; empty for nobody.
    pub npc: Arc<str>,
    /// Target to kill, gather, make, wield, sell or bank. Empty: to wield any weapon, and to sell or
    /// bank anything; else nothing.
    pub target: Arc<str>,
    /// Items that count as the target does.
    pub alternatives: Vec<Arc<str>>,
    /// Number to reach, at least 1.
    pub count: u32,
    /// Goal of a journey, and the distance from it that is near enough.
    pub place: Option<(Tile, u32)>,
}

/// Number of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reward {
    /// Item.
    pub item: Arc<str>,
    /// Number of items, at least 1.
    pub quantity: u32,
}

/// Reads the quests. A stage may ask a player to make one of `items`, or a fire, which is no item.
pub(crate) fn load(reader: &Reader, items: &Items) -> Catalog<Quest> {
    let mut quests = Catalog::default();
    if reader.optional(FILE).is_some_and(|value| value.is_array()) {
        for fields in &reader.records(FILE) {
            if let Some(id) = fields.key("id") {
                quests.add(fields, id, quest(id, fields, items));
            }
        }
        return quests;
    }
    let Some(root) = reader.object(FILE) else {
        return quests;
    };
    for (key, fields) in root.entries() {
        let id = fields.text_or("id", key);
        quests.add(&fields, id, quest(id, &fields, items));
    }
    quests
}

fn quest<'v>(id: &'v str, fields: &Fields<'v>, items: &Items) -> Quest {
    let requirements = fields.object("requirements");
    let rewards = fields.object("rewards");
    let begin = fields.object("onStart");
    let needs = requirements.as_ref();
    let levels = needs.and_then(|r| r.object("skills"));
    let xp = rewards.as_ref().and_then(|r| r.object("xp"));
    let points = fields.count_or("questPoints", 0);
    let points = rewards
        .as_ref()
        .map_or(points, |r| r.count_or("questPoints", points));
    let stages = fields.objects("stages");
    Quest {
        id: id.into(),
        name: fields.name(id).into(),
        description: fields.text("description"),
        difficulty: fields.word("difficulty").unwrap_or(Difficulty::Novice),
        points,
        replayable: fields.flag_or("replayable", false),
        welcome: fields.flag_or("welcome", false),
        recommended_level: fields.count_or("recommendedLevel", 0),
        after: needs.map_or_else(Vec::new, |r| {
            r.refer_all("quests", Of::Quest, "nobody can begin it")
        }),
        levels: levels.map_or_else(BTreeMap::new, |levels| levels.levels()),
        needs: needs.map_or_else(Vec::new, |r| {
            r.refer_all("items", Of::Item, "nobody can begin it")
        }),
        giver: fields.refer("startNpc", Of::Npc, "nobody can begin it"),
        stages: stages.iter().filter_map(|f| stage(f, items)).collect(),
        given: begin.map_or_else(Vec::new, |f| given(&f)),
        rewards: rewards.map_or_else(Vec::new, |f| given(&f)),
        xp_tenths: xp.map_or_else(BTreeMap::new, |xp| xp.by_skill(|name| xp.tenths(name))),
    }
}

fn stage(fields: &Fields<'_>, items: &Items) -> Option<Stage> {
    let id = fields.key("id")?;
    let kind = fields.word("type").unwrap_or(StageKind::Dialogue);
    let never = "it can never be done";
    let target = match kind {
        StageKind::Kill => fields.refer("target", Of::Npc, never),
        StageKind::Gather | StageKind::Wield | StageKind::Sell | StageKind::Deposit => {
            fields.refer("target", Of::Item, never)
        }
        StageKind::Interact => {
            let target = fields.text_or("target", "");
            let fire = target.eq_ignore_ascii_case("fire") || items.contains(target);
            if !target.is_empty() && !fire {
                fields.refer_to("target", Of::Item, target, never);
            }
            items.id(target)
        }
        StageKind::Dialogue | StageKind::Travel | StageKind::Pray | StageKind::Other(_) => {
            fields.text("target")
        }
    };
    let location = fields.object("location");
    Some(Stage {
        id: id.into(),
        kind,
        description: fields.text("description"),
        npc: fields.refer("npcId", Of::Npc, never),
        target,
        alternatives: fields.refer_all("alternatives", Of::Item, "it does not count"),
        count: fields.count_or("count", 1).max(1),
        place: location.and_then(|l| Some((position(&l)?, l.count_or("radius", 5)))),
    })
}

fn given(fields: &Fields<'_>) -> Vec<Reward> {
    let read = |item: &Fields<'_>| {
        item.key("itemId")?;
        Some(Reward {
            item: item.refer("itemId", Of::Item, "it is not given"),
            quantity: item.count_or("quantity", 1).max(1),
        })
    };
    fields.objects("items").iter().filter_map(read).collect()
}
