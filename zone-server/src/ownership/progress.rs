//! Progress of the tick loop of a run, for those who watch it.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use service_runtime::watchdog::{Steps, Watchdog};
use world::Region;

/// Ticks without progress after which the run gives up its right to live.
const STALE_TICKS: u32 = 5;
/// Shortest time for these ticks: with short ticks, a busy machine alone would end runs.
const STALE_MIN: Duration = Duration::from_secs(3);

/// Progress of a tick loop, as the loop notes it and others read it.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Rounds of the loop.
    pub(crate) steps: Steps,
    /// Region that the world plays just now, as [`packed`].
    region: AtomicU64,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            steps: Steps::default(),
            region: AtomicU64::new(NOWHERE),
        }
    }
}

impl Progress {
    /// Notes the region that the world plays next; `None`: none in particular.
    pub(crate) fn plays(&self, region: Option<Region>) {
        let number = region.map_or(NOWHERE, packed);
        self.region.store(number, Ordering::Relaxed);
    }

    /// Returns the region that the world plays just now.
    pub(crate) fn region(&self) -> Option<Region> {
        let number = self.region.load(Ordering::Relaxed);
        (number != NOWHERE).then(|| unpacked(number))
    }
}

/// Stands for no region: a place that is further away than any tile.
const NOWHERE: u64 = 0x8000_0000_8000_0000;

/// Returns a region as one number.
fn packed(region: Region) -> u64 {
    u64::from(region.x.cast_unsigned()) << 32 | u64::from(region.z.cast_unsigned())
}

/// Returns the region of a number.
fn unpacked(number: u64) -> Region {
    let half = |bits: u64| (bits as u32).cast_signed();
    Region {
        x: half(number >> 32),
        z: half(number),
    }
}

/// Returns the watchdog of a loop with ticks of this many milliseconds.
pub(crate) fn watchdog(tick_ms: u64) -> Watchdog {
    let tick = Duration::from_millis(tick_ms.max(1));
    Watchdog::new(tick, STALE_MIN.max(tick * STALE_TICKS))
}

#[cfg(test)]
mod tests {
    use service_runtime::watchdog::Pace;

    use super::*;

    #[test]
    fn five_ticks_are_stale_and_short_ones_need_three_seconds_all_the_same() {
        for (tick_ms, stale) in [(600, 5), (1_000, 5), (50, 60)] {
            let (mut watchdog, progress) = (watchdog(tick_ms), Progress::default());
            for _ in 1..stale {
                assert_eq!(watchdog.look(&progress.steps), Pace::Moves, "{tick_ms}");
            }
            assert_eq!(watchdog.look(&progress.steps), Pace::Stale, "{tick_ms}");
        }
    }

    #[test]
    fn a_region_is_read_as_it_was_noted() {
        let progress = Progress::default();
        assert_eq!(progress.region(), None);
        for (x, z) in [(0, 0), (-1, -1), (-1, 0), (0, -1), (7, -9)] {
            progress.plays(Some(Region { x, z }));
            assert_eq!(progress.region(), Some(Region { x, z }));
        }
        progress.plays(None);
        assert_eq!(progress.region(), None);
    }
}
