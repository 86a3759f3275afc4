//! The rules, one file per feature, on one stage.
#![allow(clippy::unwrap_used, reason = "a test may")]

mod agents;
mod bank;
mod border;
mod combat;
mod conservation;
mod content;
mod death;
mod ground_items;
mod home_teleport;
mod loader;
mod loader_generations;
mod movement;
mod npc;
mod pack;
mod prayer;
mod replay;
mod skills;
mod stage;
mod use_item;
mod wear;
