//! Acting on things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::MAKE_MAX;

/// `player:action`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlayerAction {
    /// What to do: attack, follow, trade, gather, talk, open, pickup, loot, examine, pray-altar,
    /// use, bury, cook, light, smelt, smith, craft, fletch, tan, runecraft, home-teleport, respawn.
    /// `open` opens what the target offers: a bank, a shop, else a talk.
    pub action: String,
    /// The entity to do it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Which way, where there are several: of what is cooked, lit or tanned, the item; of what is
    /// smelted, smithed, crafted or fletched, what is made; of what is used or buried, its slot in the
    /// pack, 0 to 27, or the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// How many are to be made, 1 to 10000; as many as can be, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<u32>,
}

impl PlayerAction {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.action.is_empty() || self.action.len() > 32 {
            return Err("action: 1 to 32 bytes".to_owned());
        }
        let long = |text: &Option<String>| text.as_ref().is_some_and(|t| t.len() > 64);
        if long(&self.target) || long(&self.option) {
            return Err("target, option: at most 64 bytes".to_owned());
        }
        if self.quantity.is_some_and(|q| !(1..=MAKE_MAX).contains(&q)) {
            return Err(format!("quantity: 1 to {MAKE_MAX}"));
        }
        Ok(())
    }
}
