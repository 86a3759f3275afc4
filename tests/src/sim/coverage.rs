//! How often each transition was taken.

use std::{collections::BTreeMap, fmt};

/// What must happen at least once in many seeds.
pub const TRANSITIONS: &[&str] = &["run: begins", "run ended: stopped", "run ended: fenced"];

/// Counts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage(BTreeMap<String, u64>);

impl Coverage {
    /// One more.
    pub fn count(&mut self, what: &str) {
        self.add(what, 1);
    }

    /// One more of a kind.
    pub fn count_of(&mut self, what: &str, kind: &str) {
        self.add(&format!("{what}: {kind}"), 1);
    }

    /// More.
    pub fn add(&mut self, what: &str, times: u64) {
        match self.0.get_mut(what) {
            Some(count) => *count += times,
            None => {
                self.0.insert(what.to_owned(), times);
            }
        }
    }

    /// What another simulation did, too.
    pub fn merge(&mut self, other: &Coverage) {
        for (what, times) in &other.0 {
            self.add(what, *times);
        }
    }

    /// How often.
    pub fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }
}

/// What the processes themselves counted, in all simulations of this program.
pub fn counted() -> Coverage {
    let mut counted = Coverage::default();
    for text in super::land::metrics() {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let counts = name.contains("_total");
            if let Ok(value) = value.parse::<f64>()
                && counts
            {
                counted.add(name, value as u64);
            }
        }
    }
    counted
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, times) in &self.0 {
            writeln!(out, "{times:>9}  {what}")?;
        }
        Ok(())
    }
}
