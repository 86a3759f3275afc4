//! Who plays what, while players and regions go from one run to another. Pure: events in, the next
//! step out; `zone-server` does what the steps say, and a model of all orders in which things can
//! happen holds them to their promises.

pub mod decide;
pub mod player;
pub mod region;
mod steps;

pub use steps::TARGET;
