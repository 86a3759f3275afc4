//! Processor time of the calling thread, and the memory of the process.

use std::{fs, time::Duration};

use nix::time::{ClockId, clock_gettime};

/// Returns the processor time that the calling thread has used so far.
fn used() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Runs `work` on the calling thread. Returns its result, and the processor time that it took in
/// microseconds.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = used();
    let result = work();
    let took = used().saturating_sub(begin);
    (result, took.as_secs_f64() * 1e6)
}

/// Returns the memory of this process that belongs to no file, in bytes; 0: the system does not say.
pub fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    anonymous(&status)
}

fn anonymous(status: &str) -> u64 {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_takes_processor_time() {
        let sum = || (0..3_000_000_u64).map(std::hint::black_box).sum::<u64>();
        let (_, slept) = timed(|| std::thread::sleep(Duration::from_millis(50)));
        let (_, worked) = timed(sum);
        assert!(worked > 100.0, "{worked} µs of work");
        assert!(slept < 20_000.0, "{slept} µs of sleep");
    }

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(
            anonymous("VmRSS:\t 9 kB\nRssAnon:\t     12 kB\n"),
            12 * 1024
        );
        assert_eq!(anonymous("VmRSS:\t 9 kB\n"), 0);
        assert!(memory() > 100_000);
    }
}
