//! Using a thing for what it is: food is eaten, bones are buried.
//!
//! Always: the thing is gone when its effect is there; food is eaten by the healthy, too; the
//! hands are full for a moment after.

use crate::content::{Content, ItemKind};
use crate::item::ledger::Cause;
use crate::item::transfer::Leg;
use crate::player::Player;
use crate::record::PlayerRecord;
use crate::refusal::Refusal;
use crate::skill::Skill;
use crate::tick::Tick;

/// How long the hands are full after eating.
const EAT_TICKS: u64 = 3;
/// How long they are after burying.
const BURY_TICKS: u64 = 2;

/// What comes of using a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// So much health.
    Eaten { heals: u32 },
    /// So much experience in prayer.
    Buried { xp_tenths: u32 },
}

/// Who uses one of what lies in `slot`: what is taken, for what, and to what effect.
///
/// # Errors
/// `Cooldown`, `EmptySlot`, `LevelTooLow`; `Unsupported`: it is good for nothing by itself.
pub(crate) fn used(
    player: &Player,
    content: &Content,
    slot: u8,
    now: Tick,
) -> Result<(Cause, Leg, Effect), Refusal> {
    let record = player.record();
    let stack = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    let kind = content.item(&stack.item).ok_or(Refusal::Unsupported)?;
    let (cause, effect) = effect(record, kind)?;
    if now < player.hands_free_at {
        return Err(Refusal::Cooldown);
    }
    let leg = Leg::FromSlot {
        who: record.id.clone(),
        slot,
        quantity: 1,
    };
    Ok((cause, leg, effect))
}

fn effect(record: &PlayerRecord, kind: &ItemKind) -> Result<(Cause, Effect), Refusal> {
    if kind.heals > 0 {
        return Ok((Cause::Eat, Effect::Eaten { heals: kind.heals }));
    }
    if kind.bury_xp_tenths == 0 {
        return Err(Refusal::Unsupported);
    }
    if record.level(Skill::Prayer) < u32::from(kind.bury_level) {
        return Err(Refusal::LevelTooLow);
    }
    let xp_tenths = kind.bury_xp_tenths;
    Ok((Cause::Bury, Effect::Buried { xp_tenths }))
}

/// The hands are full from `now` on; who has eaten is better. True: that is to be told.
pub(crate) fn done(player: &mut Player, effect: Effect, now: Tick) -> bool {
    match effect {
        Effect::Eaten { heals } => {
            player.hands_free_at = now.after(EAT_TICKS);
            let record = &mut player.record;
            let before = record.health;
            let well = record.max_health().max(before);
            record.health = before.saturating_add(heals).min(well);
            record.health != before
        }
        Effect::Buried { .. } => {
            player.hands_free_at = now.after(BURY_TICKS);
            false
        }
    }
}
