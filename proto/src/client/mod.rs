//! The protocol of `/ws`: one schema, two encodings. One file per feature; `table` lists every
//! wire name once.

pub mod activity;
pub mod admin;
pub mod asyncapi;
pub mod bank;
pub mod chat;
pub mod coins;
pub mod combat;
pub mod dance;
pub mod decode;
pub mod dialogue;
pub mod duel;
pub mod envelope;
pub mod equipment;
pub mod error;
pub mod friends;
pub mod grave;
pub mod inventory;
pub mod limits;
pub mod movement;
mod msgpack;
pub mod names;
pub mod prayer;
pub mod quest;
pub mod session;
pub mod shop;
pub mod skill;
pub mod sync;
pub mod table;
pub mod trade;
pub mod update;
pub mod watch;

pub use decode::{data_json, decode, shortened};
pub use envelope::{
    Format, Malformed, Message, Request, RequestId, ZoneRequest, encode, encode_raw,
};
pub use error::{CloseCode, ErrorCode};
pub use table::{ClientMessage, Needs, ServerEvent};
