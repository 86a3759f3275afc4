//! The tests of the delivery: one program.
#![allow(clippy::unwrap_used, reason = "a test may")]

mod development;
mod peers;
mod production;
mod stage;
