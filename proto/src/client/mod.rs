//! The protocol of `/ws`: one schema, two encodings. One file per feature; `table` lists every
//! wire name once.

pub mod action;
pub mod chat;
pub mod envelope;
pub mod error;
pub mod limits;
pub mod movement;
pub mod session;
pub mod sync;
pub mod table;
pub mod update;

pub use envelope::{Format, Malformed, Request, RequestId, decode, encode, encode_raw};
pub use error::{CloseCode, ErrorCode};
pub use table::{ClientMessage, Needs, Route, ServerEvent};
