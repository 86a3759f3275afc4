//! Many seeds: over all cores, until one breaks a law.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use super::{Settings, Sim, coverage::Coverage};

/// Results of many seeds.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of seeds played.
    pub seeds: u64,
    /// Number of times that each transition happened.
    pub coverage: Coverage,
    /// The lowest seed that broke a law, and the law.
    pub broken: Option<(u64, String)>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Plays seeds from `first`, `count` of them at most, until one breaks a law.
pub fn play(first: u64, count: u64, settings: &(impl Fn(u64) -> Settings + Sync)) -> Report {
    let begun = Instant::now();
    let next = AtomicU64::new(first);
    let stop = AtomicBool::new(false);
    let report = Mutex::new(Report::default());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        break;
                    }
                    let outcome = Sim::play(seed, settings(seed));
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.seeds += 1;
                    report.coverage.merge(&outcome.coverage);
                    if let Some(law) = outcome.broken {
                        stop.store(true, Ordering::Relaxed);
                        let lowest = report.broken.as_ref().map(|(seed, _)| *seed);
                        if lowest.is_none_or(|lowest| seed < lowest) {
                            report.broken = Some((seed, law));
                        }
                    }
                }
            });
        }
    });
    let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.seconds = begun.elapsed().as_secs_f64();
    report
}

/// Returns the last lines of a seed's story.
pub fn story(seed: u64, mut settings: Settings, lines: usize) -> String {
    settings.told = true;
    let story = Sim::play(seed, settings).story;
    let skipped = story.len().saturating_sub(lines);
    story[skipped..].join("\n")
}
