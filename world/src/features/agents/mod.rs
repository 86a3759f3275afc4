//! Agents: characters that may act by themselves, with their orders, goals and acts. This state
//! moves along in a handover. The orders are also in the store, and the higher version counts.
//!
//! Always: an agent that is paused, or that somebody plays, pursues no goal. It remembers a limited
//! number of acts.

pub(crate) mod alarms;
mod danger;
pub(crate) mod fight;
mod gear;
mod notes;
mod rules;
pub(crate) mod tick;
mod walk;
pub(crate) mod work;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::content::Content;
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::training::skill::Skill;
use crate::geometry::tile::Tile;
use crate::time::Tick;

/// Most acts that an agent remembers.
pub const RECENT_ACTIONS_MAX: usize = 15;
/// Most areas on offer as goals, in the order of the manifest.
const AREAS_MAX: usize = 24;
/// Word for a bank, as stations and services have it.
const BANK: &str = "bank";
/// Skills that agents train, each with its urgency, the most urgent first.
pub const TRAINED: [(Skill, u32); 6] = [
    (Skill::Woodcutting, 70),
    (Skill::Smithing, 67),
    (Skill::Mining, 65),
    (Skill::Cooking, 62),
    (Skill::Fishing, 60),
    (Skill::Firemaking, 50),
];
/// Prefix of the ids of goals that lead to an area.
const AREA_PREFIX: &str = "go_to:";

/// Goal of an agent. A new one is an arm of `agents/rules.rs`, an id here, and a line in
/// [`templates`] if its owner may choose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// To see places that it chooses itself.
    Explore,
    /// To stand still for a while.
    Rest,
    /// To take items on the ground.
    Collect,
    /// To go to the nearest bank.
    Bank,
    /// To fight beasts that are weaker than it, and take their drops.
    Fight,
    /// To train a skill: to gather, to make, and to bank a full pack.
    Train(Skill),
    /// To go to the area of that id.
    Area(Arc<str>),
    /// To go to a tile. Not for choice: an order in chat.
    Place(Tile),
    /// To follow a character. Not for choice: an order in chat.
    Follow(CharacterId),
    /// To take its things out of that grave, at that tile. Not for choice: it does that first.
    Recover(EntityId, Tile),
    /// To have one of that item, out of the bank or a shop. Not for choice: it does that first.
    Fetch(Arc<str>),
}

impl Goal {
    /// Returns the goal with that id, if its owner may choose it.
    pub fn parse(id: &str, content: &Content) -> Option<Goal> {
        Some(match id {
            "explore" => Goal::Explore,
            "rest" => Goal::Rest,
            "collect_items" => Goal::Collect,
            "go_to_bank" => Goal::Bank,
            "fight" => Goal::Fight,
            other if trained(other).is_some() => Goal::Train(trained(other)?),
            other => {
                let area = other.strip_prefix(AREA_PREFIX)?;
                let known = content.areas().iter().find(|known| known.id == area)?;
                Goal::Area(known.id.as_str().into())
            }
        })
    }

    /// Returns its id.
    pub fn id(&self) -> String {
        match self {
            Goal::Explore => "explore".to_owned(),
            Goal::Rest => "rest".to_owned(),
            Goal::Collect => "collect_items".to_owned(),
            Goal::Bank => "go_to_bank".to_owned(),
            Goal::Fight => "fight".to_owned(),
            Goal::Train(skill) => skill.name().to_owned(),
            Goal::Area(area) => format!("{AREA_PREFIX}{area}"),
            Goal::Place(at) => format!("go_to_tile:{},{}", at.x, at.z),
            Goal::Follow(who) => format!("follow:{who}"),
            Goal::Recover(grave, _) => format!("recover:{grave}"),
            Goal::Fetch(item) => format!("fetch:{item}"),
        }
    }

