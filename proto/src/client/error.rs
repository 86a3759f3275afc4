//! Every code of `error`, and every close code.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use world::Refusal;

use super::table::server_events;

/// Defines [`ErrorCode`] from one row per code: its meaning for those who write clients, its variant,
/// its name on the wire and its sentence for people. `as` gives the code by which trades and duels
/// say it, where they say it at all.
macro_rules! codes {
    ($(
        $(#[doc = $meaning:literal])+
        $variant:ident = $wire:literal $(as $exchange:literal)?, $sentence:expr;
    )+) => {
        /// Reason why the server refused a message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[doc = $meaning])+ $variant,)+
            /// The world refused it.
            Refused(Refusal),
        }

        /// Codes that are not refusals of the world.
        const OWN: &[ErrorCode] = &[$(ErrorCode::$variant),+];

        impl ErrorCode {
            /// Returns its meaning, for those who write clients.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(ErrorCode::$variant => concat!($($meaning),+).trim_ascii(),)+
                    ErrorCode::Refused(refusal) => refusal.meaning(),
                }
            }

            /// Returns the code as clients see it.
            pub const fn wire(self) -> &'static str {
                match self {
                    $(ErrorCode::$variant => $wire,)+
                    ErrorCode::Refused(refusal) => refusal.code(),
                }
            }

            /// Returns its sentence for people.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(ErrorCode::$variant => $sentence,)+
                    ErrorCode::Refused(refusal) => refusal.sentence(),
                }
            }

            /// Returns the code by which trades and duels say it, if that is another one.
            fn exchange_code(self) -> Option<&'static str> {
                match self {
                    $(ErrorCode::$variant => [$($exchange)?].first().copied(),)+
                    ErrorCode::Refused(refusal) => refusal.exchange_code(),
                }
            }
        }
    };
}

codes! {
    /// Not JSON or MessagePack, or not the envelope.
    Malformed = "malformed", "this is no message";
    /// The frame's type is not that of the subprotocol.
    WrongEncoding = "wrong_encoding", "the frame's type is not that of the subprotocol";
    /// No such event.
    UnknownEvent = "unknown_event", "there is no such event";
    /// The event exists but its data do not fit.
    InvalidData = "invalid_data", "the data do not fit the event";
    /// Authenticate first.
    NotAuthenticated = "not_authenticated", "authenticate first";
    /// Authenticated already.
    AlreadyAuthenticated = "already_authenticated", "this connection is authenticated already";
    /// Enter the world first.
    NotInWorld = "not_in_world", "enter the world first";
    /// Leave the world first.
    AlreadyInWorld = "already_in_world", "leave the world first";
    /// The token or device key is not valid.
    InvalidCredentials = "invalid_credentials", "the token or device key is not valid";
    /// The account is banned.
    Banned = "banned", "this account is banned";
    /// The token is good for other things.
    WrongScope = "wrong_scope", "this token is good for other things, but not for this";
    /// Only for operators: name the code first.
    NotElevated = "not_elevated",
        "this takes a role that your account does not have; operators give roles";
    /// Anonymous play is off.
    AnonymousDisabled = "anonymous_disabled", "anonymous play is not possible here";
    /// The character is not one of this account.
    NotYourCharacter = "not_your_character", "this account has no such character";
    /// The character is in the world.
    CharacterOnline = "character_online", "the character is in the world";
    /// The account has as many characters as it may have, or made as many today as it may.
    TooManyCharacters = "too_many_characters",
        "this account has as many characters as it may have";
    /// Another character bears the name.
    NameTaken = "name_taken", "another character bears this name, or one that looks like it";
    /// Not a name.
    InvalidName = "invalid_name", super::names::RULE;
    /// Too often; wait.
    RateLimited = "rate_limited" as "RATE_LIMITED", "too often; wait a little";
    /// The request was passed on, but its answer was lost.
    OutcomeUnknown = "outcome_unknown", "this was passed on, but its answer was lost";
    /// No zone plays that part of the world now.
    ZoneUnavailable = "zone_unavailable" as "PLAYER_OFFLINE",
        "this part of the world is not played right now";
    /// The character is kept out of the world until an operator has looked at it.
    Quarantined = "quarantined", "this character is kept until it has been looked at";
    /// Muted.
    Muted = "muted", "you are muted";
    /// Global chat has as many messages as it takes in a second; wait.
    GlobalChatFull = "global_chat_full",
        "global chat has as many messages as it takes; wait a moment";
    /// Slow mode: this character spoke in global chat a short time ago; wait.
    SlowMode = "slow_mode", "slow mode: wait before you speak in global chat again";
    /// The private message reached nobody.
    NotDelivered = "not_delivered", "the message did not reach them";
    /// No character bears that name.
    PlayerNotFound = "player_not_found", "nobody bears that name";
    /// One of both has as many friends, or requests, as one may have.
    FriendLimit = "friend_limit_reached",
        "one of you has as many friends or requests as one may have: 99";
    /// As many are ignored as may be.
    IgnoreLimit = "ignore_limit_reached", "you ignore as many as you may: 99";
    /// They are friends.
    AlreadyFriends = "already_friends", "you are friends already";
    /// They were asked.
    AlreadyRequested = "already_requested", "you have asked already; wait for an answer";
    /// They are ignored.
    AlreadyIgnored = "already_ignored", "you ignore them already";
    /// That is oneself.
    Yourself = "cannot_add_self", "that is you";
    /// A fault of the server.
    Internal = "internal", "something went wrong on our side";
    /// One of the two packs has no room for what it would get.
    NoRoomInPack = "INVENTORY_FULL", "one of the two packs has no room for what it would get";
    /// Asked too often.
    TooOften = "RATE_LIMITED", "asked too often";
    /// The other stands too far away.
    OutOfReach = "TOO_FAR", "the other stands too far away";
    /// The store is away: nothing changes hands.
    StoreAway = "STORAGE_UNAVAILABLE", "the store is away: nothing changes hands";
    /// The operators have stopped whatever moves items and coins.
    AllFrozen = "EXCHANGES_FROZEN", "the operators have stopped whatever moves items and coins";
    /// It came to nothing for another reason.
    TradeFailed = "TRADE_FAILED", "it came to nothing for another reason";
}

