//! NPCs of their own accord: they stand, wander, patrol, chase and attack.
//!
//! Always: an NPC never steps onto a tile on which somebody stands.

pub(crate) mod rules;
pub(crate) mod tick;
