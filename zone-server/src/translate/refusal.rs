//! The world's refusals as codes and words.

use proto::client::ErrorCode;
use world::Refusal;

use super::Refused;

/// A refusal as a client reads it.
#[allow(clippy::too_many_lines, reason = "one arm a refusal")]
pub(crate) fn refused(refusal: Refusal) -> Refused {
    let (code, words) = match refusal {
        Refusal::Unreachable => (ErrorCode::Unreachable, "there is no way to that place"),
        Refusal::TooFar => (ErrorCode::TooFar, "that is too far away"),
        Refusal::Unsupported => (ErrorCode::Unsupported, "that is not possible here"),
        Refusal::NotFound => (ErrorCode::NotFound, "there is no such thing here"),
        Refusal::Busy => (ErrorCode::Busy, "something else must end first"),
        Refusal::InventoryFull => (ErrorCode::InventoryFull, "there is no room for it"),
        Refusal::EmptySlot => (ErrorCode::EmptySlot, "there is nothing in that slot"),
        Refusal::NotEnough => (ErrorCode::NotEnough, "there are not so many"),
        Refusal::Protected => (ErrorCode::Protected, "it is for somebody else as yet"),
        Refusal::LevelTooLow => (ErrorCode::LevelTooLow, "that takes a higher level"),
        Refusal::NotWearable => (ErrorCode::NotWearable, "that cannot be worn"),
        Refusal::BankFull => (ErrorCode::BankFull, "there is no room for it in the bank"),
        Refusal::NoNote => (ErrorCode::NoNote, "there is no note of that"),
        Refusal::NotOpen => (ErrorCode::NotOpen, "that must be opened first"),
        Refusal::QuestLocked => (
            ErrorCode::QuestLocked,
            "that quest takes other quests, levels or items first",
        ),
        Refusal::QuestStage => (ErrorCode::QuestStage, "that quest is not at that point"),
        Refusal::NotAttackable => (ErrorCode::NotAttackable, "that cannot be attacked"),
        Refusal::PlayersSafe => (
            ErrorCode::PlayersSafe,
            "players may attack each other only where both stand in a lawless area",
        ),
        Refusal::InCombat => (
            ErrorCode::InCombat,
            "not within 17 ticks of a blow, given or taken",
        ),
        Refusal::Engaged => (ErrorCode::Engaged, "one of you is fighting somebody else"),
        Refusal::Dead => (ErrorCode::Dead, "you are dead; you will stand up again"),
        Refusal::NoAmmunition => (
            ErrorCode::NoAmmunition,
            "there is no arrow in your quiver that you and your bow can shoot",
        ),
        Refusal::NoRunes => (ErrorCode::NoRunes, "you lack the runes for that spell"),
        Refusal::WrongStyle => (
            ErrorCode::WrongStyle,
            "what you hold is not used that way; casting takes a spell",
        ),
        Refusal::NoPrayer => (ErrorCode::NoPrayer, "you have no prayer points left"),
        Refusal::Interrupted => (ErrorCode::Interrupted, "something else came in between"),
        Refusal::Cooldown => (ErrorCode::Cooldown, "not again so soon"),
        Refusal::NoTool => (ErrorCode::NoTool, "that takes a tool that you can use"),
        Refusal::NoStation => (ErrorCode::NoStation, "that is made somewhere else"),
        Refusal::Depleted => (ErrorCode::Depleted, "there is nothing left of it for now"),
        Refusal::ChoiceRequired => (
            ErrorCode::ChoiceRequired,
            "several things can be made of that: name one as the option",
        ),
        Refusal::NoFireHere => (ErrorCode::NoFireHere, "no fire may be lit here"),
        Refusal::NotInTrade => (ErrorCode::NotInTrade, "there is no trade of yours"),
        Refusal::InvalidTrade => (
            ErrorCode::InvalidTrade,
            "there is no such trade, or it is not yours",
        ),
        Refusal::InTrade => (
            ErrorCode::AlreadyInTrade,
            "your other trade or request must end first",
        ),
        Refusal::InvalidItem => (ErrorCode::InvalidItem, "that is nothing to be offered"),
        Refusal::InvalidQuantity => (ErrorCode::InvalidQuantity, "1 up to as many as there are"),
        Refusal::Untradeable => (ErrorCode::UntradeableItem, "that is not given to others"),
        Refusal::Newcomer => (
            ErrorCode::Newcomer,
            "new characters give nothing away before 15 minutes of play or a total level of 40",
        ),
        Refusal::PlayerBusy => (ErrorCode::PlayerBusy, "they are doing something else"),
        Refusal::PlayerOffline => (ErrorCode::PlayerOffline, "they are not there"),
        Refusal::SelfTrade => (ErrorCode::SelfTrade, "nobody trades with oneself"),
        Refusal::InterfaceOpen => (
            ErrorCode::InterfaceOpen,
            "what is open must be closed first",
        ),
        Refusal::ScreenChanged => (
            ErrorCode::ScreenChanged,
            "the screen has changed; look at it again",
        ),
        Refusal::OutOfStock => (ErrorCode::OutOfStock, "the shop has not so many"),
        Refusal::NoCoins => (ErrorCode::NotEnoughCoins, "there are not enough coins"),
        Refusal::NotBought => (ErrorCode::NotBought, "the shop does not buy that"),
        Refusal::NotInLobby => (
            ErrorCode::NotInDuelArena,
            "duels are arranged in their lobby",
        ),
        Refusal::OtherNotInLobby => (ErrorCode::TargetNotInDuelArena, "they are not in the lobby"),
        Refusal::SelfDuel => (ErrorCode::InvalidTarget, "nobody fights oneself"),
        Refusal::InvalidChallenge => (
            ErrorCode::InvalidChallenge,
            "there is no such challenge, or it is not for you",
        ),
        Refusal::ChallengePending => (
            ErrorCode::ChallengePending,
            "your other challenge must be answered first",
        ),
        Refusal::InDuel => (ErrorCode::InDuel, "not in a duel"),
        Refusal::NotInDuel => (ErrorCode::NotInDuel, "there is no such duel of yours"),
        Refusal::WrongStage => (
            ErrorCode::InvalidState,
            "the duel has not come to that, or is past it",
        ),
        Refusal::RulesClash => (
            ErrorCode::InvalidRuleCombination,
            "noForfeit goes with neither funWeapons nor noMovement; one way to fight must be left",
        ),
        Refusal::AgainstRules => (ErrorCode::AgainstRules, "the rules of the duel forbid it"),
        Refusal::NoForfeit => (ErrorCode::CannotForfeit, "nobody may give up in this duel"),
        Refusal::NoRing => (
            ErrorCode::NoArenaAvailable,
            "all rings are taken; try again in a moment",
        ),
        Refusal::NotStaked => (ErrorCode::StakeNotFound, "nothing is staked in that place"),
        Refusal::StakesLeft => (
            ErrorCode::ItemStaked,
            "what you had at stake waits for room in your pack or bank",
        ),
        Refusal::ExchangesFrozen => (ErrorCode::ExchangesFrozen, "exchanges are stopped for now"),
        Refusal::StorageUnavailable => (
            ErrorCode::StorageUnavailable,
            "nothing of value can be saved just now",
        ),
    };
    Refused {
        code,
        words: words.to_owned(),
    }
}

/// Whether it is said of everything of value alike, and so tells nobody what anybody has.
pub(crate) fn of_all_value(refusal: Refusal) -> bool {
    matches!(
        refusal,
        Refusal::ExchangesFrozen | Refusal::StorageUnavailable
    )
}
