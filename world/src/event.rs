//! Events of a tick for one player in particular, by feature.
//!
//! Changes that everybody may see are not here: [`crate::Outcome::touched`] has them.

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::features::{
    arrivals, bank, combat, death, dialogue, duel, emotes, equipment, examine, home_teleport,
    movement, pack, prayer, quests, shop, skilling, trade, training, visit, vitals,
};
use crate::request;
use crate::told::{self, Described, Message, Recipient};

/// The messages of all features.
pub const TOLD: &[&[Described]] = &[
    told::EVENTS,
    movement::told::EVENTS,
    vitals::told::EVENTS,
    home_teleport::told::EVENTS,
    pack::told::EVENTS,
    equipment::told::EVENTS,
    bank::told::EVENTS,
    dialogue::told::EVENTS,
    quests::told::EVENTS,
    shop::told::EVENTS,
    skilling::told::EVENTS,
    training::told::EVENTS,
    combat::told::EVENTS,
    prayer::told::EVENTS,
    death::told::EVENTS,
    trade::told::EVENTS,
    duel::told::EVENTS,
    emotes::told::EVENTS,
];

/// Nests the events of each feature: its variant, and the module that defines them.
macro_rules! nested {
    ($($(#[$doc:meta])* $variant:ident($feature:ident),)*) => {
        /// Something that happened, private to one player.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Event {
            $($(#[$doc])* $variant($feature::Event),)*
        }

        impl Event {
            /// Player who gets the message.
            pub fn who(&self) -> &CharacterId {
                match self {
                    $(Event::$variant(event) => event.who(),)*
                }
            }

            /// Returns the message for the player. `None`: there is no message, or the driver of
            /// the world sends it, because the event is about a request or an arrival.
            pub fn message(&self, to: &Recipient<'_>) -> Option<Message> {
                match self {
                    $(Event::$variant(event) => event.message(to),)*
                }
            }
        }

        $(impl From<$feature::Event> for Event {
            fn from(event: $feature::Event) -> Event {
                Event::$variant(event)
            }
        })*
    };
}

nested! {
    /// An input.
    Request(request),
    /// An arrival.
    Arrivals(arrivals),
    /// Movement.
    Movement(movement),
    /// Health or energy.
    Vitals(vitals),
    /// Going home.
    HomeTeleport(home_teleport),
    /// An examined thing.
    Examine(examine),
    /// The pack or the pouch.
    Pack(pack),
    /// Worn equipment.
    Equipment(equipment),
    /// The bank.
    Bank(bank),
    /// Something that is open.
    Visit(visit),
    /// A talk.
    Dialogue(dialogue),
    /// Quests.
    Quests(quests),
    /// An open shop.
    Shop(shop),
    /// Work.
    Skilling(skilling),
    /// Experience.
    Training(training),
    /// A fight.
    Combat(combat),
    /// Prayer.
    Prayer(prayer),
    /// A death.
    Death(death),
    /// A trade.
    Trade(trade),
    /// A duel.
    Duel(duel),
    /// A dance.
    Emotes(emotes),
}
