//! Messages about fights.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HitKind, styles_of};
use crate::content::Content;
use crate::entity::ids::EntityId;
use crate::entity::player::record::PlayerRecord;
use crate::geometry::tile::Tile;
use crate::server_events;
use crate::time::Tick;

/// `combat:update`: the combat settings of a player.
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
pub struct Hit {
    /// When.
    #[schemars(with = "u64")]
    pub tick: Tick,
    /// Entity that dealt the blow.
    pub attacker: EntityId,
    /// Entity that the blow struck.
    pub target: EntityId,
    /// Tile of the target; not sent.
    #[serde(skip)]
    pub tile: Tile,
    /// Damage; 0: none.
    pub damage: u32,
    /// melee, ranged, magic.
    #[serde(rename = "style")]
    #[schemars(with = "String")]
    pub kind: HitKind,
    /// The target's health after it.
    #[serde(rename = "targetHealth")]
    pub health: u32,
    /// The target's health when well.
    #[serde(rename = "targetMaxHealth")]
    pub max_health: u32,
    /// It was its last; only said when it was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub killed: bool,
}

server_events! {
    Combat => "combat:update",
    Hit => "combat:hit",
}

/// Returns the combat settings of a player.
pub fn settings(record: &PlayerRecord, content: &Content) -> Combat {
    let (style, styles) = styles_of(content, record);
    Combat {
        style: style.name().to_owned(),
        styles: styles.iter().map(|style| style.name().to_owned()).collect(),
        retaliate: record.combat_settings.retaliates,
        spell: record
            .combat_settings
            .spell
            .as_ref()
            .map(ToString::to_string),
    }
}
