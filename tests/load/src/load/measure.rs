//! Counters of one bot. Pure.

use std::{collections::BTreeMap, time::Duration};

/// One bot's counters. Latencies are in microseconds.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Time from the intended connect to standing in the world, once per first arrival.
    pub arrivals_us: Vec<u32>,
    /// Attempts to connect or enter that failed, by what happened.
    pub failed: BTreeMap<String, u64>,
    /// Connections that ended before the run did, by close code.
    pub disconnects: BTreeMap<String, u64>,
    /// Sessions that were resumed.
    pub resumed: u64,
    /// Sessions that could not be resumed, so that a new one was begun.
    pub resume_failed: u64,
    /// Gateways that were left because they said that they go.
    pub moved_on: u64,
    /// Move to own update, during the measured time.
    pub moves_us: Vec<u32>,
    /// Walks whose effect was not seen in time.
    pub lost: u64,
    /// Requests whose answer did not come in time.
    pub unanswered: u64,
    /// Messages received, and their bytes.
    pub messages: u64,
    /// Bytes of messages received.
    pub bytes: u64,
    /// `world:update`s received.
    pub updates: u64,
    /// Chat messages received.
    pub heard: u64,
    /// Messages that could not be read.
    pub unreadable: u64,
}

impl Tally {
    /// Notes how long a move took.
    pub fn moved(&mut self, took: Duration) {
        self.moves_us.push(micros(took));
    }

    /// Notes an arrival in the world.
    pub fn arrived(&mut self, took: Duration) {
        self.arrivals_us.push(micros(took));
    }

    /// Adds another bot's counters.
    pub fn add(&mut self, other: &Self) {
        self.arrivals_us.extend(&other.arrivals_us);
        self.moves_us.extend(&other.moves_us);
        for (mine, theirs) in [
            (&mut self.failed, &other.failed),
            (&mut self.disconnects, &other.disconnects),
        ] {
            for (name, count) in theirs {
                *mine.entry(name.clone()).or_default() += count;
            }
        }
        self.resumed += other.resumed;
        self.resume_failed += other.resume_failed;
        self.moved_on += other.moved_on;
        self.lost += other.lost;
        self.unanswered += other.unanswered;
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.updates += other.updates;
        self.heard += other.heard;
        self.unreadable += other.unreadable;
    }
}

fn micros(took: Duration) -> u32 {
    u32::try_from(took.as_micros()).unwrap_or(u32::MAX)
}

/// Returns the value that `share` (0 to 1) of the values do not exceed, in milliseconds; 0 of none.
pub fn quantile_ms(sorted_us: &[u32], share: f64) -> f64 {
    if sorted_us.is_empty() {
        return 0.0;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rank = (share * sorted_us.len() as f64).ceil() as usize;
    f64::from(sorted_us[rank.clamp(1, sorted_us.len()) - 1]) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: Vec<u32> = (1..=100).map(|ms| ms * 1000).collect();
        assert_eq!(quantile_ms(&values, 0.5), 50.0);
        assert_eq!(quantile_ms(&values, 0.99), 99.0);
        assert_eq!(quantile_ms(&values, 1.0), 100.0);
        assert_eq!(quantile_ms(&[7000], 0.99), 7.0);
        assert_eq!(quantile_ms(&[], 0.5), 0.0);
    }
}
