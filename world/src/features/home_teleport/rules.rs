//! Going home by magic: to the spawn, after standing still for 17 ticks, once in 15 minutes,
//! and not out of a fight.
//!
//! Always: while the world waits to bring a player to a region that others play, the player stands
//! still. The wait ends when the player is there, or the way has failed.

use super::{Homeward, Leaving};
use crate::features::combat::Clash;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::time::Tick;

/// Ticks for which the player must stand still.
const CAST_TICKS: u64 = 17;
/// Ticks from the end of the magic until the player may begin again.
const COOLDOWN_TICKS: u64 = 1_500;
/// Ticks for which the zone tries to bring somebody to a region that others play.
const TRY_TICKS: u64 = 50;

/// Next step for a player that goes home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// No step yet.
    Nothing,
    /// The player is to stand at home now.
    Home,
    /// The way home has failed.
    Failed,
}

/// Begins to go home by magic.
///
/// # Errors
/// `Busy`: the player goes home already. `InCombat`, `Cooldown`.
pub(crate) fn begin(home: &mut Homeward, clash: &Clash, now: Tick) -> Result<(), Refusal> {
    if home.done_at.is_some() || home.leaving.is_some() {
        return Err(Refusal::Busy);
    }
    if clash.in_combat(now) {
        return Err(Refusal::InCombat);
    }
    if now < home.ready_at {
        return Err(Refusal::Cooldown);
    }
    home.done_at = Some(now.after(CAST_TICKS));
    Ok(())
}

/// Returns the next step at `now`. `here`: this process plays `place`, the goal.
pub(crate) fn due(home: &mut Homeward, place: Tile, here: bool, now: Tick) -> Due {
    if let Some(leaving) = &home.leaving {
        let over = leaving.called_off || now.since(leaving.since) >= TRY_TICKS;
        if here {
            home.leaving = None;
            return Due::Home;
        }
        if over {
            home.stayed();
            return Due::Failed;
        }
        return Due::Nothing;
    }
    if home.done_at.is_none_or(|done| now < done) {
        return Due::Nothing;
    }
    home.done_at = None;
    home.ready_at = now.after(COOLDOWN_TICKS);
    if here {
        return Due::Home;
    }
    home.leaving = Some(Leaving {
        place,
        since: now,
        called_off: false,
    });
    Due::Nothing
}
