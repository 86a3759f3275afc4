//! A client of the `/ws` protocol. [`map`], [`view`], [`possessions`], [`action`] and [`forager`]
//! are pure: messages in, knowledge and requests out. [`socket`] is the connection, [`wire`] the
//! envelope, [`glance`] a hasty reading of it. [`player`] is a client for tests that wait for a
//! certain message.

pub mod action;
pub mod forager;
pub mod glance;
pub mod listener;
pub mod map;
pub mod player;
pub mod possessions;
pub mod socket;
pub mod view;
pub mod wire;

pub use action::Action;
pub use forager::Forager;
pub use map::Map;
pub use player::Player;
pub use possessions::{FaultKind, Held, Possessions};
pub use view::{Phase, View};
pub use wire::{Message, Payload};
