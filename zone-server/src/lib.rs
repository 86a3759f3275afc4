//! The zone server: owns regions, plays the tick, hands players over, commits. The only place that
//! knows both the messages of the processes (`proto`) and the rules (`world`), and translates.
//!
//! In reading order: `server` (the lives of the process), `tick_loop` (the clock; `beat`), `run` (one
//! life), `inbox`, `translate`, `deliver`, `commit`, `peers`, `ownership`, `rpc`, `replay`.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "the tasks of a test end with its runtime"
    )
)]

mod beat;
mod check_content;
mod commit;
mod config;
mod content;
mod deliver;
mod effects;
mod inbox;
mod mailbox;
mod metrics;
mod mutants;
mod ownership;
mod peers;
mod priority;
mod program;
mod regained;
mod replay;
mod roster;
mod rpc;
mod run;
mod server;
#[cfg(feature = "simulation")]
pub mod simulation;
mod spans;
mod store;
mod tick_loop;
mod translate;

pub use config::Config;
pub use mutants::Mutants;
pub use program::program;
pub use server::Server;

/// Target of the trace events that name each input that a run has followed or refused.
pub const PLAYED: &str = "zone_server::played";

/// Ticks by which the store may have the place of a player too late who walks: 15 s. After the loss
/// of its zone the player stands where its gateway saw it last.
const PLACE_TICKS: u64 = 25;
