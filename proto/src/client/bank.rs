//! The bank: 480 places in nine tabs, what may be done there, and what is told of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::server_events;

/// All of one item in the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BankItem {
    /// Which.
    pub item_id: String,
    /// 0: only its place is kept.
    pub quantity: u32,
    /// 0 to 8.
    pub tab: u8,
    /// The order in the tab; there may be gaps.
    pub place: u32,
}

/// `bank:state`: the bank, or what changed of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BankState {
    /// False: the bank is closed, and the rest says nothing.
    pub open: bool,
    /// `items` are all that there are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// Each item at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<BankItem>,
    /// Items that are there no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// What is taken out to the last leaves its place free.
    pub placeholders: bool,
}

server_events! {
    BankState => "bank:state",
}
