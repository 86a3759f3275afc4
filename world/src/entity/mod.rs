//! Everything that stands or lies on a tile, by its id: players, NPCs, resources, ground items, fires.

pub(crate) mod fire;
pub mod ground_item;
pub mod ids;
pub mod look;
pub mod npc;
pub mod persistent;
pub mod player;
pub(crate) mod resource;
