//! Trades under way: who trades with whom, what each offers, and how far it has come.
//!
//! Always: a player is in one open trade at most, and has asked for one at most; an offer names
//! slots of its owner's pack, each once, and moves nothing.

mod parting;
pub(crate) mod rules;
pub(crate) mod tick;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::item::Stack;
use crate::item::inventory::Pack;
use crate::refusal::Refusal;
use crate::time::Tick;

/// What the ids of all trades begin with.
pub(crate) const ID_PREFIX: &str = "trade:";

/// The two screens of an open trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Screen {
    /// Where both lay out what they give.
    Offer,
    /// Where both see it for the last time.
    Confirm,
}

/// Something that is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The slot of its owner's pack.
    pub slot: u8,
    /// What, and how many of it.
    pub stack: Stack,
}

impl Offered {
    /// Whether it lies in the slot that is named, or more of it.
    pub(crate) fn lies_in(&self, pack: &Pack) -> bool {
        pack.get(&self.slot).is_some_and(|there| {
            there.item == self.stack.item && there.quantity >= self.stack.quantity
        })
    }
}

/// What one side offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// By place, 0 to 27.
    pub things: BTreeMap<u8, Offered>,
    /// This side agrees to the screen that is shown.
    pub agreed: bool,
}

/// Why a trade came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TradeEnd {
    /// The one who was asked does not want to.
    Declined,
    /// Nobody did anything for too long.
    Timeout,
    /// One of both gave it up.
    Cancelled,
    /// One of both left the world.
    Disconnected,
    /// One of both died.
    PlayerDied,
    /// They are too far apart.
    TooFar,
    /// What was offered is not there any more.
    InvalidItems,
    /// They are not played by the same process any more.
    Server,
}

/// What somebody did about a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TradeStep {
    /// Asked for it.
    Asked,
    /// Agreed to trade.
    Began,
    /// Offers something from now on.
    Offered,
    /// Takes something out of the offer.
    Withdrew,
    /// Agrees to a screen.
    Agreed(Screen),
    /// Does not agree after all.
    Doubted,
    /// Gave it away.
    Gave,
    /// It came to nothing.
    Ended(TradeEnd),
    /// Asked for something that was refused.
    Refused(Refusal),
}

/// A step of a trade, for whoever looks into it later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TradeNote {
    /// Which trade; of what was refused, the one that was named, if any was.
    pub trade: EntityId,
    /// Who did it; of what came to nothing, each of both.
    pub who: CharacterId,
    /// With whom; empty if that cannot be said.
    pub with: CharacterId,
    /// What.
    pub step: TradeStep,
    /// What it is about.
    pub things: Vec<Stack>,
}

/// What somebody is told of a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TradeNotification {
    /// Somebody asks for one.
    Incoming {
        /// Which.
        trade: EntityId,
        /// Who asks.
        from: CharacterId,
        /// As others see it.
        name: String,
        /// Combat level.
        level: u32,
    },
    /// It began.
    Started {
        /// Which.
        trade: EntityId,
        /// With whom.
        partner: CharacterId,
        /// As others see it.
        name: String,
        /// Combat level.
        level: u32,
        /// Slots of its pack that hold nothing.
        partner_free_slots: u32,
    },
    /// What is on the screen now. Of value: to be held back until that is saved.
    Shown {
        /// Of which.
        trade: EntityId,
        /// Which screen.
        screen: Screen,
        /// What one gives.
        mine: Offer,
        /// What one gets.
        theirs: Offer,
        /// Slots of the partner's pack that hold nothing.
        partner_free_slots: u32,
        /// What both offers are worth in coins, the own one first.
        worth: [u64; 2],
    },
    /// Everything has changed hands. Of value: to be held back until that is saved.
    Completed {
        /// Which.
        trade: EntityId,
        /// What was got, each item once.
        received: Vec<Stack>,
    },
    /// It came to nothing. To be held back like what was told of it before.
    Ended {
        /// Which.
        trade: EntityId,
        /// Why.
        why: TradeEnd,
    },
}

/// One of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Side {
    pub(crate) who: CharacterId,
    pub(crate) offer: Offer,
}

