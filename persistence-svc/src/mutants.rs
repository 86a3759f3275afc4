//! Broken variants of the store, to see that the tests catch them. A release lacks them.

use std::sync::atomic::{AtomicU8, Ordering};

/// A rule that the store breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Mutant {
    /// The store believes a fenced run, even if another run owns the rows now.
    NoFence = 1,
    /// Nothing orders a transfer or a give against a change of its target.
    NoShareLock = 2,
}

static BROKEN: AtomicU8 = AtomicU8::new(0);

/// Breaks one rule in this whole process, or none.
pub fn set(mutant: Option<Mutant>) {
    let number = mutant.map_or(0, |mutant| mutant as u8);
    BROKEN.store(number, Ordering::SeqCst);
}

/// Returns whether the rule is broken.
pub(crate) fn is(mutant: Mutant) -> bool {
    BROKEN.load(Ordering::SeqCst) == mutant as u8
}
