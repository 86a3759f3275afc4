//! Steps of runs that only a simulation counts, from their trace events.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt::Debug,
    sync::{
        Once,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::Interest,
};

thread_local! {
    static PLAYED: RefCell<Vec<Played>> = const { RefCell::new(Vec::new()) };
    static STEPS: RefCell<BTreeMap<String, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// An input that a run has handed to its world.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Played {
    pub(crate) character: String,
    pub(crate) session_epoch: u64,
    pub(crate) number: u64,
}

/// Inputs that runs of this thread have handed to their worlds since the last call.
pub(crate) fn take_played() -> Vec<Played> {
    PLAYED.take()
}

/// Returns the number of times that each state of a protocol took each step, on this thread since
/// the last call.
pub(crate) fn take_steps() -> BTreeMap<String, u64> {
    STEPS.take()
}

/// Counts the events of all threads of this process from now on.
///
/// # Panics
/// Something else listens to trace events already.
pub(crate) fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        tracing::subscriber::set_global_default(Watcher::default())
            .expect("nothing else listens to trace events");
    });
}

/// Listens to the two targets, and to nothing else.
#[derive(Default)]
struct Watcher {
    spans: AtomicU64,
}

impl Watcher {
    fn hears(metadata: &Metadata<'_>) -> bool {
        [handover::TARGET, zone_server::PLAYED].contains(&metadata.target())
    }
}

impl Subscriber for Watcher {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if Self::hears(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        Self::hears(metadata)
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        if event.metadata().target() == handover::TARGET {
            let mut step = Step::default();
            event.record(&mut step);
            STEPS.with_borrow_mut(|steps| *steps.entry(step.0).or_default() += 1);
        } else {
            let mut played = Played::default();
            event.record(&mut played);
            PLAYED.with_borrow_mut(|all| all.push(played));
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Step(String);

impl Visit for Step {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "step" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

impl Visit for Played {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "session_epoch" => self.session_epoch = value,
            "number" => self.number = value,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "character" {
            self.character = format!("{value:?}");
        }
    }
}
