//! Plans the owner of each region. Pure: it takes a view of the store and returns the changes.
//!
//! Always: a region of a living run stays where it is until that run gives it away, and a plan only
//! requests that; a plan fences a run only when its lease has ended or witnesses saw it dead, and
//! somebody can take its regions; a plan gives nothing to a run that drains, and moves no paused
//! region; the same view gives
//! the same plan, and a second plan after the first one changes nothing. A plan prefers one owner for
//! a town; faults, drains and an even load come before that.

mod assign;
mod balance;
mod block;
mod gather;
mod grow;
mod isolate;
mod move_backoff;
mod prospect;
mod requests;
mod takeover;
mod town;

use std::collections::{BTreeMap, BTreeSet};

use crate::store::model::{NOBODY, Region, RunState};
pub(crate) use isolate::FAULT_MS;
pub(crate) use move_backoff::MoveBackoff;
use prospect::Prospect;
pub(crate) use takeover::{WITNESS_MS, WITNESSES_MIN};

/// Input of a plan: one moment of the store.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) now_ms: i64,
    /// Runs that are not fenced, by id.
    pub(crate) runs: Vec<RunView>,
    /// All regions, by place.
    pub(crate) regions: Vec<RegionView>,
    /// Runs taken over in the last minute.
    pub(crate) taken_over: usize,
    /// Moves that did not happen. The planner does not plan them again for a while.
    pub(crate) backed_off: BTreeSet<(Region, i64)>,
}

/// A run that is not fenced.
#[derive(Debug, Clone)]
pub(crate) struct RunView {
    pub(crate) id: i64,
    pub(crate) state: RunState,
    pub(crate) content_hash: String,
    pub(crate) registered_ms: i64,
    pub(crate) until_ms: i64,
    /// Number of different witnesses that saw it dead within [`WITNESS_MS`].
    pub(crate) witnesses: i64,
}

/// A region.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegionView {
    pub(crate) region: Region,
    pub(crate) run: i64,
    pub(crate) epoch: i64,
    /// Share of a tick's work, in microseconds, as its owner last reported it.
    pub(crate) cost_us: i64,
    /// Time of its last change of owner; 0: never.
    pub(crate) changed_ms: i64,
    /// The run to which its owner should give it; 0: it should keep it.
    pub(crate) wanted: i64,
    /// Whether nobody may own it until an operator resumes it. One that has an owner still is about
    /// to be nobody's.
    pub(crate) paused: bool,
    /// Number of its runs that panicked in it within [`FAULT_MS`].
    pub(crate) faults: i64,
    /// Number of the town to which it belongs; 0: none.
    pub(crate) town: i32,
}

/// Policy of a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanPolicy {
    /// Delay of the first placement after the newest registration, so that runs that start together
    /// share the world.
    pub(crate) settle_ms: i64,
    /// Time by which a lease must be overdue when many lapsed at once.
    pub(crate) mass_lapse_ms: i64,
    /// Whether to fence nobody, because the store has only just come back.
    pub(crate) quiet: bool,
    /// Whether to move regions of living runs to even out their load.
    pub(crate) balance: bool,
}

/// Changes of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Runs whose lease has ended or that witnesses saw dead, by id.
    pub(crate) fence: Vec<i64>,
    /// Regions of nobody in order.
    pub(crate) moves: Vec<Move>,
    /// Regions of living runs in order.
    pub(crate) move_requests: Vec<MoveRequest>,
    /// Regions of nobody that nobody may play, in order.
    pub(crate) pauses: Vec<Pause>,
}

/// Gives a region to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) region: Region,
    /// Epoch before the move.
    pub(crate) epoch: i64,
    pub(crate) to: i64,
}

/// Asks a run to give a region away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MoveRequest {
    pub(crate) region: Region,
    pub(crate) epoch: i64,
    pub(crate) owner: i64,
    /// Run that should get it; 0: the owner should keep it after all.
    pub(crate) to: i64,
}

/// Keeps a region from being played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    pub(crate) region: Region,
    pub(crate) epoch: i64,
}

/// Spread of the work, for metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spread {
    /// The load of the busiest live run in thousandths of the mean; `None`: there is none.
    pub(crate) ratio_permille: Option<i64>,
    /// Move requests that are not fulfilled yet.
    pub(crate) move_requests: usize,
}

