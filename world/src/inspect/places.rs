//! Faults of areas, and of the people and things placed in them.

use std::collections::BTreeMap;

use super::Faults;
use super::reach::{Reach, fixtures, npcs};
use crate::content::{Area, Content};
use crate::entity::look::Kind;
use crate::geometry::tile::{Bounds, Tile};

/// Least part of a town, in hundredths, that must be open to walkers.
const OPEN_HUNDREDTHS: u64 = 30;

pub(super) fn inspect(content: &Content, reach: &Reach, faults: &mut Faults) {
    if !reach.on(content.spawn()) {
        faults.add("spawn", place(content.spawn()), "nobody can stand there");
    }
    for area in content.areas() {
        shape(content, area, faults);
        if !reach.into(area.bounds) {
            faults.add("area", &area.id, "nobody can walk there from the spawn");
        } else if area.starter_town {
            open(area, reach, faults);
        }
    }
    overlaps(content, faults);
    arenas(content, reach, faults);
    hidden(content, faults);
    people(content, reach, faults);
    things(content, reach, faults);
}

fn place(tile: Tile) -> String {
    format!("({}, {})", tile.x, tile.z)
}

fn within(inner: Bounds, outer: Bounds) -> bool {
    inner.min_x >= outer.min_x
        && inner.max_x <= outer.max_x
        && inner.min_z >= outer.min_z
        && inner.max_z <= outer.max_z
}

/// Adds a fault if the area leaves the land, or a part of it leaves the area.
fn shape(content: &Content, area: &Area, faults: &mut Faults) {
    if !within(area.bounds, content.bounds()) {
        faults.add("area", &area.id, "a part of it lies outside the land");
    }
    for zone in &area.sub_zones {
        if !within(zone.bounds, area.bounds) {
            let what = format!("its part {} lies partly outside it", zone.id);
            faults.add("area", &area.id, what);
        }
        if zone
            .spawn
            .is_some_and(|spawn| !content.terrain().walkable(spawn))
        {
            let what = format!("nobody can stand where its part {} lets them in", zone.id);
            faults.add("area", &area.id, what);
        }
    }
}

/// Adds a fault if players can walk too little of a town.
fn open(town: &Area, reach: &Reach, faults: &mut Faults) {
    let b = town.bounds;
    let rows = b.min_z..b.max_z;
    let tiles = rows.flat_map(|z| (b.min_x..b.max_x).map(move |x| Tile::new(x, z)));
    let open = tiles.filter(|tile| reach.on(*tile)).count() as u64;
    if open * 100 < b.area() * OPEN_HUNDREDTHS {
        let what = format!("only {open} of its {} tiles can be walked", b.area());
        faults.add("area", &town.id, what);
    }
}

/// Adds faults for areas that overlap. The smaller one counts there, so two must not be as large.
/// Two towns never share a tile, and no part of a safe town lets players attack each other.
fn overlaps(content: &Content, faults: &mut Faults) {
    let areas = content.areas();
    for (n, one) in areas.iter().enumerate() {
        for other in areas
            .iter()
            .skip(n + 1)
            .filter(|o| o.bounds.meets(one.bounds))
        {
            if one.bounds.area() == other.bounds.area() {
                let what = format!(
                    "overlaps {}, which is as large: neither goes first",
                    other.id
                );
                faults.add("area", &one.id, what);
            }
            if one.starter_town && other.starter_town {
                faults.add("area", &one.id, format!("overlaps the town {}", other.id));
            }
            let (small, large) = if one.bounds.area() < other.bounds.area() {
                (one, other)
            } else {
                (other, one)
            };
            if large.safe_zone && small.pvp {
                let what = format!(
                    "players may fight there, in a part of the safe {}",
                    large.id
                );
                faults.add("area", &small.id, what);
            }
        }
    }
}

/// Adds faults for arenas without two free places to begin, and for halls that no walk reaches.
fn arenas(content: &Content, reach: &Reach, faults: &mut Faults) {
    let duels = content.duel_arenas();
    for arena in &duels.arenas {
        let mut begins = arena.begins.iter();
        if let Some(tile) = begins.find(|tile| !content.terrain().walkable(**tile)) {
            let what = format!("nobody can stand at {}", place(*tile));
            faults.add("arena", &arena.id, what);
        }
        if arena.begins.len() < 2 {
            faults.add("arena", &arena.id, "says not where two begin");
        }
    }
    for (name, hall) in [("lobby", duels.lobby), ("hospital", duels.hospital)] {
        if let Some(hall) = hall.filter(|hall| !reach.on(hall.spawn)) {
            let what = format!("nobody can come to {}", place(hall.spawn));
            faults.add("arena", name, what);
        }
    }
}

/// Adds a fault for each area that is nowhere the smallest.
fn hidden(content: &Content, faults: &mut Faults) {
    let areas = content.areas();
    for area in areas {
        let b = area.bounds;
        let smaller: Vec<Bounds> = areas
            .iter()
            .map(|other| other.bounds)
            .filter(|o| o.area() < b.area() && o.meets(b))
            .collect();
        let covered = |tile| smaller.iter().any(|bounds| bounds.contains(tile));
        let seen =
            (b.min_z..b.max_z).any(|z| (b.min_x..b.max_x).any(|x| !covered(Tile::new(x, z))));
        if !seen {
            faults.add("area", &area.id, "smaller areas cover all of it");
        }
    }
}

fn people(content: &Content, reach: &Reach, faults: &mut Faults) {
    let terrain = content.terrain();
    for npc in npcs(content) {
        let stands = terrain.walkable(npc.tile);
        if npc.radius == 0 && !stands {
            let ground = terrain.kind(npc.tile).name();
            let what = format!("stands at {} in {ground}, or in something", place(npc.tile));
            faults.add("NPC", &npc.id, what);
        } else if !reach.meets(npc) {
            let what = format!("nobody can come near it at {}", place(npc.tile));
            faults.add("NPC", &npc.id, what);
        }
        for point in npc.patrol.iter().filter(|point| !reach.on(**point)) {
            faults.add("NPC", &npc.id, format!("cannot walk to {}", place(*point)));
        }
    }
}

fn things(content: &Content, reach: &Reach, faults: &mut Faults) {
    let terrain = content.terrain();
    let mut taken = BTreeMap::new();
    for fixture in fixtures(content) {
        let (sort, at) = match fixture.kind {
            Kind::Station => ("station", place(fixture.tile)),
            _ => ("resource", place(fixture.tile)),
        };
        for tile in &fixture.blocks {
            let ground = terrain.kind(*tile);
            if !ground.walkable() {
                let what = format!("stands at {at} in {}", ground.name());
                faults.add(sort, &fixture.id, what);
            }
            if let Some(other) = taken.insert(*tile, &fixture.id) {
                faults.add(sort, &fixture.id, format!("stands on {other} at {at}"));
            }
        }
        if fixture.blocks.is_empty() && terrain.walkable(fixture.tile) {
            faults.add(sort, &fixture.id, format!("swims at {at} on dry land"));
        }
        if !reach.uses(fixture) {
            faults.add(
                sort,
                &fixture.id,
                format!("nobody can come near it at {at}"),
            );
        }
    }
}
