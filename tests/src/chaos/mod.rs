//! What breaks things, and what must hold all the same.
//!
//! - [`proxy`]: a TCP proxy that delays, hangs, cuts and loses the answer to a COMMIT;
//! - [`fault`]: what is done to a cluster, by a seed;
//! - [`oracle`]: what must hold afterwards;
//! - [`timeline`]: what happened when.

pub mod fault;
pub mod oracle;
pub mod proxy;
pub mod timeline;
