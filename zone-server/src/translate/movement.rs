//! `player:move`, and `player:teleport`.

use proto::client::movement::PlayerMove;
use world::{Intent, PlayerRecord, Tile, movement, movement::Event};

use super::{Told, sync};

/// Returns the intent of checked data: there is a target, or `stop`, or `run`.
pub(crate) fn intent(asked: &PlayerMove) -> Intent {
    match (asked.target, asked.run) {
        (Some(target), run) => Intent::Movement(movement::Intent::Walk {
            to: Tile {
                x: target.x,
                z: target.z,
            },
            run,
        }),
        (None, Some(run)) if !asked.stop => Intent::Movement(movement::Intent::Run(run)),
        (None, _) => Intent::Movement(movement::Intent::Stop),
    }
}

/// Returns what a player is told of its movement.
pub(crate) fn told(event: &Event, record: Option<&PlayerRecord>) -> Option<Told> {
    match event {
        Event::Teleported { tile, .. } => Some(Told::now(&sync::teleport(record?, *tile))),
    }
}
