//! Following: a player goes where another one goes, over borders too. It moves along in a handover.

pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::geometry::tile::{Region, Tile};

/// On the heels of another player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follow {
    /// Of whom.
    pub leader: CharacterId,
    /// The region to which that one belonged when it was last here.
    pub region: Region,
    /// Where it stood then.
    pub seen_at: Tile,
    /// For so many ticks it has not been here.
    pub lost_ticks: u32,
}
