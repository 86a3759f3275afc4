//! The incarnation of a store: a number that tells a promoted standby or a restored backup from the
//! database that ran before.
//!
//! Always: `promoted` gives a greater number than any that a copy of this database ever had, even a
//! copy that is newer than the restored one. Runs, epochs of regions and epochs of sessions begin
//! at this number then, so none of them repeats one that was given after the backup was made.

/// Numbers of one millisecond: an incarnation is at least the time in milliseconds times this.
/// Times this, the clock stays below 2^53 for the next hundred years, so every JSON reader can read
/// it.
pub(crate) const PER_MS: i64 = 1_024;

/// Returns a random step within one millisecond, at least 1. Two copies that are promoted in the
/// same millisecond hardly get the same incarnation.
pub(crate) fn step() -> i64 {
    rand::random_range(1..PER_MS)
}

/// Returns the epoch of a character's next session, after the last one that this database knows.
pub(crate) fn next_session_epoch(last: i64, incarnation: i64) -> i64 {
    last.max(incarnation - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_grows_by_one_and_skips_those_of_another_incarnation() {
        assert_eq!(next_session_epoch(0, 1), 1);
        assert_eq!(next_session_epoch(7, 1), 8);
        assert_eq!(next_session_epoch(7, 9_000), 9_000);
        assert_eq!(next_session_epoch(9_000, 9_000), 9_001);
    }
}
