//! Players that have gone far enough past the edge of their region to belong to the next one.

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::entity::player::Player;
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// Tiles past the border of its region at which a player crosses.
pub const BAND_TILES: u32 = 4;
/// Ticks within which nobody changes region twice.
pub const SETTLE_TICKS: u64 = 3;
/// Most tiles that anybody goes past the border of its region: observers from afar hear of things
/// within 32 tiles of an owner's regions.
pub const PAST_TILES_MAX: u32 = 24;

/// A player that should belong to another region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Crossing {
    /// Player that crosses.
    pub who: CharacterId,
    /// The region in which it stands, or is to stand.
    pub to: Region,
    /// Tile on which it is to stand there; `None`: it stands there already. The world holds it
    /// still until its region is set, it leaves, or [`crate::World::call_off`] is called.
    pub place: Option<Tile>,
}

/// Returns the crossing of `player` if it should now belong to another region. Reports it again at
/// every tick until it does, but not while it is held, nor while it is pinned.
pub(crate) fn crossing(player: &Player, now: Tick) -> Option<Crossing> {
    let who = || player.record().id.clone();
    if player.gait.held {
        return None;
    }
    if let Some(place) = player.leaving_for() {
        return Some(Crossing {
            who: who(),
            to: Region::from(place),
            place: Some(place),
        });
    }
    let past = player.region.tiles_past(player.tile());
    let settled = now.since(player.region_since) >= SETTLE_TICKS || past > PAST_TILES_MAX;
    let ripe = past >= BAND_TILES && settled && !player.pinned(now);
    ripe.then(|| Crossing {
        who: who(),
        to: Region::from(player.tile()),
        place: None,
    })
}

/// Returns whether a player of `region` may step from `from` to `to`: up to 24 tiles past its
/// border, and back from any tile.
pub(crate) fn may_step(region: Region, from: Tile, to: Tile) -> bool {
    let past = region.tiles_past(to);
    past <= PAST_TILES_MAX || past < region.tiles_past(from)
}
