//! Trades under way: the two players, their offers and the stage of each trade.
//!
//! Always: a player is in one open trade at most, and has asked for one at most. An offer names
//! slots of its owner's pack, each slot once, and moves nothing.

mod parting;
mod rules;
pub(crate) mod screen;
pub(crate) mod tick;
pub mod told;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::item::Stack;
use crate::item::inventory::Pack;
use crate::refusal::Refusal;
use crate::time::Tick;
use crate::told::{Message, Recipient, endings};
use crate::wire::{self, BadRequest};

use told::{
    TradeAck, TradeCancelled, TradeCompleted, TradeConfirmScreen, TradeIncoming, TradeStarted,
    TradeUpdated,
};

pub use screen::Screen;

/// Prefix of all trade ids.
pub(crate) const ID_PREFIX: &str = "trade:";

/// Offered items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// Slot of the owner's pack.
    pub slot: u8,
    /// Item and quantity.
    pub stack: Stack,
}

impl Offered {
    /// Returns whether the named slot holds at least these items.
    pub(crate) fn lies_in(&self, pack: &Pack) -> bool {
        pack.get(&self.slot).is_some_and(|there| {
            there.item == self.stack.item && there.quantity >= self.stack.quantity
        })
    }
}

/// Offer of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Offered items by place, 0 to 27.
    pub things: BTreeMap<u8, Offered>,
    /// Whether this side agrees to the screen that it sees.
    pub agreed: bool,
}

endings! {
    /// Reason why a trade came to nothing.
    TradeEnd {
        /// Refusal by the asked player.
        Declined = "declined", "the trade was declined";
        /// End of the time without any action.
        Timeout = "timeout", "nobody did anything about the trade for too long";
        /// Cancellation by a player.
        Cancelled = "cancelled", "the trade was given up";
        /// Departure of a player from the world.
        Disconnected = "disconnected", "the other has left the world";
        /// Death of a player.
        PlayerDied = "player_died", "one of you has died";
        /// Too many steps between the players.
        TooFar = "too_far", "you are too far apart; within two tiles one trades";
        /// Absence of an offered item.
        InvalidItems = "invalid_items", "what was offered is not there any more";
        /// Separation: the same process no longer plays both players.
        Server = "server", "this part of the world has moved; ask again";
    }
}

/// Step that a player took in a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TradeStep {
    /// Request for the trade.
    Asked,
    /// Agreement to trade.
    Began,
    /// New or changed offer of something.
    Offered,
    /// Withdrawal of something from its offer.
    Withdrew,
    /// Agreement to a screen.
    Agreed(Screen),
    /// Withdrawal of its agreement.
    #[serde(rename = "Doubted")]
    RevokedAcceptance,
    /// Handing over of its offer.
    Gave,
    /// End of the trade without a swap.
    Ended(TradeEnd),
    /// Request that the server refused.
    Refused(Refusal),
}

/// Step of a trade, for later inspection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradeNote {
    /// Trade id. For a refused request: the trade that the request named, or an empty id.
    pub trade: EntityId,
    /// Player that took the step. When a trade came to nothing, each player gets a note.
    pub who: CharacterId,
    /// The other player; empty if unknown.
    pub with: CharacterId,
    /// The step.
    pub step: TradeStep,
    /// Items that the step concerns.
    pub things: Vec<Stack>,
}

/// One of the two sides of a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Side {
    pub(crate) who: CharacterId,
    pub(crate) offer: Offer,
}

/// Trade, or a request for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trade {
    pub(crate) id: EntityId,
    /// Side of the asker, then side of the asked player.
    pub(crate) sides: [Side; 2],
    /// Screen that both players see; `None`: the trade is only a request.
    pub(crate) screen: Option<Screen>,
    /// Tick at which a player last did something about it.
    pub(crate) since: Tick,
}

impl Trade {
    /// Returns a new request for a trade by `from` to `to`.
    pub(crate) fn asked(id: EntityId, from: &CharacterId, to: &CharacterId, now: Tick) -> Trade {
        let side = |who: &CharacterId| Side {
            who: who.clone(),
            offer: Offer::default(),
        };
        Trade {
            id,
            sides: [side(from), side(to)],
            screen: None,
            since: now,
        }
    }

    /// Returns the side of `who`, then the other side, if `who` is one of the two.
    pub(crate) fn sides_of(&self, who: &CharacterId) -> Option<(&Side, &Side)> {
        let [asker, asked] = &self.sides;
        if asker.who == *who {
            Some((asker, asked))
        } else {
            (asked.who == *who).then_some((asked, asker))
        }
    }

