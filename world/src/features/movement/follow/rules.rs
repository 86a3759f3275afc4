//! Following another player: one goes onto the tile that the leader left last.
//!
//! Always: nobody follows itself; a player waits for an absent leader only where that may have gone
//! over a border, and not for long.

use std::collections::VecDeque;

use super::Follow;
use crate::entity::ids::CharacterId;
use crate::entity::player::Player;
use crate::features::movement::border::BAND_TILES;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;

/// Tiles within which one follows somebody.
const FOLLOW_TILES: u32 = 32;
/// Ticks for which one goes on after a leader that went over a border to where others play.
const LOST_TICKS: u32 = 10;

/// Checks whether one who stands at `from` may follow `leader`, or go on with it.
///
/// # Errors
/// `PlayerBusy`: the leader is dead. `TooFar`.
pub(crate) fn may_follow(from: Tile, leader: &Player) -> Result<(), Refusal> {
    if !leader.lives() {
        return Err(Refusal::PlayerBusy);
    }
    if from.steps_to(leader.tile()) > FOLLOW_TILES {
        return Err(Refusal::TooFar);
    }
    Ok(())
}

/// Returns the state of a player that follows `leader` from now on.
pub(crate) fn begin(leader: CharacterId, there: &Player) -> Follow {
    Follow {
        leader,
        region: there.region,
        seen_at: there.tile(),
        lost_ticks: 0,
    }
}

/// Course of a player that follows another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// The player is where it should be.
    There,
    /// Onto a tile.
    Onto(Tile),
    /// Next to a tile.
    Beside(Tile),
}

impl Course {
    /// Returns as much of a way to that tile as one should go.
    pub(crate) fn along(self, mut way: VecDeque<Tile>) -> VecDeque<Tile> {
        if matches!(self, Course::Beside(to) if way.back() == Some(&to)) {
            way.pop_back();
        }
        way
    }
}

/// Returns the course of a player at `from` to keep up with a leader that stands at `at` and left
/// `trail` last. A leader that something has just put there has left no trail.
pub(crate) fn course(from: Tile, at: Tile, trail: Option<Tile>) -> Course {
    match trail.filter(|tile| tile.steps_to(at) == 1) {
        Some(tile) if tile == from => Course::There,
        Some(tile) => Course::Onto(tile),
        None if from.steps_to(at) <= 1 => Course::There,
        None => Course::Beside(at),
    }
}

/// Returns the tile at which to look for a leader that is not here in this tick.
///
/// # Errors
/// `PlayerOffline`: the leader has not gone over a border, or is not there either.
pub(crate) fn lost(follow: &mut Follow) -> Result<Tile, Refusal> {
    follow.lost_ticks = follow.lost_ticks.saturating_add(1);
    let crossed = follow.region.tiles_past(follow.seen_at) >= BAND_TILES;
    if !crossed || follow.lost_ticks > LOST_TICKS {
        return Err(Refusal::PlayerOffline);
    }
    Ok(follow.seen_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::tile::Region;

    #[test]
    fn one_goes_where_the_other_was_and_beside_who_left_no_trail() {
        let tile = |x| Tile::new(x, 0);
        let table = [
            (0, 9, Some(8), Course::Onto(tile(8))),
            (8, 9, Some(8), Course::There),
            // It runs back to whom it follows, and past it.
            (9, 9, Some(8), Course::Onto(tile(8))),
            (10, 9, Some(8), Course::Onto(tile(8))),
            // Something put the leader there: its old place is no trail.
            (0, 9, Some(40), Course::Beside(tile(9))),
            (0, 9, None, Course::Beside(tile(9))),
            (8, 9, None, Course::There),
            (9, 9, None, Course::There),
        ];
        for (from, at, trail, goes) in table {
            let went = course(tile(from), tile(at), trail.map(tile));
            assert_eq!(went, goes, "{from} {at} {trail:?}");
        }
    }

    #[test]
    fn who_is_lost_is_looked_for_beyond_a_border_only_and_not_for_long() {
        let at = |x| Follow {
            leader: "ann".into(),
            region: Region { x: 0, z: 0 },
            seen_at: Tile::new(x, 0),
            lost_ticks: 0,
        };
        assert_eq!(lost(&mut at(66)), Err(Refusal::PlayerOffline));
        let mut gone = at(67);
        for _ in 0..LOST_TICKS {
            assert_eq!(lost(&mut gone), Ok(Tile::new(67, 0)));
        }
        assert_eq!(lost(&mut gone), Err(Refusal::PlayerOffline));
    }
}
