//! Prayers: turning them on and off, and their drain of points.
//!
//! Always: at most five prayers are active, no two of them in conflict; without points none is
//! active.

use std::sync::Arc;

use crate::content::{Content, Prayer};
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::features::training::skill::Skill;
use crate::item::worn;
use crate::refusal::Refusal;

/// Most prayers on at once.
const ACTIVE_MAX: usize = 5;
/// Drain that uses up one point of prayer, without any prayer bonus.
const RESISTANCE: i32 = 60;

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
    let by: u32 = record.prayer.on(content).map(|p| p.drain).sum();
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
