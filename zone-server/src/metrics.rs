//! All instruments of a zone server.
//!
//! Always: no label names a player or a gateway, and a label names a region only while it is one of
//! the busiest few; durations are in seconds.

mod economy;
mod load;

use std::time::Duration;

use opentelemetry::{
    KeyValue,
    metrics::{Counter, Gauge, Histogram, Meter},
};
use proto::rpc::persistence::v1::{CommitRows, RegionLoad};
use service_runtime::instruments::counter;

use self::{economy::Economy, load::Loads};
use crate::commit::rows;

const TICK_BUCKETS: [f64; 14] = [
    0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.2, 0.4, 0.6, 1.2,
];
const CALL_BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0,
];

/// Bounds of a histogram, in ticks.
const MISSED_BUCKETS: [f64; 9] = [0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0, 100.0];

/// The instruments; clones are the same ones.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    phase: Histogram<f64>,
    work: Histogram<f64>,
    late: Histogram<f64>,
    still: Gauge<f64>,
    lost: Counter<u64>,
    players: Gauge<u64>,
    regions: Gauge<u64>,
    gateways: Gauge<u64>,
    inputs: Counter<u64>,
    inbox: Gauge<u64>,
    frames: Counter<u64>,
    frame_bytes: Counter<u64>,
    commits: Counter<u64>,
    commit_rows: Counter<u64>,
    commit_time: Histogram<f64>,
    value: ValueGauges,
    handovers: Counter<u64>,
    region_moves: Counter<u64>,
    region_missed: Histogram<u64>,
    handover_time: Histogram<f64>,
    agents: Gauge<u64>,
    agent_words: Counter<u64>,
    regains: Counter<u64>,
    runs: Counter<u64>,
    passages: Passages,
    economy: Economy,
    loads: Loads,
}

/// Gauges of the value that waits for the store.
#[derive(Debug, Clone)]
struct ValueGauges {
    ledger: Gauge<u64>,
    held: Gauge<u64>,
    held_age: Gauge<f64>,
    wait: Gauge<f64>,
    state: Gauge<u64>,
}

/// Counters of the characters that runs took in and let go.
#[derive(Debug, Clone)]
struct Passages {
    entries: Counter<u64>,
    departures: Counter<u64>,
}

impl Passages {
    fn new(meter: &Meter) -> Passages {
        Passages {
            entries: counter(
                meter,
                "zone_entries_total",
                "Characters that a run took in, by where they came from",
            ),
            departures: counter(
                meter,
                "zone_departures_total",
                "Characters that a run let go, by reason",
            ),
        }
    }
}

/// The value that waits for the store after a tick.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingValue {
    /// Entries of the ledger that are not acknowledged.
    pub(crate) ledger: usize,
    /// Messages and ground items that wait.
    pub(crate) held: usize,
    /// Time for which the oldest of those messages has waited, in milliseconds.
    pub(crate) held_ms: u64,
    /// Time since the batch in flight was cut, in milliseconds.
    pub(crate) commit_ms: u64,
    /// Whether items and coins may change owners: 0 yes, 1 frozen, 2 storage unavailable.
    pub(crate) state: u64,
}

impl ValueGauges {
    fn new(meter: &Meter) -> ValueGauges {
        let now = |name: &'static str, what: &'static str| {
            meter.u64_gauge(name).with_description(what).build()
        };
        ValueGauges {
            ledger: now(
                "zone_ledger_entries",
                "Entries of the ledger that are not acknowledged",
            ),
            held: now(
                "zone_held_messages",
                "Messages and ground items that wait for an acknowledgement",
            ),
            held_age: meter
                .f64_gauge("zone_held_age_seconds")
                .with_unit("s")
                .with_description("Since the oldest held message was held; 0: none is")
                .build(),
            wait: meter
                .f64_gauge("zone_commit_wait_seconds")
                .with_unit("s")
                .with_description("Since the batch in flight was cut; 0: there is none")
                .build(),
            state: now(
                "zone_value_state",
                "Whether items and coins may change owners: 0 yes, 1 frozen, 2 storage unavailable",
            ),
        }
    }
}

