//! Run energy, in ten-thousandths of full. Running costs 1.2 % a tick, and half a part in a hundred
//! of that more per kilogram of weight. Walking gives 1.2 % and standing 2.4 %, both one part in a
//! hundred more per level of agility.
//!
//! Always: 0 to 10000; nobody runs at 0.

use super::Pace;
use crate::content::Content;
use crate::entity::player::Player;
use crate::entity::player::record::ENERGY_FULL;
use crate::features::training::skill::Skill;

const RUN_COST: u32 = 120;
const WALK_GAIN: u32 = 120;
const STAND_GAIN: u32 = 240;
/// Difference at which the world tells a client; it does so at either end, too.
const TELL: u32 = 200;

/// Takes run energy from running players and gives it back to others, for one tick. Returns whether
/// the world must tell the player.
pub(crate) fn tick(player: &mut Player, content: &Content) -> bool {
    let cost = match player.gait.pace {
        Pace::Ran => run_cost(player.gait.weight_grams(
            content,
            &player.record.inventory,
            &player.record.equipment,
        )),
        Pace::Walked | Pace::Stood => 0,
    };
    let record = &mut player.record;
    let before = (record.energy, record.running);
    let skilled = |gain: u32| gain * (100 + record.level(Skill::Agility)) / 100;
    record.energy = match player.gait.pace {
        Pace::Ran => record.energy.saturating_sub(cost),
        Pace::Walked => record.energy.saturating_add(skilled(WALK_GAIN)),
        Pace::Stood => record.energy.saturating_add(skilled(STAND_GAIN)),
    }
    .min(ENERGY_FULL);
    record.running &= record.energy > 0;
    if before == (record.energy, record.running) {
        return false;
    }
    let end = record.energy == 0 || record.energy == ENERGY_FULL;
    let tell = end || record.energy.abs_diff(player.gait.reported_energy) >= TELL;
    if tell {
        player.gait.reported_energy = record.energy;
    }
    tell
}

/// Returns the energy that a tick of running costs with so much weight.
fn run_cost(weight_grams: u32) -> u32 {
    let more = u64::from(RUN_COST) * u64::from(weight_grams) / 200_000;
    RUN_COST.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
}

/// Makes `player` run or walk. Without energy it walks. Returns whether that changed something.
pub(crate) fn choose(player: &mut Player, run: bool) -> bool {
    let run = run && player.record.energy > 0;
    let changed = player.record.running != run;
    player.record.running = run;
    changed
}
