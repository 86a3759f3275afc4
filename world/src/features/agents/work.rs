//! Work of agents: how they gather, make and bank items to train a skill.
//!
//! Always: an agent plans nothing for which its level or a tool is missing. If a try fails, it
//! tries somewhere else, until there were too many tries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::danger::Danger;
use super::gear::{self, TINDERBOX};
use super::rules::{Act, Sees};
use super::walk::{leg, straight_leg};
use super::{Pursuit, bank_at};
use crate::content::{Content, Fixture, ResourceKind};
use crate::entity::fire::Fires;
use crate::entity::ids::EntityId;
use crate::entity::player::record::PlayerRecord;
use crate::entity::resource::Resources;
use crate::features::skilling::RecipeKind;
use crate::features::training::skill::Skill;
use crate::geometry::tile::{Region, Tile};
use crate::image::Counters;
use crate::item::inventory::{self, Pack};
use crate::rng::Dice;

/// Most tiles to a thing at which an agent sets out to work there.
const SET_OUT_TILES: u32 = 20;
/// Furthest tiles at which an agent looks for something to gather.
const SEARCH_TILES: u32 = 400;
/// Tiles that a level nearer to the agent's own level is worth.
const LEVEL_TILES: u32 = 4;
/// Tiles that it is worth that a resource is not empty.
const EMPTY_TILES: u32 = 15;
/// Tiles that an agent goes further to have one beast less to fear.
const BEAST_TILES: u32 = 120;
/// Tries without progress after which an agent goes straight through dangers.
const DETOUR_TRIES: u32 = 2;
/// Items of a sort that an agent gathers before it works them up.
const STOCK: u64 = 8;
/// Most fires that an agent tends at a time.
const FIRES_MAX: usize = 3;
/// Ticks to wait for a resource to be back, or a fire to be out.
const WAIT_TICKS: u64 = 5;
/// Items that an agent keeps when its pack is full, beside tools for gathering.
const KEPT: [&str; 7] = [
    "tinderbox",
    "hammer",
    "needle",
    "knife",
    "chisel",
    "thread",
    "coins",
];
const HAMMER: &str = "hammer";

/// An agent's own things and its surroundings.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) record: &'a PlayerRecord,
    /// Returns whether it can gather from such a resource just now.
    pub(crate) usable: &'a dyn Fn(&ResourceKind) -> bool,
    pub(crate) resources: &'a Resources,
    pub(crate) fires: &'a Fires,
    pub(crate) regions: &'a BTreeMap<Region, Counters>,
    /// Whether it stands at its open bank.
    pub(crate) at_bank: bool,
    /// Whether it stands in a shop.
    pub(crate) at_shop: bool,
}

impl Around<'_> {
    pub(crate) fn has(&self, item: &str) -> u64 {
        inventory::count(&self.record.inventory, item)
    }

    pub(crate) fn plays(&self, tile: Tile) -> bool {
        self.regions.contains_key(&Region::from(tile))
    }
}

/// Returns the slots of the spare items, for a bank or a shop: all but those for its work. One of
/// each tool is enough, because an agent that smiths tools has many.
pub(crate) fn spare(content: &Content, pack: &Pack) -> Vec<u8> {
    let mut kept = BTreeSet::new();
    let spare = pack.iter().filter(|(_, stack)| {
        let item = &stack.item;
        let one_more = is_tool(content, item) && !content.stackable(item) && !kept.insert(item);
        one_more || !keeps(content, item)
    });
    spare.map(|(slot, _)| *slot).collect()
}

fn is_tool(content: &Content, item: &str) -> bool {
    let tool = content.item(item).is_some_and(|kind| kind.tool.is_some());
    tool || content.tools().contains(item) || KEPT.contains(&item)
}

/// Returns whether an agent keeps `item` when the rest goes to the bank.
fn keeps(content: &Content, item: &str) -> bool {
    let bait = |kind: &Arc<ResourceKind>| kind.bait.as_ref().is_some_and(|bait| **bait == *item);
    is_tool(content, item) || content.resources().iter().any(bait)
}

