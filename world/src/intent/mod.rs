//! All requests of a player to the world, by feature.

pub(crate) mod action;

use schemars::SchemaGenerator;
use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::features::duel::Conduct;
use crate::features::{
    bank, combat, death, dialogue, duel, emotes, equipment, examine, ground_items, home_teleport,
    movement, pack, prayer, quests, shop, skilling, trade, unresolved, use_item,
};
use crate::item::Value;
use crate::refusal::Refusal;
use crate::wire::{self, BadRequest, Described};

/// Nests the intents of each feature: its variant, and the module that defines them.
macro_rules! nested {
    ($($(#[$doc:meta])* $variant:ident($feature:ident),)*) => {
        /// A request of a player.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Intent {
            $($(#[$doc])* $variant($feature::Intent),)*
        }

        $(impl From<$feature::Intent> for Intent {
            fn from(intent: $feature::Intent) -> Intent {
                Intent::$variant(intent)
            }
        })*
    };
}

nested! {
    /// To move.
    Movement(movement),
    /// To take a good look.
    Examine(examine),
    /// To go home by magic.
    HomeTeleport(home_teleport),
    /// To drop or take something.
    GroundItems(ground_items),
    /// To put the pack or the pouch in order.
    Pack(pack),
    /// To use an item.
    UseItem(use_item),
    /// To gather or make something.
    Skilling(skilling),
    /// To wear something, or take it off.
    Equipment(equipment),
    /// To use the own bank.
    Bank(bank),
    /// To talk.
    Dialogue(dialogue),
    /// Something about quests.
    Quests(quests),
    /// To fight.
    Combat(combat),
    /// To pray.
    Prayer(prayer),
    /// To stand up again.
    Death(death),
    /// Something about a shop.
    Shop(shop),
    /// Something about a trade with another player.
    Trade(trade),
    /// Something about a duel with another player.
    Duel(duel),
    /// To make a gesture.
    Emotes(emotes),
    /// A request whose meaning shows when the world plays it.
    Unresolved(unresolved),
}

/// Lists the requests that clients may send, as each feature defines them.
macro_rules! requests {
    ($($requests:path,)*) => {
        impl Intent {
            /// Reads the request of a client. `data`: the event's data as JSON text. `shown`: the
            /// screen of a trade that the player saw last, for an agreement that names none.
            ///
            /// # Errors
            /// `UnknownEvent`, `Data`, `Refused`.
            pub fn read(
                event: &str,
                data: &[u8],
                shown: trade::Screen,
            ) -> Result<Intent, BadRequest> {
                $(if wire::names::<$requests>().any(|name| name == event) {
                    return wire::read::<$requests>(event, data, shown).map(Into::into);
                })*
                Err(BadRequest::UnknownEvent)
            }

            /// Returns the wire names of all requests.
            pub fn events() -> Vec<&'static str> {
                let mut events = Vec::new();
                $(events.extend(wire::names::<$requests>());)*
                events
            }

            /// Describes all requests, for the protocol reference.
            pub fn described(generator: &mut SchemaGenerator) -> Vec<Described> {
                let mut described = Vec::new();
                $(described.extend(wire::described::<$requests>(generator));)*
                described
            }
        }
    };
}

requests! {
    movement::Packet,
    action::Packet,
    ground_items::Intent,
    pack::Intent,
    use_item::Packet,
    equipment::Intent,
    bank::Intent,
    bank::Packet,
    dialogue::Intent,
    quests::Intent,
    combat::Packet,
    combat::Intent,
    prayer::Intent,
    shop::Intent,
    trade::Intent,
    trade::Packet,
    duel::Intent,
    duel::Packet,
    emotes::Intent,
}

impl From<use_item::Meant> for Intent {
    fn from(meant: use_item::Meant) -> Intent {
        match meant {
            use_item::Meant::Use(intent) => intent.into(),
            use_item::Meant::Work(intent) => intent.into(),
        }
    }
}

impl Intent {
    /// Returns whether following it may move something of value; an answer in a talk may do so,
    /// too.
    #[must_use]
    pub const fn may_move_value(&self) -> bool {
        let answers = matches!(
            self,
            Intent::Dialogue(dialogue::Intent::Respond { .. } | dialogue::Intent::Continue)
        );
        self.about_value() || answers
    }

    /// Returns whether its answer tells what somebody holds or what lies on the ground.
    #[allow(clippy::too_many_lines, reason = "one line an intent")]
    pub(crate) const fn about_value(&self) -> bool {
        match self {
            Intent::GroundItems(
                ground_items::Intent::Drop { .. } | ground_items::Intent::Pickup { .. },
            )
            | Intent::Pack(
                pack::Intent::MoveSlot { .. }
                | pack::Intent::WithdrawCoins { .. }
                | pack::Intent::DepositCoins { .. },
            )
            | Intent::UseItem(use_item::Intent::Use { .. })
            | Intent::Skilling(
                skilling::Intent::UseWith { .. }
                | skilling::Intent::UseOn { .. }
                | skilling::Intent::Gather { .. }
                | skilling::Intent::Make { .. },
            )
            | Intent::Equipment(
                equipment::Intent::Equip { .. } | equipment::Intent::Unequip { .. },
            )
            | Intent::Bank(
                bank::Intent::Deposit { .. }
                | bank::Intent::DepositAll { .. }
                | bank::Intent::DepositWorn { .. }
                | bank::Intent::Withdraw { .. }
                | bank::Intent::Coins { .. }
                | bank::Intent::Arrange(_),
            )
            | Intent::Quests(
                quests::Intent::Accept { .. }
                | quests::Intent::Abandon { .. }
                | quests::Intent::Complete { .. },
            )
            | Intent::Shop(shop::Intent::Buy { .. } | shop::Intent::Sell { .. })
            | Intent::Trade(_)
            | Intent::Duel(_) => true,
            Intent::Unresolved(intent) => intent.about_value(),
            Intent::Shop(shop::Intent::Open { .. } | shop::Intent::Close)
            | Intent::Bank(bank::Intent::Open { .. } | bank::Intent::Close)
            | Intent::Dialogue(
                dialogue::Intent::Talk { .. }
                | dialogue::Intent::Respond { .. }
                | dialogue::Intent::Continue
                | dialogue::Intent::End,
            )
            | Intent::Quests(quests::Intent::List | quests::Intent::Show { .. })
            | Intent::Combat(
                combat::Intent::Attack { .. }
                | combat::Intent::Style(_)
                | combat::Intent::Retaliate { .. }
                | combat::Intent::Autocast { .. },
            )
            | Intent::Prayer(prayer::Intent::Toggle { .. } | prayer::Intent::PrayAt { .. })
            | Intent::Death(death::Intent::Respawn)
            | Intent::Movement(
                movement::Intent::Walk { .. }
                | movement::Intent::Run(_)
                | movement::Intent::Stop
                | movement::Intent::Follow { .. }
                | movement::Intent::Teleport { .. },
            )
            | Intent::Examine(examine::Intent::Examine { .. })
            | Intent::HomeTeleport(home_teleport::Intent::Begin)
            | Intent::Emotes(emotes::Intent::Perform { .. }) => false,
        }
    }

    /// Returns whether it must wait until the player's trade has ended: it could change the pack,
    /// or opens something else.
    pub(crate) const fn waits_for_trade(&self) -> bool {
        match self {
            Intent::GroundItems(_)
            | Intent::Pack(_)
            | Intent::UseItem(_)
            | Intent::Skilling(_)
            | Intent::Equipment(_)
            | Intent::Bank(_)
            | Intent::Shop(_)
            | Intent::Combat(combat::Intent::Attack { .. })
            | Intent::Prayer(prayer::Intent::PrayAt { .. })
            | Intent::Dialogue(
                dialogue::Intent::Talk { .. }
                | dialogue::Intent::Respond { .. }
                | dialogue::Intent::Continue,
            )
            | Intent::Quests(
                quests::Intent::Accept { .. }
                | quests::Intent::Abandon { .. }
                | quests::Intent::Complete { .. },
            )
            | Intent::Duel(
                duel::Intent::Challenge { .. }
                | duel::Intent::Answer { accept: true, .. }
                | duel::Intent::Stake { .. }
                | duel::Intent::Agree { .. },
            )
            | Intent::Unresolved(_) => true,
            Intent::Duel(
                duel::Intent::Answer { accept: false, .. }
                | duel::Intent::Rule { .. }
                | duel::Intent::Bare { .. }
                | duel::Intent::Unstake { .. }
                | duel::Intent::Cancel { .. }
                | duel::Intent::Forfeit { .. },
            )
            | Intent::Trade(_)
            | Intent::Combat(
                combat::Intent::Style(_)
                | combat::Intent::Retaliate { .. }
                | combat::Intent::Autocast { .. },
            )
            | Intent::Prayer(prayer::Intent::Toggle { .. })
            | Intent::Death(death::Intent::Respawn)
            | Intent::Dialogue(dialogue::Intent::End)
            | Intent::Quests(quests::Intent::List | quests::Intent::Show { .. })
            | Intent::Movement(
                movement::Intent::Walk { .. }
                | movement::Intent::Run(_)
                | movement::Intent::Stop
                | movement::Intent::Follow { .. }
                | movement::Intent::Teleport { .. },
            )
            | Intent::Examine(examine::Intent::Examine { .. })
            | Intent::HomeTeleport(home_teleport::Intent::Begin)
            | Intent::Emotes(emotes::Intent::Perform { .. }) => false,
        }
    }

    /// Returns what the rules of a duel make of it.
    pub(crate) const fn conduct(&self) -> Conduct {
        match self {
            Intent::Movement(intent) => intent.conduct(),
            Intent::GroundItems(intent) => intent.conduct(),
            Intent::UseItem(intent) => intent.conduct(),
            Intent::Quests(intent) => intent.conduct(),
            Intent::Combat(intent) => intent.conduct(),
            Intent::Prayer(intent) => intent.conduct(),
            Intent::Examine(_) | Intent::Duel(_) => Conduct::Harmless,
            Intent::Emotes(_) => Conduct::Stop,
            Intent::HomeTeleport(_) | Intent::Trade(_) => Conduct::Away,
            Intent::Pack(_)
            | Intent::Skilling(_)
            | Intent::Equipment(_)
            | Intent::Bank(_)
            | Intent::Dialogue(_)
            | Intent::Death(_)
            | Intent::Shop(_)
            | Intent::Unresolved(_) => Conduct::Other,
        }
    }

    /// Checks whether the world may follow it now. While exchanges are stopped, a player may still
    /// put its things in order. While the store cannot save, not even that.
    ///
    /// # Errors
    /// `ExchangesFrozen`, `StorageUnavailable`.
    pub(crate) fn allowed(&self, value: Value) -> Result<(), Refusal> {
        let orders = matches!(
            self,
            Intent::Pack(pack::Intent::MoveSlot { .. })
                | Intent::Equipment(
                    equipment::Intent::Equip { .. } | equipment::Intent::Unequip { .. }
                )
                | Intent::Bank(bank::Intent::Arrange(_))
        );
        // The store could not save the gains of a fight.
        let attacks = matches!(self, Intent::Combat(combat::Intent::Attack { .. }));
        if attacks && value == Value::Unavailable {
            return value.open();
        }
        if matches!(self, Intent::Trade(intent) if intent.retreats()) {
            return Ok(());
        }
        if matches!(self, Intent::Duel(intent) if intent.retreats()) {
            return Ok(());
        }
        if !self.about_value() || (orders && value == Value::Frozen) {
            return Ok(());
        }
        value.open()
    }
}

/// One intent of one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerInput {
    /// Player that asks.
    pub who: CharacterId,
    /// Number that grows from one input of a player to the next; the answer echoes it.
    pub number: u64,
    /// The request.
    pub intent: Intent,
}
