//! Every way in which the world says no. A refusal is an answer, never a fault.

use serde::{Deserialize, Serialize};

/// Defines [`Refusal`] from one row per refusal: its doc, its variant, its code in the protocol and
/// its sentence for people. `as` gives the code by which trades and duels say it, where that is another
/// one. `of_value` marks a refusal that says what somebody holds or what lies on the ground.
macro_rules! refusals {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident = $code:literal $(as $exchange:literal)?, $sentence:literal $(, $value:ident)?;
    )+) => {
        /// Reason why an intent was not followed. It has then changed nothing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Refusal {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Refusal {
            /// All of them.
            pub const ALL: &[Refusal] = &[$(Refusal::$variant),+];

            /// Returns the code by which clients know it.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Refusal::$variant => $code,)+
                }
            }

            /// Returns the code by which trades and duels say it, if that is another one.
            pub const fn exchange_code(self) -> Option<&'static str> {
                match self {
                    $(Refusal::$variant => first(&[$($exchange)?]),)+
                }
            }

            /// Returns its meaning, for those who write clients.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Refusal::$variant => concat!($($doc),+).trim_ascii(),)+
                }
            }

            /// Returns its sentence for people.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Refusal::$variant => $sentence,)+
                }
            }

            /// Returns whether it says what somebody holds or what lies on the ground, when it
            /// answers an intent about that.
            pub(crate) const fn tells_of_value(self) -> bool {
                match self {
                    $(Refusal::$variant => is_of_value(&[$(stringify!($value))?]),)+
                }
            }
        }
    };
}

