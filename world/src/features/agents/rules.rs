//! Decisions of agents: the goal that an agent picks, and its next step. Each goal is one arm of
//! [`pursue`]. `agents/tick.rs` carries the plans out.
//!
//! Always: an agent does not think while somebody plays it or it is on its way. A paused agent
//! thinks about orders in chat only. It gives up after a few tries, so that it is never stuck for
//! ever.

use std::collections::VecDeque;
use std::sync::Arc;

use super::fight::{self, Beast};
use super::work::{self, Around};
use super::{Agent, AgentActionKind, Goal, Orders, Pursuit, TRAINED, Tally, gear, walk};
use crate::content::Content;
use crate::entity::ids::EntityId;
use crate::features::combat::Style;
use crate::features::skilling::RecipeKind;
use crate::geometry::tile::Tile;
use crate::rng::Dice;
use crate::time::Tick;

/// Tries in a row without result before an agent gives a goal up.
const TRIES_MAX: u32 = 6;
/// Ticks after a goal before an agent picks the next one.
const PAUSE_TICKS: u64 = 5;
/// Ticks after the end of an order in chat before an agent pursues goals again.
const HEED_TICKS: u64 = 17;
/// Ticks after an order in chat to stop before an agent pursues goals again.
const STOP_TICKS: u64 = 100;
/// Ticks from one thought to the next, for an agent that waits for something.
pub(crate) const WAIT_TICKS: u64 = 5;

/// View of the world that an agent has.
pub(crate) struct Sees<'a> {
    pub(crate) content: &'a Content,
    pub(crate) now: Tick,
    pub(crate) tile: Tile,
    /// Items that it may take, the nearest first.
    pub(crate) items: &'a [EntityId],
    /// Tile of the character that it follows, if that character is here.
    pub(crate) leader: Option<Tile>,
    /// Beasts near it that it may fight, if it looks for a fight.
    pub(crate) beasts: &'a [Beast],
    /// Whether the grave is here to which it is on its way, or goes next.
    pub(crate) grave_there: bool,
    /// Its own things and its surroundings, if they are known.
    pub(crate) around: Option<Around<'a>>,
}

/// Next act of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Wait for so many ticks.
    Wait(u64),
    /// Way to a tile.
    Walk(Tile),
    /// Way to an item on the ground, to take it.
    Take(EntityId),
    /// Way to a resource, to gather there.
    Gather(EntityId),
    /// Making of an item.
    Make {
        trade: RecipeKind,
        what: Arc<str>,
        target: Option<EntityId>,
        quantity: u32,
    },
    /// Way to that bank, to open it.
    Open(EntityId),
    /// Deposit of its spare items in the open bank.
    Store,
    /// Withdrawal of so many of an item from the open bank.
    Withdraw(Arc<str>, u32),
    /// Way to the keeper of a shop.
    OpenShop(EntityId),
    /// Purchase of one such item in the open shop.
    Buy(Arc<str>),
    /// Sale of its spare items in the open shop.
    Sell,
    /// Use of the item in that slot of its pack: to eat or to bury it.
    Use(u8),
    /// Wearing of the item in that slot of its pack.
    Wear(u8),
    /// Change to another style.
    FightAs(Style),
    /// Attack on a target.
    Attack(EntityId),
    /// Success with the goal.
    Done,
    /// Failure of the goal, with the reason.
    Failed(&'static str),
}

/// Returns the state of a new agent that does not know its orders yet. `xp`: its experience, in
/// tenths.
pub(crate) fn fresh(orders: &Orders, xp: u64) -> Agent {
    Agent {
        orders: Orders {
            version: 0,
            paused: false,
            goal: None,
            ..orders.clone()
        },
        played: false,
        over: false,
        pursuit: None,
        command: None,
        rests_until: Tick::default(),
        thinks_at: Tick::default(),
        last: None,
        detour: None,
        grave: None,
        flees_until: Tick::default(),
        recent_actions: VecDeque::new(),
        tally: Tally {
            xp_before: xp,
            ..Tally::default()
        },
    }
}