    /// Returns the sort of the goal.
    pub fn sort(&self) -> &'static str {
        match self {
            Goal::Explore | Goal::Bank | Goal::Area(_) | Goal::Place(_) | Goal::Follow(_) => {
                "exploration"
            }
            Goal::Rest => "idle",
            Goal::Fight => "combat_training",
            Goal::Train(skill) => skill.name(),
            Goal::Collect | Goal::Recover(..) | Goal::Fetch(_) => "item_collection",
        }
    }

    /// Returns the progress that completes it: places, ticks, things.
    pub const fn target(&self) -> u32 {
        match self {
            Goal::Explore => 5,
            Goal::Rest => 50,
            Goal::Collect | Goal::Fight => 10,
            Goal::Train(_) => 30,
            Goal::Bank
            | Goal::Area(_)
            | Goal::Place(_)
            | Goal::Follow(_)
            | Goal::Recover(..)
            | Goal::Fetch(_) => 1,
        }
    }

    /// Returns how urgent it is to an agent that may choose; 0 to 100.
    pub fn priority(&self) -> u32 {
        match self {
            Goal::Fight => 80,
            Goal::Collect => 40,
            Goal::Train(skill) => urgency(*skill),
            Goal::Explore => 30,
            Goal::Bank => 20,
            Goal::Area(_) => 15,
            Goal::Rest => 10,
            Goal::Place(_) | Goal::Follow(_) | Goal::Recover(..) | Goal::Fetch(_) => 0,
        }
    }

    /// Describes the goal in words.
    pub fn description(&self, content: &Content) -> String {
        match self {
            Goal::Explore => "Walk about and see five places".to_owned(),
            Goal::Rest => "Stand still and rest for half a minute".to_owned(),
            Goal::Collect => "Pick up what lies on the ground nearby".to_owned(),
            Goal::Bank => "Go to the nearest bank".to_owned(),
            Goal::Fight => "Fight beasts that are weaker, and take what they leave".to_owned(),
            Goal::Train(skill) => occupation(*skill).to_owned(),
            Goal::Area(id) => {
                let area = content.areas().iter().find(|area| *area.id == **id);
                let name = area.map_or(&**id, |area| area.name.as_str());
                format!("Go to {name}")
            }
            Goal::Place(at) => format!("Go to {}, {}", at.x, at.z),
            Goal::Follow(_) => "Follow somebody".to_owned(),
            Goal::Recover(..) => "Fetch what it left where it died".to_owned(),
            Goal::Fetch(item) => {
                let name = content.item(item).map_or(&**item, |kind| &*kind.name);
                format!("Get a {name} from the bank or a shop")
            }
        }
    }

    /// Returns the tile to which it leads an agent at `from`, if it leads to one place.
    pub fn location(&self, content: &Content, from: Tile) -> Option<Tile> {
        match self {
            Goal::Bank => bank(content, from),
            Goal::Area(id) => {
                let area = content.areas().iter().find(|area| *area.id == **id)?;
                Some(area.bounds.middle())
            }
            Goal::Place(at) | Goal::Recover(_, at) => Some(*at),
            Goal::Explore
            | Goal::Rest
            | Goal::Collect
            | Goal::Fight
            | Goal::Train(_)
            | Goal::Follow(_)
            | Goal::Fetch(_) => None,
        }
    }
}

/// Returns the skill of that name, if agents train it.
fn trained(name: &str) -> Option<Skill> {
    let mut all = TRAINED.iter().map(|(skill, _)| *skill);
    all.find(|skill| skill.name() == name)
}

fn urgency(skill: Skill) -> u32 {
    let known = TRAINED.iter().find(|(trained, _)| *trained == skill);
    known.map_or(0, |(_, urgency)| *urgency)
}

/// Describes in words how an agent trains `skill`.
const fn occupation(skill: Skill) -> &'static str {
    match skill {
        Skill::Woodcutting => "Cut wood, and bring it to the bank when the pack is full",
        Skill::Mining => "Mine ore, and bring it to the bank when the pack is full",
        Skill::Fishing => "Fish, and bring the catch to the bank when the pack is full",
        Skill::Firemaking => "Gather logs and light fires with them",
        Skill::Cooking => "Catch fish and cook them",
        Skill::Smithing => "Mine ore, smelt it and smith the bars",
        _ => "Get on in a skill",
    }
}

/// Returns the bank that is nearest to `from`: a counter, or an NPC that serves as one.
pub(crate) fn bank_at(content: &Content, from: Tile) -> Option<(EntityId, Tile)> {
    let regions = content.regions();
    let counters = regions
        .iter()
        .flat_map(|region| content.fixtures_in(*region))
        .filter(|fixture| *fixture.sort == *BANK)
        .map(|fixture| (&fixture.id, fixture.tile));
    let clerks = regions
        .iter()
        .flat_map(|region| content.npcs_in(*region))
        .filter(|npc| *npc.service == *BANK)
        .map(|npc| (&npc.id, npc.tile));
    let all = counters.chain(clerks);
    let nearest = all.min_by_key(|(id, tile)| (from.steps_to(*tile), *tile, *id));
    nearest.map(|(id, tile)| (id.clone(), tile))
}

fn bank(content: &Content, from: Tile) -> Option<Tile> {
    bank_at(content, from).map(|(_, tile)| tile)
}

