//! The incarnation of a store: a number that tells a promoted standby or a restored backup from the
//! database that ran before.
//!
//! Always: `promoted` gives a greater number than any that a copy of this database ever had, even a
//! copy that is newer than the restored one. All numbers that another process remembers, or that name
//! a row for ever, begin at this number then: runs, epochs of regions and of sessions, ownership
//! sequences, versions of the directory and of sanctions, orders to agents, and the operations of the
//! store itself. So none of them repeats one that was given after the backup was made, and a process
//! that remembers a later one takes the new ones for newer.

/// Numbers of one millisecond: an incarnation is at least the time in milliseconds times this.
/// Times this, the clock stays below 2^53 for the next hundred years, so every JSON reader can read
/// it.
pub(crate) const PER_MS: i64 = 1_024;

/// Raises the ownership sequence of every character in the world to the incarnation ?1. A gateway
/// that saw a character cross borders after the backup was made takes no lower one from anybody.
pub(crate) const RAISE_SEQUENCES: &str = r#"UPDATE characters SET "ownershipSequence" = ?1
 WHERE online AND "ownershipSequence" < ?1"#;

/// Statements that raise the counters of one row each to the incarnation ?1.
pub(crate) const RAISE_COUNTERS: [&str; 4] = [
    "UPDATE directory SET version = ?1 WHERE version < ?1",
    "UPDATE identity SET version = ?1 WHERE version < ?1",
    "UPDATE agent_orders SET last = ?1 WHERE last < ?1",
    "UPDATE operations SET last = ?1 WHERE last < ?1",
];

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
