//! Making things by recipes: their inputs and their results.
//!
//! Always: inputs and outputs move together or not at all; nobody makes things beyond its level, or
//! without the tools, which it keeps.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::recipe::{Chance, Recipe};
use crate::entity::player::record::PlayerRecord;
use crate::item::leg::Leg;
use crate::item::{COINS, Stack, inventory};
use crate::refusal::Refusal;
use crate::rng::Dice;

/// Uses left of things that last for several pieces of work, by item: so many more can be made with
/// the one taken last.
pub(crate) type Spools = BTreeMap<Arc<str>, u32>;

/// Results of a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Production {
    pub(crate) legs: Vec<Leg>,
    /// Experience for it, in tenths.
    pub(crate) xp_tenths: u64,
    /// Uses left of things that last.
    pub(crate) spools: Spools,
}

/// Returns how often at once `record` can do `recipe` now, at most `wanted` times.
///
/// # Errors
/// `LevelTooLow`, `NoTool`; `NotEnough`: something that goes in is missing.
pub(crate) fn able(
    record: &PlayerRecord,
    recipe: &Recipe,
    spools: &Spools,
    wanted: u32,
) -> Result<u32, Refusal> {
    if let Some(skill) = recipe.skill
        && record.level(skill) < recipe.level
    {
        return Err(Refusal::LevelTooLow);
    }
    let lacks = |tool: &Arc<str>| has(record, tool) == 0;
    if recipe.tools.iter().any(lacks) {
        return Err(Refusal::NoTool);
    }
    let spent = |part: &&crate::content::Consumed| spools.get(&part.item).is_none_or(|n| *n == 0);
    let mut spent = recipe.consumed.iter().filter(spent);
    if spent.any(|part| has(record, &part.item) == 0) {
        return Err(Refusal::NotEnough);
    }
    let often = recipe.inputs.iter().map(|part| {
        let there = has(record, &part.item) / u64::from(part.amount.max(1));
        u32::try_from(there).unwrap_or(u32::MAX)
    });
    let often = often.min().unwrap_or(0);
    let most = if recipe.at_once { wanted } else { 1 };
    match often.min(most) {
        0 => Err(Refusal::NotEnough),
        many => Ok(many),
    }
}

/// Returns how many of `item` a player can put in: coins in the pouch count, too.
pub(crate) fn has(record: &PlayerRecord, item: &str) -> u64 {
    let pouch = if item == COINS { record.coins } else { 0 };
    inventory::count(&record.inventory, item).saturating_add(pouch)
}

/// Returns the results of making `recipe` `times` at once.
pub(crate) fn production(
    record: &PlayerRecord,
    recipe: &Recipe,
    spools: &Spools,
    times: u32,
    dice: &mut Dice,
) -> Production {
    let mut legs = Vec::new();
    for part in &recipe.inputs {
        take(
            record,
            &part.item,
            part.amount.saturating_mul(times),
            &mut legs,
        );
    }
    let mut spools = spools.clone();
    for part in &recipe.consumed {
        let left = spools.entry(Arc::clone(&part.item)).or_default();
        if *left == 0 {
            take(record, &part.item, 1, &mut legs);
            *left = part.uses;
        }
        *left = left.saturating_sub(1);
    }
    spools.retain(|_, left| *left > 0);
    let good = succeeds(record, recipe, dice);
    let level = recipe.skill.map_or(1, |skill| record.level(skill));
    let output = if good {
        let each = recipe.quantity.saturating_add(recipe.more(level));
        Some((&recipe.output, each.saturating_mul(times)))
    } else {
        recipe.failed.as_ref().map(|item| (item, times))
    };
    if let Some((item, quantity)) = output {
        legs.push(Leg::ToPack {
            who: record.id.clone(),
            stack: Stack::new(Arc::clone(item), quantity),
        });
    }
    let xp_tenths = u64::from(recipe.xp_tenths) * u64::from(times);
    Production {
        legs,
        xp_tenths: if good { xp_tenths } else { 0 },
        spools,
    }
}

/// Takes `quantity` of `item`: coins out of the pouch first.
fn take(record: &PlayerRecord, item: &Arc<str>, quantity: u32, legs: &mut Vec<Leg>) {
    let who = || record.id.clone();
    let mut left = quantity;
    if **item == *COINS {
        let pouch = u32::try_from(record.coins)
            .unwrap_or(u32::MAX)
            .min(quantity);
        if pouch > 0 {
            let amount = pouch;
            legs.push(Leg::FromPouch { who: who(), amount });
        }
        left -= pouch;
    }
    if left > 0 {
        let stack = Stack::new(Arc::clone(item), left);
        legs.push(Leg::FromPack { who: who(), stack });
    }
}

/// Returns whether it turns out well.
fn succeeds(record: &PlayerRecord, recipe: &Recipe, dice: &mut Dice) -> bool {
    match recipe.chance {
        Chance::Certain => true,
        Chance::Millionths(chance) => dice.below(1_000_000) < chance,
        Chance::SafeFrom(safe) => {
            let level = recipe.skill.map_or(1, |skill| record.level(skill));
            !burns(level, recipe.level, safe, dice)
        }
    }
}

/// Returns whether food burns that takes `level` and never burns from `safe` on: half the time at
/// first.
fn burns(has: u32, level: u32, safe: u32, dice: &mut Dice) -> bool {
    if has >= safe || safe <= level {
        return false;
    }
    dice.below(2 * (safe - level)) < safe - has.max(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of a thousand burn.
    fn burnt(has: u32, level: u32, safe: u32) -> u32 {
        let sides = 2 * safe.saturating_sub(level);
        let throws = 0..sides;
        let burnt = throws.filter(|n| burns(has, level, safe, &mut Dice::scripted([*n])));
        u32::try_from(burnt.count() * 1_000).unwrap() / sides.max(1)
    }

    #[test]
    fn food_burns_half_the_time_at_first_and_never_from_its_level_on() {
        // Shrimp on a fire, lobster on a range.
        assert_eq!([1, 17, 34, 99].map(|l| burnt(l, 1, 34)), [500, 257, 0, 0]);
        assert_eq!(
            [40, 57, 73, 74].map(|l| burnt(l, 40, 74)),
            [500, 250, 14, 0]
        );
        assert_eq!(burnt(1, 50, 50), 0);
    }
}