/// Returns the gauge of a tick loop that stands still.
fn age(meter: &Meter) -> Gauge<f64> {
    meter
        .f64_gauge("zone_tick_age_seconds")
        .with_unit("s")
        .with_description("Time for which the tick loop has stood still; 0: it moves")
        .build()
}

/// Makes the histogram of the ticks that moves of regions cost.
fn missed(meter: &Meter) -> Histogram<u64> {
    meter
        .u64_histogram("zone_region_missed_ticks")
        .with_description("Ticks in which a region that was given away stood still")
        .with_boundaries(MISSED_BUCKETS.to_vec())
        .build()
}

impl Metrics {
    pub(crate) fn new(meter: &Meter) -> Metrics {
        let seconds = |name: &'static str, what: &'static str, buckets: &[f64]| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(what)
                .with_boundaries(buckets.to_vec())
                .build()
        };
        let count = |name, what| counter(meter, name, what);
        let now = |name: &'static str, what: &'static str| {
            meter.u64_gauge(name).with_description(what).build()
        };
        Metrics {
            phase: seconds(
                "zone_tick_phase_seconds",
                "Work of a tick by phase",
                &TICK_BUCKETS,
            ),
            work: seconds("zone_tick_seconds", "Work of a whole tick", &TICK_BUCKETS),
            late: seconds(
                "zone_tick_late_seconds",
                "How late ticks begin",
                &TICK_BUCKETS,
            ),
            still: age(meter),
            lost: count("zone_ticks_lost_total", "Ticks that were skipped"),
            players: now("zone_players", "Players in memory"),
            regions: now("zone_regions", "Regions played"),
            gateways: now("zone_gateways", "Gateways linked"),
            inputs: count("zone_inputs_total", "Inputs by what became of them"),
            inbox: now("zone_inbox_inputs", "Inputs that the last tick played"),
            frames: count("zone_frames_total", "Frames sent to gateways"),
            frame_bytes: count("zone_frame_bytes_total", "Bytes of chunks in frames"),
            commits: count("zone_commits_total", "Commits by outcome"),
            commit_rows: count("zone_commit_rows_total", "Rows sent in commits"),
            commit_time: seconds("zone_commit_seconds", "Time of commits", &CALL_BUCKETS),
            value: ValueGauges::new(meter),
            handovers: count("zone_handovers_total", "Handovers of players by outcome"),
            region_moves: count("zone_region_moves_total", "Moves of regions by outcome"),
            region_missed: missed(meter),
            handover_time: seconds(
                "zone_handover_seconds",
                "From a handover's first word to its commit's acknowledgement",
                &CALL_BUCKETS,
            ),
            agents: now("zone_agents", "Agents in the world"),
            regains: count(
                "zone_regained_places_total",
                "Places that gateways offered for characters of lost runs, by what became of them",
            ),
            agent_words: count(
                "zone_agent_words_total",
                "Orders and commands for agents by what became of them",
            ),
            runs: count("zone_runs_total", "Runs by how they ended"),
            passages: Passages::new(meter),
            economy: Economy::new(meter),
            loads: Loads::new(meter),
        }
    }

    /// Records the work of one phase of a tick.
    pub(crate) fn phase(&self, phase: &'static str, took: Duration) {
        let labels = [KeyValue::new("phase", phase)];
        self.phase.record(took.as_secs_f64(), &labels);
    }

    /// Records one tick: its work, its delay, and the number of ticks before it that were skipped.
    pub(crate) fn tick(&self, took: Duration, late: Duration, lost: u64) {
        self.work.record(took.as_secs_f64(), &[]);
        self.late.record(late.as_secs_f64(), &[]);
        self.lost.add(lost, &[]);
    }

    /// Records the time for which the tick loop has stood still.
    pub(crate) fn stood_still(&self, stood: Duration) {
        self.still.record(stood.as_secs_f64(), &[]);
    }

    /// Records the number of players, regions and gateways that the run holds.
    pub(crate) fn holds(&self, players: usize, regions: usize, gateways: usize) {
        self.players.record(players as u64, &[]);
        self.regions.record(regions as u64, &[]);
        self.gateways.record(gateways as u64, &[]);
    }

    /// Records the number of agents in the world.
    pub(crate) fn agents(&self, agents: u64) {
        self.agents.record(agents, &[]);
    }

    /// Counts a word for an agent: heard or full.
    pub(crate) fn agent_word(&self, became: &'static str) {
        self.agent_words.add(1, &[KeyValue::new("outcome", became)]);
    }

    /// Counts an offer of the place of a character whose run was lost.
    pub(crate) fn regained(&self, became: &'static str) {
        self.regains.add(1, &[KeyValue::new("outcome", became)]);
    }

    /// Counts an input: played, duplicate, full, stale or unknown.
    pub(crate) fn input(&self, became: &'static str) {
        self.inputs.add(1, &[KeyValue::new("outcome", became)]);
    }

    /// Records the number of inputs that a tick played.
    pub(crate) fn inbox(&self, inputs: usize) {
        self.inbox.record(inputs as u64, &[]);
    }

    /// Counts the frames and bytes that went to gateways.
    pub(crate) fn frames(&self, frames: u64, bytes: u64) {
        self.frames.add(frames, &[]);
        self.frame_bytes.add(bytes, &[]);
    }

    /// Records one attempt at a commit.
    pub(crate) fn commit(&self, outcome: &'static str, took: Duration, rows: &CommitRows) {
        let outcome = KeyValue::new("outcome", outcome);
        for (kind, count) in rows::kinds(rows) {
            let labels = [outcome.clone(), KeyValue::new("kind", kind)];
            self.commit_rows.add(count as u64, &labels);
        }
        let labels = [outcome];
        self.commits.add(1, &labels);
        self.commit_time.record(took.as_secs_f64(), &labels);
    }

    /// Records the value that waits for the store after a tick, and whether items and coins may
    /// change owners.
    pub(crate) fn value(&self, waits: WaitingValue) {
        let gauges = &self.value;
        gauges.ledger.record(waits.ledger as u64, &[]);
        gauges.held.record(waits.held as u64, &[]);
        let seconds = |ms: u64| ms as f64 / 1000.0;
        gauges.held_age.record(seconds(waits.held_ms), &[]);
        gauges.wait.record(seconds(waits.commit_ms), &[]);
        gauges.state.record(waits.state, &[]);
    }

    /// Counts what the ledger of a batch made and destroyed, when the store has applied the batch.
    pub(crate) fn applied(&self, rows: &CommitRows) {
        self.economy.applied(&rows.ledger);
    }

    /// Counts a character that the run took in from `store`, `handover` or `region_move`.
    pub(crate) fn entered(&self, from: &'static str) {
        self.passages.entries.add(1, &[KeyValue::new("from", from)]);
    }

    /// Counts characters that the run let go: left, disconnected, handover, region_move,
    /// region_paused, turned_away, lost or run_ended. The entries less these are the characters that it holds.
    pub(crate) fn departed(&self, reason: &'static str, characters: usize) {
        let labels = [KeyValue::new("reason", reason)];
        self.passages.departures.add(characters as u64, &labels);
    }

    /// Sets the mean work of a tick, and the share of each region in it.
    pub(crate) fn loads(&self, cost_us: u32, regions: &[RegionLoad]) {
        self.loads.set(cost_us, regions);
    }

    /// Counts a step of a handover: done, refused, stale, local, taken, dropped.
    pub(crate) fn handover(&self, outcome: &'static str) {
        self.handovers.add(1, &[KeyValue::new("outcome", outcome)]);
    }

    /// Counts a step of a region's move: given, paused, taken, stale, refused, given_up,
    /// not_ready.
    pub(crate) fn region_move(&self, outcome: &'static str) {
        self.region_moves
            .add(1, &[KeyValue::new("outcome", outcome)]);
    }

    /// Records that the run plays a region that was given to it, and the ticks that nobody played.
    pub(crate) fn region_missed(&self, ticks: u64) {
        self.region_missed.record(ticks, &[]);
    }

    /// Records the time of a handover, from Prepare to the commit's acknowledgement.
    pub(crate) fn handover_took(&self, took: Duration) {
        self.handover_time.record(took.as_secs_f64(), &[]);
    }

    /// Counts a run that ended: stopped, fenced, panic or refused. It has no load any more.
    pub(crate) fn run_ended(&self, how: &'static str) {
        self.runs.add(1, &[KeyValue::new("end", how)]);
        self.loads(0, &[]);
    }
}
