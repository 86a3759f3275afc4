//! The audit log of all zones in the test program.

use std::{
    fmt::{Debug, Write},
    sync::{Mutex, Once},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps the lines of the audit log and nothing else.
struct Keeper;

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "audit"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        LINES.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, "{}={value} ", field.name()).unwrap();
    }
}

/// Begins to keep the log, if nobody did before.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Keeper).unwrap());
}

/// Returns the lines about `what` since [`listen`], in order.
pub fn lines_of(what: &str) -> Vec<String> {
    let lines = LINES.lock().unwrap();
    lines.iter().filter(|l| l.contains(what)).cloned().collect()
}