/// Gives an agent new orders. Returns whether its present work and way must end.
pub(crate) fn obey(agent: &mut Agent, orders: Orders, content: &Content, now: Tick) -> bool {
    if orders.version <= agent.orders.version {
        return false;
    }
    let before = std::mem::replace(&mut agent.orders, orders);
    let (paused, goal) = (agent.orders.paused, agent.orders.goal.clone());
    let same = before.paused == paused && before.goal == goal;
    if same && (goal.is_none() || before.active != agent.orders.active) {
        // Another part of the orders changed.
        return false;
    }
    agent.over = false;
    agent.command = None;
    agent.detour = None;
    agent.pursuit = None;
    agent.rests_until = now;
    agent.thinks_at = now;
    // An agent that has just been loaded was stopped long ago.
    if paused && before.version > 0 {
        agent.did(
            now,
            AgentActionKind::Stopped,
            "Stands still, without a goal".to_owned(),
        );
    } else if goal.is_none() && before.version > 0 {
        agent.did(
            now,
            AgentActionKind::Resumed,
            "Goes on by itself".to_owned(),
        );
    }
    if let Some(goal) = goal {
        begin(agent, goal, content, now);
        if let Some(pursuit) = &mut agent.pursuit {
            pursuit.progress = agent.orders.progress.min(pursuit.goal.target());
        }
    }
    true
}

/// Begins the goal of its orders.
fn begin(agent: &mut Agent, goal: Goal, content: &Content, now: Tick) {
    let words = goal.description(content);
    agent.did(now, AgentActionKind::GoalStarted, words);
    agent.pursuit = Some(Pursuit::new(goal, now, false));
}

/// Gives an agent an order in chat. The order goes before its goal, even while the agent is paused.
pub(crate) fn heed(agent: &mut Agent, told: Option<Goal>, content: &Content, now: Tick) {
    agent.thinks_at = now;
    match told {
        None => {
            agent.command = None;
            agent.rests_until = now.after(STOP_TICKS);
            agent.did(now, AgentActionKind::Command, "Stands still".to_owned());
        }
        Some(goal) => {
            agent.did(now, AgentActionKind::Command, goal.description(content));
            agent.command = Some(Pursuit::new(goal, now, false));
        }
    }
}

/// Returns whether the agent thinks at `now`, if it is not on its way.
pub(crate) fn thinks(agent: &Agent, now: Tick) -> bool {
    !agent.played && agent.thinks_at <= now && (agent.command.is_some() || free(agent, now))
}

/// Returns whether it pursues goals now.
fn free(agent: &Agent, now: Tick) -> bool {
    !agent.orders.paused && agent.orders.active && agent.rests_until <= now
}

/// Returns its next act. Picks a goal first, if it has none.
pub(crate) fn think(agent: &mut Agent, sees: &Sees<'_>, dice: &mut Dice) -> Act {
    if agent.command.is_none() && agent.pursuit.is_none() {
        let goal = pick(
            agent.last.as_ref(),
            &able(sees),
            !sees.items.is_empty(),
            dice,
        );
        let words = goal.description(sees.content);
        agent.did(sees.now, AgentActionKind::GoalStarted, words);
        agent.pursuit = Some(Pursuit::new(goal, sees.now, true));
    }
    turn_aside(agent, sees);
    let Some(pursuit) = agent.current() else {
        return Act::Wait(WAIT_TICKS);
    };
    let act = pursue(pursuit, sees, dice);
    match act {
        Act::Wait(ticks) => agent.thinks_at = sees.now.after(ticks),
        Act::Done => end(agent, true, "", sees),
        Act::Failed(why) => end(agent, false, why, sees),
        Act::Walk(_)
        | Act::Take(_)
        | Act::Gather(_)
        | Act::Make { .. }
        | Act::Open(_)
        | Act::Store
        | Act::Withdraw(..)
        | Act::Use(_)
        | Act::Wear(_)
        | Act::FightAs(_)
        | Act::Attack(_)
        | Act::OpenShop(_)
        | Act::Buy(_)
        | Act::Sell => {}
    }
    act
}

