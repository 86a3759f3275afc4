//! `player:move`, and `player:teleport`.

use world::{PlayerRecord, movement::Event};

use super::{Told, sync};

/// Returns what a player is told of its movement.
pub(crate) fn told(event: &Event, record: Option<&PlayerRecord>) -> Option<Told> {
    match event {
        Event::Teleported { tile, .. } => Some(Told::now(&sync::teleport(record?, *tile))),
    }
}
