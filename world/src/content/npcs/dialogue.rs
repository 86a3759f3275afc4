//! Talks of NPCs.
//!
//! Always: an answer leads to a node that there is, or ends the talk.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::fields::Fields;
use crate::content::reader::{Defect, Of};
use crate::features::quests::QuestStatus;
use crate::features::training::skill::Skill;
use crate::item::{COINS, QUANTITY_MAX};

/// Talk of an NPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialogue {
    /// Node with which a talk begins.
    pub entry: Arc<str>,
    /// All nodes, by id.
    pub nodes: BTreeMap<Arc<str>, Node>,
    /// By quest: the nodes with which a talk begins instead.
    pub overrides: BTreeMap<Arc<str>, Overrides>,
}

/// Nodes with which a talk about a quest begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// Nodes while a stage of the quest is under way, by stage.
    pub stages: BTreeMap<Arc<str>, Arc<str>>,
    /// Node while any other stage is.
    pub in_progress: Option<Arc<str>>,
    /// Node when its stage is done.
    pub ready_to_complete: Option<Arc<str>>,
    /// Node when the quest is over.
    pub completed: Option<Arc<str>>,
}

/// Part of a talk that the NPC says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Text of the node.
    pub text: Arc<str>,
    /// Effect if the talk ends here.
    pub effect: Option<Effect>,
    /// Answers that a player may give; none if the talk ends.
    pub answers: Vec<Answer>,
}

/// Answer that a player may give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Text of the answer.
    pub text: Arc<str>,
    /// Node to which it leads; none if it ends the talk.
    pub next: Option<Arc<str>>,
    /// Effect of the answer.
    pub effect: Option<Effect>,
    /// Condition on which a player may give it; none for always.
    pub condition: Option<Condition>,
}

/// Condition of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Whether the condition holds just when the test fails.
    pub not: bool,
    /// Test of the player.
    pub test: Test,
}

/// Test of a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// The player carries at least so many of an item; coins in the pouch count.
    HasItem(Arc<str>, u32),
    /// The player has reached a level.
    HasLevel(Skill, u32),
    /// The player is so far with a quest.
    Quest(Arc<str>, QuestStatus),
    /// A test that the rules do not know.
    Unknown,
}

/// Effect of something said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The bank opens.
    OpenBank,
    /// The shop opens.
    OpenStore,
    /// The tanner's list opens.
    OpenTanner,
    /// The NPC heals the player.
    Heal,
    /// The NPC offers a quest.
    StartQuest(Arc<str>),
    /// A quest ends.
    CompleteQuest(Arc<str>),
    /// The player gives a quest up.
    AbandonQuest(Arc<str>),
    /// The NPC gives so many of an item.
    GiveItem(Arc<str>, u32),
    /// An effect that the rules do not know.
    Other(Arc<str>),
}

