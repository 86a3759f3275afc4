//! Who has gone far enough past the edge of its region to belong to the next one.

use serde::{Deserialize, Serialize};

use crate::ids::CharacterId;
use crate::player::Player;
use crate::tick::Tick;
use crate::tile::{Region, Tile};

/// A player crosses when it stands so many tiles past the border of its region.
pub const BAND_TILES: u32 = 4;
/// Nobody changes region twice within so many ticks.
pub const SETTLE_TICKS: u64 = 3;
/// Nobody goes further past the border of its region than this: whoever looks on from afar
/// hears of what stands within 32 tiles of an owner's regions.
pub const PAST_TILES_MAX: u32 = 24;

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

/// The region to which `player` should now belong, if that is another one. Reported again at
/// every tick until it does, but not while it is held.
pub(crate) fn crossing(player: &Player, now: Tick) -> Option<Region> {
    let tile = player.tile();
    let ripe = !player.held
        && player.region.tiles_past(tile) >= BAND_TILES
        && now.since(player.region_since) >= SETTLE_TICKS;
    ripe.then(|| Region::from(tile))
}

/// Whether one who belongs to `region` may step from `from` to `to`: up to 24 tiles past its
/// border, and back from wherever it is.
pub(crate) fn may_step(region: Region, from: Tile, to: Tile) -> bool {
    let past = region.tiles_past(to);
    past <= PAST_TILES_MAX || past < region.tiles_past(from)
}
