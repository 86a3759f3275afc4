//! How the cluster grows: clusters of up to 100 zone servers and 50 gateways are measured part by
//! part on one machine. The placement planner, the store's directory, the messages between processes
//! and the gateway's view are the real code; players are stubs. `docs/scale.md` has the figures.
//!
//! One gateway and one zone server are measured at a time, each on one thread, by processor time.

pub mod clock;
pub mod crowd;
pub mod gateway;
pub mod land;
pub mod measure;
pub mod paper;
pub mod placement;
pub mod report;
pub mod steering;
pub mod zones;
