//! Fires that players lit.
//!
//! Always: a fire belongs to the region in which it burns; there is one at most on a tile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{CharacterId, EntityId};
use super::look::{Kind, Look};
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// Prefix of the ids of all fires.
pub(crate) const ID_PREFIX: &str = "fire:";

/// A fire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fire {
    /// `fire:<run id>-<number>`, for ever its own.
    pub id: EntityId,
    /// The region to which it belongs.
    pub region: Region,
    /// Tile on which it burns.
    pub tile: Tile,
    /// Character that lit it.
    pub lit_by: CharacterId,
    /// Tick from which it is out.
    pub out_at: Tick,
}

impl Fire {
    pub(crate) fn look(&self) -> Look {
        Look {
            id: self.id.clone(),
            kind: Kind::Fire,
            tile: self.tile,
            region: self.region,
            fields: vec![("name", "Fire".into())],
        }
    }
}

/// All fires here, by id.
pub(crate) type Fires = BTreeMap<EntityId, Fire>;
