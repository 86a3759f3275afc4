//! Moments in words: ISO 8601 in UTC, to the millisecond.

use jiff::Timestamp;

/// Returns `2026-11-21T09:00:00.000Z` for milliseconds since 1970; the year 9999 at the latest.
pub fn iso(ms: u64) -> String {
    let moment = i64::try_from(ms).map(Timestamp::from_millisecond);
    let moment = moment.ok().and_then(Result::ok).unwrap_or(Timestamp::MAX);
    format!("{moment:.3}")
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn known_moments_are_written_as_iso_8601() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(iso(4_102_444_800_001), "2100-01-01T00:00:00.001Z");
    }
}
