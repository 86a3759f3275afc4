//! Every way in which the world says no. A refusal is an answer, never a fault.

use serde::{Deserialize, Serialize};

/// Why an intent was not followed. It has then changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// There is no way, not even part of it.
    Unreachable,
    /// Further than anybody may ask for.
    TooFar,
    /// Not possible in this world yet, or not with that target.
    Unsupported,
    /// No such thing here.
    NotFound,
    /// Another matter must end first, or too much is being asked at once.
    Busy,
    /// There is no room for it in the pack.
    InventoryFull,
    /// There is nothing in that slot.
    EmptySlot,
    /// There are not so many.
    NotEnough,
    /// Only its owner may take it yet.
    Protected,
    /// It takes a level that is not reached.
    LevelTooLow,
    /// It cannot be worn.
    NotWearable,
    /// No place is free in the bank, or too much of it lies there.
    BankFull,
    /// There is no note of it.
    NoNote,
    /// What it is to be done with is not open.
    NotOpen,
    /// A quest takes other quests, levels or items first.
    QuestLocked,
    /// A quest is not at that point.
    QuestStage,
    /// It cannot be attacked.
    NotAttackable,
    /// Players may not attack each other there.
    PlayersSafe,
    /// One of the two is in a fight with somebody else.
    Engaged,
    /// Not so soon after a blow, given or taken.
    InCombat,
    /// Nobody does anything who has no health left.
    Dead,
    /// No arrow that fits the bow.
    NoAmmunition,
    /// Not the runes that the spell takes.
    NoRunes,
    /// What one holds is not used in that way.
    WrongStyle,
    /// There are no points of prayer left.
    NoPrayer,
    /// Something else came in between.
    Interrupted,
    /// Not again so soon.
    Cooldown,
    /// It takes a tool that is not at hand, or not of use yet.
    NoTool,
    /// That is not the place to make it.
    NoStation,
    /// There is nothing left to be had of it.
    Depleted,
    /// Several things can be made of that: one must be named.
    ChoiceRequired,
    /// No fire may be lit there, or there are enough.
    NoFireHere,
    /// No trade of its own is open.
    NotInTrade,
    /// There is no such trade, or it is another's.
    InvalidTrade,
    /// Another trade, or the request for one, must end first.
    InTrade,
    /// Not a thing that could be offered.
    InvalidItem,
    /// None of it, or more than there are.
    InvalidQuantity,
    /// It is not given to others.
    Untradeable,
    /// A new character gives nothing away.
    Newcomer,
    /// The other does something else.
    PlayerBusy,
    /// The other is not there.
    PlayerOffline,
    /// Nobody trades with oneself.
    SelfTrade,
    /// Something that is open must be closed first.
    InterfaceOpen,
    /// What was agreed to is not what is shown.
    ScreenChanged,
    /// The shop has not so many of it.
    OutOfStock,
    /// There are not enough coins in the pouch.
    NoCoins,
    /// The shop does not buy that.
    NotBought,
    /// Duels are arranged in their lobby, and nowhere else.
    NotInLobby,
    /// The other is not in the lobby.
    OtherNotInLobby,
    /// Nobody fights oneself.
    SelfDuel,
    /// There is no such challenge, or it is another's.
    InvalidChallenge,
    /// Another challenge of its own must end first.
    ChallengePending,
    /// Not while one is in a duel.
    InDuel,
    /// It is in no duel, or not in that one.
    NotInDuel,
    /// The duel has not come to that, or is past it.
    WrongStage,
    /// The rules of a duel that do not go together.
    RulesClash,
    /// The rules of the duel forbid it.
    AgainstRules,
    /// Nobody may give up in this duel.
    NoForfeit,
    /// All rings are taken, or others play them.
    NoRing,
    /// Nothing is staked in that place.
    NotStaked,
    /// What it had at stake must find room in its pack or bank first.
    StakesLeft,
    /// An operator has stopped exchanges.
    ExchangesFrozen,
    /// Changes of value cannot be saved now.
    StorageUnavailable,
}

