//! Messages that are welcome at each stage. Pure.

use proto::client::{ErrorCode, Needs};

/// Progress of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Connected, not authenticated.
    Fresh,
    /// Authenticated, not in the world.
    Lobby,
    /// Plays a character.
    World,
}

impl Stage {
    /// Returns its name in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Lobby => "lobby",
            Self::World => "world",
        }
    }
}

/// Returns `Ok` if an event with these needs is welcome now, else the refusal.
pub(crate) const fn welcome(stage: Stage, needs: Needs) -> Result<(), ErrorCode> {
    match (needs, stage) {
        (Needs::Nothing, _)
        | (Needs::NoAccount, Stage::Fresh)
        | (Needs::Account, Stage::Lobby | Stage::World)
        | (Needs::Lobby, Stage::Lobby)
        | (Needs::World, Stage::World) => Ok(()),
        (Needs::NoAccount, _) => Err(ErrorCode::AlreadyAuthenticated),
        (_, Stage::Fresh) => Err(ErrorCode::NotAuthenticated),
        (Needs::World, _) => Err(ErrorCode::NotInWorld),
        (Needs::Lobby, Stage::World) => Err(ErrorCode::AlreadyInWorld),
    }
}

/// Returns an error code in words. A code of a rule that a zone plays has its words there.
#[allow(clippy::too_many_lines, reason = "one arm an event")]
pub(crate) fn words(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Malformed => "this is no message",
        ErrorCode::WrongEncoding => "the frame's type is not that of the subprotocol",
        ErrorCode::UnknownEvent => "there is no such event",
        ErrorCode::InvalidData => "the data do not fit the event",
        ErrorCode::NotAuthenticated => "authenticate first",
        ErrorCode::AlreadyAuthenticated => "this connection is authenticated already",
        ErrorCode::NotInWorld => "enter the world first",
        ErrorCode::AlreadyInWorld => "leave the world first",
        ErrorCode::InvalidCredentials => "the token or device key is not valid",
        ErrorCode::Banned => "this account is banned",
        ErrorCode::WrongScope => "this token is good for other things, but not for this",
        ErrorCode::NotElevated => {
            "only operators may: name the code first, or have the role that this takes"
        }
        ErrorCode::AnonymousDisabled => "anonymous play is not possible here",
        ErrorCode::NotYourCharacter => "this account has no such character",
        ErrorCode::CharacterOnline => "the character is in the world",
        ErrorCode::TooManyCharacters => "this account has as many characters as it may have",
        ErrorCode::NameTaken => "another character bears this name, or one that looks like it",
        ErrorCode::InvalidName => proto::client::names::RULE,
        ErrorCode::RateLimited => "too often; wait a little",
        ErrorCode::OutcomeUnknown => "this was passed on, but its answer was lost",
        ErrorCode::ZoneUnavailable => "this part of the world is not played right now",
        ErrorCode::StorageUnavailable => {
            "the store cannot be reached right now; try again in a moment"
        }
        ErrorCode::InCombat => "not while fighting",
        ErrorCode::Unreachable => "there is no way there",
        ErrorCode::TooFar => "that is too far away",
        ErrorCode::Busy => "too much waits to be done already",
        ErrorCode::NotFound => "there is no such thing",
        ErrorCode::Unsupported => "that is not possible in this world",
        ErrorCode::InventoryFull => "there is no room in the pack",
        ErrorCode::EmptySlot => "nothing lies in that slot",
        ErrorCode::NotEnough => "there is not as much of it",
        ErrorCode::Protected => "for now that is only for somebody else",
        ErrorCode::LevelTooLow => "that takes a higher level",
        ErrorCode::NotWearable => "that cannot be worn",
        ErrorCode::BankFull => "no place is free in the bank",
        ErrorCode::NoNote => "there is no note of that",
        ErrorCode::NotOpen => "open what it is to be done with first",
        ErrorCode::OutOfStock => "the shop has not so many",
        ErrorCode::NotEnoughCoins => "there are not enough coins",
        ErrorCode::NotBought => "the shop does not buy that",
        ErrorCode::Interrupted => "something else came in between",
        ErrorCode::Cooldown => "not again so soon",
        ErrorCode::ExchangesFrozen => "nothing may change hands right now",
        ErrorCode::Quarantined => "this character is kept until it has been looked at",
        ErrorCode::Muted => "you are muted",
        ErrorCode::NotDelivered => "the message did not reach them",
        ErrorCode::PlayerNotFound => "nobody bears that name",
        ErrorCode::FriendLimit => "one of you has as many friends or requests as one may have: 99",
        ErrorCode::IgnoreLimit => "you ignore as many as you may: 99",
        ErrorCode::AlreadyFriends => "you are friends already",
        ErrorCode::AlreadyRequested => "you have asked already; wait for an answer",
        ErrorCode::AlreadyIgnored => "you ignore them already",
        ErrorCode::Yourself => "that is you",
        ErrorCode::Internal => "something went wrong on our side",
        // Every other code says itself what it means.
        code => code.meaning(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_welcomes_what_it_should() {
        use ErrorCode::{
            AlreadyAuthenticated as Auth, AlreadyInWorld as In, NotAuthenticated as No,
            NotInWorld as Out,
        };
        let needs = [
            Needs::Nothing,
            Needs::NoAccount,
            Needs::Account,
            Needs::Lobby,
            Needs::World,
        ];
        let table = [
            (Stage::Fresh, [Ok(()), Ok(()), Err(No), Err(No), Err(No)]),
            (Stage::Lobby, [Ok(()), Err(Auth), Ok(()), Ok(()), Err(Out)]),
            (Stage::World, [Ok(()), Err(Auth), Ok(()), Err(In), Ok(())]),
        ];
        for (stage, expected) in table {
            let got = needs.map(|needs| welcome(stage, needs));
            assert_eq!(got, expected, "{stage:?}");
        }
    }

    #[test]
    fn every_code_has_words() {
        for code in ErrorCode::ALL {
            assert!(!words(*code).is_empty());
        }
    }
}
