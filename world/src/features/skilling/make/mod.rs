//! Making things by recipes, alone or at something.

pub(crate) mod choose;
pub(crate) mod recipe;
pub(super) mod rules;
pub(crate) mod tick;
