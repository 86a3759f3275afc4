//! Fires: how players light them, and how they go out.

pub(super) mod rules;
pub(crate) mod tick;
