//! The store, over both of its databases, and the service before it.

mod conformance;
mod laws;
#[cfg(feature = "simulation")]
mod mutants;
mod placement;
mod service;
mod stage;
mod telemetry;
