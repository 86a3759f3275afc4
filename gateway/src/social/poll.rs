//! The slow look at all watched characters, which finds what no event told. Pure.
//!
//! Always: between two looks at a character there is at most one period, however late the caller
//! is.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::{Duration, Instant},
};

/// Parts of a period. Each looks at the characters of one shard.
const SHARDS: u32 = 60;

/// Times at which shards were looked at.
#[derive(Debug)]
pub(crate) struct Poll {
    period: Duration,
    /// Time from which its parts count.
    began: Instant,
    /// Parts that were looked at since then.
    done: u128,
    all: bool,
}

/// Shards that are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    first: u128,
    count: u128,
}

impl Poll {
    pub(crate) fn new(period: Duration, now: Instant) -> Self {
        Self {
            period,
            began: now,
            done: 0,
            all: false,
        }
    }

    /// Makes everybody due.
    pub(crate) fn everybody(&mut self) {
        self.all = true;
    }

    /// Returns the shards that are due, and counts them as looked at.
    pub(crate) fn due(&mut self, now: Instant) -> Due {
        let gone = now.saturating_duration_since(self.began).as_nanos();
        let parts = gone * u128::from(SHARDS) / self.period.as_nanos().max(1);
        let count = parts.saturating_sub(self.done).min(u128::from(SHARDS));
        let first = parts - count;
        self.done = parts;
        if std::mem::take(&mut self.all) {
            return Due {
                first,
                count: u128::from(SHARDS),
            };
        }
        Due { first, count }
    }
}

impl Due {
    /// Returns whether a shard is due.
    pub(crate) fn has(self, shard: u32) -> bool {
        let shards = u128::from(SHARDS);
        let ahead = (u128::from(shard) + shards - self.first % shards) % shards;
        ahead < self.count
    }
}

/// Returns the shard of a character, the same at all times.
pub(crate) fn shard(character_id: &str) -> u32 {
    part(character_id, SHARDS)
}

/// Returns one of `parts` for a name, the same for every process.
pub(crate) fn part(name: &str, parts: u32) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let part = hasher.finish() % u64::from(parts.max(1));
    u32::try_from(part).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_secs(60);

    #[test]
    fn everybody_is_looked_at_once_a_period_and_a_part_at_a_time() {
        let now = Instant::now();
        let mut poll = Poll::new(PERIOD, now);
        let mut looks = [0; SHARDS as usize];
        for second in 1..=120 {
            let due = poll.due(now + Duration::from_secs(second));
            let shards = (0..SHARDS).filter(|shard| due.has(*shard));
            let shards: Vec<u32> = shards.collect();
            assert_eq!(shards.len(), 1, "{second}: {shards:?}");
            shards.iter().for_each(|shard| looks[*shard as usize] += 1);
        }
        assert_eq!(looks, [2; SHARDS as usize]);
        assert_eq!(poll.due(now + Duration::from_secs(120)).count, 0);
    }

    #[test]
    fn who_comes_late_looks_at_all_that_was_due_meanwhile() {
        let now = Instant::now();
        let mut poll = Poll::new(PERIOD, now);
        let count = |due: Due| (0..SHARDS).filter(|shard| due.has(*shard)).count();
        assert_eq!(count(poll.due(now + Duration::from_secs(7))), 7);
        assert_eq!(count(poll.due(now + Duration::from_secs(300))), 60);
        poll.everybody();
        assert_eq!(count(poll.due(now + Duration::from_secs(300))), 60);
        assert_eq!(count(poll.due(now + Duration::from_secs(301))), 1);
    }

    #[test]
    fn names_spread_over_all_parts() {
        let mut parts = [0; 16];
        for number in 0..1600 {
            parts[part(&format!("c{number}"), 16) as usize] += 1;
        }
        assert!(
            parts.iter().all(|count| (50..200).contains(count)),
            "{parts:?}"
        );
        assert_eq!(part("any", 1), 0);
    }
}
