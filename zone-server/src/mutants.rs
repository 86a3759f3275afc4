//! Broken variants of the zone server, by which tests show that they would notice. No setting names
//! them: only code that builds a [`Config`](crate::config::Config) itself can break a rule.

/// The rules that the zone server breaks; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mutants {
    /// Whether the run tells clients of value before the store has acknowledged it.
    pub ack_before_commit: bool,
    /// Whether the run saves the sides of an exchange in two batches.
    pub separate_saves: bool,
    /// Whether no player is pinned to the zone in which it acts.
    pub no_pin: bool,
}
