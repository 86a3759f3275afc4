//! Lighting fires: the place, the chance, and how long a fire burns.
//!
//! Always: a tile has one fire at most; nobody has more than three, no area more than twenty.

use crate::content::{Content, Fixture};
use crate::entity::fire::Fires;
use crate::entity::ids::CharacterId;
use crate::entity::look::Kind;
use crate::features::skilling::chance::{self, Rate};
use crate::geometry::Terrain;
use crate::geometry::tile::{Region, Tile};
use crate::refusal::Refusal;
use crate::rng::Dice;
use crate::time::Tick;

/// Ticks between two tries.
pub(crate) const TRY_TICKS: u64 = 4;
/// Ticks for which ashes lie.
pub(crate) const ASHES_TICKS: u64 = 200;
/// The chance that logs catch fire.
const CATCHES: Rate = (65, 513);
/// Ticks for which a fire burns, at least and at most.
const BURNS_TICKS: (i32, i32) = (100, 198);
/// Fires of one player.
const OWN_MAX: usize = 3;
/// Fires in one area.
const AREA_MAX: usize = 20;
/// Steps around a bank within which nobody lights a fire.
const BANK_TILES: i32 = 3;

/// Checks whether `who` may light a fire at `tile`.
///
/// # Errors
/// `NoFireHere`.
pub(crate) fn may_light(
    fires: &Fires,
    content: &Content,
    who: &CharacterId,
    tile: Tile,
) -> Result<(), Refusal> {
    let own = fires.values().filter(|fire| fire.lit_by == *who).count();
    let area = |tile: Tile| content.area_at(tile).map(|area| &area.id);
    let near = fires.values().filter(|fire| area(fire.tile) == area(tile));
    let taken = fires.values().any(|fire| fire.tile == tile);
    let region = Region::from(tile);
    let bank = |f: &Fixture| f.kind == Kind::Station && &*f.sort == "bank";
    let mut banks = content.fixtures_in(region).filter(|f| bank(f));
    let crowded = own >= OWN_MAX || near.count() >= AREA_MAX;
    if taken || crowded || banks.any(|bank| bank.distance(tile) <= BANK_TILES) {
        return Err(Refusal::NoFireHere);
    }
    Ok(())
}

/// Returns whether logs catch fire for one of `level`.
pub(crate) fn catches(level: u32, dice: &mut Dice) -> bool {
    dice.below(chance::CERTAIN) < chance::at(CATCHES, level)
}

/// Returns when a fire that was lit at `now` is out.
pub(crate) fn out_at(now: Tick, dice: &mut Dice) -> Tick {
    let ticks = dice.between(BURNS_TICKS.0, BURNS_TICKS.1);
    now.after(u64::from(ticks.unsigned_abs()))
}

/// Returns the tile to which one who lit a fire at `tile` steps: west, else east, south, north.
pub(crate) fn aside(terrain: &Terrain, tile: Tile) -> Option<Tile> {
    let sides = [(-1, 0), (1, 0), (0, -1), (0, 1)];
    let mut sides = sides.into_iter().map(|(dx, dz)| tile.moved(dx, dz));
    sides.find(|side| terrain.step(tile, *side))
}
