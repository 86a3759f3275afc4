//! One folder per feature: its intents and events (`mod.rs`), the state that a player carries of it
//! (`state.rs`, or also `mod.rs`), its decisions (`rules.rs`), its messages (`told.rs`), and its part
//! in a tick (`tick.rs`).
//!
//! A feature may read the state of another one. Consequences across features stand in [`crate::tick`].

pub mod agents;
pub mod arrivals;
pub mod bank;
pub mod combat;
pub mod death;
pub mod dialogue;
pub mod duel;
pub mod emotes;
pub mod equipment;
pub mod examine;
pub mod ground_items;
pub mod home_teleport;
pub mod movement;
pub mod newcomer;
pub mod npc_mind;
pub mod pack;
pub mod potions;
pub mod prayer;
pub mod quests;
pub mod shop;
pub mod skilling;
pub mod trade;
pub mod training;
pub mod unresolved;
pub mod use_item;
pub mod visit;
pub mod vitals;
