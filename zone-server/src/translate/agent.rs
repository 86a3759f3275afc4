//! Agents: the words of the store, of gateways and of their owners about them, and the reports of
//! them.
//!
//! Always: words that are no command are none, however near to one they sound; a goal that this
//! world does not have is none.

use proto::rpc::agents::v1 as wire;
use world::{
    AgentWord, Content, Field, Goal, Kind, Look, Orders, Player, Skill, Tile,
    agents::{AgentAction, Pursuit, Tally},
    time::TICK_MS,
};

use super::record;
use crate::deliver::held::Holdings;

/// Most places in a look at an agent's surroundings.
pub(crate) const NEARBY_MAX: usize = 10;
/// Distance up to which an agent finds something nearby, in tiles.
pub(crate) const NEARBY_TILES: u32 = 100;
/// Most slots of a pack in a look at an agent.
const CARRIED_MAX: usize = 28;

/// Returns the orders of an agent, as the world knows them.
pub(crate) fn orders(orders: &wire::Orders, content: &Content) -> AgentWord {
    let goal = Goal::parse(&orders.goal_id, content);
    AgentWord::Orders(Orders {
        version: orders.version,
        agent: orders.agent,
        active: orders.active,
        paused: orders.paused,
        goal,
        progress: orders.progress,
    })
}

/// A command of an agent's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// To stand still.
    Stop,
    /// To do something.
    Do(Goal),
    /// To come to its owner's own character, or go where that goes.
    Follow,
}

/// The commands that name no place: all wordings of each, the one that is taught first.
static WORDINGS: [(&[&str], Command); 12] = [
    (
        &["stop", "halt", "stand still", "wait", "idle"],
        Command::Stop,
    ),
    (
        &["follow me", "follow", "come here", "come to me"],
        Command::Follow,
    ),
    (&["rest"], Command::Do(Goal::Rest)),
    (
        &["explore", "wander", "look around"],
        Command::Do(Goal::Explore),
    ),
    (
        &[
            "pick up items",
            "pick up",
            "pickup items",
            "collect items",
            "collect",
        ],
        Command::Do(Goal::Collect),
    ),
    (&["fight", "hunt", "fight beasts"], Command::Do(Goal::Fight)),
    (
        &["cut wood", "chop wood", "chop trees"],
        Command::Do(Goal::Train(Skill::Woodcutting)),
    ),
    (
        &["mine", "mine ore"],
        Command::Do(Goal::Train(Skill::Mining)),
    ),
    (
        &["fish", "catch fish"],
        Command::Do(Goal::Train(Skill::Fishing)),
    ),
    (
        &["cook", "cook fish"],
        Command::Do(Goal::Train(Skill::Cooking)),
    ),
    (
        &["light fires", "light a fire"],
        Command::Do(Goal::Train(Skill::Firemaking)),
    ),
    (
        &["smith", "smelt"],
        Command::Do(Goal::Train(Skill::Smithing)),
    ),
];

/// Wordings of the commands that name a place.
const PLACES: [&str; 3] = ["go to the bank", "go to <place>", "go to <x>, <z>"];

/// Returns one wording of each command.
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    let first = WORDINGS.iter().filter_map(|(all, _)| all.first().copied());
    first.chain(PLACES)
}

/// Reads a command. `None`: it is none.
pub(crate) fn command(text: &str, content: &Content) -> Option<Command> {
    let lower = text.trim().to_lowercase();
    let plain = lower.trim_end_matches(['.', '!', '?']).trim();
    let worded = WORDINGS.iter().find(|(all, _)| all.contains(&plain));
    if let Some((_, command)) = worded {
        return Some(command.clone());
    }
    let goal = place(plain.strip_prefix("go to ")?, content)?;
    Some(Command::Do(goal))
}

/// Returns somewhere to go: a bank, an area by id or name, or a tile.
fn place(named: &str, content: &Content) -> Option<Goal> {
    let named = named.trim();
    let named = named.strip_prefix("the ").unwrap_or(named);
    if named == "bank" {
        return Some(Goal::Bank);
    }
    let mut areas = content.areas().iter();
    let known = areas.find(|area| {
        area.id.to_lowercase() == named || {
            let name = area.name.to_lowercase();
            name == named || name.strip_prefix("the ") == Some(named)
        }
    });
    if let Some(area) = known {
        return Some(Goal::Area(area.id.as_str().into()));
    }
    let (x, z) = named.split_once([',', ' '])?;
    let number = |text: &str| text.trim_matches([',', ' ']).parse::<i32>().ok();
    let tile = Tile::new(number(x)?, number(z)?);
    let inside = content.bounds().contains(tile);
    inside.then_some(Goal::Place(tile))
}

/// Returns a moment, by the store's clock.
fn moment_ms(tick: world::Tick) -> u64 {
    tick.0.saturating_mul(TICK_MS)
}

/// Returns the goal of one who pursues it and stands at `from`.
pub(crate) fn goal(pursuit: &Pursuit, content: &Content, from: Tile) -> wire::Goal {
    let location = pursuit.goal.location(content, from);
    wire::Goal {
        id: pursuit.goal.id(),
        sort: pursuit.goal.sort().to_owned(),
        description: pursuit.goal.description(content),
        progress: pursuit.progress,
        target: pursuit.goal.target(),
        since_ms: moment_ms(pursuit.since),
        automatic: pursuit.automatic,
        location: location.map(record::rpc_tile),
    }
}

