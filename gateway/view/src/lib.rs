//! Each client's view of the world. Pure.
//!
//! `entity`, `things` and `replica` unite the words of all zones. `encode` writes the world once
//! per encoding. `subscriptions` decides which chunks to ask of which run. `square` names the
//! chunks in sight, and `area` the part of the world that one task or gateway shows. `interest`,
//! `names`, `crowd`, `near`, `plan`, `scene` and `stage` decide each session's content, update by update.

pub mod area;
pub mod changes;
pub mod crowd;
pub mod encode;
pub mod entity;
pub mod interest;
pub mod names;
pub mod near;
mod numbers;
pub mod plan;
pub mod replica;
pub mod scene;
pub mod square;
pub mod stage;
pub mod subscriptions;
mod things;
