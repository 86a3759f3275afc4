//! Following: a player goes where another one goes, over borders too. It moves along in a handover.

pub(super) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::geometry::tile::{Region, Tile};

/// State of a player that follows another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follow {
    /// Player that it follows.
    pub leader: CharacterId,
    /// Region to which the leader belonged when it was last here.
    pub region: Region,
    /// Tile on which the leader stood then.
    pub seen_at: Tile,
    /// Ticks for which the leader has not been here.
    pub lost_ticks: u32,
}
