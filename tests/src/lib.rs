//! Parts of the end-to-end tests. The load generator is a crate of its own; its modules are here too.
//!
//! - [`alerts`]: the alerts that a real Prometheus raises about a cluster;
//! - [`bench`]: scenes that are played against real processes, and a table of what they cost;
//! - [`chaos`]: faults that break a cluster, and laws that must hold all the same;
//! - [`costs`]: cost of a gateway's routes for the database of a large world;
//! - [`cluster`]: the services as real processes, with their stores;
//! - [`dashboards`]: Grafana's dashboards, made from tables of panels;
//! - [`dump`]: the published state of zones, for comparison with clients' maps;
//! - [`journey`]: walks that tests take;
//! - [`collector`]: an OTLP collector that keeps everything that it gets.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

pub mod alerts;
pub mod bench;
pub mod chaos;
pub mod cluster;
pub mod collector;
pub mod costs;
pub mod dashboards;
pub mod dump;
pub mod exemplars;
pub mod journey;

pub use load_generator::{areas, bot, http, load, terrain};
