//! What runs do that only a simulation counts.

use std::{cell::RefCell, collections::BTreeMap, fmt::Debug};

use world::CharacterId;

thread_local! {
    static PLAYED: RefCell<Vec<(String, u64, u64)>> = const { RefCell::new(Vec::new()) };
    static STEPS: RefCell<BTreeMap<String, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// Inputs that runs of this thread have handed to their worlds since the last call: character,
/// session epoch and number.
pub fn take_played() -> Vec<(String, u64, u64)> {
    PLAYED.take()
}

/// How often each state of a protocol took which step, on this thread since the last call.
pub fn take_steps() -> BTreeMap<String, u64> {
    STEPS.take()
}

/// A state and what it is asked.
pub(crate) struct Step(String);

impl Step {
    /// `machine` stands at `at` and hears of `event`.
    pub(crate) fn of(machine: &str, at: &impl Debug, event: &impl Debug) -> Step {
        Step(format!("{machine}: {} on {}", word(at), word(event)))
    }

    /// It takes this step.
    pub(crate) fn takes(self, step: &impl Debug) {
        let taken = format!("{} takes {}", self.0, word(step));
        STEPS.with_borrow_mut(|steps| *steps.entry(taken).or_default() += 1);
    }
}

/// The name of a variant.
fn word(of: &impl Debug) -> String {
    let text = format!("{of:?}");
    let end = text.find(|c: char| !c.is_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}

/// A run hands an input to its world.
pub(crate) fn plays(who: &CharacterId, session_epoch: u64, number: u64) {
    PLAYED.with_borrow_mut(|played| played.push((who.to_string(), session_epoch, number)));
}
