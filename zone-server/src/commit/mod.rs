//! What ticks changed, going to the store. `batch` is pure: it merges, numbers and settles;
//! `committer` sends.

pub(crate) mod batch;
pub(crate) mod committer;
