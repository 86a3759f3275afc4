//! Using a thing for what it is: food is eaten, bones are buried, lamps are rubbed.
//!
//! Always: the thing is gone when its effect is there, but for a lamp that the content says is
//! not used up; food is eaten by the healthy, too; a lamp teaches what its own record says, in
//! the skill that whoever rubs it names; the hands are full for a moment after.

use crate::content::{Content, ItemKind};
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::features::training::skill::Skill;
use crate::item::ledger::Cause;
use crate::item::transfer::Leg;
use crate::refusal::Refusal;
use crate::time::Tick;

/// How long the hands are full after eating.
const EAT_TICKS: u64 = 3;
/// How long they are after burying.
const BURY_TICKS: u64 = 2;
/// How long they are after rubbing a lamp.
const RUB_TICKS: u64 = 2;

/// What comes of using a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// So much health.
    Eaten { heals: u32 },
    /// So much experience in prayer.
    Buried { xp_tenths: u32 },
    /// So much experience in a skill of one's choice.
    Learned { skill: Skill, xp_tenths: u32 },
}

/// What is used, and what comes of it.
#[derive(Debug)]
pub(crate) struct Used {
    /// What is taken for it, and why; none of what is not used up.
    pub(crate) gone: Option<(Cause, Leg)>,
    /// What comes of it.
    pub(crate) effect: Effect,
}

/// Who uses one of what lies in a slot, for a skill that it may have named.
///
/// # Errors
/// `Cooldown`, `EmptySlot`, `LevelTooLow`; `ChoiceRequired`: a lamp, and no skill is named;
/// `Unsupported`: it is good for nothing by itself.
pub(crate) fn used(
    player: &Player,
    content: &Content,
    (slot, skill): (u8, Option<Skill>),
    now: Tick,
) -> Result<Used, Refusal> {
    let record = player.record();
    let stack = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    let kind = content.item(&stack.item).ok_or(Refusal::Unsupported)?;
    let (cause, effect) = effect(record, kind, skill)?;
    if now < player.hands_free_at {
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

/// What comes of using one of that kind, and why it is gone then, if it is.
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
        Effect::Learned { .. } => {
            player.hands_free_at = now.after(RUB_TICKS);
            false
        }
    }
}
