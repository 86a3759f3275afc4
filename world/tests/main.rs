//! The rules, one file per feature, on one stage.
#![allow(clippy::unwrap_used, reason = "a test may")]

mod agents;
mod agents_work;
mod bank;
mod border;
mod conservation;
mod content;
mod content_of_our_own;
mod fires;
mod gather;
mod dialogue;
mod ground_items;
mod home_teleport;
mod loader;
mod loader_generations;
mod make;
mod movement;
mod npc;
mod pack;
mod quest;
mod replay;
mod skills;
mod stage;
mod use_item;
mod wear;
