//! Requests of a client that move something of value, and the changes that each of them may make.
//! Pure.

use serde_json::{Value, json};

/// The item that coins in the pack are.
pub const COINS: &str = "coins";
/// More than anybody can have.
const ANY: i64 = i64::MAX / 1024;

/// A request that moves something of value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Lays items on the ground.
    Drop {
        /// From which slot.
        slot: u8,
        /// The item that is believed to be there.
        item: String,
        /// So many; none: all of the stack.
        quantity: Option<u32>,
    },
    /// Takes a ground item.
    Pickup {
        /// The ground item's entity.
        target: String,
        /// The item that it is seen to be.
        item: String,
        /// Somebody else has dropped it.
        of_other: bool,
    },
    /// Moves a stack to another slot.
    MoveSlot {
        /// From which.
        from: u8,
        /// To which.
        to: u8,
    },
    /// Coins from the pouch to a stack.
    Withdraw {
        /// So many.
        amount: u32,
    },
    /// Coins from a stack to the pouch.
    Deposit {
        /// So many.
        amount: u32,
    },
}

impl Action {
    /// Returns the event and its data.
    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Drop { slot, quantity, .. } => {
                let mut data = json!({ "slot": slot });
                if let Some(quantity) = quantity {
                    data["quantity"] = json!(quantity);
                }
                ("inventory:drop", data)
            }
            Self::Pickup { target, .. } => {
                let data = json!({ "action": "pickup", "target": target });
                ("player:action", data)
            }
            Self::MoveSlot { from, to } => ("inventory:move", json!({ "from": from, "to": to })),
            Self::Withdraw { amount } => ("coins:withdraw", json!({ "amount": amount })),
            Self::Deposit { amount } => ("coins:deposit", json!({ "amount": amount })),
        }
    }

    /// Returns its name in counts.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Drop { .. } => "drop",
            Self::Pickup { of_other: true, .. } => "pickup of another's",
            Self::Pickup { .. } => "pickup",
            Self::MoveSlot { .. } => "move",
            Self::Withdraw { .. } => "withdraw",
            Self::Deposit { .. } => "deposit",
        }
    }

    /// Returns whether an `ack` says only that it is under way.
    pub const fn takes_its_time(&self) -> bool {
        matches!(self, Self::Pickup { .. })
    }

    /// Returns its possible changes, of which it makes one.
    pub(super) fn effects(&self) -> Vec<Effect> {
        let exactly = |n: u32| (i64::from(n), i64::from(n));
        let minus = |n: u32| (-i64::from(n), -i64::from(n));
        match self {
            Self::Drop { item, quantity, .. } => {
                let items = quantity.map_or((-ANY, -1), minus);
                vec![Effect::of_items(item, items)]
            }
            Self::Pickup { item, .. } => {
                // The quantity there may change until the character reaches it.
                let pack = Effect::of_items(item, (1, ANY));
                let pouch = Effect {
                    pouch: Some((1, ANY)),
                    items: None,
                };
                if item == COINS {
                    vec![pack, pouch]
                } else {
                    vec![pack]
                }
            }
            Self::MoveSlot { .. } => Vec::new(),
            Self::Withdraw { amount } => vec![Effect {
                pouch: Some(minus(*amount)),
                items: Some((COINS.to_owned(), exactly(*amount))),
            }],
            Self::Deposit { amount } => vec![Effect {
                pouch: Some(exactly(*amount)),
                items: Some((COINS.to_owned(), minus(*amount))),
            }],
        }
    }
}

/// At least and at most.
type Range = (i64, i64);

/// A change of possessions: of the pouch, of one item in the pack, or of both together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) pouch: Option<Range>,
    pub(super) items: Option<(String, Range)>,
}

impl Effect {
    fn of_items(item: &str, range: Range) -> Self {
        Self {
            pouch: None,
            items: Some((item.to_owned(), range)),
        }
    }

    pub(super) const fn is_nothing(&self) -> bool {
        self.pouch.is_none() && self.items.is_none()
    }
}
