//! Agility: a player gains 50 experience in it for each 100 tiles on foot. A home teleport is no
//! way on foot.

use crate::entity::player::Player;

const LAP_TILES: u32 = 100;
const LAP_XP_TENTHS: u64 = 500;

/// Returns the experience of `player` for the tiles that it has gone, in tenths. The rest of the
/// tiles still counts.
pub(crate) fn gained(player: &mut Player) -> Option<u64> {
    let laps = player.skilling.tiles_gone / LAP_TILES;
    player.skilling.tiles_gone %= LAP_TILES;
    (laps > 0).then(|| u64::from(laps) * LAP_XP_TENTHS)
}
