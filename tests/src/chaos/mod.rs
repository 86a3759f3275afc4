//! What breaks things, and what must hold all the same.
//!
//! - [`proxy`]: a TCP proxy that delays, hangs, cuts and loses the answer to a COMMIT.

pub mod proxy;
