//! Places of the content that is built in, for tests.

use world::{Content, EntityId, Region, Tile};

/// Returns two regions, `west` and its eastern neighbour, whose border players can cross straight
/// along a row. Also the tile 8 before the border and the one 12 behind it.
pub fn border() -> (Region, Region, Tile, Tile) {
    let content = Content::embedded();
    let bounds = content.bounds();
    let terrain = content.terrain();
    for west in content.regions() {
        let east = Region {
            x: west.x + 1,
            z: west.z,
        };
        let edge = east.bounds().min_x;
        if edge + 16 > bounds.max_x {
            continue;
        }
        for z in west.bounds().min_z + 4..west.bounds().max_z - 4 {
            let open = (edge - 10..edge + 14).all(|x| terrain.walkable(Tile { x, z }));
            if open {
                let (from, to) = (Tile { x: edge - 8, z }, Tile { x: edge + 12, z });
                return (west, east, from, to);
            }
        }
    }
    panic!("the content has no border that can be walked across");
}

/// Returns the first NPC of a kind: its id, its home, and its region.
pub fn npc(kind: &str) -> (EntityId, Tile, Region) {
    let content = Content::embedded();
    let found = content.regions().into_iter().find_map(|region| {
        let mut there = content.npcs_in(region).iter();
        let npc = there.find(|npc| &*npc.kind.id == kind)?;
        Some((npc.id.clone(), npc.tile, region))
    });
    found.expect("the content has such an NPC")
}
