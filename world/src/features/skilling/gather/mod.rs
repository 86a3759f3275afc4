//! Gathering: wood of trees, ore of rocks, fish of the water.

pub(crate) mod rates;
pub(super) mod rules;
pub(crate) mod tick;

pub(crate) use rules::gear;