/// Returns why an agent could train `skill` just now, in words. `None`: it could not.
pub(crate) fn reason(skill: Skill, around: &Around<'_>, sees: &Sees<'_>) -> Option<String> {
    let (content, record) = (sees.content, around.record);
    let level = record.level(skill);
    if let Some(item) = gear::missing(skill, around, sees) {
        let name = content.item(&item).map_or(&*item, |kind| &*kind.name);
        return Some(format!("It is of level {level}, and can have a {name}"));
    }
    let can = |skill, fits: &dyn Fn(&str) -> bool| nearest(skill, fits, 0, around, sees).is_some();
    let (able, what) = match skill {
        Skill::Woodcutting | Skill::Mining | Skill::Fishing => {
            (can(skill, &|_| true), "gather with what it has")
        }
        Skill::Firemaking => {
            let lights = |item: &str| lights(content, level, item);
            let logs = carries(around, lights) || can(Skill::Woodcutting, &lights);
            (around.has(TINDERBOX) > 0 && logs, "light")
        }
        Skill::Cooking => {
            let cooks = |item: &str| cooks(content, level, item);
            let raw = carries(around, cooks) || can(Skill::Fishing, &cooks);
            let hearth = station("range", sees).is_some() || around.has(TINDERBOX) > 0;
            (raw && hearth, "cook")
        }
        Skill::Smithing => {
            let furnace = station("furnace", sees).is_some();
            (furnace && ore(level, around, sees).is_some(), "smelt")
        }
        _ => (false, ""),
    };
    able.then(|| format!("It is of level {level}, and there is something to {what}"))
}

fn carries(around: &Around<'_>, fits: impl Fn(&str) -> bool) -> bool {
    let mut pack = around.record.inventory.values();
    pack.any(|stack| fits(&stack.item))
}

/// Returns the next act to train `skill`.
pub(crate) fn step(
    pursuit: &mut Pursuit,
    skill: Skill,
    around: &Around<'_>,
    sees: &Sees<'_>,
    dice: &mut Dice,
) -> Act {
    if pursuit.progress >= pursuit.goal.target() {
        return Act::Done;
    }
    match skill {
        Skill::Woodcutting | Skill::Mining | Skill::Fishing => {
            gather(pursuit, skill, &|_| true, around, sees)
        }
        Skill::Firemaking => light(pursuit, around, sees, dice),
        Skill::Cooking => cook(pursuit, around, sees, dice),
        Skill::Smithing => smith(pursuit, around, sees),
        _ => Act::Failed("it does not know how"),
    }
}

fn gather(
    pursuit: &mut Pursuit,
    skill: Skill,
    fits: &dyn Fn(&str) -> bool,
    around: &Around<'_>,
    sees: &Sees<'_>,
) -> Act {
    if inventory::free_slots(&around.record.inventory) == 0 {
        return store(pursuit, around, sees);
    }
    let skip = pursuit.tries as usize;
    let Some((fixture, tile)) = nearest(skill, fits, skip, around, sees) else {
        return Act::Failed("there is nothing to gather, or nothing to do it with");
    };
    if around.resources.is_empty(&fixture.id) && sees.tile.steps_to(tile) <= SET_OUT_TILES {
        return Act::Wait(WAIT_TICKS);
    }
    let id = fixture.id.clone();
    to(pursuit, tile, Act::Gather(id), around, sees)
}

