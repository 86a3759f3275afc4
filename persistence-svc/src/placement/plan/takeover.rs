//! Chooses the dead runs to fence.
//!
//! Always: the plan fences a run when its lease has ended or two witnesses of late saw it dead, and
//! never for anything less; the limits delay and never forbid.

use super::{RunView, View};

/// Most runs that the plan takes over within a minute, for any reason.
pub(super) const TAKEOVERS_PER_MINUTE_MAX: usize = 10;
/// Leases that end within this time of each other count as one lapse of many.
const LAPSE_WINDOW_MS: i64 = 3_000;
/// Number of different witnesses that count like the end of a lease.
pub(crate) const WITNESSES_MIN: i64 = 2;
/// Time for which the report of a witness counts.
pub(crate) const WITNESS_MS: i64 = 3_000;

/// Returns whether enough witnesses saw it dead a moment ago.
pub(super) fn is_witnessed(run: &RunView) -> bool {
    run.witnesses >= WITNESSES_MIN
}

/// Returns whether it may own regions: its lease holds, and too few witnesses saw it dead.
pub(super) fn is_well(run: &RunView, now_ms: i64) -> bool {
    run.until_ms > now_ms && !is_witnessed(run)
}

/// Returns the runs to fence, by id, few at a time. When many leases end together, the fault is
/// more likely ours than theirs, and they get longer. Those with witnesses do not wait even then: a
/// slow store makes leases end, but it resets no streams and refuses no connections.
pub(super) fn fence(view: &View, mass_lapse_ms: i64) -> Vec<i64> {
    let room = TAKEOVERS_PER_MINUTE_MAX.saturating_sub(view.taken_over);
    let (witnessed, rest): (Vec<&RunView>, Vec<&RunView>) =
        view.runs.iter().partition(|run| is_witnessed(run));
    let ended = |run: &&RunView| run.until_ms <= view.now_ms;
    let mut lapsed: Vec<&RunView> = rest.into_iter().filter(ended).collect();
    lapsed.sort_by_key(|run| (run.until_ms, run.id));
    let together = |of: &RunView| {
        let all = view.runs.iter().filter(ended);
        all.filter(|run| (run.until_ms - of.until_ms).abs() <= LAPSE_WINDOW_MS)
            .count()
    };
    let overdue = lapsed.iter().filter(|run| {
        let count = together(run);
        let many = count > 1 && count * 2 >= view.runs.len();
        !many || run.until_ms.saturating_add(mass_lapse_ms) <= view.now_ms
    });
    let ids = witnessed.iter().chain(overdue).map(|run| run.id);
    let mut fence: Vec<i64> = ids.take(room).collect();
    fence.sort_unstable();
    fence
}