/// Begins a detour, if one must come first: to its grave, or to fetch a tool.
fn turn_aside(agent: &mut Agent, sees: &Sees<'_>) {
    if agent.command.is_some() || agent.detour.is_some() {
        return;
    }
    let grave = agent.grave.take().filter(|grave| sees.now < grave.until);
    let goal = match (grave, &sees.around, &agent.pursuit) {
        (Some(grave), Some(_), _) => Some(Goal::Recover(grave.id, grave.tile)),
        (None, Some(around), Some(pursuit)) => gear::first(&pursuit.goal, around, sees),
        _ => None,
    };
    if let Some(goal) = goal {
        let words = goal.description(sees.content);
        agent.did(sees.now, AgentActionKind::GoalStarted, words);
        agent.detour = Some(Pursuit::new(goal, sees.now, true));
    }
}

/// Returns the goals on which it could make progress just now.
fn able(sees: &Sees<'_>) -> Vec<Goal> {
    let Some(around) = &sees.around else {
        return Vec::new();
    };
    let fights = fight::reason(around, sees).map(|_| Goal::Fight);
    let all = TRAINED.iter().map(|(skill, _)| *skill);
    let works = all.filter(|skill| work::reason(*skill, around, sees).is_some());
    works.map(Goal::Train).chain(fights).collect()
}

/// Returns the goal that an agent picks: items on the ground first, then mostly work, then places
/// to see, then a rest.
fn pick(last: Option<&(Goal, bool)>, able: &[Goal], items: bool, dice: &mut Dice) -> Goal {
    let failed = last.filter(|(_, reached)| !reached).map(|(goal, _)| goal);
    if items && last != Some(&(Goal::Collect, false)) {
        return Goal::Collect;
    }
    let able: Vec<&Goal> = able.iter().filter(|goal| Some(*goal) != failed).collect();
    let many = u32::try_from(able.len()).unwrap_or(u32::MAX);
    if many > 0 && dice.below(8) > 0 {
        let which = dice.below(many) as usize;
        if let Some(goal) = able.get(which) {
            return (*goal).clone();
        }
    }
    match last {
        Some((Goal::Explore, _)) => Goal::Rest,
        _ => Goal::Explore,
    }
}

/// Ends its order in chat, its detour or its goal.
fn end(agent: &mut Agent, reached: bool, why: &str, sees: &Sees<'_>) {
    let command = agent.command.take();
    let told = command.is_some();
    if !told && let Some(detour) = agent.detour.take() {
        return end_detour(agent, &detour, reached, why, sees);
    }
    let Some(pursuit) = command.or_else(|| agent.pursuit.take()) else {
        return;
    };
    let words = pursuit.goal.description(sees.content);
    if reached {
        agent.did(sees.now, AgentActionKind::GoalCompleted, words);
    } else {
        agent.did(
            sees.now,
            AgentActionKind::GoalFailed,
            format!("{words}: {why}"),
        );
    }
    let rest = if told { HEED_TICKS } else { PAUSE_TICKS };
    agent.rests_until = agent.rests_until.max(sees.now.after(rest));
    if told {
        return;
    }
    agent.over |= !pursuit.automatic;
    agent.last = Some((pursuit.goal, reached));
}

/// Ends a detour. If the agent could not get the tool, the goal behind the detour fails, too.
fn end_detour(agent: &mut Agent, detour: &Pursuit, reached: bool, why: &str, sees: &Sees<'_>) {
    let words = detour.goal.description(sees.content);
    if reached {
        return agent.did(sees.now, AgentActionKind::GoalCompleted, words);
    }
    agent.did(
        sees.now,
        AgentActionKind::GoalFailed,
        format!("{words}: {why}"),
    );
    if matches!(detour.goal, Goal::Fetch(_)) {
        end(agent, false, "it has nothing to do it with", sees);
    }
}