/// Returns a walk to `tile`, or `act` if the agent is near enough.
pub(crate) fn to(
    pursuit: &mut Pursuit,
    tile: Tile,
    act: Act,
    around: &Around<'_>,
    sees: &Sees<'_>,
) -> Act {
    if pursuit.aim.replace(tile) != Some(tile) {
        pursuit.nearest = u32::MAX;
    }
    let left = sees.tile.steps_to(tile);
    if left <= SET_OUT_TILES && around.plays(tile) {
        // Any result of the act sets the tries to zero again.
        pursuit.tries += 1;
        return act;
    }
    if left < pursuit.nearest {
        pursuit.nearest = left;
    } else {
        pursuit.tries += 1;
    }
    // If detours lead nowhere, the agent goes the straight way.
    Act::Walk(if pursuit.tries < DETOUR_TRIES {
        leg(sees, tile)
    } else {
        straight_leg(sees.tile, tile)
    })
}

/// Returns the best resource for `skill` that gives something that `fits`, past the `skip` best
/// ones. Near, full and safe resources count more, and those near the agent's level.
fn nearest<'a>(
    skill: Skill,
    fits: &dyn Fn(&str) -> bool,
    skip: usize,
    around: &Around<'_>,
    sees: &Sees<'a>,
) -> Option<(&'a Fixture, Tile)> {
    let (content, record) = (sees.content, around.record);
    let level = record.level(skill);
    let usable = |kind: &&Arc<ResourceKind>| {
        let gives = |kind: &ResourceKind| {
            let mut yields = kind.yields.iter();
            yields.any(|given| u32::from(given.level) <= level && fits(&given.item))
        };
        kind.skill == Some(skill) && gives(kind) && (around.usable)(kind)
    };
    let kinds = content.resources().iter().filter(usable);
    let kinds: BTreeMap<&str, u32> = kinds.map(|kind| (&*kind.id, kind.level)).collect();
    if kinds.is_empty() {
        return None;
    }
    let near = |region: &Region| region.tiles_past(sees.tile) <= SEARCH_TILES;
    let regions = content.regions().into_iter().filter(near);
    let all = regions.flat_map(|region| content.fixtures_in(region));
    let danger = Danger::near(content, record, SEARCH_TILES);
    let worth = all.filter_map(|fixture| {
        let takes = kinds.get(&*fixture.of)?;
        let tile = around.resources.tile(fixture);
        let empty = around.resources.is_empty(&fixture.id);
        let far = sees.tile.steps_to(tile) + if empty { EMPTY_TILES } else { 0 };
        let easy = level.saturating_sub(*takes).min(SEARCH_TILES) * LEVEL_TILES;
        let feared = danger.at(tile).saturating_mul(BEAST_TILES);
        Some((far + easy + feared, &fixture.id, fixture, tile))
    });
    let mut worth: Vec<_> = worth.collect();
    worth.sort_unstable_by_key(|(cost, id, ..)| (*cost, *id));
    let place = skip % worth.len().max(1);
    worth
        .get(place)
        .map(|(_, _, fixture, tile)| (*fixture, *tile))
}

/// Returns the next act to bring the spare items to the bank.
pub(crate) fn store(pursuit: &mut Pursuit, around: &Around<'_>, sees: &Sees<'_>) -> Act {
    let content = sees.content;
    if spare(content, &around.record.inventory).is_empty() {
        return Act::Failed("the pack is full of tools");
    }
    if around.at_bank {
        pursuit.tries += 1;
        return Act::Store;
    }
    let Some((id, tile)) = bank_at(content, sees.tile) else {
        return Act::Failed("the pack is full, and there is no bank");
    };
    to(pursuit, tile, Act::Open(id), around, sees)
}

fn lights(content: &Content, level: u32, item: &str) -> bool {
    let recipe = content.recipes().firemaking.get(item);
    recipe.is_some_and(|recipe| u32::from(recipe.effort.level) <= level)
}

fn cooks(content: &Content, level: u32, item: &str) -> bool {
    let recipe = content.recipes().cooking.get(item);
    recipe.is_some_and(|recipe| u32::from(recipe.effort.level) <= level)
}

