//! Attack rules: the fighters whom a player may attack.
//!
//! Always: players attack players only where both stand in an area that lets them. Outside areas
//! where many may fight one, nobody attacks a fighter that fights somebody else.

use super::timing::SINGLE_TICKS;
use super::{Clash, Foe};
use crate::content::Content;
use crate::entity::ids::EntityId;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::time::Tick;

/// One side of a fight that is about to begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) id: &'a EntityId,
    pub(crate) tile: Tile,
    pub(crate) clash: &'a Clash,
}

/// Checks whether players that stand at these tiles may attack each other.
///
/// # Errors
/// `PlayersSafe`.
pub(crate) fn players(content: &Content, from: Tile, to: Tile) -> Result<(), Refusal> {
    let wild = |tile| content.area_at(tile).is_some_and(|area| area.pvp);
    if wild(from) && wild(to) {
        Ok(())
    } else {
        Err(Refusal::PlayersSafe)
    }
}

/// Checks whether `by` may attack `target`, with regard to the others that the two fight.
///
/// # Errors
/// `Engaged`: one of the two fights somebody else.
pub(crate) fn alone(
    content: &Content,
    by: Side<'_>,
    target: Side<'_>,
    now: Tick,
) -> Result<(), Refusal> {
    let many = |tile| content.area_at(tile).is_some_and(|area| area.multi_combat);
    if many(by.tile) && many(target.tile) {
        return Ok(());
    }
    let other = |foe: &Option<Foe>, than: &EntityId| {
        let foe = foe.as_ref();
        foe.is_some_and(|foe| foe.who != *than && now.since(foe.at) < SINGLE_TICKS)
    };
    let taken = other(&target.clash.attacked_by, by.id) || other(&target.clash.attacked, by.id);
    if taken || other(&by.clash.attacked_by, target.id) {
        return Err(Refusal::Engaged);
    }
    Ok(())
}
