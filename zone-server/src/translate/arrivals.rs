//! Arrivals, as the run hears of them.

use world::arrivals::Event;

use super::Told;

/// Returns what an arrival comes to.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Joined { .. } => Told::Joined,
        Event::TurnedAway { refusal, .. } => Told::TurnedAway(*refusal),
    }
}
