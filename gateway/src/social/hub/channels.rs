//! The channels of the bus to which a gateway listens.

use std::collections::BTreeSet;

use crate::social::bus::{Away, Bus};

/// Channels that the gateway reads, or may read.
#[derive(Default)]
pub(super) struct Channels {
    read: BTreeSet<String>,
    /// Channels of which the bus gave no answer.
    unanswered: BTreeSet<String>,
    /// Whether the bus may have forgotten them.
    pub(super) uncertain: bool,
}

impl Channels {
    /// Reads just these from now on. What the bus does not answer is tried again with the next check
    /// of the channels; without parts of its own, it is not asked for the others.
    pub(super) async fn follow(&mut self, bus: &Bus, wanted: BTreeSet<String>) -> Result<(), Away> {
        let parts = bus.has_parts();
        let mut answer = Ok(());
        for channel in &wanted {
            // Without an answer the gateway may be reading it, and must give it up when nobody
            // wants it.
            let new = self.read.insert(channel.clone());
            if !(new || self.uncertain || self.unanswered.contains(channel)) {
                continue;
            }
            match bus.subscribe(channel).await {
                Ok(()) => {
                    self.unanswered.remove(channel);
                }
                Err(Away) => {
                    self.unanswered.insert(channel.clone());
                    answer = Err(Away);
                    if !parts {
                        return answer;
                    }
                }
            }
        }
        for channel in self.read.clone().difference(&wanted) {
            match bus.unsubscribe(channel).await {
                Ok(()) => {
                    self.read.remove(channel);
                    self.unanswered.remove(channel);
                }
                Err(Away) => {
                    answer = Err(Away);
                    if !parts {
                        return answer;
                    }
                }
            }
        }
        // All others are certain: those without an answer are listed.
        self.uncertain = false;
        answer
    }
}