/// Returns the first item of the pack that `fits`; none while the agent still gathers more.
fn stocked(
    pursuit: &mut Pursuit,
    around: &Around<'_>,
    fits: impl Fn(&str) -> bool,
) -> Option<Arc<str>> {
    let pack = around.record.inventory.values();
    let fitting: Vec<&Arc<str>> = pack.map(|stack| &stack.item).filter(|i| fits(i)).collect();
    let full = inventory::free_slots(&around.record.inventory) == 0;
    let many = fitting.len() as u64;
    if many == 0 {
        pursuit.stocking = true;
    } else if many >= STOCK || full {
        pursuit.stocking = false;
    }
    let first = fitting.first().copied().cloned();
    first.filter(|_| !pursuit.stocking)
}

fn light(pursuit: &mut Pursuit, around: &Around<'_>, sees: &Sees<'_>, dice: &mut Dice) -> Act {
    let content = sees.content;
    let level = around.record.level(Skill::Firemaking);
    let fits = |item: &str| lights(content, level, item);
    if around.has(TINDERBOX) == 0 {
        return Act::Failed("it has no tinderbox");
    }
    match stocked(pursuit, around, fits) {
        Some(logs) => light_here(pursuit, logs, around, sees, dice),
        None => gather(pursuit, Skill::Woodcutting, &fits, around, sees),
    }
}

/// Returns the next act to light one fire, somewhere near.
fn light_here(
    pursuit: &mut Pursuit,
    logs: Arc<str>,
    around: &Around<'_>,
    sees: &Sees<'_>,
    dice: &mut Dice,
) -> Act {
    let own = |fire: &&crate::entity::fire::Fire| fire.lit_by == around.record.id;
    if around.fires.values().filter(own).count() >= FIRES_MAX {
        return Act::Wait(WAIT_TICKS * 2);
    }
    pursuit.tries += 1;
    // If the agent could not light a fire here, another place may do.
    if pursuit.tries.is_multiple_of(2) {
        let (dx, dz) = (dice.between(-8, 8), dice.between(-8, 8));
        return Act::Walk(sees.tile.moved(dx, dz));
    }
    Act::Make {
        trade: RecipeKind::Light,
        what: logs,
        target: None,
        quantity: 1,
    }
}

fn cook(pursuit: &mut Pursuit, around: &Around<'_>, sees: &Sees<'_>, dice: &mut Dice) -> Act {
    let content = sees.content;
    let level = around.record.level(Skill::Cooking);
    let fits = |item: &str| cooks(content, level, item);
    let Some(raw) = stocked(pursuit, around, fits) else {
        return gather(pursuit, Skill::Fishing, &fits, around, sees);
    };
    let make = |target: EntityId| Act::Make {
        trade: RecipeKind::Cook,
        what: raw,
        target: Some(target),
        quantity: crate::features::skilling::MAKE_MAX,
    };
    let fires = around.fires.values();
    let fires = fires.map(|fire| (sees.tile.steps_to(fire.tile), fire));
    let fire = fires
        .filter(|(steps, _)| *steps <= SET_OUT_TILES)
        .min_by_key(|(steps, _)| *steps);
    if let Some((_, fire)) = fire {
        return to(pursuit, fire.tile, make(fire.id.clone()), around, sees);
    }
    let range = station("range", sees);
    let near = |tile: Tile| sees.tile.steps_to(tile) <= SET_OUT_TILES * 3;
    let lighting = around.record.level(Skill::Firemaking);
    let pack = around.record.inventory.values().map(|stack| &stack.item);
    let logs = pack
        .into_iter()
        .find(|item| lights(content, lighting, item));
    match (range, logs) {
        (Some((id, tile)), _) if near(tile) => to(pursuit, tile, make(id), around, sees),
        (_, Some(logs)) if around.has(TINDERBOX) > 0 => {
            light_here(pursuit, Arc::clone(logs), around, sees, dice)
        }
        (Some((id, tile)), _) => to(pursuit, tile, make(id), around, sees),
        (None, _) => Act::Failed("there is nothing to cook on"),
    }
}

