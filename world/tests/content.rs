//! The content that ships loads without a fault, and one can walk it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use world::{Content, Kind, Region, Tile};

fn files() -> BTreeMap<String, String> {
    let files = Content::embedded_files().iter();
    files
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

/// Returns all tiles to which one can walk from the spawn.
fn reachable(content: &Content) -> BTreeSet<Tile> {
    let terrain = content.terrain();
    let mut seen = BTreeSet::from([content.spawn()]);
    let mut queue = VecDeque::from([content.spawn()]);
    while let Some(tile) = queue.pop_front() {
        for (dx, dz) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            let next = tile.moved(dx, dz);
            if terrain.step(tile, next) && seen.insert(next) {
                queue.push_back(next);
            }
        }
    }
    seen
}

fn touches(tiles: &BTreeSet<Tile>, tile: Tile) -> bool {
    (-1..=1).any(|dx| (-1..=1).any(|dz| tiles.contains(&tile.moved(dx, dz))))
}

#[test]
fn the_content_that_ships_loads_without_warnings() {
    let loaded = Content::load(&files()).expect("the content loads");
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.is_empty(), "{}", warnings.join("\n"));
    assert_eq!(loaded.content.hash(), Content::embedded().hash());
}

#[test]
fn the_world_is_large_and_lived_in() {
    let content = Content::embedded();
    let bounds = content.bounds();
    assert!(bounds.max_x - bounds.min_x >= 8 * 64, "{bounds:?}");
    assert!(bounds.max_z - bounds.min_z >= 8 * 64, "{bounds:?}");
    let regions = content.regions();
    let npcs: usize = regions.iter().map(|r| content.npcs_in(*r).len()).sum();
    let of_kind = |kind| {
        let fixtures = regions.iter().flat_map(|r| content.fixtures_in(*r));
        fixtures.filter(|f| f.kind == kind).count()
    };
    let resources = of_kind(Kind::Resource);
    assert!(
        npcs + resources >= 300,
        "{npcs} NPCs and {resources} resources"
    );
    assert!(of_kind(Kind::Station) >= 10);
    let placed = |at: Tile| regions.contains(&Region::from(at));
    assert!(placed(content.spawn()));
}

#[test]
fn everything_that_is_placed_lies_within_the_world() {
    let content = Content::embedded();
    let regions = content.regions().into_iter();
    let ids: Vec<String> = regions
        .flat_map(|r| {
            let npcs = content.npcs_in(r).iter().map(|n| n.id.to_string());
            npcs.chain(content.fixtures_in(r).map(|f| f.id.to_string()))
                .collect::<Vec<_>>()
        })
        .collect();
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "ids are unique");
    assert!(
        ids.iter().all(|id| id.len() <= 64),
        "a client may name it in 64 bytes"
    );
}

#[test]
fn one_can_walk_from_the_spawn_to_every_town_and_everybody_in_it() {
    let content = Content::embedded();
    assert!(
        content.terrain().walkable(content.spawn()),
        "the spawn is free"
    );
    let reachable = reachable(&content);
    let towns: Vec<_> = content.areas().iter().filter(|a| a.starter_town).collect();
    assert!(towns.len() >= 2, "several towns");
    for town in &towns {
        let tiles = reachable
            .iter()
            .filter(|t| town.bounds.contains(**t))
            .count() as u64;
        assert!(
            tiles * 3 > town.bounds.area(),
            "{}: {tiles} tiles of it",
            town.id
        );
    }
    let mut lost = Vec::new();
    for region in content.regions() {
        for npc in content.npcs_in(region) {
            if !touches(&reachable, npc.tile) {
                lost.push(format!("{} at {:?}", npc.id, npc.tile));
            }
        }
        for fixture in content.fixtures_in(region) {
            // Spots lie out in the water, within a cast of the shore.
            let casts = fixture.sort.as_ref() == "fishing_spot";
            let near = |d: i32| {
                (-d..=d).any(|x| (-d..=d).any(|z| reachable.contains(&fixture.tile.moved(x, z))))
            };
            if !near(if casts { 4 } else { 1 }) {
                lost.push(format!("{} at {:?}", fixture.id, fixture.tile));
            }
        }
    }
    assert!(
        lost.is_empty(),
        "nobody can come near:\n{}",
        lost.join("\n")
    );
}

#[test]
fn everybody_who_is_placed_can_stand_where_they_are() {
    let content = Content::embedded();
    let terrain = content.terrain();
    let mut stuck = Vec::new();
    for npc in content.regions().iter().flat_map(|r| content.npcs_in(*r)) {
        if npc.radius == 0 && !terrain.walkable(npc.tile) {
            stuck.push(format!("{} on {:?}", npc.id, terrain.kind(npc.tile)));
        }
        for point in &npc.patrol {
            if !terrain.walkable(*point) {
                stuck.push(format!(
                    "{} walks to {point:?}, {:?}",
                    npc.id,
                    terrain.kind(*point)
                ));
            }
        }
    }
    assert!(stuck.is_empty(), "{}", stuck.join("\n"));
}

#[test]
fn nothing_solid_stands_on_another_solid_thing() {
    let content = Content::embedded();
    let mut taken = BTreeMap::new();
    let mut clashes = Vec::new();
    for fixture in content
        .regions()
        .iter()
        .flat_map(|r| content.fixtures_in(*r))
    {
        for tile in &fixture.blocks {
            if let Some(other) = taken.insert(*tile, fixture.id.clone()) {
                clashes.push(format!("{} and {other} at {tile:?}", fixture.id));
            }
        }
    }
    assert!(clashes.is_empty(), "{}", clashes.join("\n"));
}
