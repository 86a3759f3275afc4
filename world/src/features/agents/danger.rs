//! Where beasts are that would attack an agent and are stronger than it, as one knows them who
//! has heard of the country: from where content puts them.
//!
//! Always: only what attacks of its own accord counts; where there is no better way one goes the
//! straight one.

use crate::content::{Content, NpcPlacement};
use crate::entity::player::record::PlayerRecord;
use crate::geometry::Terrain;
use crate::geometry::tile::{Region, Tile};

/// As far as one looks out for beasts.
const LOOKOUT_TILES: u32 = 112;
/// A way is looked at every so many tiles.
const SAMPLE_TILES: u32 = 4;
/// How far one goes aside at a time.
const ASIDE_TILES: [i32; 2] = [32, 64];
/// As many tiles one goes out of one's way for each sample of a way that is dangerous.
const FEAR_TILES: u32 = 24;

/// The beasts that somebody has to fear, about where it stands.
pub(crate) struct Danger {
    /// Where they live, and how near to there one is attacked.
    beasts: Vec<(Tile, u32)>,
}

impl Danger {
    /// What `record` has to fear within sight.
    pub(crate) fn about(content: &Content, record: &PlayerRecord) -> Danger {
        Danger::near(content, record, LOOKOUT_TILES)
    }

    /// What `record` has to fear in regions within so many tiles of it.
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

    /// How many may attack one who comes to `tile`.
    pub(crate) fn at(&self, tile: Tile) -> u32 {
        let near = self.beasts.iter();
        let near = near.filter(|(home, reach)| home.steps_to(tile) <= *reach);
        u32::try_from(near.count()).unwrap_or(u32::MAX)
    }

    /// How dangerous the straight way is.
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

    /// Where one goes first who wants to be at `place`, which is no further than a leg: straight
    /// there, or aside where that is much safer.
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

/// How near to its home one is attacked by it.
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
