//! Shapes that content paints onto the land.

use super::noise;
use super::tile::{Bounds, Tile};

/// Shape of a paint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Line along points, `width` tiles wide.
    Line { width: i32, points: Vec<Tile> },
    /// All tiles within `radius` of `center`.
    Disc { center: Tile, radius: i32 },
    /// Upright rectangle.
    Rect(Bounds),
    /// Inside of the closed line through the points, the line included.
    Polygon { points: Vec<Tile> },
}

impl Shape {
    /// Returns a rectangle with all of the shape inside, `rough` noisy tiles included.
    pub(crate) fn bounds(&self, rough: i32) -> Bounds {
        let around = |points: &[Tile]| Bounds {
            min_x: points.iter().map(|p| p.x).min().unwrap_or(0),
            max_x: points
                .iter()
                .map(|p| p.x)
                .max()
                .unwrap_or(-1)
                .saturating_add(1),
            min_z: points.iter().map(|p| p.z).min().unwrap_or(0),
            max_z: points
                .iter()
                .map(|p| p.z)
                .max()
                .unwrap_or(-1)
                .saturating_add(1),
        };
        match self {
            Shape::Line { width, points } => around(points).grown(width / 2 + 1 + rough),
            Shape::Disc { center, radius } => around(&[*center]).grown(radius + rough),
            Shape::Rect(bounds) => bounds.grown(rough),
            Shape::Polygon { points } => around(points).grown(rough),
        }
    }

    /// Returns whether the shape covers `tile`; the edge wanders by up to `rough` tiles in or out.
    pub(crate) fn covers(&self, tile: Tile, rough: i32, seed: u64) -> bool {
        let tile = ragged(tile, rough, seed);
        match self {
            Shape::Line { width, points } => near_line(points, tile, i64::from(*width)),
            Shape::Disc { center, radius } => {
                let dx = i64::from(tile.x) - i64::from(center.x);
                let dz = i64::from(tile.z) - i64::from(center.z);
                let radius = i64::from(*radius);
                dx * dx + dz * dz <= radius * radius
            }
            Shape::Rect(bounds) => bounds.contains(tile),
            Shape::Polygon { points } => inside(points, tile),
        }
    }
}

/// Returns `tile` shifted by smooth noise of up to `rough` tiles.
fn ragged(tile: Tile, rough: i32, seed: u64) -> Tile {
    if rough == 0 {
        return tile;
    }
    let shift = |seed| {
        let n = noise::hills(seed, tile.x, tile.z, (rough * 5).max(8));
        ((n - noise::ONE / 2) * 2 * rough + noise::ONE / 2).div_euclid(noise::ONE)
    };
    tile.moved(shift(seed ^ 0x77), shift(seed ^ 0x78))
}

fn near_line(points: &[Tile], tile: Tile, width: i64) -> bool {
    match points {
        [only] => near_segment(*only, *only, tile, width),
        _ => points
            .windows(2)
            .any(|ends| near_segment(ends[0], ends[1], tile, width)),
    }
}

/// Returns whether `tile` is within `width` / 2 of the segment, without a root or a division.
fn near_segment(a: Tile, b: Tile, tile: Tile, width: i64) -> bool {
    let (dx, dz) = (
        i64::from(b.x) - i64::from(a.x),
        i64::from(b.z) - i64::from(a.z),
    );
    let (px, pz) = (
        i64::from(tile.x) - i64::from(a.x),
        i64::from(tile.z) - i64::from(a.z),
    );
    let length2 = dx * dx + dz * dz;
    let along = px * dx + pz * dz;
    let end = |x: i64, z: i64| 4 * (x * x + z * z) <= width * width;
    if along <= 0 || length2 == 0 {
        return end(px, pz);
    }
    if along >= length2 {
        return end(px - dx, pz - dz);
    }
    let cross = i128::from(dx * pz - dz * px);
    4 * cross * cross <= i128::from(width) * i128::from(width) * i128::from(length2)
}

/// Returns whether `tile` is inside, by the even-odd rule; the edge itself counts as inside.
fn inside(points: &[Tile], tile: Tile) -> bool {
    let mut odd = false;
    for (i, &a) in points.iter().enumerate() {
        let b = points[(i + 1) % points.len()];
        if near_segment(a, b, tile, 0) {
            return true;
        }
        if (a.z > tile.z) == (b.z > tile.z) {
            continue;
        }
        let (az, bz, tz) = (i64::from(a.z), i64::from(b.z), i64::from(tile.z));
        let (ax, bx, tx) = (i64::from(a.x), i64::from(b.x), i64::from(tile.x));
        let left = (tx - ax) * (bz - az);
        let right = (bx - ax) * (tz - az);
        if (bz > az && left < right) || (bz < az && left > right) {
            odd = !odd;
        }
    }
    odd
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(shape: &Shape) -> String {
        (-1..6)
            .rev()
            .map(|z| {
                (-1..8)
                    .map(|x| {
                        if shape.covers(Tile::new(x, z), 0, 1) {
                            '#'
                        } else {
                            '.'
                        }
                    })
                    .collect::<String>()
                    + "\n"
            })
            .collect()
    }

    fn points(list: &[(i32, i32)]) -> Vec<Tile> {
        list.iter().map(|&(x, z)| Tile::new(x, z)).collect()
    }

    #[test]
    fn shapes_cover_what_they_say() {
        let line = Shape::Line {
            width: 1,
            points: points(&[(0, 0), (4, 0), (4, 4)]),
        };
        let disc = Shape::Disc {
            center: Tile::new(3, 2),
            radius: 2,
        };
        let rect = Shape::Rect(Bounds {
            min_x: 1,
            max_x: 4,
            min_z: 1,
            max_z: 3,
        });
        let polygon = Shape::Polygon {
            points: points(&[(0, 0), (6, 0), (3, 4)]),
        };
        let all = [line, disc, rect, polygon].map(|s| picture(&s)).join("\n");
        insta::assert_snapshot!(all, @r"
        .........
        .....#...
        .....#...
        .....#...
        .....#...
        .#####...
        .........

        .........
        ....#....
        ...###...
        ..#####..
        ...###...
        ....#....
        .........

        .........
        .........
        .........
        ..###....
        ..###....
        .........
        .........

        .........
        ....#....
        ....#....
        ...###...
        ..#####..
        .#######.
        .........
        ");
    }

    #[test]
    fn a_rough_edge_stays_within_its_bounds() {
        let disc = Shape::Disc {
            center: Tile::new(0, 0),
            radius: 20,
        };
        let bounds = disc.bounds(4);
        let mut ragged = 0;
        for x in -40..40 {
            for z in -40..40 {
                let tile = Tile::new(x, z);
                let covered = disc.covers(tile, 4, 9);
                assert!(!covered || bounds.contains(tile), "{tile:?}");
                ragged += usize::from(covered != disc.covers(tile, 0, 9));
            }
        }
        assert!(ragged > 20, "{ragged} tiles differ");
    }
}
