//! Potions: the effects of a dose, the fading of boosts, the pouring of doses, and poison from its
//! beginning to its end.
//!
//! Always: a dose never lowers anything. Prayer points do not exceed the level in prayer, energy is
//! at most full.

use std::sync::Arc;

use super::{Boost, Poison, PotionState};
use crate::content::{Content, NpcKind, Potion, PotionEffect};
use crate::entity::player::record::{ENERGY_FULL, PlayerRecord};
use crate::features::training::skill::Skill;
use crate::item::Stack;
use crate::item::leg::Leg;
use crate::rng::Dice;

/// Ticks for which a player can use nothing else after a drink.
pub(crate) const DRINK_TICKS: u64 = 3;
/// Ticks in which a boost fades by one level.
pub(crate) const FADE_TICKS: u32 = 100;
/// Ticks from one strike of poison to the next.
pub(crate) const STRIKE_TICKS: u32 = 30;
/// Strikes after which poison is weaker by one point of damage.
const STRIKES_A_POINT: u32 = 5;
/// One in so many hits of a venomous beast poisons.
const POISONS_ONE_IN: u32 = 4;
/// Most damage of a strike.
const DAMAGE_MAX: u32 = 6;
/// Most doses of a potion.
const DOSES_MAX: u32 = 16;
/// Levels of a beast for one point more of damage.
const LEVELS_A_POINT: u32 = 10;

/// Returns the legs that turn one dose in `slot` into the item that it leaves.
pub(crate) fn exchange(record: &PlayerRecord, slot: u8, potion: &Potion) -> [Leg; 2] {
    let who = || record.id.clone();
    let taken = Leg::FromSlot {
        who: who(),
        slot,
        quantity: 1,
    };
    let left = Stack::new(Arc::clone(&potion.leaves), 1);
    let last = record.inventory.get(&slot).is_none_or(|s| s.quantity <= 1);
    let given = if last {
        Leg::ToSlot {
            who: who(),
            slot,
            stack: left,
        }
    } else {
        Leg::ToPack {
            who: who(),
            stack: left,
        }
    };
    [taken, given]
}

/// Returns the legs that pour as many doses as possible from the potion in `slot` to the like one
/// in `other`. `None`: the two are not doses of the same potion, or the other is full.
pub(crate) fn pour(
    content: &Content,
    record: &PlayerRecord,
    slot: u8,
    other: u8,
) -> Option<[Leg; 4]> {
    let pack = &record.inventory;
    let (from, into) = (pack.get(&slot)?, pack.get(&other)?);
    let single = slot != other && from.quantity == 1 && into.quantity == 1;
    let (left, filled) = poured(content, &from.item, &into.item).filter(|_| single)?;
    let who = || record.id.clone();
    let taken = |slot| Leg::FromSlot {
        who: who(),
        slot,
        quantity: 1,
    };
    let put = |slot, item| Leg::ToSlot {
        who: who(),
        slot,
        stack: Stack::new(item, 1),
    };
    Some([
        taken(slot),
        taken(other),
        put(slot, left),
        put(other, filled),
    ])
}

/// Returns the item that `from` becomes and the item that `into` becomes, if at least one dose goes
/// in.
fn poured(content: &Content, from: &Arc<str>, into: &Arc<str>) -> Option<(Arc<str>, Arc<str>)> {
    if last_dose(content, from)? != last_dose(content, into)? {
        return None;
    }
    let (mut left, mut filled) = (from, into);
    for _ in 0..DOSES_MAX {
        let Some(dose) = content.items().dose(left) else {
            break;
        };
        let Some(fuller) = content.items().fuller(filled) else {
            break;
        };
        (left, filled) = (&dose.leaves, fuller);
    }
    (filled != into).then(|| (Arc::clone(left), Arc::clone(filled)))
}

