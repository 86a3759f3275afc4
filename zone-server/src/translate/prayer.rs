//! Prayers: their requests and notifications.

use proto::client::prayer::Prayer;
use world::{PlayerRecord, Skill, prayer::Event};

use super::Told;

/// `prayer:update`, and a part of `player:sync`.
pub(crate) fn all(record: &PlayerRecord) -> Prayer {
    Prayer {
        points: record.prayer.points,
        max_points: record.level(Skill::Prayer),
        active: record
            .prayer
            .active
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}

/// Returns what a player is told of its prayers.
pub(crate) fn told(event: &Event, record: Option<&PlayerRecord>) -> Option<Told> {
    match event {
        Event::Changed { .. } => Some(Told::now(&all(record?))),
    }
}
