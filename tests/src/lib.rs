//! What the end-to-end tests and the load generator are made of.
//!
//! - [`bot`]: a client of the `/ws` protocol, its state apart from its socket;
//! - [`load`]: many such clients over few tasks, with a plan each, and what they measure;
//! - [`chaos`]: what breaks things, and what must hold all the same;
//! - [`costs`]: what the routes of a gateway cost the database of a large world;
//! - [`cluster`]: the services as real processes, with their stores;
//! - [`dump`]: what zones say they published, to hold clients' maps against;
//! - [`journey`]: walks that tests take;
//! - [`collector`]: an OTLP collector that keeps what it is sent;
//! - [`terrain`], [`http`]: the world's ground and pages as a gateway serves them.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

pub mod bot;
pub mod chaos;
pub mod cluster;
pub mod collector;
pub mod costs;
pub mod dump;
pub mod http;
pub mod journey;
pub mod load;
pub mod terrain;
