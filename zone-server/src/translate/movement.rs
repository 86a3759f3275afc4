//! `player:move`, and what is told of going home by magic.

use proto::client::movement::{HomeUpdate, PlayerMove};
use world::{Intent, Tick, Tile};

/// What the data ask; they were checked: there is a target, or `stop`, or `run`.
pub(crate) fn intent(asked: &PlayerMove) -> Intent {
    match (asked.target, asked.run) {
        (Some(target), run) => Intent::Walk {
            to: Tile {
                x: target.x,
                z: target.z,
            },
            run,
        },
        (None, Some(run)) if !asked.stop => Intent::Run(run),
        (None, _) => Intent::Stop,
    }
}

/// `home:update`.
pub(crate) fn home(done_at: Option<Tick>, ready_at: Tick) -> HomeUpdate {
    HomeUpdate {
        arrives_tick: done_at.map(|at| at.0),
        ready_tick: ready_at.0,
    }
}
