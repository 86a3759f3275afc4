//! Broken variants of the store, by which tests show that they would notice. No setting names them:
//! only code that builds a [`Config`](crate::Config) itself can break a rule.

/// The rules that the store breaks; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mutants {
    /// The store believes a fenced run, even if another run owns the rows now.
    pub no_fence: bool,
    /// Nothing orders a transfer or a give against a change of its target.
    pub no_share_lock: bool,
}
