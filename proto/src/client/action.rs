//! Acting on things.

use serde::{Deserialize, Serialize};

/// `player:action`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlayerAction {
    /// What to do: attack, gather, talk, examine …
    pub action: String,
    /// The entity to do it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Which way, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
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
        Ok(())
    }
}