/// Returns every goal that an owner may choose in this world, the most urgent first.
pub fn templates(content: &Content) -> Vec<Goal> {
    let beasts = content.npc_kinds().iter().any(|kind| kind.attackable);
    let mut goals: Vec<Goal> = beasts.then_some(Goal::Fight).into_iter().collect();
    let taught = TRAINED
        .iter()
        .filter(|(skill, _)| is_taught(content, *skill));
    goals.extend(taught.map(|(skill, _)| Goal::Train(*skill)));
    goals.extend([Goal::Collect, Goal::Explore]);
    if bank(content, content.spawn()).is_some() {
        goals.push(Goal::Bank);
    }
    let areas = content.areas().iter().take(AREAS_MAX);
    goals.extend(areas.map(|area| Goal::Area(area.id.as_str().into())));
    goals.push(Goal::Rest);
    goals
}

/// Returns whether an agent can train `skill` in this world at all.
fn is_taught(content: &Content, skill: Skill) -> bool {
    let recipes = content.recipes();
    match skill {
        Skill::Firemaking => !recipes.firemaking.is_empty(),
        Skill::Cooking => !recipes.cooking.is_empty(),
        Skill::Smithing => !recipes.smelting.is_empty(),
        _ => content
            .resources()
            .iter()
            .any(|kind| kind.skill == Some(skill)),
    }
}

/// Orders of an agent, as the store has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// Version; grows with every change.
    pub version: u64,
    /// Whether the character is still an agent.
    pub agent: bool,
    /// Whether the agent stays in the world even when nobody plays it.
    pub active: bool,
    /// Whether the agent picks no goals and pursues none.
    pub paused: bool,
    /// Goal that it must pursue; `None`: it picks its own.
    pub goal: Option<Goal>,
    /// Progress that it made on that goal before.
    pub progress: u32,
}

/// Input about an agent, which the zone passes into a tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInput {
    /// Agent that the input concerns.
    pub who: CharacterId,
    /// Content of the input.
    pub word: AgentWord,
}

/// Word about an agent, which the zone passes into a tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentWord {
    /// New orders. An older version than the known one changes nothing.
    Orders(Orders),
    /// Whether somebody plays it now.
    Played(bool),
    /// An order of its owner in chat. The agent follows it, paused or not; `None`: to stand still.
    Command(Option<Goal>),
}

/// Pursuit of a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pursuit {
    /// The goal.
    pub goal: Goal,
    /// Tick at which it began.
    pub since: Tick,
    /// Progress out of [`Goal::target`].
    pub progress: u32,
    /// Whether the agent picked the goal itself.
    pub automatic: bool,
    /// Tile to which it is going just now.
    pub(crate) aim: Option<Tile>,
    /// Fewest steps that it came from the place so far.
    pub(crate) nearest: u32,
    /// Tries in a row that brought nothing.
    pub(crate) tries: u32,
    /// Whether it gathers materials to work up.
    #[serde(default)]
    pub(crate) stocking: bool,
}

impl Pursuit {
    /// Returns a pursuit that begins at `now`.
    pub(crate) fn new(goal: Goal, now: Tick, automatic: bool) -> Pursuit {
        Pursuit {
            goal,
            since: now,
            progress: 0,
            automatic,
            aim: None,
            nearest: u32::MAX,
            tries: 0,
            stocking: false,
        }
    }
}

/// Sort of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AgentActionKind {
    /// Beginning of a goal.
    GoalStarted,
    /// Success with a goal.
    GoalCompleted,
    /// Failure of a goal.
    GoalFailed,
    /// Stop by its owner.
    Stopped,
    /// Permission of its owner to go on.
    Resumed,
    /// Order in chat that it follows.
    Command,
    /// Item that it took.
    Pickup,
    /// Its death.
    Died,
}

impl AgentActionKind {
    /// Returns the word for it on the wire.
    pub fn wire(self) -> &'static str {
        self.into()
    }
}

/// Act of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentAction {
    /// Tick of the act.
    pub at: Tick,
    /// Sort of the act.
    pub sort: AgentActionKind,
    /// Description in words.
    pub text: String,
}

/// Sums of an agent's acts since it was loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Number of its kills.
    pub kills: u32,
    /// Number of its deaths.
    pub deaths: u32,
    /// Coins that it took.
    pub gold: u64,
    /// Quantities that it gathered, by item.
    pub gathered: BTreeMap<String, u32>,
    /// Experience that it had before, in tenths.
    pub xp_before: u64,
}

/// Grave with the things of an agent that died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grave {
    /// Grave id.
    pub(crate) id: EntityId,
    /// Tile of the grave.
    pub(crate) tile: Tile,
    /// Tick until which nobody else may take anything out of it.
    pub(crate) until: Tick,
}

