//! Prayers: what is asked of them, and what is told.

use proto::client::prayer::{Prayer, PrayerToggle};
use world::{Intent, PlayerRecord, Skill};

/// `prayer:toggle`.
pub(crate) fn toggle(asked: &PrayerToggle) -> Intent {
    Intent::Pray {
        prayer: asked.prayer.as_str().into(),
    }
}

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
