//! Agents: characters that may act of their own accord, and what they are about. It moves along in
//! a handover; what an agent is to do is also in the store, and the higher version counts.
//!
//! Always: an agent that is paused, or that somebody plays, pursues no goal; what it remembers of
//! its deeds has a bound.

pub(crate) mod alarms;
mod danger;
pub(crate) mod fight;
mod gear;
pub(crate) mod rules;
pub(crate) mod tick;
mod walk;
pub(crate) mod work;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::training::skill::Skill;
use crate::geometry::tile::Tile;
use crate::time::Tick;

/// Deeds that an agent remembers.
pub const DEEDS_MAX: usize = 15;
/// Areas that one may be sent to, in the order of the manifest.
const AREAS_MAX: usize = 24;
/// The word for a bank, as stations and services have it.
const BANK: &str = "bank";
/// Skills in which agents get on, the most urgent first, and how urgent.
pub const TRAINED: [(Skill, u32); 6] = [
    (Skill::Woodcutting, 70),
    (Skill::Smithing, 67),
    (Skill::Mining, 65),
    (Skill::Cooking, 62),
    (Skill::Fishing, 60),
    (Skill::Firemaking, 50),
];
/// What the id of a goal that leads to an area begins with.
const AREA_PREFIX: &str = "go_to:";

/// What an agent may be after. A new one is an arm of `agents/rules.rs`, an id here, and a line in
/// [`templates`] if its owner may choose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// To see places that it chooses itself.
    Explore,
    /// To stand still for a while.
    Rest,
    /// To take what lies about.
    Collect,
    /// To go to the nearest bank.
    Bank,
    /// To fight beasts that are weaker than it, and take what they leave.
    Fight,
    /// To get on in a skill: to gather, to make, and to bank what fills the pack.
    Train(Skill),
    /// To go to the area of that id.
    Area(Arc<str>),
    /// To go to a tile. Not for choice: said in chat.
    Place(Tile),
    /// To go where somebody goes. Not for choice: said in chat.
    Follow(CharacterId),
    /// To take what it left in that grave, there. Not for choice: it does that first.
    Recover(EntityId, Tile),
    /// To have one of that item, out of the bank or a shop. Not for choice: it does that first.
    Fetch(Arc<str>),
}

impl Goal {
    /// The goal with that id, if there is one for choice.
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

    /// Its id.
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

    /// Of which sort it is.
    pub const fn sort(&self) -> &'static str {
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

    /// How much makes it done: places, ticks, things.
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

    /// How urgent it is to an agent that may choose; 0 to 100.
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

    /// In words.
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

    /// Where it leads one who stands at `from`, if it leads to one place.
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

/// The skill of that name, if agents get on in it.
fn trained(name: &str) -> Option<Skill> {
    let mut all = TRAINED.iter().map(|(skill, _)| *skill);
    all.find(|skill| skill.name() == name)
}

fn urgency(skill: Skill) -> u32 {
    let known = TRAINED.iter().find(|(trained, _)| *trained == skill);
    known.map_or(0, |(_, urgency)| *urgency)
}

/// What one does to get on in `skill`, in words.
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

/// The bank that is nearest to `from`: a counter, or somebody who serves as one.
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

/// Every goal that may be chosen in this world, the most urgent first.
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

/// Whether one can get on in `skill` in this world at all.
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

/// What an agent is to do, as the store has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// Grows with every change.
    pub version: u64,
    /// False: it is an agent no more.
    pub agent: bool,
    /// It stays in the world also when nobody plays it.
    pub active: bool,
    /// It picks no goals and pursues none.
    pub paused: bool,
    /// What it is to do; `None`: what it picks.
    pub goal: Option<Goal>,
    /// What of that was done before.
    pub progress: u32,
}

/// Something about an agent that comes into a tick from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInput {
    /// Whose.
    pub who: CharacterId,
    /// What.
    pub word: AgentWord,
}

/// What comes from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentWord {
    /// What it is to do; an older version than the known one changes nothing.
    Orders(Orders),
    /// Somebody plays it, or nobody any more.
    Played(bool),
    /// Its owner says something that it follows, paused or not; `None`: to stand still.
    Command(Option<Goal>),
}

/// A goal that is pursued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pursuit {
    /// Which.
    pub goal: Goal,
    /// When it was begun.
    pub since: Tick,
    /// How much is done, out of [`Goal::target`].
    pub progress: u32,
    /// It picked it itself.
    pub automatic: bool,
    /// Where it is going just now.
    pub(crate) aim: Option<Tile>,
    /// How near to the place it came, in steps.
    pub(crate) nearest: u32,
    /// Tries in a row that brought nothing.
    pub(crate) tries: u32,
    /// It gathers what it is going to work up.
    #[serde(default)]
    pub(crate) stocking: bool,
}

impl Pursuit {
    /// Begun at `now`.
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

/// Of which sort a deed is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeedSort {
    /// It began to pursue a goal.
    GoalStarted,
    /// It reached one.
    GoalCompleted,
    /// It gave one up.
    GoalFailed,
    /// Its owner stopped it.
    Stopped,
    /// Its owner let it go on.
    Resumed,
    /// It was told something and does it.
    Command,
    /// It took something.
    Pickup,
    /// It died.
    Died,
}

