//! What breaks things, and what must hold all the same.
//!
//! - [`proxy`]: a TCP proxy that delays, hangs, cuts and loses the answer to a COMMIT;
//! - [`exercise`]: exercises whose numbers are worth keeping;
//! - [`fault`]: what is done to a cluster, by a seed;
//! - [`missed`]: how long regions stood still that were given away;
//! - [`oracle`]: what must hold afterwards;
//! - [`story`]: bots, faults and the judgement;
//! - [`timeline`]: what happened when.

pub mod exercise;
pub mod fault;
pub mod missed;
pub mod oracle;
pub mod proxy;
pub mod story;
pub mod timeline;
