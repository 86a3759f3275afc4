//! Fighting, as formulas and decisions; all of it is done in `cycle/`.
//!
//! Always: whole numbers only; nobody is hurt by more than [`roll::DAMAGE_MAX`] at once.

pub(crate) mod attack_rules;
pub(crate) mod fighter;
pub(crate) mod loot;
pub(crate) mod mind;
pub(crate) mod reach;
pub(crate) mod roll;
pub(crate) mod style;
pub(crate) mod supplies;
pub(crate) mod timing;

use crate::content::Content;
use crate::fight::Style;
use crate::record::PlayerRecord;

/// The style in which somebody fights now, and those that its weapon allows.
pub fn styles_of(content: &Content, record: &PlayerRecord) -> (Style, &'static [Style]) {
    let sort = fighter::weapon_sort(content, record);
    (style::in_use(&record.ways, sort), style::allowed(sort))
}
