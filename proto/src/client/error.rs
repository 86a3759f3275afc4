//! Every code of `error`, and every close code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

macro_rules! codes {
    ($(#[$outer:meta])* $name:ident {
        $($(#[doc = $meaning:literal])+ $variant:ident => $wire:literal,)*
    }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[doc = $meaning])+ #[serde(rename = $wire)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// What it means, in words: what stands above it here.
            pub fn meaning(self) -> &'static str {
                match self {
                    $($name::$variant => concat!($($meaning),+).trim(),)*
                }
            }

            /// The code as clients see it.
            pub const fn wire(self) -> &'static str {
                match self {
                    $($name::$variant => $wire,)*
                }
            }

            /// Returns the code that clients see as `wire`.
            pub fn of_wire(wire: &str) -> Option<$name> {
                match wire {
                    $($wire => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// Why a message was refused.
    ErrorCode {
        /// Not JSON or MessagePack, or not the envelope.
        Malformed => "malformed",
        /// The frame's type is not that of the subprotocol.
        WrongEncoding => "wrong_encoding",
        /// No such event.
        UnknownEvent => "unknown_event",
        /// The event exists but its data do not fit.
        InvalidData => "invalid_data",
        /// Authenticate first.
        NotAuthenticated => "not_authenticated",
        /// Authenticated already.
        AlreadyAuthenticated => "already_authenticated",
        /// Enter the world first.
        NotInWorld => "not_in_world",
        /// Leave the world first.
        AlreadyInWorld => "already_in_world",
        /// The token or device key is not valid.
        InvalidCredentials => "invalid_credentials",
        /// The account is banned.
        Banned => "banned",
        /// The token is good for other things.
        WrongScope => "wrong_scope",
        /// Only for operators: name the code first.
        NotElevated => "not_elevated",
        /// Anonymous play is off.
        AnonymousDisabled => "anonymous_disabled",
        /// The character is not one of this account.
        NotYourCharacter => "not_your_character",
        /// The character is in the world.
        CharacterOnline => "character_online",
        /// The account has as many characters as it may have, or made as many today as it may.
        TooManyCharacters => "too_many_characters",
        /// Another character bears the name.
        NameTaken => "name_taken",
        /// Not a name.
        InvalidName => "invalid_name",
        /// Too often; wait.
        RateLimited => "rate_limited",
        /// The request was passed on, but its answer was lost.
        OutcomeUnknown => "outcome_unknown",
        /// No zone plays that part of the world now.
        ZoneUnavailable => "zone_unavailable",
        /// The store is away.
        StorageUnavailable => "storage_unavailable",
        /// Not while fighting.
        InCombat => "in_combat",
        /// There is no way.
        Unreachable => "unreachable",
        /// Too far away.
        TooFar => "too_far",
        /// Too much waits to be done already.
        Busy => "busy",
        /// No such thing.
        NotFound => "not_found",
        /// Not possible in this world yet.
        Unsupported => "unsupported",
        /// There is no room in the pack.
        InventoryFull => "inventory_full",
        /// Nothing lies in that slot.
        EmptySlot => "empty_slot",
        /// There is not as much of it.
        NotEnough => "not_enough",
        /// For a while it is only for somebody else.
        Protected => "protected",
        /// It takes a level that is not reached.
        LevelTooLow => "level_too_low",
        /// It cannot be worn.
        NotWearable => "not_wearable",
        /// No place is free in the bank.
        BankFull => "bank_full",
        /// There is no note of it.
        NoNote => "no_note",
        /// Open what it is to be done with first.
        NotOpen => "not_open",
        /// It cannot be attacked.
        NotAttackable => "not_attackable",
        /// Players may not attack each other there.
        PlayersSafe => "players_safe",
        /// One of the two is in a fight with somebody else.
        Engaged => "engaged",
        /// Not while dead.
        Dead => "dead",
        /// No arrow that fits the bow.
        NoAmmunition => "no_ammunition",
        /// Not the runes that the spell takes.
        NoRunes => "no_runes",
        /// What is held is not used in that way.
        WrongStyle => "wrong_style",
        /// No points of prayer are left.
        NoPrayer => "no_prayer",
        /// The shop has not so many.
        OutOfStock => "out_of_stock",
        /// Not enough coins in the pouch.
        NotEnoughCoins => "not_enough_coins",
        /// The shop does not buy that.
        NotBought => "not_bought",
        /// Something else came in between.
        Interrupted => "interrupted",
        /// Not again so soon.
        Cooldown => "cooldown",
        /// It takes a tool that is not at hand, or not of use yet.
        NoTool => "no_tool",
        /// It is made at another sort of place.
        NoStation => "no_station",
        /// There is nothing left to be had of it for now.
        Depleted => "depleted",
        /// Several things can be made of that: name one.
        ChoiceRequired => "choice_required",
        /// No fire may be lit there, or there are enough.
        NoFireHere => "no_fire_here",
        /// The operators have stopped whatever moves items and coins.
        ExchangesFrozen => "exchanges_frozen",
        /// The character is kept out of the world until an operator has looked at it.
        Quarantined => "quarantined",
        /// Muted.
        Muted => "muted",
        /// The private message reached nobody.
        NotDelivered => "not_delivered",
        /// No character bears that name.
        PlayerNotFound => "player_not_found",
        /// One of both has as many friends, or requests, as one may have.
        FriendLimit => "friend_limit_reached",
        /// As many are ignored as may be.
        IgnoreLimit => "ignore_limit_reached",
        /// They are friends.
        AlreadyFriends => "already_friends",
        /// They were asked.
        AlreadyRequested => "already_requested",
        /// They are ignored.
        AlreadyIgnored => "already_ignored",
        /// That is oneself.
        Yourself => "cannot_add_self",
        /// It cannot be begun: other quests, levels or items come before.
        QuestLocked => "quest_locked",
        /// Not at this point of the quest.
        QuestStage => "quest_stage",
        /// A fault of the server.
        Internal => "internal",
        /// No trade is open.
        NotInTrade => "NOT_IN_TRADE",
        /// There is no such trade, or it is not one's own.
        InvalidTrade => "INVALID_TRADE",
        /// Not a thing that could be offered.
        InvalidItem => "INVALID_ITEM",
        /// Nothing lies in that slot, or there is no such slot.
        InvalidSlot => "INVALID_SLOT",
        /// None, or more than there are.
        InvalidQuantity => "INVALID_QUANTITY",
        /// One of the two packs has no room for what it would get.
        NoRoomInPack => "INVENTORY_FULL",
        /// A trade must end first.
        AlreadyInTrade => "ALREADY_IN_TRADE",
        /// The other does something else.
        PlayerBusy => "PLAYER_BUSY",
        /// The other is not in the world.
        PlayerOffline => "PLAYER_OFFLINE",
        /// Asked too often.
        TooOften => "RATE_LIMITED",
        /// Nobody trades with oneself.
        SelfTrade => "SELF_TRADE",
        /// It is not given to others.
        UntradeableItem => "UNTRADEABLE_ITEM",
        /// A new character gives nothing away: it must first be played for 15 minutes, or reach a
        /// total level of 40.
        Newcomer => "NEWCOMER",
        /// The other stands too far away.
        OutOfReach => "TOO_FAR",
        /// Something is open that must be closed first.
        InterfaceOpen => "INTERFACE_OPEN",
        /// What was agreed to is not what is shown.
        ScreenChanged => "SCREEN_CHANGED",
        /// Not during a duel.
        InDuel => "IN_DUEL",
        /// It is at stake in a duel.
        ItemStaked => "ITEM_STAKED",
        /// Duels are arranged in their lobby, and nowhere else.
        NotInDuelArena => "NOT_IN_DUEL_ARENA",
        /// The other is not in the lobby.
        TargetNotInDuelArena => "TARGET_NOT_IN_DUEL_ARENA",
        /// Nobody fights oneself.
        InvalidTarget => "INVALID_TARGET",
        /// There is no such challenge, or it is not one's own.
        InvalidChallenge => "INVALID_CHALLENGE",
        /// Another challenge of one's own waits for its answer.
        ChallengePending => "CHALLENGE_PENDING",
        /// One is in no duel, or not in that one.
        NotInDuel => "NOT_IN_DUEL",
        /// The duel has not come to that, or is past it.
        InvalidState => "INVALID_STATE",
        /// There is no such rule.
        InvalidRule => "INVALID_RULE",
        /// The rules do not go together.
        InvalidRuleCombination => "INVALID_RULE_COMBINATION",
        /// The rules of the duel forbid it.
        AgainstRules => "AGAINST_RULES",
        /// Nobody may give up in this duel.
        CannotForfeit => "CANNOT_FORFEIT",
        /// All rings are taken.
        NoArenaAvailable => "NO_ARENA_AVAILABLE",
        /// Nothing is staked in that place.
        StakeNotFound => "STAKE_NOT_FOUND",
        /// The store is away: nothing changes hands.
        StoreAway => "STORAGE_UNAVAILABLE",
        /// The operators have stopped whatever moves items and coins.
        AllFrozen => "EXCHANGES_FROZEN",
        /// It came to nothing for another reason.
        TradeFailed => "TRADE_FAILED",
    }
}

impl ErrorCode {
    /// The code by which a trade or a duel says the same.
    #[allow(clippy::too_many_lines, reason = "one line a code")]
    pub const fn of_exchange(self) -> ErrorCode {
        match self {
            ErrorCode::TooFar | ErrorCode::Unreachable => ErrorCode::OutOfReach,
            ErrorCode::NotFound | ErrorCode::ZoneUnavailable => ErrorCode::PlayerOffline,
            ErrorCode::Busy | ErrorCode::InCombat | ErrorCode::Interrupted => ErrorCode::PlayerBusy,
            ErrorCode::InventoryFull => ErrorCode::NoRoomInPack,
            ErrorCode::EmptySlot => ErrorCode::InvalidSlot,
            ErrorCode::NotEnough => ErrorCode::InvalidQuantity,
            ErrorCode::Cooldown | ErrorCode::RateLimited => ErrorCode::TooOften,
            ErrorCode::StorageUnavailable => ErrorCode::StoreAway,
            ErrorCode::ExchangesFrozen => ErrorCode::AllFrozen,
            ErrorCode::NotInTrade
            | ErrorCode::InvalidTrade
            | ErrorCode::InvalidItem
            | ErrorCode::InvalidSlot
            | ErrorCode::InvalidQuantity
            | ErrorCode::NoRoomInPack
            | ErrorCode::AlreadyInTrade
            | ErrorCode::PlayerBusy
            | ErrorCode::PlayerOffline
            | ErrorCode::TooOften
            | ErrorCode::SelfTrade
            | ErrorCode::UntradeableItem
            | ErrorCode::Newcomer
            | ErrorCode::OutOfReach
            | ErrorCode::InterfaceOpen
            | ErrorCode::ScreenChanged
            | ErrorCode::InDuel
            | ErrorCode::ItemStaked
            | ErrorCode::NotInDuelArena
            | ErrorCode::TargetNotInDuelArena
            | ErrorCode::InvalidTarget
            | ErrorCode::InvalidChallenge
            | ErrorCode::ChallengePending
            | ErrorCode::NotInDuel
            | ErrorCode::InvalidState
            | ErrorCode::InvalidRule
            | ErrorCode::InvalidRuleCombination
            | ErrorCode::AgainstRules
            | ErrorCode::CannotForfeit
            | ErrorCode::NoArenaAvailable
            | ErrorCode::StakeNotFound
            | ErrorCode::StoreAway
            | ErrorCode::AllFrozen => self,
            ErrorCode::Malformed
            | ErrorCode::WrongEncoding
            | ErrorCode::UnknownEvent
            | ErrorCode::InvalidData
            | ErrorCode::NotAuthenticated
            | ErrorCode::AlreadyAuthenticated
            | ErrorCode::NotInWorld
            | ErrorCode::AlreadyInWorld
            | ErrorCode::InvalidCredentials
            | ErrorCode::Banned
            | ErrorCode::WrongScope
            | ErrorCode::NotElevated
            | ErrorCode::AnonymousDisabled
            | ErrorCode::NotYourCharacter
            | ErrorCode::CharacterOnline
            | ErrorCode::TooManyCharacters
            | ErrorCode::NameTaken
            | ErrorCode::InvalidName
            | ErrorCode::OutcomeUnknown
            | ErrorCode::Unsupported
            | ErrorCode::Protected
            | ErrorCode::LevelTooLow
            | ErrorCode::NotWearable
            | ErrorCode::BankFull
            | ErrorCode::NoNote
            | ErrorCode::NotOpen
            | ErrorCode::NotAttackable
            | ErrorCode::PlayersSafe
            | ErrorCode::Engaged
            | ErrorCode::Dead
            | ErrorCode::NoAmmunition
            | ErrorCode::NoRunes
            | ErrorCode::WrongStyle
            | ErrorCode::NoPrayer
            | ErrorCode::OutOfStock
            | ErrorCode::NotEnoughCoins
            | ErrorCode::NotBought
            | ErrorCode::NoTool
            | ErrorCode::NoStation
            | ErrorCode::Depleted
            | ErrorCode::ChoiceRequired
            | ErrorCode::NoFireHere
            | ErrorCode::Quarantined
            | ErrorCode::Muted
            | ErrorCode::NotDelivered
            | ErrorCode::PlayerNotFound
            | ErrorCode::FriendLimit
            | ErrorCode::IgnoreLimit
            | ErrorCode::AlreadyFriends
            | ErrorCode::AlreadyRequested
            | ErrorCode::AlreadyIgnored
            | ErrorCode::Yourself
            | ErrorCode::QuestLocked
            | ErrorCode::QuestStage
            | ErrorCode::Internal
            | ErrorCode::TradeFailed => ErrorCode::TradeFailed,
        }
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
