//! Deaths and graves, as clients read them.

use proto::client::{
    combat::{PlayerDied, PlayerRespawned},
    grave::{GraveTile, GraveUpdate},
    sync::{Position, Stack},
};
use world::{GraveShown, PlayerRecord, Tick, Tile, death::Event, time::TICK_MS};

use super::Told;

/// `grave:update`.
fn grave_update(grave: &GraveShown) -> GraveUpdate {
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

/// `player:died`.
fn died(killer: Option<&str>, record: &PlayerRecord, tile: Tile, until: Tick) -> PlayerDied {
    PlayerDied {
        killed_by: killer.map(ToOwned::to_owned),
        position: position(record, tile),
        respawn_tick: until.0,
    }
}

/// `player:respawned`.
fn respawned(record: &PlayerRecord, tile: Tile) -> PlayerRespawned {
    PlayerRespawned {
        position: position(record, tile),
    }
}

fn position(record: &PlayerRecord, tile: Tile) -> Position {
    Position {
        x: tile.x,
        y: record.y as f32,
        z: tile.z,
    }
}

/// Returns what a player is told of deaths and graves.
pub(crate) fn told(event: &Event, record: Option<&PlayerRecord>) -> Option<Told> {
    Some(match event {
        Event::Grave { grave, .. } => {
            // The zone tells nothing to a player who is not here.
            record?;
            Told::of_value(&grave_update(grave))
        }
        Event::Died {
            killer,
            tile,
            until,
            ..
        } => Told::now(&died(killer.as_deref(), record?, *tile, *until)),
        Event::Respawned { tile, .. } => Told::now(&respawned(record?, *tile)),
    })
}
