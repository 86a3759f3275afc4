//! Dangers for agents: the beasts that would attack an agent and are stronger than it. Agents know
//! from content where beasts live.
//!
//! Always: only beasts that attack unprovoked count. If no other route is better, an agent takes
//! the straight one.

use crate::content::{Content, NpcPlacement};
use crate::entity::player::record::PlayerRecord;
use crate::geometry::Terrain;
use crate::geometry::tile::{Region, Tile};

/// Furthest tiles at which an agent looks out for beasts.
const LOOKOUT_TILES: u32 = 112;
/// Tiles between two samples of a way.
const SAMPLE_TILES: u32 = 4;
/// Tiles that an agent may go aside at a time.
const ASIDE_TILES: [i32; 2] = [32, 64];
/// Tiles of detour that a dangerous sample of a way is worth, for each beast.
const FEAR_TILES: u32 = 24;

/// Beasts around a player that it has to fear.
pub(crate) struct Danger {
    /// Home of each beast, and the steps from there within which it attacks.
    beasts: Vec<(Tile, u32)>,
}

impl Danger {
    /// Returns the dangers to `record` within its lookout.
    pub(crate) fn about(content: &Content, record: &PlayerRecord) -> Danger {
        Danger::near(content, record, LOOKOUT_TILES)
    }

    /// Returns the dangers to `record` in regions within so many tiles of it.
    pub(crate) fn near(content: &Content, record: &PlayerRecord, tiles: u32) -> Danger {
        let near = |region: &&Region| region.tiles_past(record.tile) <= tiles;
        let regions = content.regions();
        let npcs = regions.iter().filter(near);
        let npcs = npcs.flat_map(|region| content.npcs_in(*region));
        let feared = npcs.filter(|npc| is_feared(npc, record.combat_level));
        Danger {
            beasts: feared.map(|npc| (npc.tile, reach(npc))).collect(),
        }
    }

    /// Returns how many beasts may attack an agent at `tile`.
    pub(crate) fn at(&self, tile: Tile) -> u32 {
        let near = self.beasts.iter();
        let near = near.filter(|(home, reach)| home.steps_to(tile) <= *reach);
        u32::try_from(near.count()).unwrap_or(u32::MAX)
    }

    /// Returns how dangerous the straight way is: the sum over its samples, at most 3 for each.
    fn between(&self, from: Tile, to: Tile) -> u32 {
        let steps = from.steps_to(to);
        let samples = (steps / SAMPLE_TILES).max(1);
        let part = |from: i32, to: i32, n: u32| {
            let gone = (i64::from(to) - i64::from(from)) * i64::from(n) / i64::from(samples);
            from.saturating_add(i32::try_from(gone).unwrap_or(0))
        };
        let tile = |n| Tile::new(part(from.x, to.x, n), part(from.z, to.z, n));
        (1..=samples).map(|n| self.at(tile(n)).min(3)).sum()
    }

    /// Returns the next tile on the way to `place`: `straight`, or a tile aside where that is much
    /// safer. `straight` is no further than a leg.
    pub(crate) fn around(
        &self,
        terrain: &Terrain,
        from: Tile,
        straight: Tile,
        place: Tile,
    ) -> Tile {
        let worth = |tile: Tile| {
            let fear = self.between(from, tile) * FEAR_TILES;
            fear + self.at(tile) * FEAR_TILES + tile.steps_to(place)
        };
        if self.beasts.is_empty() || self.between(from, straight) == 0 {
            return straight;
        }
        let sides = (-1..=1).flat_map(|dx| (-1..=1).map(move |dz| (dx, dz)));
        let sides = sides.filter(|side| *side != (0, 0));
        let aside = sides.flat_map(|(dx, dz)| ASIDE_TILES.map(|far| (dx * far, dz * far)));
        let aside = aside.map(|(dx, dz)| from.moved(dx, dz));
        let aside = aside.filter(|tile| terrain.walkable(*tile));
        let best = aside
            .chain([straight])
            .min_by_key(|tile| (worth(*tile), *tile));
        best.unwrap_or(straight)
    }
}

fn is_feared(npc: &NpcPlacement, combat_level: u32) -> bool {
    let kind = &npc.kind;
    kind.fight.aggressive && kind.attackable && kind.level > combat_level
}

/// Returns the steps from its home within which an NPC attacks.
fn reach(npc: &NpcPlacement) -> u32 {
    let strays = npc.radius.max(0).unsigned_abs();
    strays.min(npc.kind.leash_tiles.unsigned_abs()) + npc.kind.fight.aggro_tiles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn danger() -> Danger {
        Danger {
            beasts: vec![(Tile::new(20, 0), 6)],
        }
    }

    #[test]
    fn one_goes_around_what_one_fears_and_straight_where_nothing_is() {
        let content = Content::embedded();
        let terrain = content.terrain();
        let (from, to) = (Tile::new(0, 0), Tile::new(40, 0));
        let danger = danger();
        assert!(danger.at(Tile::new(26, -6)) == 1 && danger.at(Tile::new(27, 0)) == 0);
        assert!(danger.between(from, to) > 0);
        let aside = danger.around(terrain, from, to, to);
        assert_ne!(aside, to);
        assert_eq!(danger.between(from, aside), 0, "{aside:?}");
        let away = Tile::new(0, 40);
        assert_eq!(danger.around(terrain, from, away, away), away);
    }
}