const fn first(codes: &[&'static str]) -> Option<&'static str> {
    match codes {
        [] => None,
        [code, ..] => Some(code),
    }
}

const fn is_of_value(marks: &[&str]) -> bool {
    !marks.is_empty()
}

// A refusal is defined here, and nowhere else: the protocol's codes take theirs from this table.
refusals! {
    /// There is no way, not even part of it.
    Unreachable = "unreachable" as "TOO_FAR", "there is no way to that place";
    /// Further than anybody may ask for.
    TooFar = "too_far" as "TOO_FAR", "that is too far away";
    /// Not possible in this world yet, or not with that target.
    Unsupported = "unsupported", "that is not possible here";
    /// No such thing here.
    NotFound = "not_found" as "PLAYER_OFFLINE", "there is no such thing here", of_value;
    /// Another matter must end first, or the player asks too much at once.
    Busy = "busy" as "PLAYER_BUSY", "something else must end first";
    /// There is no room for it in the pack.
    InventoryFull = "inventory_full" as "INVENTORY_FULL", "there is no room for it", of_value;
    /// There is nothing in that slot.
    EmptySlot = "empty_slot" as "INVALID_SLOT", "there is nothing in that slot", of_value;
    /// There are not so many.
    NotEnough = "not_enough" as "INVALID_QUANTITY", "there are not so many", of_value;
    /// Only its owner may take it yet.
    Protected = "protected", "it is for somebody else as yet", of_value;
    /// The player has not reached the level for it.
    LevelTooLow = "level_too_low", "that takes a higher level";
    /// One cannot wear it.
    NotWearable = "not_wearable", "that cannot be worn";
    /// No place is free in the bank, or too much of it lies there.
    BankFull = "bank_full", "there is no room for it in the bank", of_value;
    /// There is no note of it.
    NoNote = "no_note", "there is no note of that";
    /// The interface for the action is not open.
    NotOpen = "not_open", "that must be opened first";
    /// A quest takes other quests, levels or items first.
    QuestLocked = "quest_locked", "that quest takes other quests, levels or items first", of_value;
    /// A quest is not at that point.
    QuestStage = "quest_stage", "that quest is not at that point", of_value;
    /// One cannot attack it.
    NotAttackable = "not_attackable", "that cannot be attacked";
    /// Players may not attack each other there.
    PlayersSafe = "players_safe",
        "players may attack each other only where both stand in a lawless area";
    /// One of the two is in a fight with somebody else.
    Engaged = "engaged", "one of you is fighting somebody else";
    /// Not so soon after a blow, given or taken.
    InCombat = "in_combat" as "PLAYER_BUSY", "not within 17 ticks of a blow, given or taken";
    /// Nobody does anything who has no health left.
    Dead = "dead", "you are dead; you will stand up again";
    /// No arrow that fits the bow.
    NoAmmunition = "no_ammunition",
        "there is no arrow in your quiver that you and your bow can shoot", of_value;
    /// Not the runes that the spell takes.
    NoRunes = "no_runes", "you lack the runes for that spell", of_value;
    /// The weapon in use does not allow that style.
    WrongStyle = "wrong_style", "what you hold is not used that way; casting takes a spell";
    /// There are no points of prayer left.
    NoPrayer = "no_prayer", "you have no prayer points left";
    /// Something else came in between.
    Interrupted = "interrupted" as "PLAYER_BUSY", "something else came in between";
    /// Not again so soon.
    Cooldown = "cooldown" as "RATE_LIMITED", "not again so soon";
    /// It takes a tool that the player does not have, or cannot use yet.
    NoTool = "no_tool", "that takes a tool that you can use", of_value;
    /// It is made at another sort of place.
    NoStation = "no_station", "that is made somewhere else";
    /// There is nothing left of it for now.
    Depleted = "depleted", "there is nothing left of it for now";
    /// The player could make several things of that: it must name one.
    ChoiceRequired = "choice_required",
        "several things can be made of that: name one as the option", of_value;
    /// One may not light a fire there, or there are enough.
    NoFireHere = "no_fire_here", "no fire may be lit here";
    /// No trade of its own is open.
    NotInTrade = "NOT_IN_TRADE", "there is no trade of yours";
    /// There is no such trade, or it is another's.
    InvalidTrade = "INVALID_TRADE", "there is no such trade, or it is not yours";
    /// Another trade, or the request for one, must end first.
    InTrade = "ALREADY_IN_TRADE", "your other trade or request must end first";
    /// Not a thing that one could offer.
    InvalidItem = "INVALID_ITEM", "that is nothing to be offered", of_value;
    /// None of it, or more than there are.
    InvalidQuantity = "INVALID_QUANTITY", "1 up to as many as there are", of_value;
    /// No slot of the pack, and no place in an offer.
    InvalidSlot = "INVALID_SLOT",
        "slots and places go from 0 to 27; equipment slots are head, cape, amulet, weapon, body, \
         shield, legs, gloves, boots, ring and ammo";
    /// No rule of duels.
    InvalidRule = "INVALID_RULE",
        "rules are noRanged, noMelee, noMagic, noSpecialAttack, noPrayer, noPotions, noFood, \
         noForfeit, noMovement and funWeapons";
    /// One cannot give it to others.
    Untradeable = "UNTRADEABLE_ITEM", "that is not given to others", of_value;
    /// A new character gives nothing away.
    Newcomer = "NEWCOMER",
        "new characters give nothing away before 15 minutes of play or a total level of 40";
    /// The other does something else.
    PlayerBusy = "PLAYER_BUSY", "they are doing something else";
    /// The other is not there.
    PlayerOffline = "PLAYER_OFFLINE", "they are not there";
    /// Nobody trades with oneself.
    SelfTrade = "SELF_TRADE", "nobody trades with oneself";
    /// The player must close something open first.
    InterfaceOpen = "INTERFACE_OPEN", "what is open must be closed first";
    /// The terms to which the player agreed are not those shown.
    ScreenChanged = "SCREEN_CHANGED", "the screen has changed; look at it again";
    /// The shop has not so many of it.
    OutOfStock = "out_of_stock", "the shop has not so many", of_value;
    /// There are not enough coins in the pouch.
    NoCoins = "not_enough_coins", "there are not enough coins", of_value;
    /// The shop does not buy that.
    NotBought = "not_bought", "the shop does not buy that", of_value;
    /// Players arrange duels in their lobby, and nowhere else.
    NotInLobby = "NOT_IN_DUEL_ARENA", "duels are arranged in their lobby";
    /// The other is not in the lobby.
    OtherNotInLobby = "TARGET_NOT_IN_DUEL_ARENA", "they are not in the lobby";
    /// Nobody fights oneself.
    SelfDuel = "INVALID_TARGET", "nobody fights oneself";
    /// There is no such challenge, or it is another's.
    InvalidChallenge = "INVALID_CHALLENGE", "there is no such challenge, or it is not for you";
    /// Another challenge of its own must end first.
    ChallengePending = "CHALLENGE_PENDING", "your other challenge must be answered first";
    /// Not while one is in a duel.
    InDuel = "IN_DUEL", "not in a duel";
    /// It is in no duel, or not in that one.
    NotInDuel = "NOT_IN_DUEL", "there is no such duel of yours";
    /// The duel has not come to that, or is past it.
    WrongStage = "INVALID_STATE", "the duel has not come to that, or is past it";
    /// The rules of a duel that do not go together.
    RulesClash = "INVALID_RULE_COMBINATION",
        "noForfeit goes with neither funWeapons nor noMovement; one way to fight must be left";
    /// The rules of the duel forbid it.
    AgainstRules = "AGAINST_RULES", "the rules of the duel forbid it";
    /// Nobody may give up in this duel.
    NoForfeit = "CANNOT_FORFEIT", "nobody may give up in this duel";
    /// All rings are taken, or others play them.
    NoRing = "NO_ARENA_AVAILABLE", "all rings are taken; try again in a moment";
    /// Nothing is staked in that place.
    NotStaked = "STAKE_NOT_FOUND", "nothing is staked in that place", of_value;
    /// The stakes of the player must find room in its pack or bank first.
    StakesLeft = "ITEM_STAKED",
        "what you had at stake waits for room in your pack or bank", of_value;
    /// An operator has stopped exchanges.
    ExchangesFrozen = "exchanges_frozen" as "EXCHANGES_FROZEN", "exchanges are stopped for now";
    /// The store cannot save changes of value now.
    StorageUnavailable = "storage_unavailable" as "STORAGE_UNAVAILABLE", "the store cannot be reached just now; try again in a moment";
}
