//! How often each transition was taken.

use std::{collections::BTreeMap, fmt};

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

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, times) in &self.0 {
            writeln!(out, "{times:>9}  {what}")?;
        }
        Ok(())
    }
}
