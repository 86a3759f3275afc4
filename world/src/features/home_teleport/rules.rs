//! Going home by magic: to the spawn, after standing still for 17 ticks, once in 15 minutes,
//! and not out of a fight.
//!
//! Always: one who is about to be brought to a region that others play stands still until it
//! is there or that came to nothing.

use super::{Homeward, Leaving};
use crate::features::combat::Clash;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::time::Tick;

/// How long one has to stand still.
const CAST_TICKS: u64 = 17;
/// How long after that one may not do it again.
const COOLDOWN_TICKS: u64 = 1_500;
/// For so long it is tried to bring somebody to a region that others play.
const TRY_TICKS: u64 = 50;

/// What is to be done with one who goes home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing yet.
    Nothing,
    /// It is to stand at home now.
    Home,
    /// It came to nothing.
    Failed,
}

/// Begins.
///
/// # Errors
/// `Busy`: it has begun already. `InCombat`, `Cooldown`.
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

/// Somebody else puts one at `place`, at once.
///
/// # Errors
/// `Busy`: it is on its way somewhere already.
pub(crate) fn send(home: &mut Homeward, place: Tile, now: Tick) -> Result<(), Refusal> {
    if home.leaving.is_some() {
        return Err(Refusal::Busy);
    }
    home.done_at = None;
    home.leaving = Some(Leaving {
        place,
        since: now,
        called_off: false,
    });
    Ok(())
}

/// What is to be done at `now`. `here`: where it leads, `place`, is played here.
pub(crate) fn due(home: &mut Homeward, place: Tile, here: bool, now: Tick) -> Due {
    if let Some(leaving) = &home.leaving {
        let over = leaving.called_off || now.since(leaving.since) >= TRY_TICKS;
        if here {
            home.leaving = None;
            return Due::Home;
        }
        if over {
            stayed(home);
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

/// One who comes in from elsewhere and stands at `tile`. True: it has just been brought home.
pub(crate) fn arrived(home: &mut Homeward, tile: Tile) -> bool {
    let Some(leaving) = home.leaving.take() else {
        return false;
    };
    if leaving.place != tile {
        stayed(home);
    }
    leaving.place == tile
}

/// It stays where it is, and may begin again.
fn stayed(home: &mut Homeward) {
    home.leaving = None;
    home.ready_at = Tick::default();
}