/// Returns the next act towards a goal, for an agent that stands.
fn pursue(pursuit: &mut Pursuit, sees: &Sees<'_>, dice: &mut Dice) -> Act {
    if pursuit.tries >= TRIES_MAX {
        return Act::Failed("it cannot be done from here");
    }
    match &pursuit.goal {
        Goal::Rest => rest(pursuit, sees),
        Goal::Explore => walk::explore(pursuit, sees, dice),
        Goal::Collect => collect(pursuit, sees),
        Goal::Follow(_) => walk::follow(pursuit, sees),
        Goal::Fight => match &sees.around {
            Some(around) => fight::step(pursuit, around, sees),
            None => Act::Failed("it sees nothing"),
        },
        Goal::Train(skill) => match (*skill, &sees.around) {
            (skill, Some(around)) => work::step(pursuit, skill, around, sees, dice),
            (_, None) => Act::Failed("it sees nothing"),
        },
        Goal::Fetch(item) => {
            let item = Arc::clone(item);
            let around = sees.around.as_ref();
            around.map_or(Act::Failed("it sees nothing"), |around| {
                gear::fetch(pursuit, &item, around, sees)
            })
        }
        Goal::Recover(grave, tile) => {
            let (grave, tile) = (grave.clone(), *tile);
            let around = sees.around.as_ref();
            around.map_or(Act::Failed("it sees nothing"), |around| {
                gear::recover(pursuit, &grave, tile, around, sees)
            })
        }
        Goal::Bank | Goal::Area(_) | Goal::Place(_) => {
            // With several banks, it keeps going to the one that was the nearest at first.
            let place = pursuit.aim;
            match place.or_else(|| pursuit.goal.location(sees.content, sees.tile)) {
                Some(place) => walk::go(pursuit, place, sees),
                None => Act::Failed("there is no such place"),
            }
        }
    }
}

fn rest(pursuit: &mut Pursuit, sees: &Sees<'_>) -> Act {
    let rested = u32::try_from(sees.now.since(pursuit.since)).unwrap_or(u32::MAX);
    pursuit.progress = rested.min(pursuit.goal.target());
    if pursuit.progress >= pursuit.goal.target() {
        return Act::Done;
    }
    Act::Wait(WAIT_TICKS)
}

fn collect(pursuit: &mut Pursuit, sees: &Sees<'_>) -> Act {
    if pursuit.progress >= pursuit.goal.target() {
        return Act::Done;
    }
    // When the agent takes an item, `took` sets the tries to zero again.
    pursuit.tries += 1;
    match sees.items.first() {
        Some(item) => Act::Take(item.clone()),
        None if pursuit.progress > 0 => Act::Done,
        None => Act::Failed("nothing lies about"),
    }
}

