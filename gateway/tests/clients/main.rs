//! Clients at one gateway, or at two: the door, the limits, and the way back in. The store and the
//! zone behind it are small ones in this process, which a test directs.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod account;
mod agents;
mod bodies;
mod book;
mod churn;
mod client;
mod cluster;
mod conforms;
mod content;
mod door;
mod elsewhere;
mod friends;
mod frontend;
mod global;
mod identity;
mod limits;
mod login;
mod measured;
mod minds;
mod operators;
mod origins;
mod places;
mod processes;
mod profiles;
mod proxied;
mod rates;
mod redis;
mod resume;
#[path = "../../../proto/tests/samples/mod.rs"]
mod samples;
mod scopes;
mod signing_keys;
mod slow;
mod spectators;
mod stage;
mod steering;
mod store;
mod talk;
mod walk;
mod weight;
mod zone;
