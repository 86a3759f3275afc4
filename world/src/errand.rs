//! What a player has set out to do, and has not done yet. It moves along in a handover.

use serde::{Deserialize, Serialize};

use crate::ids::{CharacterId, EntityId};
use crate::tick::Tick;
use crate::tile::{Region, Tile};

/// On the way to something on the ground, to take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pickup {
    /// The number of the input that asked for it.
    pub number: u64,
    /// What.
    pub target: EntityId,
    /// The region to which it belongs.
    pub region: Region,
}

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

/// Where somebody is in going home by magic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Homeward {
    /// When it is done, for one who stands still for it now.
    pub done_at: Option<Tick>,
    /// When it may next be begun.
    pub ready_at: Tick,
    /// It is done, and others play where it leads.
    pub leaving: Option<Leaving>,
}

/// Somebody who is to stand where others play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// Where.
    pub place: Tile,
    /// Since when.
    pub since: Tick,
    /// Whoever was to bring it there does not.
    pub called_off: bool,
}

impl Homeward {
    /// All that is due is due so many ticks later.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.done_at = self.done_at.map(|at| at.after(ticks));
        self.ready_at = self.ready_at.after(ticks);
        if let Some(leaving) = &mut self.leaving {
            leaving.since = leaving.since.after(ticks);
        }
    }
}
