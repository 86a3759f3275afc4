//! Movement of a player, and the weight that it moves.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::geometry::route::PATH_TILES_MAX;
use crate::geometry::tile::Tile;
use crate::item::inventory::Pack;
use crate::item::worn::{self, Worn};

/// Movement of a player, and the weight that it moves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gait {
    /// The steps that the player still has to take, the next one first.
    pub(crate) path: VecDeque<Tile>,
    /// Tile that it left last.
    #[serde(default)]
    pub(crate) trail: Option<Tile>,
    /// Whether a handover is under way: then it does not move.
    pub(crate) held: bool,
    /// Run energy that the world last told its client.
    #[serde(rename = "told_energy")]
    pub(crate) reported_energy: u32,
    /// Weight of all that it carries, in grams; `None`: nobody has asked since that changed.
    #[serde(skip)]
    pub(crate) weight_grams: Option<u32>,
    /// Movement of its feet in this tick.
    #[serde(skip)]
    pub(crate) pace: Pace,
}

impl Gait {
    /// Returns the movement of a player that arrives: with a way that somebody brought along, if
    /// one could have found it here, and with its energy told.
    pub(crate) fn brought(mut path: Vec<Tile>, trail: Option<Tile>, reported_energy: u32) -> Gait {
        path.truncate(PATH_TILES_MAX as usize);
        Gait {
            path: path.into(),
            trail,
            reported_energy,
            ..Gait::default()
        }
    }

    /// Notes a change to the possessions that the player carries.
    pub(crate) fn carries_other(&mut self) {
        self.weight_grams = None;
    }

    /// Returns the weight of all that the player carries, in grams: its pack and what it wears.
    pub(crate) fn weight_grams(&mut self, content: &Content, pack: &Pack, worn: &Worn) -> u32 {
        let weigh = || worn::weight_grams(content, pack, worn);
        *self.weight_grams.get_or_insert_with(weigh)
    }
}

/// Movement of a player's feet in a tick.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Pace {
    #[default]
    Stood,
    Walked,
    Ran,
}