/// State that makes a character an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub(crate) orders: Orders,
    /// Whether somebody plays it.
    pub(crate) played: bool,
    /// Whether it carried the goal of its orders out, or gave it up.
    pub(crate) over: bool,
    /// Pursuit of the goal that it got or picked.
    pub(crate) pursuit: Option<Pursuit>,
    /// Pursuit of the last order in chat; goes before its goal.
    #[serde(rename = "errand")]
    pub(crate) command: Option<Pursuit>,
    /// Tick until which it pursues no goal.
    pub(crate) rests_until: Tick,
    /// Tick at which it next thinks about its next step.
    pub(crate) thinks_at: Tick,
    /// Last goal that ended, detours and orders in chat aside, and whether it reached that goal.
    pub(crate) last: Option<(Goal, bool)>,
    /// Pursuit that it must finish before it can go on with its goal.
    #[serde(default)]
    pub(crate) detour: Option<Pursuit>,
    /// Grave to which it goes when it thinks next.
    #[serde(default)]
    pub(crate) grave: Option<Grave>,
    /// Tick until which it runs from its attackers, and does not hit back.
    #[serde(default)]
    pub(crate) flees_until: Tick,
    /// Acts that it remembers, the newest last.
    #[serde(rename = "deeds")]
    pub(crate) recent_actions: VecDeque<AgentAction>,
    pub(crate) tally: Tally,
}

impl Agent {
    /// Returns its orders.
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Returns whether somebody plays it.
    pub fn played(&self) -> bool {
        self.played
    }

    /// Returns whether it carried the goal of its orders out, or gave it up.
    pub fn over(&self) -> bool {
        self.over
    }

    /// Returns its pursuit: the last order in chat, else the detour, else its goal.
    pub fn pursuit(&self) -> Option<&Pursuit> {
        let detour = self.detour.as_ref().or(self.pursuit.as_ref());
        self.command.as_ref().or(detour)
    }

    /// Returns the same pursuit as [`Agent::pursuit`], to change it.
    pub(crate) fn current(&mut self) -> Option<&mut Pursuit> {
        let detour = self.detour.as_mut().or(self.pursuit.as_mut());
        self.command.as_mut().or(detour)
    }

    /// Returns whether it runs from its attackers at `now`.
    pub(crate) fn flees(&self, now: Tick) -> bool {
        now < self.flees_until
    }

    /// Returns its progress on the goal of its orders.
    pub fn progress(&self) -> u32 {
        let given = self.pursuit.as_ref().filter(|pursuit| !pursuit.automatic);
        given.map_or(self.orders.progress, |pursuit| pursuit.progress)
    }

    /// Returns its last acts, the newest first.
    pub fn recent_actions(&self) -> impl Iterator<Item = &AgentAction> {
        self.recent_actions.iter().rev()
    }

    /// Returns the sums of its acts since it was loaded.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Delays everything that is due by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.rests_until = self.rests_until.after(ticks);
        self.thinks_at = self.thinks_at.after(ticks);
        self.flees_until = self.flees_until.after(ticks);
        let pursuits = [&mut self.pursuit, &mut self.command, &mut self.detour];
        for pursuit in pursuits.into_iter().flatten() {
            pursuit.since = pursuit.since.after(ticks);
        }
        if let Some(grave) = &mut self.grave {
            grave.until = grave.until.after(ticks);
        }
    }

    /// Remembers an act.
    pub(crate) fn did(&mut self, at: Tick, sort: AgentActionKind, text: String) {
        while self.recent_actions.len() >= RECENT_ACTIONS_MAX {
            self.recent_actions.pop_front();
        }
        self.recent_actions
            .push_back(AgentAction { at, sort, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_goal_for_choice_is_found_by_its_id() {
        let content = Content::embedded();
        let goals = templates(&content);
        assert!(goals.contains(&Goal::Explore) && goals.contains(&Goal::Bank));
        for goal in goals {
            assert_eq!(Goal::parse(&goal.id(), &content), Some(goal.clone()));
            assert!(goal.target() > 0 && goal.priority() > 0, "{goal:?}");
            assert!(!goal.description(&content).is_empty());
        }
        for id in ["", "fight_dragons", "go_to:nowhere", "go_to_tile:1,2"] {
            assert_eq!(Goal::parse(id, &content), None, "{id}");
        }
    }

    #[test]
    fn only_the_last_actions_are_remembered() {
        let orders = Orders {
            version: 1,
            agent: true,
            active: true,
            paused: false,
            goal: None,
            progress: 0,
        };
        let mut agent = crate::features::agents::rules::fresh(&orders, 0);
        for n in 0..40 {
            agent.did(Tick(n), AgentActionKind::Pickup, n.to_string());
        }
        let recent_actions: Vec<u64> = agent.recent_actions().map(|action| action.at.0).collect();
        assert_eq!(recent_actions, (25..40).rev().collect::<Vec<_>>());
    }
}
