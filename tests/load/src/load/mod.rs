//! Load: many bots over few tasks. [`plan`] decides the walks of a bot on the [`ground`], [`known`] its
//! acts, [`failover`] the time for which it stood still, and [`slo`] whether the numbers are good
//! enough (all pure). [`walker`] plays one bot, [`swarm`] all of them; [`measure`] and [`report`] are the
//! results.

pub mod failover;
pub mod ground;
pub mod hostile;
pub mod known;
pub mod measure;
pub mod plan;
pub mod report;
pub mod slo;
pub mod swarm;
pub mod walker;

pub use ground::Ground;
pub use known::Acting;
pub use plan::Scenario;
pub use report::Summary;
pub use swarm::{Options, Recovery, Snapshot, Swarm, run};
