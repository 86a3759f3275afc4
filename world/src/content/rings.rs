//! Places for duels, from the content: an area with sub-zones for them, else `duel-arenas.json`.
//!
//! Always: a ring has two different places inside it at which its two begin.

use super::areas::Area;
use super::duel_arenas::{Arena, DuelArenas};
use super::zones::SubZone;
use crate::geometry::tile::{Bounds, Tile};

/// Places for challenges and duels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rings {
    /// Bounds in which players challenge each other.
    pub lobby: Bounds,
    /// Tile on which both stand after a duel.
    pub exit: Tile,
    /// Bounds that only fighters enter: nobody walks in or out.
    pub closed: Vec<Bounds>,
    /// Rings, the first of which is number 1.
    pub rings: Vec<Ring>,
}

/// Ring in which two fight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Bounds whose edges are walls for the two.
    pub bounds: Bounds,
    /// Tiles on which they begin: the challenger first.
    pub begins: [Tile; 2],
}

impl Rings {
    /// Returns the ring with that number, from 1.
    pub fn ring(&self, number: u8) -> Option<&Ring> {
        self.rings.get(usize::from(number).checked_sub(1)?)
    }

    /// Returns the bounds whose edges nobody crosses on foot.
    pub(crate) fn fences(&self) -> impl Iterator<Item = Bounds> {
        let rings = self.rings.iter().map(|ring| ring.bounds);
        self.closed.iter().copied().chain(rings)
    }

    /// Returns whether only fighters come to `tile`.
    pub fn closes(&self, tile: Tile) -> bool {
        self.closed.iter().any(|bounds| bounds.contains(tile))
    }
}

pub(crate) fn rings(areas: &[Area], file: &DuelArenas) -> Option<Rings> {
    areas.iter().find_map(of_area).or_else(|| of_file(file))
}

fn of_area(area: &Area) -> Option<Rings> {
    let zones = &area.sub_zones;
    let arenas = zones.iter().find(|zone| zone.arenas.is_some())?;
    let lobby = zones.iter().find(|zone| zone.id.contains("lobby"))?;
    let rings = grid(arenas);
    Some(Rings {
        lobby: lobby.bounds,
        exit: lobby.spawn.unwrap_or_else(|| middle(lobby.bounds)),
        closed: vec![arenas.bounds],
        rings,
    })
    .filter(|all| !all.rings.is_empty())
}

/// Returns the rings of a zone: row by row, from its south-western corner.
fn grid(zone: &SubZone) -> Vec<Ring> {
    let Some(of) = zone.arenas else {
        return Vec::new();
    };
    let int = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let ring = |n: u32| {
        let (column, row) = (int(n % of.columns), int(n / of.columns));
        let min_x = zone
            .bounds
            .min_x
            .saturating_add(column * int(of.width + of.gap));
        let min_z = zone
            .bounds
            .min_z
            .saturating_add(row * int(of.length + of.gap));
        let bounds = Bounds {
            min_x,
            max_x: min_x.saturating_add(int(of.width)),
            min_z,
            max_z: min_z.saturating_add(int(of.length)),
        };
        let (center, off) = (middle(bounds), int(of.length / 3).max(1));
        let begins = [-off, off].map(|dz| Tile::new(center.x, center.z + dz));
        sound(Ring { bounds, begins })
    };
    (0..of.count.min(of.columns * of.rows))
        .filter_map(ring)
        .collect()
}

fn of_file(file: &DuelArenas) -> Option<Rings> {
    let hall = file.lobby?;
    let (width, depth) = hall.size;
    let rings: Vec<Ring> = file.arenas.iter().filter_map(of_arena).collect();
    Some(Rings {
        lobby: Bounds::around(hall.center, width, depth),
        exit: hall.spawn,
        closed: rings.iter().map(|ring| ring.bounds).collect(),
        rings,
    })
    .filter(|all| !all.rings.is_empty())
}

fn of_arena(arena: &Arena) -> Option<Ring> {
    let [one, other, ..] = *arena.begins.as_slice() else {
        return None;
    };
    let (width, depth) = arena.size;
    sound(Ring {
        bounds: Bounds::around(arena.center, width, depth),
        begins: [one, other],
    })
}

fn sound(ring: Ring) -> Option<Ring> {
    let [one, other] = ring.begins;
    let inside = ring.bounds.contains(one) && ring.bounds.contains(other);
    (inside && one != other).then_some(ring)
}

fn middle(bounds: Bounds) -> Tile {
    Tile::new(
        bounds.min_x + (bounds.max_x - bounds.min_x) / 2,
        bounds.min_z + (bounds.max_z - bounds.min_z) / 2,
    )
}

#[cfg(test)]
mod tests {
    use crate::content::Content;
    use crate::geometry::tile::{Region, Tile};

    #[test]
    fn the_rings_that_ship_lie_in_one_region_with_their_lobby() {
        let content = Content::embedded();
        let all = content.rings().expect("there are rings");
        assert_eq!(all.rings.len(), 6);
        let first = all.ring(1).expect("the first");
        assert_eq!(first.begins, [Tile::new(-53, 83), Tile::new(-53, 91)]);
        let begins = all.rings.iter().flat_map(|ring| ring.begins);
        let region = Region::from(all.exit);
        for tile in begins {
            assert_eq!(Region::from(tile), region);
            assert!(all.closes(tile) && content.terrain().walkable(tile));
        }
        let edge = Tile::new(first.bounds.min_x, 87);
        for (dx, dz) in [(-1, 0), (-1, 1), (-1, -1)] {
            let outside = edge.moved(dx, dz);
            assert!(!content.terrain().step(edge, outside));
            assert!(!content.terrain().step(outside, edge));
        }
        assert!(content.terrain().step(edge, edge.moved(1, 0)));
        assert!(all.lobby.contains(all.exit) && !all.closes(all.exit));
        assert_eq!(all.ring(0), None);
        assert_eq!(all.ring(7), None);
    }
}
