//! NPC combat decisions: the choice of a target, and the moment to give it up.
//!
//! Always: an NPC gives up a target that is further from its home than its leash and its reach.

use super::AggressionTolerance;
use crate::content::NpcKind;
use crate::geometry::tile::Tile;
use crate::time::Tick;

/// Ticks in one place after which beasts leave a player alone.
const TOLERANCE_TICKS: u64 = 1_000;
/// Steps from the middle to the edge of the square that counts as one place: 21 x 21 tiles.
const TOLERANCE_TILES: u32 = 10;
/// Level from which NPCs attack anybody.
const FEARLESS_LEVEL: u32 = 999;
/// Category of NPCs that attack anybody, however long the target has stayed.
const BOSS: &str = "boss";
/// Steps from home beyond which an NPC that gives up is home at once.
pub(crate) const HOME_TILES: u32 = 50;
/// Ticks without coming nearer to its home after which an NPC is home at once.
pub(crate) const STUCK_TICKS: u32 = 10;

/// State of a possible target, as an NPC sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prey<'a> {
    pub(crate) tile: Tile,
    pub(crate) combat_level: u32,
    pub(crate) tolerance: Option<&'a AggressionTolerance>,
}

/// Returns whether an NPC of that kind at `at`, with its home at `home`, attacks `prey` unprovoked.
pub(crate) fn attacks(kind: &NpcKind, at: Tile, home: Tile, prey: &Prey<'_>, now: Tick) -> bool {
    let fight = &kind.fight;
    if !fight.aggressive || !kind.attackable || at.steps_to(prey.tile) > fight.aggro_tiles {
        return false;
    }
    if gives_up(kind, home, prey.tile) {
        return false;
    }
    if *kind.category == *BOSS {
        return true;
    }
    let used_to = prey
        .tolerance
        .is_some_and(|h| now.since(h.since) >= TOLERANCE_TICKS);
    let afraid = kind.level < FEARLESS_LEVEL && prey.combat_level > 2 * kind.level;
    !used_to && !afraid
}

/// Returns whether an NPC gives up a target at `tile`.
pub(crate) fn gives_up(kind: &NpcKind, home: Tile, tile: Tile) -> bool {
    let leash = kind.leash_tiles.unsigned_abs();
    tile.steps_to(home) > leash + kind.fight.range_tiles
}

/// Returns a new aggression tolerance for a player at `tile`, unless it is still in the place of
/// `before`.
pub(crate) fn settled(
    before: Option<&AggressionTolerance>,
    tile: Tile,
    now: Tick,
) -> Option<AggressionTolerance> {
    let stays = before.is_some_and(|tolerance| tolerance.middle.steps_to(tile) <= TOLERANCE_TILES);
    (!stays).then_some(AggressionTolerance {
        middle: tile,
        since: now,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wolf() -> NpcKind {
        let mut wolf = NpcKind {
            level: 10,
            attackable: true,
            leash_tiles: 6,
            ..NpcKind::plain("wolf", "Wolf")
        };
        wolf.fight.aggressive = true;
        wolf.fight.aggro_tiles = 5;
        wolf
    }

    fn prey(x: i32, combat_level: u32) -> Prey<'static> {
        Prey {
            tile: Tile::new(x, 0),
            combat_level,
            tolerance: None,
        }
    }

    #[test]
    fn the_near_and_the_weak_are_attacked() {
        let home = Tile::new(0, 0);
        let attacks = |kind: &NpcKind, x, level| {
            attacks(kind, Tile::new(2, 0), home, &prey(x, level), Tick(5_000))
        };
        for (x, level, is) in [(7, 20, true), (7, 21, false), (8, 3, false), (-3, 3, true)] {
            assert_eq!(attacks(&wolf(), x, level), is, "at {x} of level {level}");
        }
        let mut tame = wolf();
        tame.fight.aggressive = false;
        assert!(!attacks(&tame, 3, 3));
        let boss = NpcKind {
            category: "boss".into(),
            ..wolf()
        };
        assert!(attacks(&boss, 3, 126));
    }

    #[test]
    fn beasts_get_used_to_those_who_stay() {
        let since = Tick(1_000);
        let tolerance = settled(None, Tile::new(3, 0), since).unwrap();
        let prey = Prey {
            tolerance: Some(&tolerance),
            ..prey(3, 3)
        };
        let home = Tile::new(0, 0);
        assert!(attacks(&wolf(), home, home, &prey, Tick(1_999)));
        assert!(!attacks(&wolf(), home, home, &prey, Tick(2_000)));
        // Within ten tiles, it is the same place. Further away, it is another one.
        let same = settled(Some(&tolerance), Tile::new(13, -10), Tick(1_500));
        assert_eq!(same, None);
        let other = settled(Some(&tolerance), Tile::new(14, 0), Tick(1_500)).unwrap();
        assert_eq!((other.middle, other.since), (Tile::new(14, 0), Tick(1_500)));
    }

    #[test]
    fn one_is_given_up_beyond_leash_and_reach() {
        let home = Tile::new(0, 0);
        assert!(!gives_up(&wolf(), home, Tile::new(7, -7)));
        assert!(gives_up(&wolf(), home, Tile::new(8, 0)));
    }
}
