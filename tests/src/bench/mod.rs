//! The benchmark: scenes that are played against real processes, and one table of what they cost.
//! Everything, the generator included, runs on the machine that prints the table.
//!
//! Two builds are compared in alternating rounds, so that a machine that becomes slower meanwhile
//! is slower for both.

mod memory;
mod round;
mod scene;
mod table;
mod ticks;
mod world;

pub use round::{Build, Outcome, play};
pub use scene::{SCENES, Scene, StoreKind};
pub use table::{Compared, Table};