/// Reads the talk of the NPC that `npc` describes: a tree, a greeting, or the lines of the oldest
/// generation.
pub(super) fn read(npc: &Fields<'_>) -> Option<Dialogue> {
    let lines = npc.texts("dialogueLines");
    if !lines.is_empty() {
        return Some(only(&lines.join("\n"), None));
    }
    let fields = npc.object("dialogue")?;
    let greeting = fields.text_or("greeting", "");
    if !greeting.is_empty() && !fields.has("nodes") {
        let heals = fields.get("heal").is_some_and(|heal| heal != false);
        return Some(only(greeting, heals.then_some(Effect::Heal)));
    }
    let nodes: BTreeMap<Arc<str>, (Node, Fields<'_>)> = fields
        .objects("nodes")
        .into_iter()
        .filter_map(|f| Some((f.key("id")?.into(), (node(&f), f))))
        .collect();
    let dialogue = Dialogue {
        entry: fields.text("entryNodeId"),
        overrides: overrides(&fields),
        nodes: nodes
            .iter()
            .map(|(id, (node, _))| (Arc::clone(id), node.clone()))
            .collect(),
    };
    Some(closed(dialogue, &fields, &nodes))
}

/// Returns a talk of one node.
fn only(text: &str, effect: Option<Effect>) -> Dialogue {
    let node = Node {
        text: text.into(),
        effect,
        answers: Vec::new(),
    };
    Dialogue {
        entry: "greeting".into(),
        nodes: BTreeMap::from([("greeting".into(), node)]),
        overrides: BTreeMap::new(),
    }
}

fn node(fields: &Fields<'_>) -> Node {
    Node {
        text: fields.text("text"),
        effect: effect(fields),
        answers: fields.objects("responses").iter().map(answer).collect(),
    }
}

fn answer(fields: &Fields<'_>) -> Answer {
    let next = fields.text_or("nextNodeId", "");
    Answer {
        text: fields.text("text"),
        next: Some(next)
            .filter(|next| !next.is_empty() && !next.eq_ignore_ascii_case("end"))
            .map(Into::into),
        effect: effect(fields),
        condition: condition(fields),
    }
}

/// Reads a condition: a name, and its arguments after colons; `!` before it negates it.
fn condition(fields: &Fields<'_>) -> Option<Condition> {
    let text = fields.text_or("condition", "");
    if text.is_empty() {
        return None;
    }
    let bare = text.strip_prefix('!');
    let mut parts = bare.unwrap_or(text).split(':');
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let (about, more) = (parts.next().unwrap_or_default(), parts.next());
    let test = match name.as_str() {
        "hasitem" => {
            let item = fields.refer_to("condition", Of::Item, about, "it is never said");
            let many = more.map_or(Some(1), |many| many.parse().ok());
            many.map(|many| Test::HasItem(item, many))
        }
        "haslevel" => {
            let level = more.and_then(|level| level.parse().ok());
            Skill::named(about)
                .zip(level)
                .map(|(s, l)| Test::HasLevel(s, l))
        }
        "quest" => {
            fields.refer_to("condition", Of::Quest, about, "it is never said");
            let status = more.and_then(quest_status);
            status.map(|status| Test::Quest(about.into(), status))
        }
        _ => None,
    };
    let test = test.unwrap_or_else(|| {
        let what = format!("the rules know no condition {text:?}, it is never said");
        fields.defect(Defect::Unknown, "condition", &what);
        Test::Unknown
    });
    Some(Condition {
        not: bare.is_some(),
        test,
    })
}

fn quest_status(name: &str) -> Option<QuestStatus> {
    Some(match name {
        "not_started" => QuestStatus::NotStarted,
        "in_progress" => QuestStatus::InProgress,
        "ready_to_complete" => QuestStatus::ReadyToComplete,
        "completed" => QuestStatus::Completed,
        _ => return None,
    })
}

/// Reads an effect: a name and, after a colon, its subject; after another colon, a number.
fn effect(fields: &Fields<'_>) -> Option<Effect> {
    let text = fields.text_or("effect", "");
    let (name, about) = text.split_once(':').unwrap_or((text, ""));
    let quest = || {
        fields.refer_to("effect", Of::Quest, about, "nothing comes of it");
        about.into()
    };
    let unknown = || {
        let what = format!("the rules know no effect {text:?}, nothing comes of it");
        fields.defect(Defect::Unknown, "effect", &what);
        Effect::Other(text.into())
    };
    Some(match name.to_ascii_lowercase().as_str() {
        "" => return None,
        "openbank" => Effect::OpenBank,
        "openstore" | "openshop" => Effect::OpenStore,
        "opentanner" => Effect::OpenTanner,
        "heal" => Effect::Heal,
        "startquest" => Effect::StartQuest(quest()),
        "completequest" => Effect::CompleteQuest(quest()),
        "abandonquest" => Effect::AbandonQuest(quest()),
        "giveitem" => gift(fields, about).unwrap_or_else(unknown),
        _ => unknown(),
    })
}

/// Reads a gift: an item, and after a colon the number of it; without a number, one.
fn gift(fields: &Fields<'_>, about: &str) -> Option<Effect> {
    let (item, many) = about.split_once(':').unwrap_or((about, "1"));
    let many = many.parse().ok();
    let many = many.filter(|many| (1..=QUANTITY_MAX).contains(many))?;
    let item = if item == COINS {
        item.into()
    } else {
        fields.refer_to("effect", Of::Item, item, "nothing comes of it")
    };
    Some(Effect::GiveItem(item, many))
}

fn overrides(fields: &Fields<'_>) -> BTreeMap<Arc<str>, Overrides> {
    let Some(map) = fields.object("questOverrides") else {
        return BTreeMap::new();
    };
    let read = |(quest, given): (&str, Fields<'_>)| {
        map.refer_to(quest, Of::Quest, quest, "it changes nothing that is said");
        let to = |name: &str| Some(given.text(name)).filter(|id| !id.is_empty());
        let stages = given.object("stages");
        let stages = stages.map_or_else(BTreeMap::new, |stages| {
            let nodes = stages.fields();
            nodes
                .map(|(stage, _)| (stage.into(), stages.text(stage)))
                .collect()
        });
        let overrides = Overrides {
            stages,
            in_progress: to("in_progress"),
            ready_to_complete: to("ready_to_complete"),
            completed: to("completed"),
        };
        (quest.into(), overrides)
    };
    map.entries().into_iter().map(read).collect()
}

/// Returns the talk without links to unknown nodes, and warns of each.
fn closed(
    mut dialogue: Dialogue,
    fields: &Fields<'_>,
    read: &BTreeMap<Arc<str>, (Node, Fields<'_>)>,
) -> Dialogue {
    let missing = |id: &Arc<str>| !read.contains_key(id);
    if missing(&dialogue.entry) {
        let what = format!("there is no node {:?}, nothing is said", dialogue.entry);
        fields.defect(Defect::Dangling, "entryNodeId", &what);
    }
    for (id, node) in &mut dialogue.nodes {
        for (i, answer) in node.answers.iter_mut().enumerate() {
            if let Some(next) = answer.next.take_if(|next| missing(next)) {
                let place = format!("responses[{i}].nextNodeId");
                let what = format!("there is no node {next:?}, the talk ends");
                if let Some((_, of)) = read.get(id) {
                    of.defect(Defect::Dangling, &place, &what);
                }
            }
        }
    }
    for (quest, given) in &mut dialogue.overrides {
        given.stages.retain(|stage, id| {
            if missing(id) {
                let place = format!("questOverrides.{quest}.stages.{stage}");
                let what = format!("there is no node {id:?}, nothing changes");
                fields.defect(Defect::Dangling, &place, &what);
            }
            !missing(id)
        });
        for (name, to) in [
            ("in_progress", &mut given.in_progress),
            ("ready_to_complete", &mut given.ready_to_complete),
            ("completed", &mut given.completed),
        ] {
            if let Some(id) = to.take_if(|id| missing(id)) {
                let place = format!("questOverrides.{quest}.{name}");
                let what = format!("there is no node {id:?}, nothing changes");
                fields.defect(Defect::Dangling, &place, &what);
            }
        }
    }
    dialogue
}
