//! Promises that players and operators would notice, with real processes, PostgreSQL and Redis. One
//! program, because each further one takes minutes to link.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

mod abuse;
mod account;
mod agents;
mod alone;
mod answers;
mod browser;
mod browser_steps;
mod certificates;
mod chaos;
mod chat;
mod commands;
mod configuration;
mod console;
mod console_chaos;
mod content;
mod crossing;
mod documents;
mod driver;
mod first_hour;
mod freeze;
mod habits;
mod hearing;
mod identity;
mod interface;
mod intruders;
mod keys;
mod kubernetes;
mod launcher;
mod measures;
mod moment;
mod newcomer;
mod observability;
mod operator_tool;
mod passwords;
mod paused;
mod person;
mod pixels;
mod play;
mod seen;
mod shell;
mod signing_keys;
mod spans;
mod tour;
mod tracing;
mod trading;
mod voice;
mod world_map;
