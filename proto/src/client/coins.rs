//! Coins, between the pouch and a stack in the pack.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{inventory::quantity, table::server_events};

/// `coins:withdraw`: from the pouch to a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CoinsWithdraw {
    /// 1 to 2147483647.
    pub amount: u32,
}

/// `coins:deposit`: from a stack to the pouch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CoinsDeposit {
    /// 1 to 2147483647; all coins in the pack, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<u32>,
}

impl CoinsWithdraw {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        quantity("amount", self.amount)
    }
}

impl CoinsDeposit {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.amount.map_or(Ok(()), |a| quantity("amount", a))
    }
}

/// `coins:update`: what is in the pouch now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoinsUpdate {
    /// All of it.
    pub coins: u64,
}

server_events! {
    CoinsUpdate => "coins:update",
}
