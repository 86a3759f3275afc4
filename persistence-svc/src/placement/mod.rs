//! Placement of regions on runs: a pure plan, and the one elected replica that carries it out.
//! Correctness never depends on it; the store checks every step.

pub(crate) mod plan;
pub(crate) mod planner;
pub(crate) mod plans;
