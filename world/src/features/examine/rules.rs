//! A good look at something.

use std::sync::Arc;

use crate::content::Content;
use crate::entity::ground_item::Ground;
use crate::entity::ids::EntityId;
use crate::entity::npc::Npcs;
use crate::entity::player::Players;
use crate::geometry::tile::{Region, Tile};
use crate::refusal::Refusal;

/// Steps within which one sees.
const SIGHT_TILES: u32 = 32;

/// Returns the text that a player at `from` reads about `target`.
///
/// # Errors
/// `NotFound`: there is no such thing in a region that this process plays. `TooFar`: out of sight.
pub(crate) fn examine(
    players: &Players,
    npcs: &Npcs,
    ground: &Ground,
    content: &Content,
    played: impl Fn(Region) -> bool,
    from: Tile,
    target: &EntityId,
) -> Result<Arc<str>, Refusal> {
    let npc = npcs.get(target).filter(|npc| npc.lives());
    let (tile, text) = if let Some(npc) = npc {
        (npc.state.tile, Arc::clone(&npc.placement.kind.description))
    } else if let Some(fixture) = content.fixture(target) {
        if !played(Region::from(fixture.tile)) {
            return Err(Refusal::NotFound);
        }
        (fixture.tile, Arc::clone(&fixture.examine))
    } else if let Some(item) = ground.in_grave(target).next() {
        (
            item.tile,
            "Somebody's things lie here, and nobody else's business.".into(),
        )
    } else if let Some(item) = ground.seen(target) {
        let kind = content.item(&item.item);
        let text = kind.map_or_else(|| Arc::clone(&item.item), |kind| Arc::clone(&kind.examine));
        (item.tile, text)
    } else {
        let player = players.get(&target.character()).ok_or(Refusal::NotFound)?;
        let record = player.record();
        let text = format!("{}, of combat level {}.", record.name, record.combat_level);
        (record.tile, text.into())
    };
    if from.steps_to(tile) > SIGHT_TILES {
        return Err(Refusal::TooFar);
    }
    Ok(text)
}
