//! Movement: walking and running, following, run energy, and crossing the borders of regions.
//!
//! Always: a player stands on a walkable tile and goes by free steps only; a held player stays.

pub(crate) mod agility;
pub mod border;
pub(crate) mod energy;
pub mod follow;
mod rules;
pub(crate) mod state;
pub(crate) mod tick;
pub mod told;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::{CharacterId, EntityId};
use crate::features::duel::Conduct;
use crate::features::trade::Screen;
use crate::geometry::tile::Tile;
use crate::told::{Message, Position, Recipient};
use crate::wire::{self, BadRequest};

pub(crate) use rules::{way, way_onto};
use told::Teleport;

pub(crate) use state::*;

/// A request to move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go to a tile, or as near as there is a way.
    Walk {
        /// Goal of the walk.
        to: Tile,
        /// Run or walk from now on; `None`: no change.
        run: Option<bool>,
    },
    /// Run (`true`) or walk (`false`) from now on.
    Run(bool),
    /// Stand still.
    Stop,
    /// Go where another player goes.
    Follow {
        /// Player to follow.
        target: EntityId,
    },
    /// Put a player somewhere else, at once and however far, for an operator.
    Teleport {
        /// Goal, or as near to it as one can stand.
        to: Tile,
    },
}

impl Intent {
    /// Returns what the rules of a duel make of it.
    pub(crate) const fn conduct(&self) -> Conduct {
        match self {
            Intent::Run(_) | Intent::Teleport { .. } => Conduct::Harmless,
            Intent::Walk { .. } => Conduct::Walk,
            Intent::Stop => Conduct::Stop,
            Intent::Follow { .. } => Conduct::Other,
        }
    }
}

/// Requests of a client to move.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) enum Packet {
    /// Walks to a tile, stops, or only switches running on or off.
    #[serde(rename = "player:move")]
    Move {
        /// Goal of the walk.
        target: Option<Tile>,
        /// Run or walk from now on.
        run: Option<bool>,
        /// Stand still. Not together with a target.
        #[serde(default)]
        stop: bool,
    },
}

/// Greatest coordinate that a request may name, in tiles.
const COORDINATE_MAX: i32 = 10_000;

impl wire::Requests for Packet {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        let Packet::Move { target, run, stop } = self;
        let intent = match (target, run) {
            (Some(_), _) if stop => {
                return Err("stop and target exclude each other".to_owned().into());
            }
            (Some(to), run) => {
                let all = -COORDINATE_MAX..=COORDINATE_MAX;
                wire::within(all.contains(&to.x) && all.contains(&to.z), || {
                    format!("target: coordinates go from -{COORDINATE_MAX} to {COORDINATE_MAX}")
                })?;
                Intent::Walk { to, run }
            }
            (None, Some(run)) if !stop => Intent::Run(run),
            (None, None) if !stop => {
                return Err("one of target, run and stop is needed".to_owned().into());
            }
            (None, _) => Intent::Stop,
        };
        Ok(intent)
    }
}

/// A notification about movement to one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player stands somewhere else all at once.
    Teleported {
        /// Player that moved.
        who: CharacterId,
        /// Tile on which it stands now.
        tile: Tile,
    },
}

impl Event {
    /// Returns the recipient of the event.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Teleported { who, .. } => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        match self {
            Event::Teleported { tile, .. } => Some(Message::now(&Teleport {
                position: Position::of(to.record?, *tile),
            })),
        }
    }
}
