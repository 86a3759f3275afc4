//! What is told of graves.

use proto::client::{
    grave::{GraveTile, GraveUpdate},
    sync::Stack,
};
use world::{GraveShown, tick::TICK_MS};

/// `grave:update`.
pub(crate) fn update(grave: &GraveShown) -> GraveUpdate {
    let items = grave.items.iter().map(|stack| Stack {
        item_id: stack.item.to_string(),
        quantity: stack.quantity,
    });
    GraveUpdate {
        grave_id: grave.id.to_string(),
        position: grave.tile.map(|tile| GraveTile {
            x: tile.x,
            z: tile.z,
        }),
        items: items.collect(),
        expires_in_ms: grave.ticks.saturating_mul(TICK_MS),
    }
}
