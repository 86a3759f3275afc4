//! Keeps the inputs of a run, so that a command can play them again.
//!
//! Always: every change to a run's world goes through `recorded`, which records it first; the same
//! record gives the same world, byte for byte. In reading order: `change` (one change, as bytes),
//! `recorder` (the bounded memory), `order` (a record that somebody waits for), `recorded` (the world
//! with its record), `file` (a record in a folder), `again` (plays it), `step` (shows what each phase
//! took and what a tick changed), `command`.

mod again;
pub(crate) mod change;
pub(crate) mod command;
pub(crate) mod file;
pub(crate) mod order;
pub(crate) mod recorded;
pub(crate) mod recorder;
mod step;

#[cfg(test)]
mod tests;
