//! Fires: how players light them, and how they go out.

pub(crate) mod rules;
pub(crate) mod tick;
