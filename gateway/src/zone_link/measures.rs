//! Measures of the links and the fan-out. No label names a player.

use service_runtime::{instruments::counter, mean::RunningMean};
use std::{sync::Arc, time::Duration};

use opentelemetry::{
    KeyValue,
    metrics::{Counter, Gauge, Histogram, Meter},
};

/// The instruments; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Measures(Arc<Instruments>);

#[derive(Debug)]
struct Instruments {
    flush: Histogram<f64>,
    flush_mean: RunningMean,
    frame_wait: Histogram<f64>,
    pictures: Histogram<f64>,
    late: Counter<u64>,
    encoded: Counter<u64>,
    updates: Counter<u64>,
    update_bytes: Counter<u64>,
    refused_updates: Counter<u64>,
    watchers: Gauge<u64>,
    dirty: Gauge<u64>,
    entities: Gauge<u64>,
    chunks: Gauge<u64>,
    malformed: Counter<u64>,
    handovers: Counter<u64>,
    old_private: Counter<u64>,
    refused_messages: Counter<u64>,
    extra: Counter<u64>,
    failover: Failover,
}

/// Measures of lost zones.
#[derive(Debug)]
struct Failover {
    recovery: Histogram<f64>,
    fenced: Counter<u64>,
    suspected: Counter<u64>,
}

impl Failover {
    fn new(meter: &Meter) -> Self {
        let counter = |name, what| counter(meter, name, what);
        let recovery = meter
            .f64_histogram("gateway_recovery_seconds")
            .with_unit("s")
            .with_description("From a session's loss of its zone to its attach at the next")
            .with_boundaries(vec![
                0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 30.0,
            ]);
        Self {
            recovery: recovery.build(),
            fenced: counter(
                "gateway_fenced_frames_total",
                "Frames and messages of runs that are fenced, dropped",
            ),
            suspected: counter(
                "gateway_suspicions_total",
                "Runs that were reported as dead to the store",
            ),
        }
    }
}

/// Measures of one flush.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flushed {
    /// Number of the fan-out task.
    pub(crate) task: usize,
    /// Time from its beginning to its end.
    pub(crate) took: Duration,
    /// Time from the tick's first frame to its beginning; `None` between ticks.
    pub(crate) waited: Option<Duration>,
    /// Bytes encoded anew, once for all sessions.
    pub(crate) encoded: u64,
    /// Updates that sockets took.
    pub(crate) updates: u64,
    /// Bytes of those updates.
    pub(crate) update_bytes: u64,
    /// Sessions whose last update was still waiting.
    pub(crate) refused: u64,
    /// Sessions that see the world.
    pub(crate) watchers: u64,
    /// Chunks that some session is owed in full, over all sessions.
    pub(crate) dirty: u64,
    /// Times from the first look at each session to the first update with which its client has
    /// everything in sight, with names.
    pub(crate) pictures: Vec<Duration>,
    /// Things in the replica.
    pub(crate) entities: u64,
    /// Chunks in the replica.
    pub(crate) chunks: u64,
}

impl Flushed {
    /// Returns the measures of a flush in which nothing has happened yet.
    pub(crate) fn of(task: usize) -> Self {
        Self {
            task,
            ..Self::default()
        }
    }
}

fn seconds(meter: &Meter, name: &'static str, what: &'static str) -> Histogram<f64> {
    let bounds = vec![
        0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0,
    ];
    let histogram = meter.f64_histogram(name).with_unit("s");
    histogram
        .with_description(what)
        .with_boundaries(bounds)
        .build()
}

fn pictures(meter: &Meter) -> Histogram<f64> {
    let histogram = meter.f64_histogram("gateway_first_picture_seconds");
    let bounds = vec![0.1, 0.3, 0.6, 0.9, 1.2, 1.8, 2.4, 3.0, 4.0, 6.0, 10.0, 30.0];
    histogram
        .with_unit("s")
        .with_description("From a session's first tick to an update after which it is owed nothing")
        .with_boundaries(bounds)
        .build()
}

