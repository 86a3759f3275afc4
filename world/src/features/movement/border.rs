//! Who has gone far enough past the edge of its region to belong to the next one.

use serde::{Deserialize, Serialize};

use crate::entity::ids::CharacterId;
use crate::entity::player::Player;
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// A player crosses when it stands so many tiles past the border of its region.
pub const BAND_TILES: u32 = 4;
/// Nobody changes region twice within so many ticks.
pub const SETTLE_TICKS: u64 = 3;
/// Nobody goes further past the border of its region than this: whoever looks on from afar
/// hears of what stands within 32 tiles of an owner's regions.
pub const PAST_TILES_MAX: u32 = 24;

/// Whoever is about something of its region is not reported within so many tiles of it.
pub const PINNED_TILES: u32 = 32;
/// Nobody gets out of a fight over a border: whoever has dealt or taken a blow in its region is
/// not reported within so many ticks of it.
pub const PINNED_TICKS: u64 = 8;

/// A player who should belong to another region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Crossing {
    /// Who.
    pub who: CharacterId,
    /// The region in which it stands, or is to stand.
    pub to: Region,
    /// Where it is to stand there; `None`: where it stands already. The world holds still with
    /// it until its region is set, it leaves, or [`crate::World::call_off`] is called.
    pub place: Option<Tile>,
}

/// Where `player` should now belong, if that is another region. Reported again at every tick
/// until it does, but not while it is held, nor while it is pinned.
pub(crate) fn crossing(player: &Player, now: Tick) -> Option<Crossing> {
    let who = || player.record().id.clone();
    if player.held {
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

/// Whether one who belongs to `region` may step from `from` to `to`: up to 24 tiles past its
/// border, and back from wherever it is.
pub(crate) fn may_step(region: Region, from: Tile, to: Tile) -> bool {
    let past = region.tiles_past(to);
    past <= PAST_TILES_MAX || past < region.tiles_past(from)
}
