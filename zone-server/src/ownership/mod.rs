//! Which regions this run owns, and its right to do so. `decide` is pure; `keeper` does it.

pub(crate) mod decide;
pub(crate) mod directory;
pub(crate) mod keeper;
