//! Things of value: their kinds, their places, and the one way in which they move.
//!
//! Always: only [`transfer`] makes, moves and destroys items and coins, and it writes down every
//! change of a holder. Coins count as the item [`COINS`], in a pouch or not.

pub mod bank;
pub mod inventory;
pub mod ledger;
pub(crate) mod leg;
pub(crate) mod possessions;
pub(crate) mod transfer;
pub mod worn;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// The item that coins are, in the pouch too.
pub const COINS: &str = "coins";
/// Slots of a pack: 0 to 27.
pub const SLOTS: u8 = 28;
/// The most of one item in a stack, and the most coins in a pouch.
pub const QUANTITY_MAX: u32 = i32::MAX as u32;

/// So many of one item, in one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Id of the item; the owner keeps the stack even if the content does not know it.
    pub item: Arc<str>,
    /// At least 1, at most [`QUANTITY_MAX`].
    pub quantity: u32,
}

impl Stack {
    /// Returns so many of `item`.
    pub fn new(item: impl Into<Arc<str>>, quantity: u32) -> Stack {
        Stack {
            item: item.into(),
            quantity,
        }
    }
}

/// Whether value may change owners in a tick; the driver of the world knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Value {
    /// It may.
    #[default]
    Open,
    /// An operator has stopped exchanges: the world refuses drops, pickups and moves of coins.
    Frozen,
    /// The store cannot save changes: the world makes, moves and destroys nothing of value, and
    /// nothing expires.
    Unavailable,
}

impl Value {
    /// # Errors
    /// `ExchangesFrozen`, `StorageUnavailable`.
    pub(crate) const fn open(self) -> Result<(), Refusal> {
        match self {
            Value::Open => Ok(()),
            Value::Frozen => Err(Refusal::ExchangesFrozen),
            Value::Unavailable => Err(Refusal::StorageUnavailable),
        }
    }
}
