//! Arrivals, as the run hears of them.

use world::arrivals::Event;

use super::Told;

/// Returns the outcome of an arrival.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Joined { .. } => Told::Joined,
        Event::TurnedAway { refusal, .. } => Told::TurnedAway(*refusal),
    }
}
