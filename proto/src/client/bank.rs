//! The bank: 480 places in nine tabs, what may be done there, and what is told of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    inventory::{quantity, slot},
    limits::BANK_TABS,
    table::server_events,
};

/// The longest id of an item, in bytes.
const ITEM_BYTES_MAX: usize = 64;

/// `bank:open`: goes to a bank and opens the own one there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankOpen {
    /// A bank, or somebody who keeps one.
    pub target: String,
}

/// `bank:deposit`: what lies in a slot of the pack, and more of the same, into the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankDeposit {
    /// 0 to 27.
    pub slot: u8,
    /// 1 to 2147483647; as many as there are, if there are fewer.
    pub quantity: u32,
    /// 0 to 8: where it lies if none of it does yet.
    #[serde(default)]
    pub tab: u8,
}

/// `bank:depositAll` and `bank:depositEquipment`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankDepositAll {
    /// 0 to 8: where that lies of which none does yet.
    #[serde(default)]
    pub tab: u8,
}

/// `bank:withdraw`: out of the bank into the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankWithdraw {
    /// What.
    pub item_id: String,
    /// 1 to 2147483647; as many as there are or fit, if these are fewer.
    pub quantity: u32,
    /// As notes.
    #[serde(default)]
    pub noted: bool,
}

/// `bank:move`: an item changes places with another, or comes just before it. One of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankMove {
    /// Which.
    pub item_id: String,
    /// The item with which it changes places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// The item before which it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// `bank:tab`: an item comes last in a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankTab {
    /// Which.
    pub item_id: String,
    /// 0 to 8.
    pub tab: u8,
}

/// `bank:placeholder`: one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankPlaceholder {
    /// Whether what is taken out to the last leaves its place free from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<bool>,
    /// The item whose place is kept no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// No place is kept any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub release_all: bool,
}

/// `bank:coins`: between the pouch and the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BankCoins {
    /// 1 to 2147483647.
    pub amount: u32,
    /// From the bank into the pouch; else the other way.
    #[serde(default)]
    pub withdraw: bool,
}

fn tab(tab: u8) -> Result<(), String> {
    if tab < BANK_TABS {
        return Ok(());
    }
    Err(format!("tab: 0 to {}", BANK_TABS - 1))
}

fn text(name: &str, text: &str) -> Result<(), String> {
    if (1..=ITEM_BYTES_MAX).contains(&text.len()) {
        return Ok(());
    }
    Err(format!("{name}: 1 to {ITEM_BYTES_MAX} bytes"))
}

impl BankOpen {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        text("target", &self.target)
    }
}

impl BankDeposit {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        slot("slot", self.slot)?;
        quantity("quantity", self.quantity)?;
        tab(self.tab)
    }
}

impl BankDepositAll {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        tab(self.tab)
    }
}

impl BankWithdraw {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        text("itemId", &self.item_id)?;
        quantity("quantity", self.quantity)
    }
}

impl BankMove {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        text("itemId", &self.item_id)?;
        match (&self.with, &self.before) {
            (Some(with), None) => text("with", with),
            (None, Some(before)) => text("before", before),
            _ => Err("either with or before".to_owned()),
        }
    }
}

impl BankTab {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        text("itemId", &self.item_id)?;
        tab(self.tab)
    }
}

impl BankPlaceholder {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        match (&self.keep, &self.release, self.release_all) {
            (Some(_), None, false) | (None, None, true) => Ok(()),
            (None, Some(item), false) => text("release", item),
            _ => Err("one of keep, release and releaseAll".to_owned()),
        }
    }
}

impl BankCoins {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        quantity("amount", self.amount)
    }
}

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