impl Measures {
    pub(crate) fn new(meter: &Meter) -> Self {
        let counter = |name, what| counter(meter, name, what);
        let gauge = |name, what| meter.u64_gauge(name).with_description(what).build();
        let seconds = |name, what| seconds(meter, name, what);
        Self(Arc::new(Instruments {
            flush: seconds("gateway_flush_seconds", "Work of telling all of a tick"),
            flush_mean: RunningMean::default(),
            frame_wait: seconds(
                "gateway_frame_wait_seconds",
                "From a tick's first frame to its flush",
            ),
            pictures: pictures(meter),
            late: counter(
                "gateway_frames_late_total",
                "Frames after their tick's flush",
            ),
            encoded: counter(
                "gateway_encoded_bytes_total",
                "Bytes of chunks written once for all",
            ),
            updates: counter("gateway_updates_total", "Updates given to sockets"),
            update_bytes: counter("gateway_update_bytes_total", "Bytes of updates for sockets"),
            refused_updates: counter(
                "gateway_updates_refused_total",
                "Updates not given because the last one still waited",
            ),
            watchers: gauge("gateway_watchers", "Sessions that see the world"),
            dirty: gauge(
                "gateway_dirty_chunks",
                "Chunks owed in full, over all sessions",
            ),
            entities: gauge(
                "gateway_replica_entities",
                "Things in the replica of a fan-out task",
            ),
            chunks: gauge(
                "gateway_replica_chunks",
                "Chunks in the replica of a fan-out task",
            ),
            malformed: counter(
                "gateway_frames_malformed_total",
                "Senseless records of zones",
            ),
            handovers: counter(
                "gateway_route_switches_total",
                "Sessions that changed their run",
            ),
            old_private: counter(
                "gateway_old_private_frames_total",
                "Private frames of an older owner, dropped",
            ),
            refused_messages: counter(
                "gateway_messages_refused_total",
                "Messages of zones for which a mailbox had no room",
            ),
            extra: counter(
                "gateway_extra_frames_total",
                "Frames of what an acknowledged batch released",
            ),
            failover: Failover::new(meter),
        }))
    }

    pub(crate) fn flushed(&self, flushed: &Flushed) {
        let all = &self.0;
        let task = i64::try_from(flushed.task).unwrap_or(i64::MAX);
        let task = &[KeyValue::new("task", task)];
        all.flush.record(flushed.took.as_secs_f64(), task);
        if let Some(waited) = flushed.waited {
            // News between two ticks are few, and would hide what a tick costs.
            all.flush_mean.note(flushed.took);
            all.frame_wait.record(waited.as_secs_f64(), task);
        }
        for picture in &flushed.pictures {
            all.pictures.record(picture.as_secs_f64(), &[]);
        }
        all.encoded.add(flushed.encoded, &[]);
        all.updates.add(flushed.updates, &[]);
        all.update_bytes.add(flushed.update_bytes, &[]);
        all.refused_updates.add(flushed.refused, &[]);
        all.watchers.record(flushed.watchers, task);
        all.dirty.record(flushed.dirty, task);
        all.entities.record(flushed.entities, task);
        all.chunks.record(flushed.chunks, task);
    }

    /// Returns the mean work of showing a tick, in microseconds; 0: there was none yet.
    pub(crate) fn flush_us(&self) -> u32 {
        self.0.flush_mean.micros()
    }

    pub(crate) fn recovered(&self, after: Duration) {
        self.0.failover.recovery.record(after.as_secs_f64(), &[]);
    }

    pub(crate) fn extra(&self) {
        self.0.extra.add(1, &[]);
    }

    pub(crate) fn fenced(&self) {
        self.0.failover.fenced.add(1, &[]);
    }

    pub(crate) fn suspected(&self) {
        self.0.failover.suspected.add(1, &[]);
    }

    pub(crate) fn late(&self) {
        self.0.late.add(1, &[]);
    }

    pub(crate) fn malformed(&self, records: u64) {
        self.0.malformed.add(records, &[]);
    }

    pub(crate) fn handover(&self) {
        self.0.handovers.add(1, &[]);
    }

    pub(crate) fn old_private_frame(&self) {
        self.0.old_private.add(1, &[]);
    }

    pub(crate) fn refused_by_mailbox(&self) {
        self.0.refused_messages.add(1, &[]);
    }
}