impl DeedSort {
    /// The word for it on the wire.
    pub const fn wire(self) -> &'static str {
        match self {
            DeedSort::GoalStarted => "goal_started",
            DeedSort::GoalCompleted => "goal_completed",
            DeedSort::GoalFailed => "goal_failed",
            DeedSort::Stopped => "stopped",
            DeedSort::Resumed => "resumed",
            DeedSort::Command => "command",
            DeedSort::Pickup => "pickup",
            DeedSort::Died => "died",
        }
    }
}

/// Something that an agent did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    /// When.
    pub at: Tick,
    /// Of which sort.
    pub sort: DeedSort,
    /// In words.
    pub text: String,
}

/// What an agent has done since it was loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Whom it killed.
    pub kills: u32,
    /// How often it died.
    pub deaths: u32,
    /// Coins that it took.
    pub gold: u64,
    /// What it gathered, by item.
    pub gathered: BTreeMap<String, u32>,
    /// The experience that it had before, in tenths.
    pub xp_before: u64,
}

/// What an agent left where it died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grave {
    /// Which.
    pub(crate) id: EntityId,
    /// Where.
    pub(crate) tile: Tile,
    /// Until then nobody else may take what is in it.
    pub(crate) until: Tick,
}

/// What makes a character an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub(crate) orders: Orders,
    /// Somebody plays it.
    pub(crate) played: bool,
    /// The goal of its orders was carried out or given up.
    pub(crate) over: bool,
    /// What it is after: what it was given, or what it picked.
    pub(crate) pursuit: Option<Pursuit>,
    /// What it was told last; goes before its goal.
    pub(crate) errand: Option<Pursuit>,
    /// It does nothing of its own accord before that.
    pub(crate) rests_until: Tick,
    /// When it next thinks about what to do.
    pub(crate) thinks_at: Tick,
    /// The last goal that it picked, and whether it came to something.
    pub(crate) last: Option<(Goal, bool)>,
    /// What it must do before it can go on with its goal.
    #[serde(default)]
    pub(crate) detour: Option<Pursuit>,
    /// What it is to fetch when it thinks next.
    #[serde(default)]
    pub(crate) grave: Option<Grave>,
    /// It runs from whoever attacks it, and does not hit back.
    #[serde(default)]
    pub(crate) flees_until: Tick,
    /// The newest last.
    pub(crate) deeds: VecDeque<Deed>,
    pub(crate) tally: Tally,
}

impl Agent {
    /// What it is to do.
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Whether somebody plays it.
    pub fn played(&self) -> bool {
        self.played
    }

    /// Whether the goal of its orders was carried out or given up.
    pub fn over(&self) -> bool {
        self.over
    }

    /// What it is after: what it was told last, else what must be done first, else its goal.
    pub fn pursuit(&self) -> Option<&Pursuit> {
        let detour = self.detour.as_ref().or(self.pursuit.as_ref());
        self.errand.as_ref().or(detour)
    }

    /// The same, to go on with.
    pub(crate) fn current(&mut self) -> Option<&mut Pursuit> {
        let detour = self.detour.as_mut().or(self.pursuit.as_mut());
        self.errand.as_mut().or(detour)
    }

    /// Whether it runs from whoever attacks it at `now`.
    pub(crate) fn flees(&self, now: Tick) -> bool {
        now < self.flees_until
    }

    /// How far the goal of its orders has come.
    pub fn progress(&self) -> u32 {
        let given = self.pursuit.as_ref().filter(|pursuit| !pursuit.automatic);
        given.map_or(self.orders.progress, |pursuit| pursuit.progress)
    }

    /// What it did of late, the newest first.
    pub fn deeds(&self) -> impl Iterator<Item = &Deed> {
        self.deeds.iter().rev()
    }

    /// What it has done since it was loaded.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// All that is due is due so many ticks later.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.rests_until = self.rests_until.after(ticks);
        self.thinks_at = self.thinks_at.after(ticks);
        self.flees_until = self.flees_until.after(ticks);
        let pursuits = [&mut self.pursuit, &mut self.errand, &mut self.detour];
        for pursuit in pursuits.into_iter().flatten() {
            pursuit.since = pursuit.since.after(ticks);
        }
        if let Some(grave) = &mut self.grave {
            grave.until = grave.until.after(ticks);
        }
    }

    /// Remembers something.
    pub(crate) fn did(&mut self, at: Tick, sort: DeedSort, text: String) {
        while self.deeds.len() >= DEEDS_MAX {
            self.deeds.pop_front();
        }
        self.deeds.push_back(Deed { at, sort, text });
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
    fn only_the_last_deeds_are_remembered() {
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
            agent.did(Tick(n), DeedSort::Pickup, n.to_string());
        }
        let deeds: Vec<u64> = agent.deeds().map(|deed| deed.at.0).collect();
        assert_eq!(deeds, (25..40).rev().collect::<Vec<_>>());
    }
}
