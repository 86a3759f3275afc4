//! Load: many bots over few tasks. [`plan`] decides where a bot goes and [`slo`] whether the
//! numbers are good enough (both pure); [`walker`] plays one bot, [`swarm`] all of them;
//! [`measure`] and [`report`] are what comes out.

pub mod measure;
pub mod plan;
pub mod report;
pub mod slo;
pub mod swarm;
pub mod walker;

pub use plan::{Ground, Scenario};
pub use report::Summary;
pub use swarm::{Options, Snapshot, run};