    /// Returns the offer of `who`, if `who` is one of the two.
    pub(crate) fn offer_mut(&mut self, who: &CharacterId) -> Option<&mut Offer> {
        let mut sides = self.sides.iter_mut();
        let side = sides.find(|side| side.who == *who);
        side.map(|side| &mut side.offer)
    }

    /// Returns whether both players agree to the screen that they see.
    pub(crate) fn agreed(&self) -> bool {
        self.sides.iter().all(|side| side.offer.agreed)
    }

    /// Shows `screen` to both players from now on, and clears both agreements.
    pub(crate) fn show(&mut self, screen: Screen, now: Tick) {
        self.screen = Some(screen);
        self.since = now;
        for side in &mut self.sides {
            side.offer.agreed = false;
        }
    }
}

/// All trades in this world, and the ends of trades that players must still hear.
#[derive(Debug, Default)]
pub(crate) struct Trades {
    pub(crate) all: BTreeMap<EntityId, Trade>,
    /// Player, trade and reason for each end. The next tick tells the player.
    pub(crate) ended: Vec<(CharacterId, EntityId, TradeEnd)>,
}

impl Trades {
    /// Returns the trade with that id, if this world has it and it is open.
    pub(crate) fn open(&self, named: Option<&EntityId>) -> Option<&Trade> {
        let trade = self.all.get(named?)?;
        trade.screen.is_some().then_some(trade)
    }

    /// Returns the ids of the trades and requests of `who`, in order.
    pub(crate) fn of(&self, who: &CharacterId) -> Vec<EntityId> {
        let of = self.all.values();
        let of = of.filter(|trade| trade.sides_of(who).is_some());
        of.map(|trade| trade.id.clone()).collect()
    }
}

/// Request about a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Request to a player nearby.
    #[serde(rename = "tradeRequest")]
    Ask {
        /// Character's id, which is also the id of its entity.
        #[serde(rename = "targetPlayerId")]
        target: EntityId,
    },
    /// Answer to a request for a trade.
    #[serde(rename = "tradeRequestRespond")]
    Answer {
        /// Trade id.
        #[serde(rename = "tradeId")]
        trade: EntityId,
        /// Whether the player accepts.
        accept: bool,
    },
    /// Offer of a quantity from one slot. It replaces any offer from that slot.
    #[schemars(skip)]
    Offer {
        /// Trade id.
        trade: EntityId,
        /// Slot of the pack.
        slot: u8,
        /// Quantity; `None`: all.
        quantity: Option<u32>,
    },
    /// Change of a quantity in the player's own offer.
    #[schemars(skip)]
    Change {
        /// Trade id.
        trade: EntityId,
        /// Place in the offer.
        place: u8,
        /// New quantity.
        quantity: u32,
    },
    /// Withdrawal of something from the player's own offer.
    #[schemars(skip)]
    Withdraw {
        /// Trade id.
        trade: EntityId,
        /// Place in the offer.
        place: u8,
    },
    /// Agreement to a screen.
    #[schemars(skip)]
    Accept {
        /// Trade id.
        trade: EntityId,
        /// Screen that the player saw.
        seen: Screen,
    },
    /// Withdrawal of the player's agreement.
    #[serde(rename = "tradeCancelAccept")]
    RevokeAcceptance {
        /// Trade id.
        #[serde(rename = "tradeId")]
        trade: EntityId,
    },
    /// End of the trade, or of the request for it.
    #[serde(rename = "tradeCancel")]
    Cancel {
        /// Trade id.
        #[serde(rename = "tradeId")]
        trade: EntityId,
    },
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        let (field, id) = match &self {
            Intent::Ask { target } => ("targetPlayerId", target),
            Intent::Answer { trade, .. }
            | Intent::Offer { trade, .. }
            | Intent::Change { trade, .. }
            | Intent::Withdraw { trade, .. }
            | Intent::Accept { trade, .. }
            | Intent::RevokeAcceptance { trade }
            | Intent::Cancel { trade } => ("tradeId", trade),
        };
        wire::id(field, id.as_str())?;
        Ok(self)
    }
}

