//! Gear of agents: how they get their tools out of the bank or from a shop.
//!
//! Always: an agent fetches only items that it can have. An item lies in the bank, or the agent can
//! pay for it with its coins and with the sale of its pack.

use std::sync::Arc;

use super::rules::{Act, Sees};
use super::work::{Around, spare, to};
use super::{Goal, Pursuit, bank_at};
use crate::content::{Content, ResourceKind, ToolNeed};
use crate::entity::ids::EntityId;
use crate::features::training::skill::Skill;
use crate::geometry::tile::Tile;
use crate::item::inventory;

/// Item that lights fires.
pub(crate) const TINDERBOX: &str = "tinderbox";
/// Furthest tiles that an agent goes to a shop.
const SHOP_TILES: u32 = 400;

/// Source of an item.
enum Source {
    Bank,
    /// A keeper, its tile, and the price of one.
    Shop(EntityId, Tile, u32),
}

/// Returns the cheapest missing item that lets an agent train `skill`. `None`: nothing is missing,
/// or the agent can have none of it.
pub(crate) fn missing(skill: Skill, around: &Around<'_>, sees: &Sees<'_>) -> Option<Arc<str>> {
    let gathered = match skill {
        Skill::Firemaking => Skill::Woodcutting,
        Skill::Cooking => Skill::Fishing,
        Skill::Smithing => Skill::Mining,
        other => other,
    };
    let wanted = if skill == Skill::Firemaking && around.has(TINDERBOX) == 0 {
        vec![Arc::from(TINDERBOX)]
    } else {
        tools(gathered, around, sees.content)
    };
    let costs = |item: &Arc<str>| match source(item, around, sees)? {
        Source::Bank => Some(0),
        Source::Shop(_, _, price) => affords(price, around, sees.content).then_some(price),
    };
    let had = wanted.into_iter();
    let had = had.filter_map(|item| costs(&item).map(|price| (price, item)));
    had.min().map(|(_, item)| item)
}

/// Returns the tools of which each lets an agent gather in `skill`; none if it can gather already.
fn tools(skill: Skill, around: &Around<'_>, content: &Content) -> Vec<Arc<str>> {
    let level = around.record.level(skill);
    let fits = |kind: &&Arc<ResourceKind>| {
        let bait = kind.bait.as_ref();
        let baited = bait.is_none_or(|bait| around.has(bait) > 0);
        kind.skill == Some(skill) && kind.level <= level && baited
    };
    let kinds: Vec<_> = content.resources().iter().filter(fits).collect();
    if kinds.iter().any(|kind| (around.usable)(kind)) {
        return Vec::new();
    }
    let needs = kinds.iter().flat_map(|kind| match &kind.tool {
        ToolNeed::Nothing => Vec::new(),
        ToolNeed::Item(item) => vec![Arc::clone(item)],
        ToolNeed::Any(of) => {
            let tools = content.tools().iter();
            let tools = tools.filter(|tool| tool.skill == *of && u32::from(tool.level) <= level);
            tools.map(|tool| Arc::clone(&tool.item)).collect()
        }
    });
    let mut needs: Vec<Arc<str>> = needs.collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// Returns the source of `item`: the bank, or else the nearest shop.
fn source(item: &Arc<str>, around: &Around<'_>, sees: &Sees<'_>) -> Option<Source> {
    let content = sees.content;
    let banked = around.record.bank.items.get(item);
    if banked.is_some_and(|there| there.quantity > 0) {
        return Some(Source::Bank);
    }
    let regions = content.regions();
    let near = regions
        .iter()
        .filter(|region| region.tiles_past(sees.tile) <= SHOP_TILES);
    let npcs = near.flat_map(|region| content.npcs_in(*region));
    let sold = npcs.filter_map(|npc| {
        let store = content.stores().get(npc.store.as_ref()?)?;
        let good = store.goods.iter().find(|good| good.item == *item)?;
        Some((sees.tile.steps_to(npc.tile), &npc.id, npc.tile, good.price))
    });
    let (_, id, tile, price) = sold.min()?;
    Some(Source::Shop(id.clone(), tile, price))
}

/// Returns whether an agent could pay `price` from its coins and half the worth of its spare items.
fn affords(price: u32, around: &Around<'_>, content: &Content) -> bool {
    let pack = &around.record.inventory;
    let spare = spare(content, pack);
    let spare = spare.iter().filter_map(|slot| pack.get(slot));
    let worth = spare.map(|stack| {
        let kind = content.item(&stack.item).filter(|kind| kind.tradeable);
        kind.map_or(0, |kind| kind.value * u64::from(stack.quantity) / 2)
    });
    around.record.coins + worth.sum::<u64>() >= u64::from(price)
}

/// Returns the next step to have `item`.
pub(crate) fn fetch(
    pursuit: &mut Pursuit,
    item: &Arc<str>,
    around: &Around<'_>,
    sees: &Sees<'_>,
) -> Act {
    if around.has(item) > 0 {
        pursuit.progress = pursuit.goal.target();
        return Act::Done;
    }
    match source(item, around, sees) {
        None => Act::Failed("nobody sells that near here"),
        Some(Source::Bank) => {
            if around.at_bank {
                pursuit.tries += 1;
                return if inventory::free_slots(&around.record.inventory) == 0 {
                    Act::Store
                } else {
                    Act::Withdraw(Arc::clone(item), 1)
                };
            }
            match bank_at(sees.content, sees.tile) {
                Some((id, tile)) => to(pursuit, tile, Act::Open(id), around, sees),
                None => Act::Failed("there is no bank"),
            }
        }
        Some(Source::Shop(id, tile, price)) => {
            if !affords(price, around, sees.content) {
                return Act::Failed("it cannot pay for that");
            }
            if around.at_shop {
                pursuit.tries += 1;
                return if around.record.coins < u64::from(price) {
                    Act::Sell
                } else {
                    Act::Buy(Arc::clone(item))
                };
            }
            to(pursuit, tile, Act::OpenShop(id), around, sees)
        }
    }
}

/// Returns the next step to the grave with the agent's things.
pub(crate) fn recover(
    pursuit: &mut Pursuit,
    grave: &EntityId,
    tile: Tile,
    around: &Around<'_>,
    sees: &Sees<'_>,
) -> Act {
    if around.plays(tile) && !sees.grave_there {
        pursuit.progress = pursuit.goal.target();
        return Act::Done;
    }
    to(pursuit, tile, Act::Take(grave.clone()), around, sees)
}

/// Returns the goal that an agent must reach before `goal`: to fetch a tool.
pub(crate) fn first(goal: &Goal, around: &Around<'_>, sees: &Sees<'_>) -> Option<Goal> {
    match goal {
        Goal::Train(skill) => missing(*skill, around, sees).map(Goal::Fetch),
        _ => None,
    }
}