/// Number of changes that the store made for a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Runs fenced because their lease had ended.
    pub(crate) lapsed: usize,
    /// Runs fenced because witnesses saw them dead.
    pub(crate) witnessed: usize,
    /// Regions given to a run.
    pub(crate) moved: usize,
    /// Move requests made and withdrawn.
    pub(crate) requested: usize,
    /// Regions paused.
    pub(crate) paused: usize,
}

impl Applied {
    /// Returns whether it changed anything.
    pub(crate) fn is_anything(self) -> bool {
        self != Applied::default()
    }
}

impl Change {
    /// Returns whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.fence.is_empty()
            && self.moves.is_empty()
            && self.move_requests.is_empty()
            && self.pauses.is_empty()
    }
}

/// Returns the changes that are due now.
pub(crate) fn plan(view: &View, policy: PlanPolicy) -> Change {
    let fence = to_fence(view, policy);
    let known: BTreeSet<i64> = view.runs.iter().map(|run| run.id).collect();
    let lost = |one: &&RegionView| fence.contains(&one.run) || !known.contains(&one.run);
    let mut free: BTreeSet<Region> = view.regions.iter().filter(lost).map(place).collect();
    let mut prospect = Prospect::new(view, &free);
    let pauses: Vec<Pause> = isolate::to_pause(view, &free).map(pause).collect();
    let paused = view.regions.iter().filter(|one| one.paused).map(place);
    for region in paused.chain(pauses.iter().map(|one| one.region)) {
        free.remove(&region);
    }
    prospect.isolate(isolate::cells(&prospect, &free));
    let given = assign::assign(&prospect, &free, policy.settle_ms);
    for (region, run) in &given {
        prospect.put(*region, *run);
    }
    prospect.gives = !given.is_empty();
    let wanted = balance::move_requests(prospect, policy.balance);
    Change {
        moves: moves(view, &given),
        move_requests: move_requests(view, &fence, &wanted),
        pauses,
        fence,
    }
}

/// Returns the spread of the work now.
pub(crate) fn spread(view: &View) -> Spread {
    let well = |run: &&RunView| run.state == RunState::Live && takeover::is_well(run, view.now_ms);
    let mut load: BTreeMap<i64, i64> = view
        .runs
        .iter()
        .filter(well)
        .map(|run| (run.id, 0))
        .collect();
    for one in &view.regions {
        if let Some(load) = load.get_mut(&one.run) {
            *load += one.cost_us.max(prospect::FLOOR_US);
        }
    }
    Spread {
        ratio_permille: prospect::ratio_permille(&load),
        move_requests: view
            .regions
            .iter()
            .filter(|one| one.wanted != NOBODY)
            .count(),
    }
}

fn to_fence(view: &View, policy: PlanPolicy) -> Vec<i64> {
    let can_take =
        |run: &RunView| run.state == RunState::Live && takeover::is_well(run, view.now_ms);
    if policy.quiet || !view.runs.iter().any(can_take) {
        return Vec::new();
    }
    takeover::fence(view, policy.mass_lapse_ms)
}

fn place(one: &RegionView) -> Region {
    one.region
}

fn pause(one: &RegionView) -> Pause {
    Pause {
        region: one.region,
        epoch: one.epoch,
    }
}

fn moves(view: &View, given: &BTreeMap<Region, i64>) -> Vec<Move> {
    let step = |one: &RegionView| {
        let to = *given.get(&one.region)?;
        (to != NOBODY).then_some(Move {
            region: one.region,
            epoch: one.epoch,
            to,
        })
    };
    view.regions.iter().filter_map(step).collect()
}

/// Returns the move requests that differ from those in the view. A region that changes its owner
/// loses its move request.
fn move_requests(view: &View, fence: &[i64], wanted: &BTreeMap<Region, i64>) -> Vec<MoveRequest> {
    let owned = view
        .regions
        .iter()
        .filter(|one| one.run != NOBODY && !fence.contains(&one.run));
    let request = |one: &RegionView| {
        let to = wanted.get(&one.region).copied().unwrap_or(NOBODY);
        (to != one.wanted).then_some(MoveRequest {
            region: one.region,
            epoch: one.epoch,
            owner: one.run,
            to,
        })
    };
    owned.filter_map(request).collect()
}

#[cfg(test)]
mod tests;
