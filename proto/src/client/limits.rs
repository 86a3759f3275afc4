//! Limits of the protocol.

/// The protocol's version, which `session:hello` carries.
pub const PROTOCOL_VERSION: u32 = 1;
/// The longest message that a client may send, in bytes.
pub const CLIENT_MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Deepest nesting of a client's message; the envelope itself is the first level.
pub const CLIENT_NESTING_MAX: usize = 16;
/// The longest request id that is a text, in bytes.
pub const REQUEST_ID_BYTES_MAX: usize = 64;
/// Most fragments of one message.
pub const CLIENT_FRAGMENTS_MAX: usize = 64;
/// Messages that pass in any window of one second, for all connections of an account together.
pub const CLIENT_MESSAGES_PER_SECOND_MAX: usize = 60;
/// Connections that an account may have at one gateway.
pub const CONNECTIONS_PER_ACCOUNT_MAX: usize = 4;
/// Logins of an account by its own token that pass in any minute at one gateway.
pub const LOGINS_PER_ACCOUNT_MAX: usize = 60;
/// The same of all accounts of one address.
pub const LOGINS_PER_ADDRESS_MAX: usize = 600;
/// Resumes of an account's sessions that pass in any minute at one gateway.
pub const RESUMES_PER_ACCOUNT_MAX: usize = 240;
/// The same of all accounts of one address.
pub const RESUMES_PER_ADDRESS_MAX: usize = 2400;
/// Bytes of `world:update` that a session gets in a tick.
pub const WORLD_UPDATE_BYTES_MAX: usize = 16 * 1024;
/// Time to authenticate, in milliseconds.
pub const AUTH_TIMEOUT_MS: u64 = 10_000;
/// Between two heartbeats, in milliseconds; three misses close.
pub const HEARTBEAT_MS: u64 = 15_000;
/// A character name's length, in characters.
pub const NAME_CHARS_MAX: usize = 20;
/// Letters and digits that a character's name has at least.
pub const NAME_CHARS_MIN: usize = 2;
/// A chat message's length, in characters.
pub const CHAT_CHARS_MAX: usize = 200;
/// Chunks seen in each direction from one's own.
pub const VIEW_CHUNKS: i32 = 3;
/// Reach of local chat, in tiles (Chebyshev).
pub const LOCAL_CHAT_TILES: i32 = 32;
