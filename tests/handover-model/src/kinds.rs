//! Number of transitions of each kind.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        /// A transition that exploring must have taken.
        #[derive(Debug, Clone, Copy)]
        pub(super) enum Kind { $($kind),* }

        /// All of them.
        pub(super) const ALL: &[Kind] = &[$(Kind::$kind),*];
    };
}

kinds! {
    Crossed, Committed, AnswerLost, Repeated, Crashed, TakenOver, Suspected, Deadline,
    PlayerTaken, PlayerRefused, HandedOver, TransferStale, JoinedByWord, JoinedByStore,
    PendingDropped, SettledLocally, Forgotten, Admitted, Fenced,
    RegionPromised, RegionRefused, RegionOut, RegionGiven, RegionBack, RegionJoined,
    RegionLoaded, GivenUp, CalledOff, PromiseTakenBack,
    Paused, Resumed, Assigned, Rested, PauseCalledOff, PauseStale,
}

const KINDS: usize = ALL.len();
static TAKEN: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Counts a transition.
pub(super) fn note(kind: Kind) {
    if !SILENT.get() {
        TAKEN[kind as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// Does something that does not count.
pub(super) fn silently<T>(work: impl FnOnce() -> T) -> T {
    SILENT.set(true);
    let out = work();
    SILENT.set(false);
    out
}

/// Returns the number of transitions of each kind so far.
pub(super) fn taken() -> Vec<(Kind, u64)> {
    let count = |kind: &Kind| (*kind, TAKEN[*kind as usize].load(Ordering::Relaxed));
    ALL.iter().map(count).collect()
}
