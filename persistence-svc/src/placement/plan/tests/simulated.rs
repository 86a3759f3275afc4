//! A world in which runs fulfil the move requests, tick by tick, and planning goes on all the time.

use super::*;

const TICK_MS: i64 = 600;
const ROUND_MS: i64 = 200;

/// The world, its clock and its history.
pub(super) struct World {
    pub(super) view: View,
    /// Each move: when, which region, from where, to where.
    pub(super) moves: Vec<(i64, Region, i64, i64)>,
    /// The move requests that a run has seen, since the tick at which it saw them.
    seen: BTreeMap<Region, (i64, i64)>,
    /// Costs vary by a tenth, by this seed.
    pub(super) jitter: Option<u64>,
    /// Times at which the plan fenced runs.
    taken_over: Vec<i64>,
    move_backoff: MoveBackoff,
    /// Run that takes no region, even if a move request asks for it.
    pub(super) refuses: Option<i64>,
}

impl World {
    pub(super) fn new(view: View) -> World {
        World {
            view,
            moves: Vec::new(),
            seen: BTreeMap::new(),
            jitter: None,
            taken_over: Vec::new(),
            move_backoff: MoveBackoff::default(),
            refuses: None,
        }
    }

    /// Adds a new run that lives.
    pub(super) fn join(&mut self, letter: char) {
        let joined = RunView {
            registered_ms: self.view.now_ms,
            until_ms: self.view.now_ms + LEASE_MS,
            ..newcomer(run_of(letter))
        };
        self.view.runs.push(joined);
    }

    /// Lets time pass until `done` or until `seconds` are over. Returns how many seconds it took.
    pub(super) fn until(&mut self, seconds: i64, done: impl Fn(&View) -> bool) -> Option<i64> {
        let begun = self.view.now_ms;
        while self.view.now_ms < begun + seconds * 1_000 {
            if done(&self.view) {
                return Some((self.view.now_ms - begun + 999) / 1_000);
            }
            self.round();
        }
        None
    }

    /// Lets time pass.
    pub(super) fn pass(&mut self, seconds: i64) {
        assert_eq!(self.until(seconds, |_| false), None);
    }

    fn round(&mut self) {
        self.view.now_ms += ROUND_MS;
        for run in &mut self.view.runs {
            run.until_ms = self.view.now_ms + LEASE_MS;
        }
        if self.view.now_ms % TICK_MS < ROUND_MS {
            self.tick();
        }
        self.plan();
    }

    /// Fulfils the move requests that the runs saw at an earlier tick.
    fn tick(&mut self) {
        let now = self.view.now_ms;
        let mut given = Vec::new();
        for one in &mut self.view.regions {
            let seen = self.seen.get(&one.region).copied();
            match (one.wanted, seen) {
                (NOBODY, _) => {
                    self.seen.remove(&one.region);
                }
                (to, _) if self.refuses == Some(to) => {}
                (to, Some((wanted, at))) if wanted == to && at < now => {
                    given.push((now, one.region, one.run, to));
                    (one.run, one.wanted, one.changed_ms) = (to, NOBODY, now);
                    one.epoch += 1;
                    self.seen.remove(&one.region);
                }
                (to, _) => {
                    self.seen.insert(one.region, (to, now));
                }
            }
            if let Some(seed) = &mut self.jitter {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let percent = i64::try_from((*seed >> 40) % 21).unwrap() - 10;
                let steady = cost(one.region);
                one.cost_us = steady + steady * percent / 100;
            }
        }
        for step in given {
            self.moves.push(step);
        }
    }

    fn plan(&mut self) {
        let now = self.view.now_ms;
        self.taken_over.retain(|at| *at > now - 60_000);
        self.view.taken_over = self.taken_over.len();
        self.move_backoff.look(&mut self.view);
        let change = plan(&self.view, POLICY);
        self.taken_over.extend(change.fence.iter().map(|_| now));
        self.view.runs.retain(|run| !change.fence.contains(&run.id));
        self.view.taken_over = self.taken_over.len();
        for step in change.moves {
            let one = at(&mut self.view, step.region.x, step.region.z);
            self.moves.push((now, step.region, one.run, step.to));
            (one.run, one.wanted, one.changed_ms) = (step.to, NOBODY, now);
            one.epoch += 1;
        }
        for request in change.move_requests {
            at(&mut self.view, request.region.x, request.region.z).wanted = request.to;
        }
        for pause in change.pauses {
            at(&mut self.view, pause.region.x, pause.region.z).paused = true;
        }
        // A second plan at the same moment changes nothing.
        assert_eq!(plan(&self.view, POLICY), Change::default());
        let outstanding: Vec<&RegionView> = self
            .view
            .regions
            .iter()
            .filter(|one| one.wanted != NOBODY)
            .collect();
        assert!(outstanding.len() <= 8);
        for run in &self.view.runs {
            assert!(outstanding.iter().filter(|one| one.run == run.id).count() <= 4);
        }
    }

    /// Returns the map now.
    pub(super) fn map(&self) -> String {
        after(&self.view, &Change::default())
    }
}

/// Returns the load of the busiest run as a multiple of the mean.
pub(super) fn ratio(view: &View) -> f64 {
    f64::from(i32::try_from(spread(view).ratio_permille.unwrap()).unwrap()) / 1_000.0
}

/// Returns the cost of a region of the skewed world: two towns, and woods between them.
pub(super) fn cost(region: Region) -> i64 {
    let town = |x: i32, z: i32| {
        let far = i64::from((region.x - x).pow(2) + (region.z - z).pow(2));
        6_000 / (1 + far)
    };
    town(2, 2) + town(7, 6)
}

/// Builds ten by ten regions of the skewed world, which two runs share.
pub(super) fn skewed() -> View {
    let line = "aaaaabbbbb";
    let mut view = view(&[line; 10].join(" "), "");
    for one in &mut view.regions {
        one.cost_us = cost(one.region);
    }
    view
}
