//! The numbers of a run, for people and as JSON.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;

use super::measure::{Tally, quantile_ms};
use crate::bot::{FaultKind, Possessions, View};

/// Examples of what went wrong that are kept of each kind.
const EXAMPLES_MAX: usize = 10;

/// Distribution of times, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// Number of values.
    pub count: usize,
    /// Half of the values do not exceed it.
    pub p50: f64,
    /// 95 % of the values do not exceed it.
    pub p95: f64,
    /// 99 % of the values do not exceed it.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

impl Quantiles {
    /// Makes the distribution of values in microseconds, in any order.
    pub fn of(mut values_us: Vec<u32>) -> Self {
        values_us.sort_unstable();
        Self {
            count: values_us.len(),
            p50: quantile_ms(&values_us, 0.5),
            p95: quantile_ms(&values_us, 0.95),
            p99: quantile_ms(&values_us, 0.99),
            max: quantile_ms(&values_us, 1.0),
        }
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Number of bots in the options.
    pub players: usize,
    /// Bots that came into the world.
    pub arrived: usize,
    /// Arrivals a second during the ramp.
    pub connect_rate: f64,
    /// From the intended connect to standing in the world.
    pub arrive_ms: Quantiles,
    /// From the moment a move was to be sent to the first update that shows its effect.
    pub move_ms: Quantiles,
    /// The measured time in seconds.
    pub measured_seconds: f64,
    /// `world:update`s a second, all bots together.
    pub updates_per_second: f64,
    /// Bytes of messages a second, all bots together.
    pub bytes_per_second: f64,
    /// Chat messages heard.
    pub heard: u64,
    /// Gaps in `seq`.
    pub gaps: u64,
    /// Connections that ended before the run did.
    pub disconnects: u64,
    /// The same by close code.
    pub disconnects_by_code: BTreeMap<String, u64>,
    /// Attempts to connect or enter that failed.
    pub failed: u64,
    /// The same by what happened.
    pub failed_by_cause: BTreeMap<String, u64>,
    /// Sessions that were resumed.
    pub resumed: u64,
    /// Resumed sessions to which everything was sent anew.
    pub resyncs: u64,
    /// Sessions that could not be resumed, so that a new one was begun.
    pub resume_failed: u64,
    /// Gateways that were left because they said that they go.
    pub moved_on: u64,
    /// Requests of value whose effect a message showed, by kind.
    #[serde(rename = "deeds")]
    pub actions: BTreeMap<String, u64>,
    /// Ground items that were picked up, of which the second number had been dropped by others.
    pub exchanges: (u64, u64),
    /// Number of messages that showed less than before, unasked.
    pub taken_back: u64,
    /// Number of messages that showed other changes than before, unasked.
    pub unasked: u64,
    /// The first of these two in words.
    pub possession_faults: Vec<String>,
    /// Moves whose effect was not seen in 10 s.
    pub lost: u64,
    /// Requests that were not answered in 10 s.
    pub unanswered: u64,
    /// `error` messages.
    pub errors_total: u64,
    /// The same by code.
    pub errors: BTreeMap<String, u64>,
    /// Messages that could not be read.
    pub unreadable: u64,
    /// Updates that did not fit a bot's map.
    pub map_faults: u64,
    /// The first of them.
    pub map_fault_examples: Vec<String>,
    /// Own positions further away than a runner gets.
    pub leaps: u64,
    /// The first leap of some bots: tick and place before and after.
    pub leap_examples: Vec<[(u64, i32, i32); 2]>,
    /// Updates after which a bot was not on its own map.
    pub self_unseen: u64,
    /// Number of deaths of bots.
    pub deaths: u64,
}

/// Values that [`Summary::new`] needs beside the bots' counters.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Number of bots in the options.
    pub players: usize,
    /// From the start of the ramp to the last arrival.
    pub arriving: Duration,
    /// The measured time.
    pub measured: Duration,
    /// Updates and bytes at the start of the measured time.
    pub before: (u64, u64),
    /// Updates and bytes at its end.
    pub after: (u64, u64),
}

