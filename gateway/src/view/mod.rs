//! What sessions see of the world.
//!
//! `entity` and `replica` (pure) hold what zones say, united; `encode` (pure) writes it once per
//! format; `subscriptions` (pure) says what to ask of whom; `interest` (pure) decides what each
//! session gets; `fan_out` does it.

mod changes;
mod encode;
mod entity;
mod fan_out;
mod interest;
#[cfg(test)]
mod laws;
mod measures;
mod replica;
mod stage;
mod subscriptions;

pub(crate) use fan_out::{FanOut, FromLink};
pub(crate) use measures::Measures;