impl Refusal {
    /// Whether it says what somebody holds or what lies on the ground, when it answers an intent
    /// about that.
    #[allow(clippy::too_many_lines, reason = "a table")]
    pub(crate) const fn tells_of_value(self) -> bool {
        match self {
            Refusal::NotFound
            | Refusal::InventoryFull
            | Refusal::EmptySlot
            | Refusal::NotEnough
            | Refusal::Protected
            | Refusal::NoTool
            | Refusal::ChoiceRequired
            | Refusal::QuestLocked
            | Refusal::QuestStage
            | Refusal::NoAmmunition
            | Refusal::NoRunes
            | Refusal::BankFull
            | Refusal::InvalidItem
            | Refusal::InvalidQuantity
            | Refusal::Untradeable
            | Refusal::OutOfStock
            | Refusal::NoCoins
            | Refusal::NotBought
            | Refusal::NotStaked
            | Refusal::StakesLeft => true,
            Refusal::Unreachable
            | Refusal::TooFar
            | Refusal::Unsupported
            | Refusal::Busy
            | Refusal::LevelTooLow
            | Refusal::NotWearable
            | Refusal::NoNote
            | Refusal::NotOpen
            | Refusal::NotAttackable
            | Refusal::PlayersSafe
            | Refusal::Engaged
            | Refusal::InCombat
            | Refusal::Dead
            | Refusal::WrongStyle
            | Refusal::NoPrayer
            | Refusal::Interrupted
            | Refusal::Cooldown
            | Refusal::NoStation
            | Refusal::Depleted
            | Refusal::NoFireHere
            | Refusal::NotInTrade
            | Refusal::InvalidTrade
            | Refusal::InTrade
            | Refusal::Newcomer
            | Refusal::PlayerBusy
            | Refusal::PlayerOffline
            | Refusal::SelfTrade
            | Refusal::InterfaceOpen
            | Refusal::ScreenChanged
            | Refusal::NotInLobby
            | Refusal::OtherNotInLobby
            | Refusal::SelfDuel
            | Refusal::InvalidChallenge
            | Refusal::ChallengePending
            | Refusal::InDuel
            | Refusal::NotInDuel
            | Refusal::WrongStage
            | Refusal::RulesClash
            | Refusal::AgainstRules
            | Refusal::NoForfeit
            | Refusal::NoRing
            | Refusal::ExchangesFrozen
            | Refusal::StorageUnavailable => false,
        }
    }

    /// All of them.
    pub const ALL: [Refusal; 63] = [
        Refusal::Unreachable,
        Refusal::TooFar,
        Refusal::Unsupported,
        Refusal::NotFound,
        Refusal::Busy,
        Refusal::InventoryFull,
        Refusal::EmptySlot,
        Refusal::NotEnough,
        Refusal::Protected,
        Refusal::LevelTooLow,
        Refusal::NotWearable,
        Refusal::BankFull,
        Refusal::NoNote,
        Refusal::NotOpen,
        Refusal::QuestLocked,
        Refusal::QuestStage,
        Refusal::NotAttackable,
        Refusal::PlayersSafe,
        Refusal::Engaged,
        Refusal::InCombat,
        Refusal::Dead,
        Refusal::NoAmmunition,
        Refusal::NoRunes,
        Refusal::WrongStyle,
        Refusal::NoPrayer,
        Refusal::Interrupted,
        Refusal::Cooldown,
        Refusal::NoTool,
        Refusal::NoStation,
        Refusal::Depleted,
        Refusal::ChoiceRequired,
        Refusal::NoFireHere,
        Refusal::NotInTrade,
        Refusal::InvalidTrade,
        Refusal::InTrade,
        Refusal::InvalidItem,
        Refusal::InvalidQuantity,
        Refusal::Untradeable,
        Refusal::Newcomer,
        Refusal::PlayerBusy,
        Refusal::PlayerOffline,
        Refusal::SelfTrade,
        Refusal::InterfaceOpen,
        Refusal::ScreenChanged,
        Refusal::OutOfStock,
        Refusal::NoCoins,
        Refusal::NotBought,
        Refusal::NotInLobby,
        Refusal::OtherNotInLobby,
        Refusal::SelfDuel,
        Refusal::InvalidChallenge,
        Refusal::ChallengePending,
        Refusal::InDuel,
        Refusal::NotInDuel,
        Refusal::WrongStage,
        Refusal::RulesClash,
        Refusal::AgainstRules,
        Refusal::NoForfeit,
        Refusal::NoRing,
        Refusal::NotStaked,
        Refusal::StakesLeft,
        Refusal::ExchangesFrozen,
        Refusal::StorageUnavailable,
    ];
}
