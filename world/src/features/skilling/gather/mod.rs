//! Gathering: wood of trees, ore of rocks, fish of the water.

pub(crate) mod rates;
pub(crate) mod rules;
pub(crate) mod tick;
