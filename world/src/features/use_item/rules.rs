//! Using an item for its own effect: a player eats food, buries bones and rubs lamps.
//!
//! Always: when the effect is there, the item is gone, but for a lamp that the content keeps. A
//! healthy player may eat, too. A lamp teaches what its record says, in the skill that its player
//! names. For some ticks after, the player can use nothing else.

use crate::content::{Content, ItemKind};
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::features::training::skill::Skill;
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::refusal::Refusal;
use crate::time::Tick;

/// Ticks for which a player can use nothing else after eating.
const EAT_TICKS: u64 = 3;
/// The same after burying.
const BURY_TICKS: u64 = 2;
/// The same after rubbing a lamp.
const RUB_TICKS: u64 = 2;

/// Effect of using an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Health from eating.
    Eaten { heals: u32 },
    /// Experience in prayer from burying.
    Buried { xp_tenths: u32 },
    /// Experience from a lamp, in a skill of the player's choice.
    Learned { skill: Skill, xp_tenths: u32 },
}

/// Used item and its effect.
#[derive(Debug)]
pub(crate) struct Used {
    /// Leg that takes the item, and its cause; none if the item stays.
    pub(crate) gone: Option<(Cause, Leg)>,
    /// Effect of the use.
    pub(crate) effect: Effect,
}

/// Returns the effect of using one item of a slot, for a skill that the request may name.
///
/// # Errors
/// `Cooldown`, `EmptySlot`, `LevelTooLow`; `ChoiceRequired`: the item is a lamp, and the request
/// names no skill; `Unsupported`: the item has no effect of its own.
pub(crate) fn used(
    player: &Player,
    content: &Content,
    slot: u8,
    skill: Option<Skill>,
    now: Tick,
) -> Result<Used, Refusal> {
    let record = player.record();
    let stack = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    let kind = content.item(&stack.item).ok_or(Refusal::Unsupported)?;
    let (cause, effect) = effect(record, kind, skill)?;
    if now < player.skilling.next_action_at {
        return Err(Refusal::Cooldown);
    }
    let leg = Leg::FromSlot {
        who: record.id.clone(),
        slot,
        quantity: 1,
    };
    Ok(Used {
        gone: cause.map(|cause| (cause, leg)),
        effect,
    })
}

/// Returns the effect of using one item of `kind`, and the cause of its removal if it goes.
fn effect(
    record: &PlayerRecord,
    kind: &ItemKind,
    skill: Option<Skill>,
) -> Result<(Option<Cause>, Effect), Refusal> {
    if kind.heals > 0 {
        return Ok((Some(Cause::Eat), Effect::Eaten { heals: kind.heals }));
    }
    if let Some(lamp) = kind.lamp {
        let skill = skill.ok_or(Refusal::ChoiceRequired)?;
        let xp_tenths = lamp.xp_tenths;
        let cause = lamp.consumed.then_some(Cause::Rub);
        return Ok((cause, Effect::Learned { skill, xp_tenths }));
    }
    if kind.bury_xp_tenths == 0 {
        return Err(Refusal::Unsupported);
    }
    if record.level(Skill::Prayer) < u32::from(kind.bury_level) {
        return Err(Refusal::LevelTooLow);
    }
    let xp_tenths = kind.bury_xp_tenths;
    Ok((Some(Cause::Bury), Effect::Buried { xp_tenths }))
}

/// Blocks further use from `now` on, and heals a player that has eaten. Returns whether health
/// changed.
pub(crate) fn done(player: &mut Player, effect: Effect, now: Tick) -> bool {
    match effect {
        Effect::Eaten { heals } => {
            player.skilling.next_action_at = now.after(EAT_TICKS);
            let record = &mut player.record;
            let before = record.health;
            let well = record.max_health().max(before);
            record.health = before.saturating_add(heals).min(well);
            record.health != before
        }
        Effect::Buried { .. } => {
            player.skilling.next_action_at = now.after(BURY_TICKS);
            false
        }
        Effect::Learned { .. } => {
            player.skilling.next_action_at = now.after(RUB_TICKS);
            false
        }
    }
}
