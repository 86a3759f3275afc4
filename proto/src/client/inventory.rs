//! The pack: 28 slots, what may be done with them, and what is told of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    limits::{INVENTORY_SLOTS, QUANTITY_MAX},
    sync::Stack,
    table::server_events,
};

/// `inventory:drop`: lays a stack, or some of it, on the ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InventoryDrop {
    /// 0 to 27.
    pub slot: u8,
    /// 1 to 2147483647; all of the stack, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<u32>,
}

/// `inventory:move`: puts what lies in one slot into another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InventoryMove {
    /// 0 to 27.
    pub from: u8,
    /// 0 to 27; not `from`.
    pub to: u8,
}

/// Longer than the name of any skill.
const SKILL_BYTES: usize = 32;

/// `inventory:use`: uses what lies in a slot for what it is (eats it, buries it, rubs
/// it), or on something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InventoryUse {
    /// 0 to 27.
    pub slot: u8,
    /// What it is used on: a number is another slot, a text is an entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<UseTarget>,
    /// What is learned of a lamp: the name of a skill. Only without `target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}

/// What something out of the pack is used on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UseTarget {
    /// What lies in another slot, 0 to 27.
    Slot(u8),
    /// An entity's id.
    Entity(String),
}

impl InventoryUse {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        slot("slot", self.slot)?;
        if let Some(skill) = &self.skill {
            if self.target.is_some() {
                return Err("skill: only without target".to_owned());
            }
            if skill.is_empty() || skill.len() > SKILL_BYTES {
                return Err(format!("skill: 1 to {SKILL_BYTES} bytes"));
            }
        }
        match &self.target {
            Some(UseTarget::Slot(other)) if *other == self.slot => {
                Err("target: another slot".to_owned())
            }
            Some(UseTarget::Slot(other)) => slot("target", *other),
            Some(UseTarget::Entity(id)) if id.len() > 64 => {
                Err("target: at most 64 bytes".to_owned())
            }
            Some(UseTarget::Entity(_)) | None => Ok(()),
        }
    }
}

impl InventoryDrop {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        slot("slot", self.slot)?;
        self.quantity.map_or(Ok(()), |q| quantity("quantity", q))
    }
}

impl InventoryMove {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        slot("from", self.from)?;
        slot("to", self.to)?;
        if self.from == self.to {
            return Err("from and to are the same slot".to_owned());
        }
        Ok(())
    }
}

/// What is wrong with the number of a slot, if anything.
pub(super) fn slot(name: &str, slot: u8) -> Result<(), String> {
    if slot < INVENTORY_SLOTS {
        return Ok(());
    }
    Err(format!("{name}: 0 to {}", INVENTORY_SLOTS - 1))
}

/// What is wrong with a number of items or coins, if anything.
pub(super) fn quantity(name: &str, quantity: u32) -> Result<(), String> {
    if (1..=QUANTITY_MAX).contains(&quantity) {
        return Ok(());
    }
    Err(format!("{name}: 1 to {QUANTITY_MAX}"))
}

/// What lies in a slot now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotUpdate {
    /// 0 to 27.
    pub slot: u8,
    /// Null: nothing.
    pub item: Option<Stack>,
}

/// `inventory:update`: the slots that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InventoryUpdate {
    /// Each at most once.
    pub slots: Vec<SlotUpdate>,
}

server_events! {
    InventoryUpdate => "inventory:update",
}
