//! Fighting: what a player chooses of it, blows that land, deaths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{sync::Position, table::server_events};

/// `combat:update`: what a player has chosen of fighting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Combat {
    /// The style in which it fights now.
    pub style: String,
    /// The styles that its weapon allows.
    pub styles: Vec<String>,
    /// It turns to whoever attacks it.
    pub retaliate: bool,
    /// The spell that it casts in fights; null: none.
    pub spell: Option<String>,
}

/// `combat:hit`: a blow landed that the own character dealt or took. Others read it in the `hits`
/// of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CombatHit {
    /// When.
    pub tick: u64,
    /// Who dealt it.
    pub attacker: String,
    /// Whom it struck.
    pub target: String,
    /// How much it hurt; 0: not at all.
    pub damage: u32,
    /// melee, ranged, magic.
    pub style: String,
    /// The target's health after it.
    pub target_health: u32,
    /// The target's health when well.
    pub target_max_health: u32,
    /// It was its last; only said when it was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub killed: bool,
}

/// `player:died`: the own character has no health left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlayerDied {
    /// The name of its killer, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<String>,
    /// Where.
    pub position: Position,
    /// The tick at which it stands up again.
    pub respawn_tick: u64,
}

/// `player:respawned`: the own character has stood up again and is well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlayerRespawned {
    /// Where.
    pub position: Position,
}

server_events! {
    Combat => "combat:update",
    CombatHit => "combat:hit",
    PlayerDied => "player:died",
    PlayerRespawned => "player:respawned",
}
