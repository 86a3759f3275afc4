//! New characters give nothing away, so that nobody makes them for their starter things.
//!
//! Always: nothing that a newcomer has, drops or leaves at its death becomes another's. It may use,
//! eat, wear, sell, buy and bank all of it, and get things from others.

use crate::entity::player::record::PlayerRecord;
use crate::features::training::skill::Skill;
use crate::refusal::Refusal;
use crate::rules::Rules;

/// Sum of levels from which a character is no newcomer, however short its play. A new one has 26.
const TOTAL_LEVEL: u32 = 40;

/// Returns whether a character has too little play time and too few levels.
pub(crate) fn is_newcomer(record: &PlayerRecord, rules: &Rules) -> bool {
    record.played_ticks < rules.newcomer_ticks && total_level(record) < TOTAL_LEVEL
}

/// Checks whether a character may offer or stake its things.
///
/// # Errors
/// `Newcomer`
pub(crate) fn may_give(record: &PlayerRecord, rules: &Rules) -> Result<(), Refusal> {
    match is_newcomer(record, rules) {
        true => Err(Refusal::Newcomer),
        false => Ok(()),
    }
}

fn total_level(record: &PlayerRecord) -> u32 {
    Skill::ALL.iter().map(|skill| record.level(*skill)).sum()
}