/// Returns the nearest station of that sort.
fn station(sort: &str, sees: &Sees<'_>) -> Option<(EntityId, Tile)> {
    let near = |region: &Region| region.tiles_past(sees.tile) <= SEARCH_TILES;
    let regions = sees.content.regions().into_iter().filter(near);
    let all = regions.flat_map(|region| sees.content.fixtures_in(region));
    let of_sort = all.filter(|fixture| *fixture.sort == *sort);
    let nearest = of_sort.min_by_key(|fixture| (sees.tile.steps_to(fixture.tile), &fixture.id));
    nearest.map(|fixture| (fixture.id.clone(), fixture.tile))
}

fn smith(pursuit: &mut Pursuit, around: &Around<'_>, sees: &Sees<'_>) -> Act {
    let level = around.record.level(Skill::Smithing);
    let recipes = sees.content.recipes();
    let smithing = recipes.smithing.iter().filter(|recipe| {
        u32::from(recipe.effort.level) <= level
            && around.has(&recipe.bar) >= u64::from(recipe.bars)
            && around.has(HAMMER) > 0
    });
    let best = smithing.max_by_key(|recipe| (recipe.effort.xp_tenths, &recipe.output));
    if let (Some(recipe), Some((anvil, tile))) = (best, station("anvil", sees)) {
        let act = Act::Make {
            trade: RecipeKind::Smith,
            what: Arc::clone(&recipe.output),
            target: Some(anvil),
            quantity: crate::features::skilling::MAKE_MAX,
        };
        return to(pursuit, tile, act, around, sees);
    }
    let Some((bar, missing)) = ore(level, around, sees) else {
        return Act::Failed("there is nothing that it could smelt");
    };
    let Some((furnace, tile)) = station("furnace", sees) else {
        return Act::Failed("there is no furnace");
    };
    pursuit.stocking |= missing.as_ref().is_some_and(|(_, sets)| *sets == 0);
    let full = inventory::free_slots(&around.record.inventory) == 0;
    if let Some((item, sets)) = missing.filter(|(_, sets)| *sets < STOCK / 2)
        && pursuit.stocking
        && (sets == 0 || !full)
    {
        // If the agent can smelt nothing and its pack is full, this brings the pack to the bank.
        let fits = |given: &str| *given == *item;
        return gather(pursuit, Skill::Mining, &fits, around, sees);
    }
    pursuit.stocking = false;
    let act = Act::Make {
        trade: RecipeKind::Smelt,
        what: bar,
        target: Some(furnace),
        quantity: crate::features::skilling::MAKE_MAX,
    };
    to(pursuit, tile, act, around, sees)
}

/// Ore, and the number of bars for which there is enough of it.
type Least = (Arc<str>, u64);

/// Returns the best bar for which the agent can get all ore, and the scarcest ore of it.
fn ore(level: u32, around: &Around<'_>, sees: &Sees<'_>) -> Option<(Arc<str>, Option<Least>)> {
    let recipes = sees.content.recipes().smelting.iter();
    let had = |item: &Arc<str>, amount: u32| {
        let fits = |given: &str| *given == **item;
        around.has(item) >= u64::from(amount)
            || nearest(Skill::Mining, &fits, 0, around, sees).is_some()
    };
    let can = recipes.filter(|recipe| {
        u32::from(recipe.effort.level) <= level
            && recipe
                .inputs
                .iter()
                .all(|part| had(&part.item, part.amount))
    });
    let best = can.max_by_key(|recipe| (recipe.effort.level, &recipe.output))?;
    let sets = best.inputs.iter();
    let sets = sets.map(|part| {
        let sets = around.has(&part.item) / u64::from(part.amount.max(1));
        (Arc::clone(&part.item), sets)
    });
    let least = sets.min_by_key(|(_, sets)| *sets);
    Some((Arc::clone(&best.output), least))
}
