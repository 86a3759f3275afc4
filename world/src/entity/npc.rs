//! A person or beast of the world's own.
//!
//! Always: what moves and lies of it is in [`NpcState`]; the rest is content.

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

/// All about an NPC that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NpcState {
    pub(crate) id: EntityId,
    pub(crate) tile: Tile,
    /// What it strays around.
    pub(crate) home: Tile,
    /// Where it is walking to.
    pub(crate) goal: Option<Tile>,
    /// When it next thinks of walking.
    pub(crate) walks_at: Tick,
    /// The point of its patrol that comes next.
    pub(crate) leg: u32,
    /// For how many ticks others have stood in its way.
    pub(crate) waited_ticks: u32,
    /// For how many ticks it has waited for customers since it last strolled.
    #[serde(default)]
    pub(crate) attended_ticks: u32,
    /// Health points.
    pub(crate) health: u32,
    /// What it has of fights.
    #[serde(default)]
    pub(crate) feud: NpcCombat,
}

impl Npc {
    /// Whether it is to be seen at all: the dead are not.
    pub(crate) fn lives(&self) -> bool {
        self.state.feud.back_at.is_none()
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