/// A trade, or a request for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trade {
    pub(crate) id: EntityId,
    /// The one who asked, and the one who was asked.
    pub(crate) sides: [Side; 2],
    /// What both see; `None`: it was only asked for.
    pub(crate) screen: Option<Screen>,
    /// When something was last done about it.
    pub(crate) since: Tick,
}

impl Trade {
    /// `from` asks `to`.
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

    /// The side of `who` and the other one, if `who` is one of both.
    pub(crate) fn sides_of(&self, who: &CharacterId) -> Option<(&Side, &Side)> {
        let [asker, asked] = &self.sides;
        if asker.who == *who {
            Some((asker, asked))
        } else {
            (asked.who == *who).then_some((asked, asker))
        }
    }

    /// What `who` offers.
    pub(crate) fn offer_mut(&mut self, who: &CharacterId) -> Option<&mut Offer> {
        let mut sides = self.sides.iter_mut();
        let side = sides.find(|side| side.who == *who);
        side.map(|side| &mut side.offer)
    }

    /// Whether both agree to what they see.
    pub(crate) fn agreed(&self) -> bool {
        self.sides.iter().all(|side| side.offer.agreed)
    }

    /// Both see `screen` from now on, and nobody agrees to it yet.
    pub(crate) fn show(&mut self, screen: Screen, now: Tick) {
        self.screen = Some(screen);
        self.since = now;
        for side in &mut self.sides {
            side.offer.agreed = false;
        }
    }
}

/// All trades here, and who must still hear of one that is no more.
#[derive(Debug, Default)]
pub(crate) struct Trades {
    pub(crate) all: BTreeMap<EntityId, Trade>,
    /// Who, of which trade, and why it ended: to be told in the next tick.
    pub(crate) ended: Vec<(CharacterId, EntityId, TradeEnd)>,
}

impl Trades {
    /// The open trade of one whose player names it.
    pub(crate) fn open(&self, named: Option<&EntityId>) -> Option<&Trade> {
        let trade = self.all.get(named?)?;
        trade.screen.is_some().then_some(trade)
    }

    /// The trades and requests that concern `who`, by id.
    pub(crate) fn of(&self, who: &CharacterId) -> Vec<EntityId> {
        let of = self.all.values();
        let of = of.filter(|trade| trade.sides_of(who).is_some());
        of.map(|trade| trade.id.clone()).collect()
    }
}

/// A request about a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Somebody near is asked for one.
    Ask {
        /// Who.
        target: EntityId,
    },
    /// Somebody's request is answered.
    Answer {
        /// Which.
        trade: EntityId,
        /// Yes.
        accept: bool,
    },
    /// So much of what lies in a slot is offered, and no more of it.
    Offer {
        /// In which.
        trade: EntityId,
        /// Which slot of the pack.
        slot: u8,
        /// How many; `None`: all.
        quantity: Option<u32>,
    },
    /// So many of something in the own offer are offered.
    Change {
        /// In which.
        trade: EntityId,
        /// Its place in the offer.
        place: u8,
        /// How many.
        quantity: u32,
    },
    /// Something is taken out of the own offer.
    Withdraw {
        /// Of which.
        trade: EntityId,
        /// Its place in the offer.
        place: u8,
    },
    /// A screen is agreed to.
    Accept {
        /// In which.
        trade: EntityId,
        /// The screen that was seen.
        seen: Screen,
    },
    /// What was agreed to is not any more.
    Doubt {
        /// In which.
        trade: EntityId,
    },
    /// It is given up, or the request for it.
    Cancel {
        /// Which.
        trade: EntityId,
    },
}

impl Intent {
    /// Whether it only leads away from anything changing hands: that is always allowed.
    pub(crate) const fn retreats(&self) -> bool {
        matches!(
            self,
            Intent::Answer { accept: false, .. }
                | Intent::Withdraw { .. }
                | Intent::Doubt { .. }
                | Intent::Cancel { .. }
        )
    }
}

/// A fact about a trade that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The input is answered: a trade was asked for.
    Asked {
        /// Who asked.
        who: CharacterId,
        /// By which input.
        number: u64,
        /// The trade.
        trade: EntityId,
    },
    /// Something about a trade.
    Told {
        /// Who is told.
        who: CharacterId,
        /// What.
        told: TradeNotification,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Asked { who, .. } | Event::Told { who, .. } => who,
        }
    }
}
