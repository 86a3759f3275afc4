//! Prayers: turning them on and off, their multipliers, and their drain of points.
//!
//! Always: at most five prayers are active, no two of them in conflict; without points none is
//! active.

use std::sync::Arc;

use super::PrayerState;
use crate::content::{AttackType, Content, Prayer};
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::features::combat::HitKind;
use crate::features::training::skill::Skill;
use crate::item::worn;
use crate::refusal::Refusal;

/// Most prayers on at once.
const ACTIVE_MAX: usize = 5;
/// Drain that uses up one point of prayer, without any prayer bonus.
const RESISTANCE: i32 = 60;
/// A multiplier of 1, in thousandths.
const ONE: u32 = 1_000;

/// Multipliers of a player's levels from prayer, in thousandths; of several the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Multipliers {
    pub(crate) attack: u32,
    pub(crate) strength: u32,
    pub(crate) defense: u32,
    pub(crate) ranged_attack: u32,
    pub(crate) ranged_strength: u32,
    pub(crate) magic_attack: u32,
    pub(crate) magic_defense: u32,
}

fn active<'a>(
    content: &'a Content,
    devotion: &PrayerState,
) -> impl Iterator<Item = &'a Arc<Prayer>> {
    let on = devotion.active.iter();
    on.filter_map(|id| content.prayers().get(id))
}

/// Returns the multipliers of the active prayers.
pub(crate) fn multipliers(content: &Content, devotion: &PrayerState) -> Multipliers {
    let most = |of: fn(&Prayer) -> u32| {
        let all = active(content, devotion).map(|prayer| of(prayer));
        all.max().unwrap_or(ONE)
    };
    Multipliers {
        attack: most(|p| p.attack_thousandths),
        strength: most(|p| p.strength_thousandths),
        defense: most(|p| p.defense_thousandths),
        ranged_attack: most(|p| p.ranged_attack_thousandths),
        ranged_strength: most(|p| p.ranged_strength_thousandths),
        magic_attack: most(|p| p.magic_attack_thousandths),
        magic_defense: most(|p| p.magic_defense_thousandths),
    }
}

/// Returns the damage left of a blow after protection from its sort. Of a beast's blow nothing is
/// left, of a player's three fifths; without protection, all of it.
pub(crate) fn spared(
    content: &Content,
    devotion: &PrayerState,
    kind: HitKind,
    damage: u32,
    by_player: bool,
) -> u32 {
    let sort = match kind {
        HitKind::Melee => AttackType::Melee,
        HitKind::Ranged => AttackType::Ranged,
        HitKind::Magic => AttackType::Magic,
    };
    let protected =
        active(content, devotion).any(|prayer| prayer.protects_from.as_ref() == Some(&sort));
    match (protected, by_player) {
        (false, _) => damage,
        (true, true) => damage * 3 / 5,
        (true, false) => 0,
    }
}

/// Turns a prayer on, or off if it is.
///
/// # Errors
/// `NotFound`: there is no such prayer. `LevelTooLow`, `NoPrayer`; `Busy`: five are active.
pub(crate) fn toggle(
    record: &mut PlayerRecord,
    content: &Content,
    id: &str,
) -> Result<(), Refusal> {
    if record.prayer.active.remove(id) {
        return Ok(());
    }
    let prayer = content.prayers().get(id).ok_or(Refusal::NotFound)?;
    if record.level(Skill::Prayer) < u32::from(prayer.level) {
        return Err(Refusal::LevelTooLow);
    }
    if record.prayer.points == 0 {
        return Err(Refusal::NoPrayer);
    }
    let rules_out = |one: &Prayer, other: &str| one.conflicts.iter().any(|id| **id == *other);
    let stays = |on: &Arc<str>| {
        let other = content.prayers().get(on);
        !rules_out(prayer, on) && !other.is_some_and(|other| rules_out(other, id))
    };
    let mut on = record.prayer.active.clone();
    on.retain(stays);
    if on.len() >= ACTIVE_MAX {
        return Err(Refusal::Busy);
    }
    on.insert(prayer.id.clone());
    record.prayer.active = on;
    Ok(())
}

/// Plays one tick of the active prayers. Returns whether points fell.
pub(crate) fn drain(player: &mut Player, content: &Content) -> bool {
    let record = &mut player.record;
    if record.prayer.active.is_empty() {
        return false;
    }
    let by: u32 = active(content, &record.prayer).map(|p| p.drain).sum();
    let spares = worn::bonuses(content, &record.equipment).prayer;
    let resistance = (RESISTANCE + 2 * spares).max(1).unsigned_abs();
    let drained = player.fight.drained.saturating_add(by);
    let points = drained / resistance;
    player.fight.drained = drained % resistance;
    if points == 0 {
        return false;
    }
    record.prayer.points = record.prayer.points.saturating_sub(points);
    if record.prayer.points == 0 {
        record.prayer.active.clear();
        player.fight.drained = 0;
    }
    true
}

/// Restores all points. Returns whether the number of points changed.
pub(crate) fn fill(record: &mut PlayerRecord) -> bool {
    let most = record.level(Skill::Prayer);
    let before = std::mem::replace(&mut record.prayer.points, most);
    before != most
}

/// Caps saved points at the level, and turns all prayers off without points.
pub(crate) fn settle(record: &mut PlayerRecord) {
    record.prayer.points = record.prayer.points.min(record.level(Skill::Prayer));
    if record.prayer.points == 0 {
        record.prayer.active.clear();
    }
}
