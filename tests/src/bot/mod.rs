//! A client of the `/ws` protocol. [`map`] and [`view`] are pure: messages in, knowledge out.
//! [`socket`] is the connection, [`wire`] the envelope, [`glance`] a hasty reading of it, [`player`] a client for tests that wait
//! for what they expect.

pub mod glance;
pub mod map;
pub mod player;
pub mod socket;
pub mod view;
pub mod wire;

pub use map::Map;
pub use player::Player;
pub use view::{Phase, View};
pub use wire::{Message, Told};
