//! `vitals:update`: health, energy, the choice to run, boosts and poison.

use world::{PlayerRecord, vitals::Event};

use super::{Told, sync};

/// Returns what a player is told of its vitals.
pub(crate) fn told(event: &Event, record: Option<&PlayerRecord>) -> Option<Told> {
    match event {
        Event::Changed { .. } => Some(Told::now(&sync::vitals(record?))),
    }
}
