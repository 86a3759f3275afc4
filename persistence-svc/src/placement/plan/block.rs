//! The shapes that regions make together.

use std::collections::BTreeSet;

use crate::store::model::Region;

/// Returns the regions at its four sides.
pub(super) fn neighbours(of: Region) -> [Region; 4] {
    [(1, 0), (0, 1), (-1, 0), (0, -1)].map(|(x, z)| shifted(of, x, z))
}

/// Returns the regions at its four corners, each between two of [`neighbours`] in their order.
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

/// Returns whether the regions `inside` stay in one piece without this one, as far as its
/// surroundings show: its neighbours inside are joined around its corners.
pub(super) fn holds_together(of: Region, inside: impl Fn(Region) -> bool) -> bool {
    let sides = neighbours(of).map(&inside);
    let corners = corners(of).map(&inside);
    let count = sides.iter().filter(|side| **side).count();
    let joined = (0..4).filter(|n| sides[*n] && sides[(*n + 1) % 4] && corners[*n]);
    count <= joined.count() + 1
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
