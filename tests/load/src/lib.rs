//! The load generator, which is `tilestead bench`, and the client by which the end-to-end tests play.
//!
//! - [`bot`]: a client of the `/ws` protocol, its state apart from its socket;
//! - [`load`]: many such clients over few tasks, with a plan each, and their measurements;
//! - [`program`]: the load generator's arguments, and what it prints;
//! - [`terrain`], [`http`]: the world's ground and pages as a gateway serves them.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of bots end with their runtime"
)]

pub mod areas;
pub mod bot;
pub mod http;
pub mod load;
pub mod program;
pub mod terrain;
