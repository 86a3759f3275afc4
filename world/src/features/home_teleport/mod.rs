//! Going home by magic. A handover takes its progress along.
//!
//! Always: a player stands still while the world waits to bring it to a region that others play.

mod rules;
pub(crate) mod tick;
pub mod told;

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::time::Tick;
use crate::told::{Message, Recipient};

use told::HomeUpdate;

/// A player's progress in going home by magic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Homeward {
    /// Tick at which the magic ends, for a player that stands still for it now.
    pub done_at: Option<Tick>,
    /// Tick from which the player may begin again.
    pub ready_at: Tick,
    /// The way to a place that others play, after the magic has ended.
    pub leaving: Option<Leaving>,
}

impl Homeward {
    /// Moves all its times later by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.done_at = self.done_at.map(|at| at.after(ticks));
        self.ready_at = self.ready_at.after(ticks);
        if let Some(leaving) = &mut self.leaving {
            leaving.since = leaving.since.after(ticks);
        }
    }

    /// Sends the player to `place` at once, on behalf of somebody else.
    ///
    /// # Errors
    /// `Busy`: the player is on its way somewhere already.
    pub(crate) fn send(&mut self, place: Tile, now: Tick) -> Result<(), Refusal> {
        if self.leaving.is_some() {
            return Err(Refusal::Busy);
        }
        self.done_at = None;
        self.leaving = Some(Leaving {
            place,
            since: now,
            called_off: false,
        });
        Ok(())
    }

    /// Ends the way of a player that came from elsewhere to `tile`. Returns whether it led there.
    pub(crate) fn arrived(&mut self, tile: Tile) -> bool {
        let Some(leaving) = self.leaving.take() else {
            return false;
        };
        if leaving.place != tile {
            self.stayed();
        }
        leaving.place == tile
    }

    /// Ends a way that failed: the player stays, and may begin again at once.
    fn stayed(&mut self) {
        self.leaving = None;
        self.ready_at = Tick::default();
    }
}

/// A player's way to a place that others play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaving {
    /// Place at which the player is to stand.
    pub place: Tile,
    /// Tick at which the way began.
    pub since: Tick,
    /// Whether the zone has cancelled the departure.
    pub called_off: bool,
}

/// Request to go home by magic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Begins to go home by magic, which takes standing still for a while.
    Begin,
}

/// Fact about going home that the world tells one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player began to go home by magic, stopped, or must wait before it may begin again.
    Progress(CharacterId, HomeUpdate),
}

impl Event {
    /// Returns the player that hears of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Progress(who, _) => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        match self {
            Event::Progress(_, told) => Some(Message::now(told)),
        }
    }
}
