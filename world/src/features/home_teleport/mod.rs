//! Going home by magic. How far somebody is with it moves along in a handover.
//!
//! Always: one who is about to be brought to a region that others play stands still until it is there.

pub(crate) mod rules;
pub(crate) mod tick;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::geometry::tile::Tile;
use crate::time::Tick;

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

/// A request to go home by magic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go home by magic, after standing still for a while.
    Begin,
}

/// A fact about going home that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It has begun to go home by magic, does so no more, or may not do so again for a while.
    Progress {
        /// Who.
        who: CharacterId,
        /// When it is to be at home; none: it does not go there now.
        done_at: Option<Tick>,
        /// From when it may begin again.
        ready_at: Tick,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Progress { who, .. } => who,
        }
    }
}
