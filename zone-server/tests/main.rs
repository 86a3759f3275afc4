//! A zone server between gateways, peers and a store that the tests play.
#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod acting;
mod agents;
mod border;
mod content;
mod duelling;
mod faults;
mod fighting;
mod loading;
mod measuring;
mod moving;
mod playing;
mod promised;
mod reaching;
mod stage;
mod takeover;
mod trading;
mod walking;
