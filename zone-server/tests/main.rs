//! A zone server between gateways, peers and a store that the tests play.

mod agents;
mod border;
mod content;
mod moving;
mod playing;
mod stage;
