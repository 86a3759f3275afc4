//! Players among themselves: chat, who is where, and what gateways tell each other.

pub(crate) mod book;
pub(crate) mod bus;
pub(crate) mod chat;
mod friends;
pub(crate) mod hub;
mod local_bus;
pub(crate) mod presence;
pub(crate) mod redis_bus;
mod watch;
