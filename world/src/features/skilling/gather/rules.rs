//! Gathering: wood of trees, ore of rocks, fish of the water.
//!
//! Always: nobody gathers without the level, a tool of use and bait, where the resource needs it. A
//! try comes a whole cycle after the arrival or the try before.

use std::sync::Arc;

use super::rates;
use crate::content::{Content, EquipSlot, ItemKind, ResourceKind, ToolNeed, Yield};
use crate::entity::player::record::PlayerRecord;
use crate::entity::resource::ResourceState;
use crate::features::skilling::chance;
use crate::features::training::skill::Skill;
use crate::item::leg::Leg;
use crate::item::{Stack, inventory};
use crate::refusal::Refusal;
use crate::rng::Dice;
use crate::time::Tick;

/// Ticks between two tries to catch a fish; no manifest changes them.
const FISH_TICKS: u32 = 5;
/// Ticks between two tries to dig with a tool that has no number of its own.
const DIG_TICKS: u32 = 8;
/// Certainty, in millionths.
const MILLION: u32 = 1_000_000;
/// Ticks for which a shoal stays, at least and at most.
const SHOAL_TICKS: (i32, i32) = (200, 400);

/// Gear of a player that gathers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gear {
    level: u8,
    roll_ticks: Option<u32>,
    tier: usize,
    quick_millionths: u32,
    quick_ticks: u32,
}

/// Returns the word for gathering with `skill`, as all see it.
pub(crate) const fn verb(skill: Option<Skill>) -> &'static str {
    match skill {
        Some(Skill::Woodcutting) => "chop",
        Some(Skill::Mining) => "mine",
        Some(Skill::Fishing) => "fish",
        _ => "pick",
    }
}

/// Returns the gear with which `record` can gather of `kind`.
///
/// # Errors
/// `Unsupported`: the resource gives nothing. `LevelTooLow`, `NoTool`; `NotEnough`: there is no
/// bait.
pub(crate) fn gear(
    record: &PlayerRecord,
    content: &Content,
    kind: &ResourceKind,
) -> Result<Gear, Refusal> {
    let skill = kind.skill.ok_or(Refusal::Unsupported)?;
    let level = record.level(skill);
    let given = kind.yields.iter().filter(|given| !given.item.is_empty());
    let least = given.map(|given| u32::from(given.level)).min();
    if level < kind.level.max(least.ok_or(Refusal::Unsupported)?) {
        return Err(Refusal::LevelTooLow);
    }
    let gear = match &kind.tool {
        ToolNeed::Nothing => Gear::default(),
        ToolNeed::Item(tool) => {
            held(record)
                .find(|stack| stack.item == *tool)
                .ok_or(Refusal::NoTool)?;
            tool_of(content, tool, skill).unwrap_or_default()
        }
        ToolNeed::Any(of) => best(record, content, *of).ok_or(Refusal::NoTool)?,
    };
    if u32::from(gear.level) > level {
        return Err(Refusal::LevelTooLow);
    }
    let baited = |bait: &Arc<str>| inventory::count(&record.inventory, bait) > 0;
    if !kind.bait.as_ref().is_none_or(baited) {
        return Err(Refusal::NotEnough);
    }
    Ok(gear)
}

/// Returns whether `item` is a tool or bait for gathering of `kind`.
pub(crate) fn is_for(content: &Content, kind: &ResourceKind, item: &str) -> bool {
    let tool = match &kind.tool {
        ToolNeed::Nothing => false,
        ToolNeed::Item(tool) => **tool == *item,
        ToolNeed::Any(skill) => tool_of(content, item, *skill).is_some(),
    };
    tool || kind.bait.as_ref().is_some_and(|bait| **bait == *item)
}

/// Returns the stacks in the pack and the wielded one.
fn held(record: &PlayerRecord) -> impl Iterator<Item = &Stack> {
    let hand = record.equipment.get(&EquipSlot::Weapon);
    record.inventory.values().chain(hand)
}

/// Returns the best tool for `skill` that `record` has and can use; else any that it has. Manifests
/// number tools up or down, so that only visible properties count: the level, the speed and the
/// metal.
fn best(record: &PlayerRecord, content: &Content, skill: Skill) -> Option<Gear> {
    let level = record.level(skill);
    let tools = held(record).filter_map(|stack| tool_of(content, &stack.item, skill));
    let worth = |gear: &Gear| {
        let slow = gear.roll_ticks.unwrap_or(u32::MAX);
        let usable = u32::from(gear.level) <= level;
        (usable, gear.level, u32::MAX - slow, gear.tier)
    };
    tools.max_by_key(worth)
}

/// Returns `item` as a tool for `skill`, if it is one.
fn tool_of(content: &Content, item: &str, skill: Skill) -> Option<Gear> {
    let kind = content.item(item)?;
    if let Some(tool) = content.tools().get(item).filter(|t| t.skill == skill) {
        let named = if tool.tier.is_empty() {
            metal(kind)
        } else {
            &*tool.tier
        };
        return Some(Gear {
            level: tool.level,
            roll_ticks: tool.roll_ticks,
            tier: rates::tier(named),
            quick_millionths: tool.bonus_chance_millionths,
            quick_ticks: tool.bonus_roll_ticks,
        });
    }
    let tool = kind.tool.as_ref().filter(|tool| tool.skill == skill)?;
    Some(Gear {
        level: kind.requires.get(&skill).copied().unwrap_or(1),
        roll_ticks: tool.roll_ticks,
        tier: rates::tier(metal(kind)),
        quick_millionths: tool.bonus_chance_millionths,
        quick_ticks: tool.bonus_roll_ticks,
    })
}

