//! Boosts and poison, as a part of other messages.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::player::record::PlayerRecord;

/// Boosts and poison of the own character.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Effects {
    /// Levels on top of those of experience, by skill. They count in a fight, and fade by one a
    /// minute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub boosts: BTreeMap<String, u32>,
    /// Damage of the next strike of poison; only said of a poisoned character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poison: Option<u32>,
}

/// Returns the boosts and the poison of a player, if there are any.
pub fn effects(player: &PlayerRecord) -> Option<Effects> {
    let boosts = player.potions.boosts.iter();
    let boosts = boosts.map(|(skill, boost)| (skill.name().to_owned(), boost.levels));
    let effects = Effects {
        boosts: boosts.collect(),
        poison: player.potions.poison_damage(),
    };
    (effects != Effects::default()).then_some(effects)
}
