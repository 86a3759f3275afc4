//! The protocol of `/ws`: one schema, three encodings. It has the messages of gateways, and those
//! that gateways share with zones. The features of `world` define the messages of the game.

pub mod admin;
pub mod asyncapi;
pub mod chat;
pub mod compact;
pub mod decode;
pub mod envelope;
pub mod error;
pub mod exchange;
pub mod friends;
pub mod limits;
pub mod look;
mod msgpack;
pub mod names;
pub mod session;
pub mod sync;
pub mod table;
pub mod update;
pub mod watch;

pub use decode::{data_json, decode, shortened};
pub use envelope::{
    Format, Malformed, Message, Request, RequestId, ZoneRequest, encode, encode_raw,
};
pub use error::{CloseCode, ErrorCode};
pub use table::{ClientMessage, Needs, ServerEvent};
pub use world::Refusal;
