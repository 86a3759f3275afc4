//! Messages about health and energy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::player::record::PlayerRecord;
use crate::features::potions::told::{Effects, effects};
use crate::server_events;
use crate::told::Hundredths;

/// Health now and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Points now.
    pub current: u32,
    /// Points when well.
    pub max: u32,
}

/// `vitals:update`: the values that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VitalsUpdate {
    /// Health.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Run energy, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Hundredths>,
    /// It runs rather than walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<bool>,
    /// Boosts and poison. A message with health and without these says that there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
}

server_events! {
    VitalsUpdate => "vitals:update",
}

/// Returns the health of a player.
pub fn health(player: &PlayerRecord) -> Health {
    Health {
        current: player.health,
        max: player.max_health(),
    }
}

/// Returns the run energy of a player, 0 to 100.
pub fn energy(player: &PlayerRecord) -> Hundredths {
    Hundredths::from(player.energy)
}

/// Returns the health and energy of a player, and its choice to run.
pub fn vitals(player: &PlayerRecord) -> VitalsUpdate {
    VitalsUpdate {
        health: Some(health(player)),
        energy: Some(energy(player)),
        run: Some(player.running),
        effects: effects(player),
    }
}
