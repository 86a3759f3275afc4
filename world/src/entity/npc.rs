//! A person or beast of the world's own.
//!
//! Always: [`NpcState`] holds its changing parts; the rest is content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::EntityId;
use super::look::{Kind, Look};
use crate::content::NpcPlacement;
use crate::features::combat::NpcCombat;
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// All NPCs here, by id.
pub(crate) type Npcs = BTreeMap<EntityId, Npc>;

/// An NPC in the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Npc {
    pub(crate) placement: NpcPlacement,
    pub(crate) region: Region,
    pub(crate) state: NpcState,
}

/// Changing state of an NPC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NpcState {
    pub(crate) id: EntityId,
    pub(crate) tile: Tile,
    /// Tile around which it strays.
    pub(crate) home: Tile,
    /// Tile to which it is walking.
    pub(crate) goal: Option<Tile>,
    /// Tick at which it next thinks of walking.
    pub(crate) walks_at: Tick,
    /// Point of its patrol that comes next.
    pub(crate) leg: u32,
    /// Ticks for which others have stood in its way.
    pub(crate) waited_ticks: u32,
    /// Ticks for which it has waited for customers since it last strolled.
    #[serde(default)]
    pub(crate) attended_ticks: u32,
    /// Health points.
    pub(crate) health: u32,
    /// Its part in fights.
    #[serde(default)]
    #[serde(rename = "feud")]
    pub(crate) combat: NpcCombat,
}

impl Npc {
    /// Returns whether others can see it: the dead are hidden.
    pub(crate) fn lives(&self) -> bool {
        self.state.combat.back_at.is_none()
    }

    pub(crate) fn look(&self) -> Look {
        let kind = &self.placement.kind;
        let mut fields = vec![
            ("name", (&self.placement.name).into()),
            ("npcId", (&kind.id).into()),
            ("level", kind.level.into()),
            ("health", self.state.health.into()),
            ("maxHealth", kind.health.into()),
            ("category", (&kind.category).into()),
            ("attackable", kind.attackable.into()),
        ];
        if !self.placement.service.is_empty() {
            fields.push(("service", (&self.placement.service).into()));
        }
        if self.placement.store.is_some() {
            fields.push(("shop", true.into()));
        }
        Look {
            id: self.placement.id.clone(),
            kind: Kind::Npc,
            tile: self.state.tile,
            region: self.region,
            fields,
        }
    }
}