/// Returns why an owner may set a goal just now; `None`: no owner may.
pub(crate) fn reason(goal: &Goal, sees: &Sees<'_>) -> Option<String> {
    Some(match goal {
        Goal::Explore => "There is always more to see".to_owned(),
        Goal::Rest => "Nothing has to be done".to_owned(),
        Goal::Collect if sees.items.is_empty() => return None,
        Goal::Collect => format!("{} things lie nearby", sees.items.len()),
        Goal::Bank | Goal::Area(_) => {
            let place = goal.location(sees.content, sees.tile)?;
            format!("It is {} tiles away", sees.tile.steps_to(place))
        }
        Goal::Train(skill) => work::reason(*skill, sees.around.as_ref()?, sees)?,
        Goal::Fight => fight::reason(sees.around.as_ref()?, sees)?,
        Goal::Place(_) | Goal::Follow(_) | Goal::Recover(..) | Goal::Fetch(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::training::skill::Skill;

    fn orders(version: u64) -> Orders {
        Orders {
            version,
            agent: true,
            active: true,
            paused: false,
            goal: None,
            progress: 0,
        }
    }

    fn known(orders: Orders) -> Agent {
        let mut agent = fresh(&orders, 0);
        obey(&mut agent, orders, &Content::embedded(), Tick(0));
        agent
    }

    fn sees<'a>(content: &'a Content, now: u64, items: &'a [EntityId]) -> Sees<'a> {
        Sees {
            content,
            now: Tick(now),
            tile: content.spawn(),
            items,
            leader: None,
            beasts: &[],
            grave_there: false,
            around: None,
        }
    }

    #[test]
    fn a_lower_version_of_orders_changes_nothing() {
        let content = Content::embedded();
        let mut agent = known(orders(5));
        let stop = |version| Orders {
            paused: true,
            ..orders(version)
        };
        for old in [4, 5] {
            assert!(!obey(&mut agent, stop(old), &content, Tick(9)));
            assert!(!agent.orders.paused);
        }
        assert!(obey(&mut agent, stop(6), &content, Tick(9)));
        assert!(agent.orders.paused && !thinks(&agent, Tick(1_000)));
    }

    #[test]
    fn what_is_said_in_chat_is_done_while_paused() {
        let content = Content::embedded();
        let paused = Orders {
            paused: true,
            ..orders(1)
        };
        let mut agent = known(paused);
        assert!(!thinks(&agent, Tick(1)));
        let place = content.spawn().moved(20, 0);
        heed(&mut agent, Some(Goal::Place(place)), &content, Tick(1));
        assert!(thinks(&agent, Tick(1)));
        let act = think(&mut agent, &sees(&content, 1, &[]), &mut Dice::scripted([]));
        assert_eq!(act, Act::Walk(place));
        heed(&mut agent, None, &content, Tick(2));
        assert!(!thinks(&agent, Tick(2)));
    }

    #[test]
    fn one_that_picks_takes_what_lies_about_then_looks_around_then_rests() {
        let pick = |last, items| pick(last, &[], items, &mut Dice::scripted([]));
        assert_eq!(pick(None, true), Goal::Collect);
        assert_eq!(pick(None, false), Goal::Explore);
        assert_eq!(pick(Some(&(Goal::Explore, true)), false), Goal::Rest);
        assert_eq!(pick(Some(&(Goal::Rest, true)), false), Goal::Explore);
        // A full pack does not keep it there for ever.
        assert_eq!(pick(Some(&(Goal::Collect, false)), true), Goal::Explore);
    }

    #[test]
    fn one_that_can_work_mostly_works_and_not_again_where_it_failed() {
        let able = [Goal::Train(Skill::Mining), Goal::Train(Skill::Fishing)];
        let work = |last, throws| pick(last, &able, false, &mut Dice::scripted(throws));
        assert_eq!(work(None, [1, 0]), Goal::Train(Skill::Mining));
        assert_eq!(work(None, [7, 1]), Goal::Train(Skill::Fishing));
        assert_eq!(work(None, [0, 0]), Goal::Explore);
        let failed = (Goal::Train(Skill::Mining), false);
        assert_eq!(work(Some(&failed), [1, 0]), Goal::Train(Skill::Fishing));
    }

    #[test]
    fn what_brings_nobody_nearer_is_given_up() {
        let content = Content::embedded();
        let mut agent = known(orders(1));
        let far = Goal::Place(content.spawn().moved(500, 0));
        heed(&mut agent, Some(far), &content, Tick(1));
        let mut acts = Vec::new();
        while agent.command.is_some() && acts.len() < 20 {
            let sees = sees(&content, 1, &[]);
            acts.push(think(&mut agent, &sees, &mut Dice::scripted([])));
        }
        assert!(matches!(acts.last(), Some(Act::Failed(_))), "{acts:?}");
        assert!(acts.len() > 3);
    }

    #[test]
    fn a_rest_is_over_after_its_time() {
        let content = Content::embedded();
        let mut agent = known(orders(1));
        agent.pursuit = Some(Pursuit::new(Goal::Rest, Tick(100), false));
        let mut act = |now| {
            think(
                &mut agent,
                &sees(&content, now, &[]),
                &mut Dice::scripted([]),
            )
        };
        assert_eq!(act(149), Act::Wait(WAIT_TICKS));
        assert_eq!(act(150), Act::Done);
        assert!(agent.over && agent.pursuit.is_none());
    }
}
