//! Work of the zone servers' ticks.

use crate::cluster::metrics::sum;

/// Bounds of `zone_tick_seconds`, in seconds, as its series write them.
const TICK_BOUNDS: [&str; 9] = [
    "0.005", "0.01", "0.02", "0.04", "0.06", "0.1", "0.2", "0.4", "0.6",
];

/// Ticks of all zone servers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Ticks {
    /// Those that were skipped.
    lost: f64,
    all: f64,
    /// Those whose work took no longer than each bound.
    within: [f64; TICK_BOUNDS.len()],
}

impl Ticks {
    pub(super) fn read(text: &str) -> Self {
        let within = TICK_BOUNDS.map(|bound| {
            let label = format!("le=\"{bound}\"");
            sum(text, "zone_tick_seconds_bucket", &label)
        });
        Self {
            lost: sum(text, "zone_ticks_lost_total", ""),
            all: sum(text, "zone_tick_seconds_count", ""),
            within,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            lost: self.lost + other.lost,
            all: self.all + other.all,
            within: std::array::from_fn(|n| self.within[n] + other.within[n]),
        }
    }

    /// Returns the ticks skipped since then.
    pub(super) fn lost_since(&self, before: &Self) -> u64 {
        (self.lost - before.lost).max(0.0) as u64
    }

    /// Returns the bound, in milliseconds, within which the work of 99 of 100 ticks since then
    /// stayed; infinite beyond the last bound.
    pub(super) fn work_p99_since(&self, before: &Self) -> f64 {
        let wanted = (self.all - before.all) * 0.99;
        let counts = self.within.iter().zip(&before.within);
        let found = counts.zip(TICK_BOUNDS);
        let mut found = found.filter(|((now, before), _)| *now - *before >= wanted);
        let bound = found
            .next()
            .and_then(|(_, bound)| bound.parse::<f64>().ok());
        bound.map_or(f64::INFINITY, |seconds| seconds * 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(quick: u32, slow: u32, slowest: u32) -> Ticks {
        let text = format!(
            "zone_ticks_lost_total 3\n\
             zone_tick_seconds_bucket{{le=\"0.04\"}} {quick}\n\
             zone_tick_seconds_bucket{{le=\"0.06\"}} {}\n\
             zone_tick_seconds_bucket{{le=\"+Inf\"}} {2}\n\
             zone_tick_seconds_count {2}\n",
            quick + slow,
            0,
            quick + slow + slowest,
        );
        Ticks::read(&text)
    }

    #[test]
    fn ticks_are_those_of_the_time_between_two_looks() {
        let before = ticks(100, 50, 50);
        assert_eq!(ticks(200, 50, 50).work_p99_since(&before), 40.0);
        assert_eq!(ticks(198, 52, 50).work_p99_since(&before), 60.0);
        assert_eq!(ticks(198, 50, 52).work_p99_since(&before), f64::INFINITY);
        assert_eq!(before.lost_since(&Ticks::default()), 3);
        assert_eq!(before.and(before).lost_since(&before), 3);
    }
}