impl Summary {
    /// Sums up a run.
    pub fn new(frame: Frame, total: &Tally) -> Self {
        let seconds = frame.measured.as_secs_f64().max(0.001);
        let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
        let arrived = total.arrivals_us.len();
        Self {
            players: frame.players,
            arrived,
            connect_rate: arrived as f64 / frame.arriving.as_secs_f64().max(0.001),
            arrive_ms: Quantiles::of(total.arrivals_us.clone()),
            move_ms: Quantiles::of(total.moves_us.clone()),
            measured_seconds: frame.measured.as_secs_f64(),
            updates_per_second: rate(frame.before.0, frame.after.0),
            bytes_per_second: rate(frame.before.1, frame.after.1),
            heard: total.heard,
            disconnects: total.disconnects.values().sum(),
            disconnects_by_code: total.disconnects.clone(),
            failed: total.failed.values().sum(),
            failed_by_cause: total.failed.clone(),
            resumed: total.resumed,
            resume_failed: total.resume_failed,
            moved_on: total.moved_on,
            lost: total.lost,
            unanswered: total.unanswered,
            unreadable: total.unreadable,
            ..Self::default()
        }
    }

    /// Adds what one bot's view counted.
    pub fn add_view(&mut self, view: &View) {
        self.gaps += view.gaps;
        self.resyncs += view.resyncs;
        self.leaps += view.leaps;
        if self.leap_examples.len() < EXAMPLES_MAX {
            self.leap_examples.extend(view.first_leap);
        }
        self.self_unseen += view.self_unseen;
        self.deaths += view.deaths;
        for (code, count) in &view.errors {
            *self.errors.entry((*code).to_owned()).or_default() += count;
            self.errors_total += count;
        }
        let (count, examples) = view.map.faults();
        self.map_faults += count;
        let room = EXAMPLES_MAX.saturating_sub(self.map_fault_examples.len());
        self.map_fault_examples
            .extend(examples.iter().take(room).cloned());
    }
}

impl Summary {
    /// Adds the faults and effects in one bot's messages about its possessions.
    pub fn add_possessions(&mut self, own: &Possessions) {
        for (action, count) in own.done() {
            *self.actions.entry((*action).to_owned()).or_default() += count;
        }
        let done = |name: &str| own.done().get(name).copied().unwrap_or(0);
        let others = done("pickup of another's");
        self.exchanges.0 += done("pickup") + others;
        self.exchanges.1 += others;
        self.taken_back += own.count(FaultKind::TakenBack);
        self.unasked += own.count(FaultKind::Unasked);
        let room = EXAMPLES_MAX.saturating_sub(self.possession_faults.len());
        let faults = own.faults().take(room);
        self.possession_faults.extend(faults.cloned());
    }
}

impl Summary {
    fn value(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.actions.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "value                   {} exchanges, {} of them between two; {:?}; \
             {} taken back, {} unasked",
            self.exchanges.0, self.exchanges.1, self.actions, self.taken_back, self.unasked
        )
    }
}

impl fmt::Display for Summary {
    #[allow(clippy::too_many_lines, reason = "one line a number")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, what: &str, q: &Quantiles| {
            writeln!(
                f,
                "{what:<24}p50 {:.0} ms, p95 {:.0} ms, p99 {:.0} ms, max {:.0} ms ({} values)",
                q.p50, q.p95, q.p99, q.max, q.count
            )
        };
        writeln!(
            f,
            "arrived                 {} of {}, {:.1} a second",
            self.arrived, self.players, self.connect_rate
        )?;
        line(f, "connect to world", &self.arrive_ms)?;
        line(f, "move to own update", &self.move_ms)?;
        writeln!(
            f,
            "received                {:.0} updates/s, {:.2} MB/s over {:.0} s",
            self.updates_per_second,
            self.bytes_per_second / 1e6,
            self.measured_seconds
        )?;
        writeln!(
            f,
            "lost                    {} disconnects {:?}, {} failed {:?}, {} resumed ({} anew, \
             {} not), {} moved on",
            self.disconnects,
            self.disconnects_by_code,
            self.failed,
            self.failed_by_cause,
            self.resumed,
            self.resyncs,
            self.resume_failed,
            self.moved_on
        )?;
        writeln!(
            f,
            "wrong                   {} gaps, {} moves lost, {} unanswered, {} unreadable, \
             {} map faults, {} leaps, {} unseen, {} deaths",
            self.gaps,
            self.lost,
            self.unanswered,
            self.unreadable,
            self.map_faults,
            self.leaps,
            self.self_unseen,
            self.deaths
        )?;
        self.value(f)?;
        write!(f, "errors                  {:?}", self.errors)?;
        for fault in &self.possession_faults {
            write!(f, "\n  {fault}")?;
        }
        for example in &self.map_fault_examples {
            write!(f, "\n  {example}")?;
        }
        for [(before, from_x, from_z), (after, to_x, to_z)] in &self.leap_examples {
            write!(
                f,
                "\n  from {from_x},{from_z} at tick {before} to {to_x},{to_z} at {after}"
            )?;
        }
        Ok(())
    }
}
