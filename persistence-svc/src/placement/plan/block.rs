//! The shapes that regions make together.

use std::collections::BTreeSet;

use crate::store::model::Region;

/// Returns the regions at its four sides.
pub(super) fn neighbours(of: Region) -> [Region; 4] {
    [(1, 0), (0, 1), (-1, 0), (0, -1)].map(|(x, z)| shifted(of, x, z))
}

/// Returns the regions at its four corners.
fn corners(of: Region) -> [Region; 4] {
    [(1, 1), (-1, 1), (-1, -1), (1, -1)].map(|(x, z)| shifted(of, x, z))
}

fn shifted(of: Region, x: i32, z: i32) -> Region {
    Region {
        x: of.x.saturating_add(x),
        z: of.z.saturating_add(z),
    }
}

/// Returns the steps between two regions.
pub(super) fn distance(a: Region, b: Region) -> u64 {
    u64::from(a.x.abs_diff(b.x)) + u64::from(a.z.abs_diff(b.z))
}

/// Returns how many of its neighbours are `inside`.
pub(super) fn contacts(of: Region, inside: impl Fn(Region) -> bool) -> usize {
    neighbours(of)
        .into_iter()
        .filter(|near| inside(*near))
        .count()
}

/// Returns whether the regions `inside` stay in one piece without these, as far as the
/// surroundings show: their neighbours inside are joined around their corners.
pub(super) fn holds_together(without: &[Region], inside: impl Fn(Region) -> bool) -> bool {
    let stays = |near: &Region| !without.contains(near) && inside(*near);
    let sides = without.iter().flat_map(|one| neighbours(*one));
    let sides: BTreeSet<Region> = sides.filter(stays).collect();
    let corners = without.iter().flat_map(|one| corners(*one));
    let mut left: BTreeSet<Region> = corners.filter(stays).collect();
    left.extend(&sides);
    // From one neighbour all others must be in reach.
    let mut edge: Vec<Region> = sides.first().copied().into_iter().collect();
    let mut reached = 0;
    while let Some(region) = edge.pop() {
        if left.remove(&region) {
            reached += usize::from(sides.contains(&region));
            edge.extend(neighbours(region));
        }
    }
    reached == sides.len()
}

/// Returns how many connected pieces the regions form.
pub(super) fn pieces(regions: &[Region]) -> usize {
    let mut left: BTreeSet<Region> = regions.iter().copied().collect();
    let mut pieces = 0;
    while let Some(first) = left.pop_first() {
        pieces += 1;
        let mut edge = vec![first];
        while let Some(region) = edge.pop() {
            let near = neighbours(region).into_iter();
            edge.extend(near.filter(|near| left.remove(near)));
        }
    }
    pieces
}

/// Returns how many pairs of neighbours the cut separates.
pub(super) fn border(part: &[Region], rest: &[Region]) -> usize {
    let part: BTreeSet<Region> = part.iter().copied().collect();
    let cut = |region: &Region| contacts(*region, |near| part.contains(&near));
    rest.iter().map(cut).sum()
}
