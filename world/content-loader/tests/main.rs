//! The tests of the content loader: one program.
#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod development;
mod peers;
mod production;
mod stage;
