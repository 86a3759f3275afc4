//! Instruments that every process makes in the same way.

use opentelemetry::metrics::{Counter, Meter};

/// Makes a counter that is there from the start. Prometheus sees no step from nothing to one, so a
/// counter that appears with its first count would hide it.
pub fn counter(meter: &Meter, name: &'static str, what: &'static str) -> Counter<u64> {
    let counter = meter.u64_counter(name).with_description(what).build();
    counter.add(0, &[]);
    counter
}
