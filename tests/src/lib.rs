//! Parts of the end-to-end tests and of the load generator.
//!
//! - [`bot`]: a client of the `/ws` protocol, its state apart from its socket;
//! - [`load`]: many such clients over few tasks, with a plan each, and their measurements;
//! - [`bench`]: scenes that are played against real processes, and a table of what they cost;
//! - [`chaos`]: faults that break a cluster, and laws that must hold all the same;
//! - [`costs`]: cost of a gateway's routes for the database of a large world;
//! - [`cluster`]: the services as real processes, with their stores;
//! - [`dashboards`]: Grafana's dashboards, made from tables of panels;
//! - [`dump`]: the published state of zones, for comparison with clients' maps;
//! - [`journey`]: walks that tests take;
//! - [`collector`]: an OTLP collector that keeps everything that it gets;
//! - [`terrain`], [`http`]: the world's ground and pages as a gateway serves them.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

pub mod areas;
pub mod bench;
pub mod bot;
pub mod chaos;
pub mod cluster;
pub mod collector;
pub mod costs;
pub mod dashboards;
pub mod dump;
pub mod http;
pub mod journey;
pub mod load;
pub mod terrain;
