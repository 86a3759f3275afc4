//! The persistence service: the only process that talks to the database. It keeps accounts,
//! characters, runs and their leases, decides the owner of each region, and applies batches.
//!
//! Reading order: [`config`](Config), `server`, `rpc` (calls), `store` (invariants), `placement`
//! (owners of regions), `feed` (the directory for watchers).

mod backup;
pub mod certs;
mod commands;
mod config;
mod container;
mod database;
mod feed;
mod hiscores;
mod metrics;
mod mutants;
mod placement;
mod program;
mod rpc;
mod server;
#[cfg(feature = "simulation")]
pub mod simulation;
mod store;
mod tidy;
mod together;
mod waker;

pub use commands::{Command, check, keep_months};
pub use config::{Config, PostgresConfig, StoreConfig};
pub use database::Database;
pub use mutants::Mutants;
pub use program::program;
pub use server::{Server, migrate};
pub use store::{Conservation, StoreLocked, Total};
