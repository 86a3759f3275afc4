//! Decides which run plays a player or a region while it goes from one run to another. Pure: events
//! in, the next step out. `zone-server` does what the steps say. A model of all orders in which
//! things can happen holds the steps to their promises.

pub mod decide;
pub mod player;
pub mod region;
mod steps;

pub use steps::TARGET;
