//! The part that every Tilestead process shares: settings, telemetry, readiness, calls to peers,
//! and stop. It knows nothing of the game.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "the tasks of a test end with its runtime"
    )
)]

pub mod any_name;
pub mod authority;
pub mod clock;
pub mod config;
pub mod drain;
pub mod health;
pub mod instruments;
pub mod mean;
pub mod pem;
pub mod profile;
pub mod rpc;
pub mod run;
pub mod tasks;
pub mod telemetry;
pub mod watchdog;
