//! A character whose owner was lost comes back to the tile on which others saw it last.
//!
//! Always: it is only a place. The character could have walked there, and nothing that it does or
//! has depends on the place.

use std::sync::Arc;

use crate::entity::ids::CharacterId;
use crate::features::movement::border::PAST_TILES_MAX;
use crate::geometry::route::{PATH_TILES_MAX, SEARCH_VISITS_MAX};
use crate::geometry::tile::{Chunk, Tile};
use crate::world::World;

impl World {
    /// Puts a player on `tile`, where it was seen last, if it stands idle and a way of at most
    /// `steps_max` steps leads there. Returns whether it stands there now; if not, nothing has
    /// changed.
    pub fn regain(&mut self, who: &CharacterId, tile: Tile, steps_max: u32) -> bool {
        let Some(player) = self.players.get(who) else {
            return false;
        };
        let before = player.tile();
        if before == tile {
            return true;
        }
        let idle = player.free()
            && !player.dealings.any()
            && player.open.is_none()
            && player.gait.path.is_empty();
        let near = player.region.tiles_past(tile) <= PAST_TILES_MAX;
        let steps_max = steps_max.min(PATH_TILES_MAX);
        let content = Arc::clone(&self.content);
        let terrain = content.terrain();
        if !idle || !near || !terrain.walkable(tile) || before.steps_to(tile) > steps_max {
            return false;
        }
        let side = u64::from(steps_max) * 2 + 1;
        let visits_max = (side * side).min(SEARCH_VISITS_MAX);
        let mut way = Vec::new();
        let found = self
            .router
            .find(terrain, before, tile, visits_max, &mut way);
        let there = found.is_ok() && way.last() == Some(&tile) && way.len() <= steps_max as usize;
        let player = self.players.get_mut(who).filter(|_| there);
        let Some(player) = player else {
            return false;
        };
        player.stand(terrain, tile);
        let id = who.entity();
        self.index
            .shift(Chunk::from(before), Chunk::from(tile), &id);
        self.index.touch(id);
        true
    }
}
