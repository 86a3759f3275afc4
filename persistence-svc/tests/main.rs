//! The store, over both of its databases, and the service before it.
#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::too_many_lines, reason = "stories and laws, told in order")]

mod backups;
mod conformance;
mod laws;
mod mutants;
mod placement;
mod replica;
mod security;
mod service;
mod stage;
mod telemetry;
