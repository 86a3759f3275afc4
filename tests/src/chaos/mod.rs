//! Faults that break a cluster, and laws that must hold all the same.
//!
//! - [`proxy`]: a TCP proxy that delays, hangs, cuts and loses the answer to a COMMIT;
//! - [`exercise`]: exercises whose numbers are worth keeping;
//! - [`fault`]: the faults of a cluster, by a seed;
//! - [`missed`]: the time for which regions stood still during a move;
//! - [`oracle`]: the laws that must hold afterwards;
//! - [`production`]: the production configuration from end to end;
//! - [`replicas`]: persistence services behind one name;
//! - [`restore`]: PostgreSQL is lost, and restored from a backup;
//! - [`story`]: bots, faults and the judgement;
//! - [`timeline`]: the events and their times;
//! - [`upgrade`]: from the release before to this one, back, and here again.

pub mod exercise;
pub mod fault;
pub mod missed;
pub mod oracle;
pub mod production;
pub mod proxy;
pub mod replicas;
pub mod restore;
pub mod story;
pub mod timeline;
pub mod upgrade;
pub mod wedge;