/// Returns the metal of a tool: as it says, else as its name says.
fn metal(kind: &ItemKind) -> &str {
    if kind.tier.is_empty() {
        kind.id.split('_').next().unwrap_or_default()
    } else {
        &kind.tier
    }
}

/// Returns the ticks until the next try.
pub(crate) fn cycle_ticks(kind: &ResourceKind, gear: Gear, dice: &mut Dice) -> u64 {
    let ticks = match kind.skill {
        Some(Skill::Fishing) => FISH_TICKS,
        Some(Skill::Mining) if gear != Gear::default() => gear.roll_ticks.unwrap_or(DIG_TICKS),
        _ => kind.cycle_ticks,
    };
    let quick = gear.quick_ticks > 0 && dice.below(MILLION) < gear.quick_millionths;
    u64::from(if quick { gear.quick_ticks } else { ticks }.max(1))
}

/// Returns the yields of a try: nothing, or the main thing first and then the extras.
pub(crate) fn tried<'k>(
    kind: &'k ResourceKind,
    gear: Gear,
    level: u32,
    dice: &mut Dice,
) -> Vec<&'k Yield> {
    if kind.skill == Some(Skill::Fishing) {
        return caught(kind, level, dice).into_iter().collect();
    }
    let Some((main, more)) = kind.yields.split_first() else {
        return Vec::new();
    };
    let rate = match kind.skill {
        Some(Skill::Woodcutting) => rates::tree(kind.level, gear.tier, main.catch),
        // Essence and its like have no end.
        _ if kind.deplete_millionths == 0 && main.catch.is_none() => rates::ENDLESS,
        _ => rates::rock(kind.level, &main.item, main.catch),
    };
    if dice.below(chance::CERTAIN) >= chance::at(rate, level) {
        return Vec::new();
    }
    let lucky = |more: &&Yield| dice.below(MILLION) < more.chance_millionths;
    let more = more.iter().filter(|more| !more.item.is_empty());
    std::iter::once(main).chain(more.filter(lucky)).collect()
}

/// Returns the first fish that is caught, those of the highest level first.
fn caught<'k>(kind: &'k ResourceKind, level: u32, dice: &mut Dice) -> Option<&'k Yield> {
    let takes = |fish: &Yield| u32::from(fish.level).max(kind.level);
    let mut fish: Vec<&Yield> = kind.yields.iter().collect();
    fish.retain(|fish| !fish.item.is_empty() && takes(fish) <= level);
    fish.sort_by_key(|fish| std::cmp::Reverse(fish.level));
    fish.into_iter().find(|fish| {
        let rate = rates::fish(takes(fish), fish.catch);
        dice.below(chance::CERTAIN) < chance::at(rate, level)
    })
}

/// Returns the legs that put gathered items into the pack, and take the bait out of it.
pub(crate) fn legs(record: &PlayerRecord, kind: &ResourceKind, got: &[&Yield]) -> Vec<Leg> {
    let who = || record.id.clone();
    let bait = kind.bait.iter().map(|bait| Leg::FromPack {
        who: who(),
        stack: Stack::new(Arc::clone(bait), 1),
    });
    let got = got.iter().map(|given| Leg::ToPack {
        who: who(),
        stack: Stack::new(Arc::clone(&given.item), given.quantity),
    });
    bait.chain(got).collect()
}

/// Returns whether there is room for a yield: a free slot, even if the yield could be stacked.
pub(crate) fn has_room(record: &PlayerRecord) -> bool {
    inventory::free_slots(&record.inventory) > 0
}

/// Returns whether the last try took the last of it.
pub(crate) fn was_last(
    kind: &ResourceKind,
    state: Option<&ResourceState>,
    dice: &mut Dice,
) -> bool {
    if kind.skill == Some(Skill::Fishing) {
        return false;
    }
    match stands(kind) {
        Some(ticks) => state.is_some_and(|state| state.cut_ticks >= ticks),
        None => dice.below(MILLION) < kind.deplete_millionths,
    }
}

/// Returns the ticks for which it stands being cut; `None`: no number in particular.
fn stands(kind: &ResourceKind) -> Option<u32> {
    let tree = kind.skill == Some(Skill::Woodcutting) && kind.deplete_millionths > 0;
    rates::stands_ticks(kind.level).filter(|_| tree)
}

/// Ages a cut tree by a tick: on, as long as somebody cuts it, else back.
pub(crate) fn age(kind: &ResourceKind, state: &mut ResourceState, cut: bool) {
    let most = stands(kind).unwrap_or(0);
    state.cut_ticks = if cut {
        state.cut_ticks.saturating_add(1).min(most)
    } else {
        state.cut_ticks.saturating_sub(1)
    };
}

/// Returns whether a tree begins to age with the first log of it.
pub(crate) fn ages(kind: &ResourceKind) -> bool {
    stands(kind).is_some()
}

/// Returns when a shoal that is there at `now` moves on.
pub(crate) fn shoal_moves(now: Tick, dice: &mut Dice) -> Tick {
    let ticks = dice.between(SHOAL_TICKS.0, SHOAL_TICKS.1);
    now.after(u64::from(ticks.unsigned_abs()))
}
