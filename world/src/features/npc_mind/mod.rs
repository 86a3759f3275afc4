//! NPCs of their own accord: they stand, wander, patrol, chase and attack.
//!
//! Always: an NPC never steps onto a tile on which somebody stands.

mod rules;
pub(crate) mod tick;

use std::collections::BTreeMap;

use crate::geometry::tile::Tile;

pub(crate) use rules::{appear, attend};

/// Number of those who stand on each tile.
#[derive(Debug, Default)]
pub(crate) struct Crowd(BTreeMap<Tile, u32>);

impl Crowd {
    pub(crate) fn stand(&mut self, tile: Tile) {
        *self.0.entry(tile).or_default() += 1;
    }

    pub(crate) fn free(&self, tile: Tile) -> bool {
        !self.0.contains_key(&tile)
    }

    fn step(&mut self, from: Tile, to: Tile) {
        if let Some(count) = self.0.get_mut(&from) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&from);
            }
        }
        self.stand(to);
    }
}
