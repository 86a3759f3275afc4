//! Finds a loop that stands still, and ends its process. [`Watchdog`] is pure.
//!
//! Always: only the loop itself notes its steps; a process that was frozen as a whole counts no time
//! in which nobody could look.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use opentelemetry::{KeyValue, metrics::Meter};
use tokio::task::JoinSet;

/// Exit code of a process whose runtime stands still (`EX_SOFTWARE`).
pub const EXIT_WEDGED: u8 = 70;
/// Time without a step after which a loop can never be trusted again.
const WEDGED: Duration = Duration::from_secs(10);
/// Time between two looks at a loop, and between two steps of an idle one.
const LOOK: Duration = Duration::from_millis(500);

/// Steps of a loop, as the loop counts them and others read them.
#[derive(Debug, Default)]
pub struct Steps(AtomicU64);

impl Steps {
    /// Notes that the loop has come round once more.
    pub fn step(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// State of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It moves, or has not stood still for long.
    Moves,
    /// It stands still: others should not rely on it any more.
    Stale,
    /// It has stood still for so long that its process must end.
    Wedged,
}

/// Counts for how long a loop stands still. Pure.
#[derive(Debug)]
pub struct Watchdog {
    every: Duration,
    stale: Duration,
    wedged: Duration,
    seen: u64,
    still: u32,
}

impl Watchdog {
    /// Returns a watchdog that looks once in `every`, and calls a loop stale that has stood still
    /// for `stale`.
    pub fn new(every: Duration, stale: Duration) -> Watchdog {
        Watchdog {
            every,
            stale,
            wedged: WEDGED.max(stale),
            seen: 0,
            still: 0,
        }
    }

    /// Returns the time between two looks.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// Looks at the loop once more.
    pub fn look(&mut self, steps: &Steps) -> Pace {
        let steps = steps.0.load(Ordering::Relaxed);
        let moved = std::mem::replace(&mut self.seen, steps) != steps;
        self.still = if moved {
            0
        } else {
            self.still.saturating_add(1)
        };
        let stood = self.stood();
        if stood >= self.wedged {
            Pace::Wedged
        } else if stood >= self.stale {
            Pace::Stale
        } else {
            Pace::Moves
        }
    }

    /// Returns the time for which the loop has stood still.
    pub fn stood(&self) -> Duration {
        self.every * self.still
    }
}

/// Watches a loop of this process from a thread of its own, and ends the process with
/// [`EXIT_WEDGED`] when the loop has stood still for ten seconds. The loop notes its steps, at
/// least one a second, in the returned count. The watch ends when nobody holds the count any more.
/// `loop_age_seconds` shows the time without a step, in seconds, by the loop's name.
///
/// # Errors
/// The system gives no thread.
pub fn guard(loop_name: impl Into<Arc<str>>, meter: &Meter) -> std::io::Result<Arc<Steps>> {
    let loop_name: Arc<str> = loop_name.into();
    let shown_name = Arc::clone(&loop_name);
    let (steps, stood_ms) = (Arc::new(Steps::default()), Arc::new(AtomicU64::new(0)));
    let (watched, shown) = (Arc::downgrade(&steps), Arc::downgrade(&stood_ms));
    meter
        .f64_observable_gauge("loop_age_seconds")
        .with_unit("s")
        .with_description("Time for which a loop of the process has made no step, by its name")
        .with_callback(move |gauge| {
            if let Some(stood_ms) = shown.upgrade() {
                let stood = Duration::from_millis(stood_ms.load(Ordering::Relaxed));
                gauge.observe(
                    stood.as_secs_f64(),
                    &[KeyValue::new("loop", Arc::clone(&shown_name))],
                );
            }
        })
        .build();
    let end = move || {
        tracing::error!(
            loop_name = &*loop_name,
            "a loop stands still for good; the process ends"
        );
        std::process::exit(EXIT_WEDGED.into());
    };
    thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(move || watch(Watchdog::new(LOOK, WEDGED), &watched, &stood_ms, end))?;
    Ok(steps)
}

/// Ends the process when the runtime in which this is called runs no task any more. Watches until
/// the returned set is dropped.
///
/// # Errors
/// The system gives no thread.
pub fn guard_runtime(meter: &Meter) -> std::io::Result<JoinSet<()>> {
    let steps = guard("runtime", meter)?;
    let mut beat = JoinSet::new();
    beat.spawn(async move {
        let mut every = beat_interval();
        loop {
            every.tick().await;
            steps.step();
        }
    });
    Ok(beat)
}

/// Returns an interval that wakes an idle loop often enough for [`guard`].
pub fn beat_interval() -> tokio::time::Interval {
    let mut every = tokio::time::interval(LOOK);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    every
}

/// Looks at a loop until it is gone, or wedged, which `wedged` ends.
fn watch(
    mut watchdog: Watchdog,
    watched: &Weak<Steps>,
    stood_ms: &AtomicU64,
    wedged: impl FnOnce(),
) {
    loop {
        thread::sleep(watchdog.every());
        let Some(steps) = watched.upgrade() else {
            return;
        };
        let pace = watchdog.look(&steps);
        let stood = u64::try_from(watchdog.stood().as_millis()).unwrap_or(u64::MAX);
        stood_ms.store(stood, Ordering::Relaxed);
        if pace == Pace::Wedged {
            return wedged();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(600);

    fn looks(watchdog: &mut Watchdog, steps: &Steps, looks: u32) -> Pace {
        (0..looks).fold(Pace::Moves, |_, _| watchdog.look(steps))
    }

    #[test]
    fn a_loop_that_moves_is_never_stale() {
        let (mut watchdog, steps) = (Watchdog::new(TICK, TICK * 5), Steps::default());
        for _ in 0..1_000 {
            steps.step();
            assert_eq!(watchdog.look(&steps), Pace::Moves);
        }
    }

    #[test]
    fn a_loop_without_a_step_is_stale_and_after_ten_seconds_wedged() {
        let (mut watchdog, steps) = (Watchdog::new(TICK, TICK * 5), Steps::default());
        steps.step();
        assert_eq!(looks(&mut watchdog, &steps, 5), Pace::Moves);
        assert_eq!(looks(&mut watchdog, &steps, 1), Pace::Stale);
        assert_eq!(watchdog.stood(), TICK * 5);
        assert_eq!(looks(&mut watchdog, &steps, 11), Pace::Stale);
        assert_eq!(looks(&mut watchdog, &steps, 1), Pace::Wedged);
        steps.step();
        assert_eq!(looks(&mut watchdog, &steps, 1), Pace::Moves);
    }

    #[test]
    fn a_guard_ends_the_process_of_a_wedged_loop_and_leaves_one_that_is_over_alone() {
        let look = Duration::from_millis(1);
        let (steps, stood_ms) = (Arc::new(Steps::default()), AtomicU64::new(0));
        let quick = || Watchdog {
            wedged: look * 20,
            ..Watchdog::new(look, look * 20)
        };
        let mut ended = false;
        watch(quick(), &Arc::downgrade(&steps), &stood_ms, || ended = true);
        assert!(ended);
        assert!(stood_ms.load(Ordering::Relaxed) >= 20);
        let over = Arc::downgrade(&steps);
        drop(steps);
        watch(quick(), &over, &stood_ms, || panic!("its loop is over"));
    }
}