impl ErrorCode {
    /// Returns all codes: those of sessions first, then those of the world.
    pub fn all() -> impl Iterator<Item = ErrorCode> {
        let refusals = Refusal::ALL.iter().copied().map(ErrorCode::Refused);
        OWN.iter().copied().chain(refusals)
    }

    /// Returns the code that clients see as `wire`.
    pub fn of_wire(wire: &str) -> Option<ErrorCode> {
        ErrorCode::all().find(|code| code.wire() == wire)
    }

    /// Returns the code by which a trade or a duel says the same. Their codes are those in capitals.
    pub fn of_exchange(self) -> ErrorCode {
        if let Some(said) = self.exchange_code().and_then(ErrorCode::of_wire) {
            return said;
        }
        let capitals = !self
            .wire()
            .contains(|letter: char| letter.is_ascii_lowercase());
        if capitals {
            self
        } else {
            ErrorCode::TradeFailed
        }
    }
}

impl From<Refusal> for ErrorCode {
    fn from(refusal: Refusal) -> ErrorCode {
        ErrorCode::Refused(refusal)
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.wire())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Cow::<str>::deserialize(deserializer)?;
        ErrorCode::of_wire(&wire).ok_or_else(|| D::Error::custom(format!("{wire} is no code")))
    }
}

impl JsonSchema for ErrorCode {
    fn schema_name() -> Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<Schema> = ErrorCode::all()
            .map(|code| {
                json_schema!({
                    "description": code.meaning(),
                    "type": "string",
                    "const": code.wire(),
                })
            })
            .collect();
        json_schema!({"description": "Reason why the server refused a message.", "oneOf": codes})
    }
}

macro_rules! close_codes {
    ($($(#[doc = $meaning:literal])* $variant:ident = $code:literal,)*) => {
        /// Why a socket is closed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum CloseCode {
            $($(#[doc = $meaning])* $variant = $code,)*
        }

        impl CloseCode {
            /// All of them, each with what it means.
            pub const ALL: &'static [(CloseCode, &'static str)] =
                &[$((CloseCode::$variant, concat!($($meaning),*)),)*];
        }
    };
}

close_codes! {
    /// Done.
    Normal = 1000,
    /// The gateway goes, or the socket was replaced by its own resume.
    GoingAway = 1001,
    /// Against RFC 6455.
    ProtocolError = 1002,
    /// A frame of a type that is not taken.
    Unsupported = 1003,
    /// Text that is not UTF-8.
    NotUtf8 = 1007,
    /// Against the rules of this server.
    Policy = 1008,
    /// A message above the limit.
    TooBig = 1009,
    /// A fault of the server.
    Internal = 1011,
    /// Full; come back later.
    Busy = 1013,
    /// Not authenticated in time.
    NotAuthenticated = 4001,
    /// Too much malformed.
    Malformed = 4002,
    /// Banned.
    Banned = 4003,
    /// The token is not valid.
    InvalidToken = 4004,
    /// Too many messages for too long, or too many logins or resumes.
    RateLimited = 4008,
    /// The session is over.
    SessionExpired = 4009,
    /// Another login plays the character.
    Replaced = 4010,
    /// A protocol version that is not spoken.
    ProtocolVersion = 4012,
    /// The client reads too slowly.
    TooSlow = 4013,
}

/// `error`: a request was refused and has changed nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Error {
    /// Stable, for programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The event that was refused, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Wait this long, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

server_events! {
    Error => "error",
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_codes_are_alike_and_each_has_words() {
        let mut seen = BTreeSet::new();
        for code in ErrorCode::all() {
            assert!(seen.insert(code.wire()), "{code:?} is another's code");
            assert!(!code.sentence().is_empty(), "{code:?} says nothing");
            assert!(!code.meaning().is_empty(), "{code:?} means nothing");
        }
    }

    #[test]
    fn trades_and_duels_say_each_code_in_capitals() {
        for code in ErrorCode::all() {
            let said = code.of_exchange();
            assert_eq!(said.of_exchange(), said, "{code:?}");
            assert_eq!(said.wire(), said.wire().to_uppercase(), "{code:?}");
            if let Some(named) = code.exchange_code() {
                assert_eq!(
                    said.wire(),
                    named,
                    "{code:?} names a code that there is not"
                );
            }
        }
    }
}
