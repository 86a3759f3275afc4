//! `home:update`: going home by magic.

use proto::client::movement::HomeUpdate;
use world::home_teleport::Event;

use super::Told;

/// Returns what a player is told of its way home.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Progress {
            done_at, ready_at, ..
        } => Told::now(&HomeUpdate {
            arrives_tick: done_at.map(|at| at.0),
            ready_tick: ready_at.0,
        }),
    }
}
