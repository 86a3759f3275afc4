//! Log lines that a client can cause as often as it likes: one a second of each kind.
//!
//! Always: the code names the kinds, so there are few; a line says how many of its kind were left
//! out before it. Logs that must be complete, such as exchanges of items, bypass this module, and
//! metrics count everything.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Time between two lines of a kind.
const PAUSE: Duration = Duration::from_secs(1);

/// Kinds of this process, each with its topic and its sort.
static SAMPLES: Mutex<Samples> = Mutex::new(Samples(BTreeMap::new()));

/// Returns how many lines of this kind were left out since the last written one; `None`: leave this
/// line out as well.
pub fn sampled(about: &'static str, which: &'static str) -> Option<u64> {
    let mut samples = SAMPLES.lock().unwrap_or_else(PoisonError::into_inner);
    samples.pass((about, which), Instant::now())
}

type Kind = (&'static str, &'static str);

struct Samples(BTreeMap<Kind, Sample>);

struct Sample {
    written: Instant,
    left_out: u64,
}

impl Samples {
    fn pass(&mut self, kind: Kind, now: Instant) -> Option<u64> {
        let Some(sample) = self.0.get_mut(&kind) else {
            let first = Sample {
                written: now,
                left_out: 0,
            };
            self.0.insert(kind, first);
            return Some(0);
        };
        if now.saturating_duration_since(sample.written) < PAUSE {
            sample.left_out += 1;
            return None;
        }
        sample.written = now;
        Some(std::mem::take(&mut sample.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_one_line_a_second_that_counts_what_was_left_out() {
        let (mut samples, start) = (Samples(BTreeMap::new()), Instant::now());
        let at = |ms: u64| start + Duration::from_millis(ms);
        let (mut written, mut counted) = (0, 0);
        for n in 0..600 {
            if let Some(left_out) = samples.pass(("trade", "far"), at(n * 10)) {
                written += 1;
                counted += left_out + 1;
            }
        }
        // One at the beginning of each of six seconds; no line counts those of the last second yet.
        assert_eq!((written, counted), (6, 501));
        assert_eq!(samples.pass(("trade", "near"), at(10)), Some(0), "another");
        assert_eq!(samples.pass(("duel", "far"), at(10)), Some(0), "another");
        assert_eq!(samples.pass(("trade", "far"), at(7000)), Some(99));
        assert_eq!(samples.pass(("trade", "far"), at(9000)), Some(0));
    }
}
