//! Decides which run plays a player or a region while it goes from one run to another. Pure: events
//! in, the next step out. `zone-server` carries the steps out. A model of all orders in which
//! things can happen checks that the steps keep their promises.

pub mod decide;
pub mod player;
pub mod region;
mod steps;

pub use steps::TARGET;
