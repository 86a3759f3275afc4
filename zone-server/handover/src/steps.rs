//! Shows each step to every listener: trace events of the target [`TARGET`] with one field, `step`.

use std::fmt::Debug;

use tracing::Level;

/// Target of the events.
pub const TARGET: &str = "handover::steps";

/// A state and the event that it hears; empty if nobody listens.
pub(crate) struct Step(Option<String>);

impl Step {
    /// Notes that the machine hears of `event` in the state `at`.
    pub(crate) fn of(machine: &str, at: &impl Debug, event: &impl Debug) -> Self {
        let shown = || format!("{machine}: {} on {}", variant(at), variant(event));
        Self(tracing::enabled!(target: TARGET, Level::TRACE).then(shown))
    }

    /// Reports the step that the machine takes.
    pub(crate) fn takes(self, step: &impl Debug) {
        if let Some(asked) = self.0 {
            let step = format!("{asked} takes {}", variant(step));
            tracing::trace!(target: TARGET, step);
        }
    }
}

/// Returns the name of a variant.
fn variant(of: &impl Debug) -> String {
    let text = format!("{of:?}");
    let end = text.find(|c: char| !c.is_alphanumeric());
    text[..end.unwrap_or(text.len())].to_owned()
}