/// Requests of an open trade. Their numbers may be any integers: a number out of bounds gets the
/// code of a trade.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum Packet {
    /// Offers a quantity from one slot. It replaces any offer from that slot.
    #[serde(rename = "tradeAddItem")]
    Offer {
        /// Trade id.
        trade_id: EntityId,
        /// Slot of the pack, 0 to 27.
        inventory_slot: i64,
        /// Quantity, 1 up to the quantity in the slot; all of it, if absent.
        quantity: Option<i64>,
    },
    /// Withdraws something from the own offer.
    #[serde(rename = "tradeRemoveItem")]
    Withdraw {
        /// Trade id.
        trade_id: EntityId,
        /// Place in the offer, 0 to 27.
        trade_slot: i64,
    },
    /// Changes a quantity in the own offer.
    #[serde(rename = "tradeSetItemQuantity")]
    Change {
        /// Trade id.
        trade_id: EntityId,
        /// Place in the offer, 0 to 27.
        trade_slot: i64,
        /// New quantity, 1 up to the quantity in the slot.
        quantity: i64,
    },
    /// Agrees to a screen.
    #[serde(rename = "tradeAccept")]
    Accept {
        /// Trade id.
        trade_id: EntityId,
        /// Screen to which the player agrees. If absent: the screen that the player saw last when
        /// the server received this.
        screen: Option<Screen>,
    },
}

impl wire::Requests for Packet {
    type Intent = Intent;

    fn intent(self, shown: Screen) -> Result<Intent, BadRequest> {
        let intent = match self {
            Packet::Offer {
                trade_id: trade,
                inventory_slot,
                quantity,
            } => {
                wire::id("tradeId", trade.as_str())?;
                Intent::Offer {
                    trade,
                    slot: wire::exchanged_slot(inventory_slot)?,
                    quantity: quantity.map(wire::exchanged_quantity).transpose()?,
                }
            }
            Packet::Withdraw {
                trade_id: trade,
                trade_slot,
            } => {
                wire::id("tradeId", trade.as_str())?;
                Intent::Withdraw {
                    trade,
                    place: wire::exchanged_slot(trade_slot)?,
                }
            }
            Packet::Change {
                trade_id: trade,
                trade_slot,
                quantity,
            } => {
                wire::id("tradeId", trade.as_str())?;
                Intent::Change {
                    trade,
                    place: wire::exchanged_slot(trade_slot)?,
                    quantity: wire::exchanged_quantity(quantity)?,
                }
            }
            Packet::Accept {
                trade_id: trade,
                screen,
            } => {
                wire::id("tradeId", trade.as_str())?;
                Intent::Accept {
                    trade,
                    seen: screen.unwrap_or(shown),
                }
            }
        };
        Ok(intent)
    }
}

impl Intent {
    /// Returns whether the request can only keep items from changing owners. Such a request is
    /// always allowed.
    pub(crate) const fn retreats(&self) -> bool {
        matches!(
            self,
            Intent::Answer { accept: false, .. }
                | Intent::Withdraw { .. }
                | Intent::RevokeAcceptance { .. }
                | Intent::Cancel { .. }
        )
    }
}

/// Fact about a trade for one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Answer to the input with which the player asked for a trade.
    Asked {
        /// Player that asked.
        who: CharacterId,
        /// Number of that input.
        number: u64,
        /// The answer.
        ack: TradeAck,
    },
    /// Request from another player.
    Incoming(CharacterId, TradeIncoming),
    /// Beginning of the trade.
    Started(CharacterId, TradeStarted),
    /// Offer screen now.
    Updated(CharacterId, TradeUpdated),
    /// Confirmation screen now.
    Confirms(CharacterId, TradeConfirmScreen),
    /// Completion of the swap.
    Completed(CharacterId, TradeCompleted),
    /// End of the trade without a swap.
    Cancelled(CharacterId, TradeCancelled),
}

impl Event {
    /// Returns the player to tell.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Asked { who, .. }
            | Event::Incoming(who, _)
            | Event::Started(who, _)
            | Event::Updated(who, _)
            | Event::Confirms(who, _)
            | Event::Completed(who, _)
            | Event::Cancelled(who, _) => who,
        }
    }

    /// Returns the message for the player. All messages of a trade that has begun wait until their
    /// subject is saved, so that they come in order.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        Some(match self {
            // The answer to a request.
            Event::Asked { .. } => return None,
            Event::Incoming(_, told) => Message::now(told),
            Event::Started(_, told) => Message::of_value(told),
            Event::Updated(_, told) => Message::of_value(told),
            Event::Confirms(_, told) => Message::of_value(told),
            Event::Completed(_, told) => Message::of_value(told),
            Event::Cancelled(_, told) => Message::of_value(told),
        })
    }
}
