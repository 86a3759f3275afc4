//! The rules, one file per feature, on one stage.
#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::too_many_lines, reason = "stories and laws, told in order")]

mod agents;
mod agents_fetch;
mod agents_fight;
mod agents_smith;
mod agents_work;
mod aliases;
mod bank;
mod border;
mod casting;
mod combat;
mod conservation;
mod content;
mod content_of_our_own;
mod death;
mod dialogue;
mod duel;
mod duplication;
mod fires;
mod follow;
mod gather;
mod ground_items;
mod home_teleport;
mod lasting;
mod loader;
mod loader_generations;
mod make;
mod movement;
mod newcomer;
mod npc;
mod pack;
mod prayer;
mod quest;
mod rare_drops;
mod replay;
mod requests;
mod searches;
mod shop;
mod skills;
mod stage;
mod trade;
mod unknown_items;
mod use_item;
mod visits;
mod wear;