/// Returns the last dose of the potion that `item` is: the same for all its doses.
fn last_dose<'a>(content: &'a Content, item: &'a Arc<str>) -> Option<&'a Arc<str>> {
    let mut last = item;
    let mut next = &content.items().dose(item)?.leaves;
    for _ in 0..DOSES_MAX {
        let Some(less) = content.items().dose(next) else {
            break;
        };
        (last, next) = (next, &less.leaves);
    }
    Some(last)
}

/// Lets a player feel a dose. Returns whether its prayer points changed.
pub(crate) fn drink(record: &mut PlayerRecord, potion: &Potion) -> bool {
    let points_before = record.prayer.points;
    for effect in &potion.effects {
        match *effect {
            PotionEffect::Boost {
                skill,
                levels,
                percent,
            } => {
                let levels = levels + record.level(skill) * percent / 100;
                boost(&mut record.potions, skill, levels);
            }
            PotionEffect::Prayer { points, percent } => {
                let most = record.level(Skill::Prayer);
                let before = record.prayer.points;
                let after = before.saturating_add(points + most * percent / 100);
                record.prayer.points = after.min(most).max(before);
            }
            PotionEffect::Energy { percent } => {
                let more = ENERGY_FULL / 100 * percent;
                record.energy = record.energy.saturating_add(more).min(ENERGY_FULL);
            }
            PotionEffect::Cure { safe_ticks } => {
                record.potions.poison = None;
                record.potions.safe_ticks = record.potions.safe_ticks.max(safe_ticks);
            }
        }
    }
    record.prayer.points != points_before
}

/// Raises `skill` to `levels` above its level, unless it is as high already.
fn boost(state: &mut PotionState, skill: Skill, levels: u32) {
    if levels > state.boost(skill) {
        let ticks = FADE_TICKS;
        state.boosts.insert(skill, Boost { levels, ticks });
    }
}

/// Counts a tick of all boosts and of the protection from poison. Returns whether a level fell.
pub(crate) fn fade(state: &mut PotionState) -> bool {
    state.safe_ticks = state.safe_ticks.saturating_sub(1);
    let mut fell = false;
    for boost in state.boosts.values_mut() {
        boost.ticks = boost.ticks.saturating_sub(1);
        if boost.ticks == 0 {
            boost.levels = boost.levels.saturating_sub(1);
            boost.ticks = FADE_TICKS;
            fell = true;
        }
    }
    state.boosts.retain(|_, boost| boost.levels > 0);
    fell
}

/// Returns whether a hit of a beast poisons, and for how many strikes.
pub(crate) fn venom(kind: &NpcKind, dice: &mut Dice) -> Option<u32> {
    let takes = kind.fight.poisonous && dice.below(POISONS_ONE_IN) == 0;
    let damage = (1 + kind.level / LEVELS_A_POINT).min(DAMAGE_MAX);
    takes.then_some(damage * STRIKES_A_POINT)
}

/// Poisons somebody. Returns whether it took: not on somebody who is protected, and not beside
/// poison that is as strong.
pub(crate) fn poison(state: &mut PotionState, strikes: u32) -> bool {
    if state.safe_ticks > 0 || state.poison.is_some_and(|has| has.strikes >= strikes) {
        return false;
    }
    let ticks = state.poison.map_or(STRIKE_TICKS, |has| has.ticks);
    state.poison = Some(Poison { strikes, ticks });
    true
}

/// Returns the damage of the next strike, if so many are left.
pub(crate) fn damage(strikes: u32) -> u32 {
    strikes.div_ceil(STRIKES_A_POINT)
}

/// Counts a tick of poison. Returns the damage of the strike that is due, if one is; the last one
/// ends the poison.
pub(crate) fn strike(state: &mut PotionState) -> Option<u32> {
    let poison = state.poison.as_mut()?;
    poison.ticks = poison.ticks.saturating_sub(1);
    if poison.ticks > 0 {
        return None;
    }
    let due = damage(poison.strikes);
    poison.ticks = STRIKE_TICKS;
    poison.strikes = poison.strikes.saturating_sub(1);
    if poison.strikes == 0 {
        state.poison = None;
    }
    Some(due)
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
