//! Routes of agents: leg by leg, around dangers, to places near and far.
//!
//! Always: a leg is never longer than a way may be.

use super::danger::Danger;
use super::rules::{Act, Sees, WAIT_TICKS};
use super::{Goal, Pursuit};
use crate::geometry::tile::Tile;
use crate::rng::Dice;

/// Most steps from a place at which an agent has arrived.
const NEAR_TILES: u32 = 3;
/// Most tiles that an agent goes before it thinks again; less than a way may be long.
const LEG_TILES: i32 = 96;
/// Least and most tiles to a place that an agent goes to see, along each axis.
const SIGHT_TILES: (i32, i32) = (12, 40);
/// Places that an agent considers before it accepts a dangerous one.
const LOOKS_MAX: u32 = 8;

/// Returns the next act of an agent that explores: to a place of its own choice, and to the next.
pub(crate) fn explore(pursuit: &mut Pursuit, sees: &Sees<'_>, dice: &mut Dice) -> Act {
    if let Some(aim) = pursuit.aim.take() {
        if sees.tile.steps_to(aim) <= NEAR_TILES * 2 {
            pursuit.progress += 1;
            pursuit.tries = 0;
        } else {
            pursuit.tries += 1;
        }
    }
    if pursuit.progress >= pursuit.goal.target() {
        return Act::Done;
    }
    let far = |dice: &mut Dice| {
        let steps = dice.between(SIGHT_TILES.0, SIGHT_TILES.1);
        if dice.below(2) == 0 { steps } else { -steps }
    };
    let bounds = sees.content.bounds();
    let inside = |at: i32, low: i32, high: i32| at.clamp(low, high.saturating_sub(1).max(low));
    let mut place = || {
        let wanted = sees.tile.moved(far(dice), far(dice));
        Tile::new(
            inside(wanted.x, bounds.min_x, bounds.max_x),
            inside(wanted.z, bounds.min_z, bounds.max_z),
        )
    };
    let danger = sees.danger();
    let mut aim = place();
    for _ in 1..LOOKS_MAX {
        if danger.as_ref().is_none_or(|danger| danger.at(aim) == 0) {
            break;
        }
        aim = place();
    }
    pursuit.aim = Some(aim);
    Act::Walk(aim)
}

/// Returns the next act of an agent on its way to a place that may be far off, leg by leg.
pub(crate) fn go(pursuit: &mut Pursuit, place: Tile, sees: &Sees<'_>) -> Act {
    pursuit.aim = Some(place);
    let left = sees.tile.steps_to(place);
    let inside = match &pursuit.goal {
        Goal::Area(id) => {
            let area = sees.content.areas().iter().find(|area| *area.id == **id);
            area.is_some_and(|area| area.bounds.contains(sees.tile))
        }
        _ => false,
    };
    if left <= NEAR_TILES || inside {
        pursuit.progress = pursuit.goal.target();
        return Act::Done;
    }
    if left < pursuit.nearest {
        pursuit.nearest = left;
        pursuit.tries = 0;
    } else {
        pursuit.tries += 1;
    }
    Act::Walk(leg(sees, place))
}

impl Sees<'_> {
    /// Returns the dangers near the agent.
    fn danger(&self) -> Option<Danger> {
        let around = self.around.as_ref()?;
        Some(Danger::about(self.content, around.record))
    }
}

/// Returns the next leg towards `place`, around dangers.
pub(crate) fn leg(sees: &Sees<'_>, place: Tile) -> Tile {
    let straight = straight_leg(sees.tile, place);
    match sees.danger() {
        Some(danger) => danger.around(sees.content.terrain(), sees.tile, straight, place),
        None => straight,
    }
}

/// Returns the next straight leg towards `place`.
pub(crate) fn straight_leg(from: Tile, place: Tile) -> Tile {
    let steps = i64::from(from.steps_to(place));
    if steps <= i64::from(LEG_TILES) {
        return place;
    }
    let part = |from: i32, to: i32| {
        let gone = (i64::from(to) - i64::from(from)) * i64::from(LEG_TILES) / steps;
        // No longer than a leg.
        from.saturating_add(i32::try_from(gone).unwrap_or(0))
    };
    Tile::new(part(from.x, place.x), part(from.z, place.z))
}

/// Returns the next act of an agent that follows its leader.
pub(crate) fn follow(pursuit: &mut Pursuit, sees: &Sees<'_>) -> Act {
    let Some(leader) = sees.leader else {
        pursuit.tries += 1;
        return Act::Wait(WAIT_TICKS);
    };
    if sees.tile.steps_to(leader) < NEAR_TILES {
        pursuit.tries = 0;
        return Act::Wait(1);
    }
    // The leader may go on for ever. Only an agent that stands still has lost the way.
    let stands = pursuit.aim.replace(sees.tile) == Some(sees.tile);
    pursuit.tries = if stands { pursuit.tries + 1 } else { 0 };
    Act::Walk(straight_leg(sees.tile, leader))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_is_never_longer_than_a_way_may_be() {
        let from = Tile::new(-400, 900);
        for to in [Tile::new(5_000, -3), Tile::new(i32::MAX, i32::MIN)] {
            let leg = straight_leg(from, to);
            assert!(from.steps_to(leg) <= LEG_TILES.unsigned_abs(), "{leg:?}");
            assert!(leg.steps_to(to) < from.steps_to(to));
        }
    }
}
