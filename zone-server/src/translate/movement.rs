//! `player:move`.

use proto::client::movement::PlayerMove;
use world::{Intent, Tile};

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
