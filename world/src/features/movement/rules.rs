//! Walking and running.
//!
//! Always: a player stands on a walkable tile and goes by free steps only; a held player stays;
//! players walk through each other.

use std::collections::VecDeque;

use super::Pace;
use super::border;
use crate::entity::player::Player;
use crate::geometry::Terrain;
use crate::geometry::route::Router;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::rules::Rules;

/// Returns the way on which `player` sets out for `to`, or as near as there is one.
///
/// # Errors
/// `TooFar`, `Unreachable`; `Busy`: the player is held, or a search would visit more tiles than are
/// left.
pub(crate) fn way(
    player: &Player,
    router: &mut Router,
    terrain: &Terrain,
    searches_end: u64,
    to: Tile,
) -> Result<VecDeque<Tile>, Refusal> {
    if player.gait.held {
        return Err(Refusal::Busy);
    }
    let mut path = Vec::new();
    let most = searches_end.saturating_sub(router.visited());
    router.find(terrain, player.record.tile, to, most, &mut path)?;
    Ok(path.into())
}

/// Returns the way as [`way`] does. The ground never changes, so that nobody searches again for a
/// goal that it could not reach from the same tile.
///
/// # Errors
/// The errors of [`way`].
pub(crate) fn way_anew(
    player: &mut Player,
    router: &mut Router,
    terrain: &Terrain,
    searches_end: u64,
    to: Tile,
) -> Result<VecDeque<Tile>, Refusal> {
    let asked = Some((player.record.tile, to));
    if player.unreachable == asked && !player.gait.held {
        return Err(Refusal::Unreachable);
    }
    let path = way(player, router, terrain, searches_end, to);
    if path == Err(Refusal::Unreachable) {
        player.unreachable = asked;
    }
    path
}

/// Returns the way as [`way`] does, but it must reach `to` itself.
///
/// # Errors
/// The errors of [`way`]; `Unreachable` also where the way ends before.
pub(crate) fn way_onto(
    player: &Player,
    router: &mut Router,
    terrain: &Terrain,
    searches_end: u64,
    to: Tile,
) -> Result<VecDeque<Tile>, Refusal> {
    let path = way(player, router, terrain, searches_end, to)?;
    let end = path.back().copied().unwrap_or(player.record.tile);
    if end == to {
        Ok(path)
    } else {
        Err(Refusal::Unreachable)
    }
}

/// Takes the steps of one tick. Returns whether it stands elsewhere than before.
pub(crate) fn advance(player: &mut Player, terrain: &Terrain, rules: &Rules) -> bool {
    player.gait.pace = Pace::Stood;
    if player.gait.held || player.gait.path.is_empty() {
        return false;
    }
    let running = player.record.running && player.record.energy > 0;
    let start = player.record.tile;
    let mut tile = start;
    for _ in 0..if running {
        rules.run_tiles
    } else {
        rules.walk_tiles
    } {
        let Some(&next) = player.gait.path.front() else {
            break;
        };
        if !terrain.step(tile, next) {
            // The player found the way over other ground, or brought it along from elsewhere.
            player.gait.path.clear();
            break;
        }
        if !border::may_step(player.region, tile, next) {
            break;
        }
        player.gait.path.pop_front();
        player.gait.trail = Some(tile);
        player.skilling.tiles_gone = player.skilling.tiles_gone.saturating_add(1);
        tile = next;
    }
    if tile == start {
        return false;
    }
    player.gait.pace = if running { Pace::Ran } else { Pace::Walked };
    player.stand(terrain, tile);
    true
}