/// Returns a goal that may be set, and why.
pub(crate) fn available(
    goal: Goal,
    reason: String,
    content: &Content,
    from: Tile,
) -> wire::AvailableGoal {
    wire::AvailableGoal {
        id: goal.id(),
        sort: goal.sort().to_owned(),
        description: goal.description(content),
        priority: goal.priority(),
        reason,
        location: goal.location(content, from).map(record::rpc_tile),
    }
}

/// Returns a place of use to an agent at `from`; `None`: it is none.
pub(crate) fn nearby(look: &Look, from: Tile) -> Option<wire::Place> {
    let text = |name: &str| match look.field(name) {
        Some(Field::Text(text)) => Some(text.to_string()),
        _ => None,
    };
    let sort = match look.kind {
        // A felled or empty resource is of no use just now.
        Kind::Resource if look.field("depleted").is_some() => return None,
        Kind::Resource => text("resourceType")?,
        Kind::Station => text("stationType")?,
        Kind::Npc => match text("service").as_deref() {
            None => "mob".to_owned(),
            Some(service) if service.contains("store") => "store".to_owned(),
            Some(service) => service.to_owned(),
        },
        Kind::Player | Kind::Item | Kind::Fire | Kind::Grave => return None,
    };
    let distance = from.steps_to(look.tile);
    (distance <= NEARBY_TILES).then(|| wire::Place {
        id: look.id.to_string(),
        name: text("name").unwrap_or_default(),
        sort,
        tile: Some(record::rpc_tile(look.tile)),
        distance,
    })
}

/// Returns the nearest places first, at most [`NEARBY_MAX`].
pub(crate) fn nearest(mut places: Vec<wire::Place>) -> Vec<wire::Place> {
    places.sort_by(|a, b| (a.distance, &a.id).cmp(&(b.distance, &b.id)));
    places.truncate(NEARBY_MAX);
    places
}

/// Returns a pack as the store has acknowledged it.
pub(crate) fn carried(has: &Holdings, content: &Content) -> Vec<wire::Carried> {
    let slots = has.inventory.iter().take(CARRIED_MAX);
    slots
        .map(|(slot, stack)| {
            let kind = content.item(&stack.item);
            let name = kind.map_or(&*stack.item, |kind| &*kind.name);
            wire::Carried {
                slot: u32::from(*slot),
                item_id: stack.item.to_string(),
                name: name.to_owned(),
                quantity: stack.quantity,
                can_equip: kind.is_some_and(|kind| kind.equip_slot.is_some()),
                can_use: kind.is_some_and(|kind| kind.heals > 0 || kind.bury_xp_tenths > 0),
            }
        })
        .collect()
}

/// Returns something that an agent did.
pub(crate) fn action(action: &AgentAction) -> wire::AgentAction {
    wire::AgentAction {
        sort: action.sort.wire().to_owned(),
        description: action.text.clone(),
        at_ms: moment_ms(action.at),
    }
}

/// Returns what an agent has done since it was loaded.
pub(crate) fn tally(tally: &Tally, player: &Player) -> wire::Tally {
    let xp = player.record().skills.values().map(|skill| skill.xp_tenths);
    wire::Tally {
        kills: tally.kills,
        deaths: tally.deaths,
        xp_tenths: xp.sum::<u64>().saturating_sub(tally.xp_before),
        gold: tally.gold,
        gathered: tally.gathered.clone().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_owners_say_is_understood_or_not() {
        let content = Content::embedded();
        let area = &content.areas()[0];
        let spawn = content.spawn();
        let named = format!("Go to {}!", area.name);
        let tile = format!("go to {}, {}", spawn.x, spawn.z);
        let table = [
            ("stop", Some(Command::Stop)),
            (" STOP! ", Some(Command::Stop)),
            ("follow me", Some(Command::Follow)),
            ("go to the bank", Some(Command::Do(Goal::Bank))),
            ("pick up items.", Some(Command::Do(Goal::Collect))),
            (
                "Chop wood!",
                Some(Command::Do(Goal::Train(Skill::Woodcutting))),
            ),
            (
                &named,
                Some(Command::Do(Goal::Area(area.id.as_str().into()))),
            ),
            (&tile, Some(Command::Do(Goal::Place(spawn)))),
            ("go to 99999999, 0", None),
            ("go to nowhere", None),
            ("go to", None),
            ("please do not stop", None),
            ("", None),
            ("go to \u{202e}bank", None),
        ];
        for taught in known().filter(|words| !words.contains('<')) {
            assert!(command(taught, &content).is_some(), "{taught}");
        }
        for (text, means) in table {
            assert_eq!(command(text, &content), means, "{text:?}");
        }
    }

    #[test]
    fn a_goal_that_this_world_does_not_have_is_none() {
        let content = Content::embedded();
        let said = wire::Orders {
            version: 7,
            agent: true,
            goal_id: "slay_the_moon".to_owned(),
            ..wire::Orders::default()
        };
        let AgentWord::Orders(heard) = orders(&said, &content) else {
            panic!("orders are orders");
        };
        assert_eq!((heard.version, heard.goal), (7, None));
    }
}
