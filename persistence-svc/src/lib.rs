//! The persistence service: the only process that talks to the database. It keeps accounts,
//! characters, runs and their leases, decides who owns which region, and applies what was played.
//!
//! Reading order: [`config`](Config), `server`, `rpc` (what may be asked), `store` (what must
//! always hold), `placement` (who plays what), `feed` (the directory, pushed).

mod commands;
mod config;
mod container;
mod feed;
mod hiscores;
mod metrics;
#[cfg(feature = "simulation")]
pub mod mutants;
mod placement;
mod rpc;
mod server;
#[cfg(feature = "simulation")]
pub mod simulation;
mod store;
mod tidy;
mod waker;

pub use commands::{Command, check};
pub use config::{Config, StoreConfig};
pub use server::{Server, migrate};
pub use store::{Conservation, StoreLocked, Total};
