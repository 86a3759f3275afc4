//! Boxes around models, and their transforms by the nodes of a scene. Pure.

/// The smallest box around something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) min: [f64; 3],
    pub(super) max: [f64; 3],
}

/// A column-major 4 × 4 matrix, as glTF has it.
pub(super) type Matrix = [f64; 16];

pub(super) const IDENTITY: Matrix = [
    1.0, 0.0, 0.0, 0.0, //
    0.0, 1.0, 0.0, 0.0, //
    0.0, 0.0, 1.0, 0.0, //
    0.0, 0.0, 0.0, 1.0,
];

impl Bounds {
    /// Returns the smallest box around both.
    pub(super) fn with(self, other: Option<Bounds>) -> Bounds {
        let Some(other) = other else { return self };
        let pick = |of: fn(f64, f64) -> f64, a: [f64; 3], b: [f64; 3]| {
            [of(a[0], b[0]), of(a[1], b[1]), of(a[2], b[2])]
        };
        Bounds {
            min: pick(f64::min, self.min, other.min),
            max: pick(f64::max, self.max, other.max),
        }
    }

    /// Returns the smallest box around the eight corners after `by` moves them.
    pub(super) fn moved(self, by: &Matrix) -> Bounds {
        let corner = |n: usize| {
            let side = |axis: usize| {
                if n >> axis & 1 == 0 {
                    self.min[axis]
                } else {
                    self.max[axis]
                }
            };
            let at = [side(0), side(1), side(2), 1.0];
            let row = |row: usize| (0..4).map(|column| by[column * 4 + row] * at[column]).sum();
            let point = [row(0), row(1), row(2)];
            Bounds {
                min: point,
                max: point,
            }
        };
        (1..8).fold(corner(0), |all, n| corner(n).with(Some(all)))
    }

    /// Returns its length along each axis.
    pub(super) fn dimensions(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.max[axis] - self.min[axis])
    }

    /// Returns whether it is a box at all.
    pub(super) fn sound(&self) -> bool {
        let mut axes = self.min.iter().zip(&self.max);
        axes.all(|(min, max)| min.is_finite() && max.is_finite() && min <= max)
    }
}

/// Returns the matrix that applies `inner` first and then `outer`.
pub(super) fn after(outer: &Matrix, inner: &Matrix) -> Matrix {
    std::array::from_fn(|n| {
        let (column, row) = (n / 4, n % 4);
        (0..4)
            .map(|k| outer[k * 4 + row] * inner[column * 4 + k])
            .sum()
    })
}

/// Returns the matrix that scales, then turns by the quaternion (x, y, z, w), then moves.
pub(super) fn placed(scale: [f64; 3], [x, y, z, w]: [f64; 4], to: [f64; 3]) -> Matrix {
    let turn = [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y + z * w),
            2.0 * (x * z - y * w),
        ],
        [
            2.0 * (x * y - z * w),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z + x * w),
        ],
        [
            2.0 * (x * z + y * w),
            2.0 * (y * z - x * w),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ];
    let mut matrix = IDENTITY;
    for (column, axis) in turn.iter().enumerate() {
        for (row, part) in axis.iter().enumerate() {
            matrix[column * 4 + row] = part * scale[column];
        }
        matrix[12 + column] = to[column];
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANK: Bounds = Bounds {
        min: [0.0, 0.0, 0.0],
        max: [4.0, 1.0, 2.0],
    };

    fn near(a: Bounds, b: Bounds) -> bool {
        let pairs = a.min.iter().chain(&a.max).zip(b.min.iter().chain(&b.max));
        pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9)
    }

    #[test]
    fn a_quarter_turn_swaps_width_and_depth() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let turned = placed([1.0; 3], [0.0, half, 0.0, half], [0.0; 3]);
        let expected = Bounds {
            min: [0.0, 0.0, -4.0],
            max: [2.0, 1.0, 0.0],
        };
        assert!(near(PLANK.moved(&turned), expected));
    }

    #[test]
    fn what_is_outside_happens_last() {
        let twice = placed([2.0; 3], [0.0, 0.0, 0.0, 1.0], [0.0; 3]);
        let east = placed([1.0; 3], [0.0, 0.0, 0.0, 1.0], [10.0, 0.0, 0.0]);
        let moved = PLANK.moved(&after(&twice, &east));
        assert!((moved.min[0] - 20.0).abs() < 1e-9 && (moved.max[0] - 28.0).abs() < 1e-9);
        assert!(near(PLANK.moved(&after(&IDENTITY, &IDENTITY)), PLANK));
    }
}
