//! Run energy, in ten-thousandths of full: running costs 1.2 % a tick; walking gives 1.2 % and
//! standing 2.4 %, both one part in a hundred more per level of agility.
//!
//! Always: 0 to 10000; nobody runs at 0.

use crate::player::{Pace, Player};
use crate::record::ENERGY_FULL;

const RUN_COST: u32 = 120;
const WALK_GAIN: u32 = 120;
const STAND_GAIN: u32 = 240;
/// A client is told when it is off by so much, and at either end.
const TELL: u32 = 200;

/// What running players lose and others regain in one tick. True: the player is to be told.
pub(crate) fn tick(player: &mut Player) -> bool {
    let record = &mut player.record;
    let before = (record.energy, record.running);
    let skilled = |gain: u32| gain * (100 + record.level("agility").min(99)) / 100;
    record.energy = match player.pace {
        Pace::Ran => record.energy.saturating_sub(RUN_COST),
        Pace::Walked => record.energy.saturating_add(skilled(WALK_GAIN)),
        Pace::Stood => record.energy.saturating_add(skilled(STAND_GAIN)),
    }
    .min(ENERGY_FULL);
    record.running &= record.energy > 0;
    if before == (record.energy, record.running) {
        return false;
    }
    let end = record.energy == 0 || record.energy == ENERGY_FULL;
    let tell = end || record.energy.abs_diff(player.told_energy) >= TELL;
    if tell {
        player.told_energy = record.energy;
    }
    tell
}

/// `player` chooses to run or to walk. Without energy it walks. True: that changed something.
pub(crate) fn choose(player: &mut Player, run: bool) -> bool {
    let run = run && player.record.energy > 0;
    let changed = player.record.running != run;
    player.record.running = run;
    changed
}
