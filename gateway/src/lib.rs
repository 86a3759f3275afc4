//! The gateway guards the door and shows the world: HTTP, WebSocket sessions, authentication,
//! limits, each session's view, and chat. It holds nothing that a kill could lose for good.
//!
//! In reading order: `server` (how it starts and ends), `assembly` (its parts), `http` (the
//! routes), `socket`, `one_frame`, `mailbox`, `writer` and `frames` (one WebSocket), `session` (one client),
//! `zone_link`, `directory` and `view` (the world), `social` (chat).

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "the tasks of a test end with its runtime"
    )
)]

mod agents;
mod app;
mod assembly;
mod auth;
pub mod chaos;
mod clock;
mod config;
#[cfg(test)]
mod conformance;
mod content;
mod directory;
mod frames;
mod hiscores;
mod http;
mod limits;
mod live_queries;
mod mailbox;
mod metrics;
mod one_frame;
mod pace;
mod personal;
mod places;
mod proxy_protocol;
mod queries;
mod screen;
mod server;
mod session;
mod social;
mod socket;
mod spans;
mod stores;
mod turns;
mod unanswered;
mod writer;
mod zone_link;

pub use config::Config;
pub use server::Server;
