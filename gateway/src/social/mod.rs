//! Players among themselves: chat, presence, and messages between gateways.

pub(crate) mod book;
pub(crate) mod bus;
pub(crate) mod chat;
mod delivery;
mod friends;
mod gateways;
pub(crate) mod global;
pub(crate) mod hub;
pub(crate) mod keeper;
mod local_bus;
mod poll;
pub(crate) mod presence;
pub(crate) mod redis_bus;
pub(crate) mod redis_cluster;
pub(crate) mod redis_server;
mod steering;
mod watch;
