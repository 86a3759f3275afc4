//! Memory that the gateway takes for its connections.

use std::fs;

use anyhow::{Context, Result};

/// The private memory of a process, as it was and at its most.
#[derive(Debug)]
pub(super) struct Memory {
    status: String,
    first: u64,
    most: u64,
}

impl Memory {
    /// Looks at a process for the first time.
    ///
    /// # Errors
    /// There is no such process.
    pub(super) fn of(process: u32) -> Result<Self> {
        let status = format!("/proc/{process}/status");
        let first = private(&status)?;
        Ok(Self {
            status,
            first,
            most: first,
        })
    }

    /// Looks at the process again, unless it has ended.
    pub(super) fn look(&mut self) {
        if let Ok(now) = private(&self.status) {
            self.most = self.most.max(now);
        }
    }

    /// Returns how much more the process had at its most than at first, a player, in kilobytes
    /// (1,000 bytes).
    pub(super) fn a_player(&self, players: usize) -> f64 {
        (self.most - self.first) as f64 * 1.024 / (players as f64).max(1.0)
    }
}

/// Returns the kibibytes of a process that are neither a file's nor shared.
fn private(status: &str) -> Result<u64> {
    let status = fs::read_to_string(status)?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kibibytes.context("no private memory")?.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_a_process_takes_is_seen_and_stays_the_most() {
        let mut memory = Memory::of(std::process::id()).unwrap();
        let taken = vec![1_u8; 64 << 20];
        memory.look();
        let most = memory.a_player(1_000);
        assert!((50.0..100.0).contains(&most), "{most} KB");
        drop(taken);
        memory.look();
        assert!(memory.a_player(1_000) >= most);
        assert!(Memory::of(u32::MAX).is_err());
    }
}
