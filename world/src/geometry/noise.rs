//! Smooth chance over the plane, in whole numbers, the same on every machine.

/// Greatest value of [`smooth`].
pub(crate) const ONE: i32 = 65_535;

/// Returns a well mixed number for a point.
pub(crate) fn hash(seed: u64, x: i32, z: i32) -> u32 {
    let point = (u64::from(x.cast_unsigned()) << 32) | u64::from(z.cast_unsigned());
    let mut v = seed ^ point.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    v = (v ^ (v >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    v = (v ^ (v >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((v ^ (v >> 31)) >> 32) as u32
}

/// Returns 3t² - 2t³ over 0..=65535.
pub(crate) fn ease(t: i32) -> i32 {
    let t = i64::from(t.clamp(0, ONE));
    ((t * t / 65_536) * (3 * 65_536 - 2 * t) / 65_536).clamp(0, i64::from(ONE)) as i32
}

/// Returns value noise, 0..=65535, that takes about `period` tiles from one hill to the next.
pub(crate) fn smooth(seed: u64, x: i32, z: i32, period: i32) -> i32 {
    let (cx, cz) = (x.div_euclid(period), z.div_euclid(period));
    let fraction = |v: i32| ease(v.rem_euclid(period) * 65_536 / period);
    let (fx, fz) = (fraction(x), fraction(z));
    let corner =
        |dx: i32, dz: i32| (hash(seed, cx.wrapping_add(dx), cz.wrapping_add(dz)) >> 16) as i32;
    let south = blend(corner(0, 0), corner(1, 0), fx);
    let north = blend(corner(0, 1), corner(1, 1), fx);
    blend(south, north, fz)
}

/// Returns the value from `a` to `b` by `t` of 65536.
pub(crate) fn blend(a: i32, b: i32, t: i32) -> i32 {
    let (a, b) = (i64::from(a), i64::from(b));
    (a + (b - a) * i64::from(t) / 65_536) as i32
}

/// Returns three octaves of [`smooth`], 0..=65535.
pub(crate) fn hills(seed: u64, x: i32, z: i32, period: i32) -> i32 {
    let wide = smooth(seed, x, z, period);
    let middle = smooth(seed ^ 0x51, x, z, (period / 3).max(2));
    let fine = smooth(seed ^ 0xa7, x, z, (period / 8).max(2));
    (wide * 5 + middle * 2 + fine) / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_smooth_and_in_range() {
        for x in -200..200 {
            let (here, there) = (smooth(3, x, 5, 32), smooth(3, x + 1, 5, 32));
            assert!((0..=ONE).contains(&here), "{here}");
            assert!(
                (here - there).abs() < 4_500,
                "a step of {} at {x}",
                here - there
            );
        }
    }

    #[test]
    fn noise_knows_the_whole_plane() {
        for v in [i32::MIN, -1, 0, i32::MAX] {
            assert!((0..=ONE).contains(&smooth(1, v, v, 7)));
            assert!((0..=ONE).contains(&hills(1, v, v, 96)));
        }
    }

    #[test]
    fn noise_covers_its_range() {
        let values: Vec<i32> = (0..4000).map(|i| smooth(9, i * 13, i * 7, 16)).collect();
        assert!(values.iter().min() < Some(&6_000));
        assert!(values.iter().max() > Some(&59_000));
    }
}
