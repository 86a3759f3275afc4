//! Number of times that each transition happened.

use std::{collections::BTreeMap, fmt};

/// Transitions that must happen at least once in many seeds.
pub const TRANSITIONS: &[&str] = &[
    "answer: ack",
    "answer: error",
    "answer: unknown",
    "attach refused: busy",
    "attach refused: not_here",
    "attach refused: not_in_world",
    "attach refused: stale",
    "attach: attached",
    "attach: silence",
    "bus: answer lost",
    "bus: request lost",
    "bus: request repeated",
    "character: handed over",
    "commit: done",
    "commit: fenced",
    "commit: sent again",
    "commit: stale give",
    "commit: stale transfer",
    "complete region: known",
    "complete region: silent",
    "complete region: unknown",
    "complete: known",
    "complete: silent",
    "complete: unknown",
    "departed: Completing on Answer takes Forward",
    "departed: Completing on Answer takes Wait",
    "departed: Completing on Edge takes Forget",
    "departed: Failed on Edge takes Complete",
    "departed: Failed on Edge takes Forget",
    "departed: Open on Edge takes Forget",
    "directory: stream ended",
    "fault: link cut",
    "fault: region paused",
    "fault: store away",
    "fault: two parted",
    "fault: zone killed",
    "fault: zone paused",
    "fault: zone stopped",
    "forward: lost",
    "forward: taken",
    "frame: old",
    "frame: switched the route",
    "gateway: region moved",
    "giving: Asking on Answer takes GiveUp",
    "giving: Asking on Answer takes Stay",
    "giving: Committing on Given takes Complete",
    "giving: Committing on Stale takes Back",
    "giving: Ready on Edge takes GiveUp",
    "giving: Ready on Edge takes Stay",
    "giving: Ready on Edge takes Take",
    "input: held",
    "input: in a paused region",
    "input: recalled",
    "left: left",
    "left: replaced",
    "load region: failed",
    "load region: loaded",
    "locate: here",
    "locate: not here",
    "locate: silent",
    "open session: failed",
    "open session: was online",
    "open session: was out",
    "owner: known",
    "owner: silent",
    "pending: false on Complete takes Join",
    "pending: false on Edge takes Ask",
    "pending: false on Edge takes AskBoth",
    "pending: false on GivenUp takes Wait",
    "pending: false on Owner takes Drop",
    "pending: false on Owner takes Join",
    "pending: true on Complete takes Join",
    "pending: true on GivenUp takes Wait",
    "pending: true on Owner takes Drop",
    "pending: true on Owner takes Join",
    "pending: true on Owner takes Wait",
    "player: asks much at once",
    "player: resumes",
    "player: stays away",
    "prepare region: accepted",
    "prepare region: draining",
    "prepare region: silent",
    "prepare region: stale",
    "prepare: accepted",
    "prepare: busy",
    "prepare: draining",
    "prepare: no_link",
    "prepare: not_owner",
    "prepare: silent",
    "prepare: stale",
    "pull: asked",
    "region: assigned",
    "region: given",
    "region: left paused",
    "region: nobody's",
    "region: taken over",
    "register: again",
    "run ended: fenced",
    "run ended: stopped",
    "run: begins",
    "run: drains",
    "run: fenced",
    "session: moved",
    "session: turned out",
    "source: Committing on Stale takes Stay",
    "source: Preparing on Answer takes Stay",
    "source: Preparing on Answer takes Transfer",
    "source: Waiting on Edge takes Prepare",
    "source: Waiting on Edge takes Settle",
    "source: Waiting on Edge takes Stay",
    "suspect: said",
    "takeover: by witnesses",
    "taking: None on Complete takes Join",
    "taking: None on Seen takes Drop",
    "taking: None on Seen takes Load",
    "taking: Some on Complete takes Join",
    "taking: Some on Seen takes Load",
    "value: told",
    "zombie: goes on",
];

/// Counts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage(BTreeMap<String, u64>);

impl Coverage {
    /// Counts one more.
    pub fn count(&mut self, what: &str) {
        self.add(what, 1);
    }

    /// Counts one more of a kind.
    pub fn count_of(&mut self, what: &str, kind: &str) {
        self.add(&format!("{what}: {kind}"), 1);
    }

    /// Counts so many more.
    pub fn add(&mut self, what: &str, times: u64) {
        match self.0.get_mut(what) {
            Some(count) => *count += times,
            None => {
                self.0.insert(what.to_owned(), times);
            }
        }
    }

    /// Adds the transitions of another simulation.
    pub fn merge(&mut self, other: &Coverage) {
        for (what, times) in &other.0 {
            self.add(what, *times);
        }
    }

    /// Returns the number of times that a transition happened.
    pub fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }
}

/// Returns the counters of the processes themselves, over all simulations of this program.
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
