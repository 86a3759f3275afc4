//! Value: ground items and balance classes, as the store writes them and as the world knows them.
//!
//! Always: translating a ground item one way and back changes nothing.

use proto::rpc::persistence::v1 as rpc;
use world::{Balance, CharacterId, EntityId, GroundItem, PersistentObjects, Tick, Tile};

use super::record;

/// Returns the row of an item on the ground.
pub(crate) fn row(item: &GroundItem) -> rpc::GroundItem {
    let owner = item.owner.as_ref();
    rpc::GroundItem {
        id: item.id.to_string(),
        region: Some(record::rpc_region(item.region)),
        x: item.tile.x,
        z: item.tile.z,
        item_id: item.item.to_string(),
        quantity: item.quantity,
        owner_id: owner.map_or_else(String::new, CharacterId::to_string),
        public_tick: item.public_at.0,
        expires_tick: item.expires_at.0,
        grave_id: item
            .grave
            .as_ref()
            .map_or_else(String::new, EntityId::to_string),
    }
}

/// Returns the item of a row; `None`: it names no region or nothing.
pub(crate) fn ground(row: &rpc::GroundItem) -> Option<GroundItem> {
    if row.quantity == 0 || row.id.is_empty() {
        return None;
    }
    Some(GroundItem {
        id: EntityId::from(row.id.as_str()),
        region: record::region(row.region)?,
        tile: Tile { x: row.x, z: row.z },
        item: row.item_id.as_str().into(),
        quantity: row.quantity,
        owner: (!row.owner_id.is_empty()).then(|| CharacterId::from(row.owner_id.as_str())),
        public_at: Tick(row.public_tick),
        expires_at: Tick(row.expires_tick),
        grave: (!row.grave_id.is_empty()).then(|| EntityId::from(row.grave_id.as_str())),
    })
}

/// Returns the persistent objects of a chunk as the store keeps them, as JSON.
pub(crate) fn persistent_objects(objects: &PersistentObjects) -> String {
    proto::encode::json_text(objects)
}

/// Returns the persistent objects that the store has of a chunk; `None`: they cannot be read.
pub(crate) fn lasts(row: &rpc::ChunkRow) -> Option<PersistentObjects> {
    serde_json::from_str(&row.data).ok()
}

/// Returns what a cause may do to holdings, as the store judges it.
pub(crate) fn balance(balance: Balance) -> rpc::Balance {
    match balance {
        Balance::Makes => rpc::Balance::Makes,
        Balance::Grants => rpc::Balance::Grants,
        Balance::Leaves => rpc::Balance::Leaves,
        Balance::Moves => rpc::Balance::Moves,
        Balance::Exchanges => rpc::Balance::Exchanges,
        Balance::Destroys => rpc::Balance::Destroys,
        Balance::Consumes => rpc::Balance::Consumes,
        Balance::Changes => rpc::Balance::Changes,
        Balance::Gathers => rpc::Balance::Gathers,
        Balance::Works => rpc::Balance::Works,
        Balance::Buys => rpc::Balance::Buys,
        Balance::Sells => rpc::Balance::Sells,
    }
}

#[cfg(test)]
mod tests {
    use world::Region;

    use super::*;

    #[test]
    fn a_ground_item_survives_its_row() {
        for owner in [None, Some(CharacterId::from("ann"))] {
            let grave = owner.as_ref().map(|_| EntityId::from("grave:3-8"));
            let item = GroundItem {
                id: EntityId::from("item:3-9"),
                region: Region { x: -1, z: 2 },
                tile: Tile { x: -70, z: 130 },
                item: "logs".into(),
                quantity: 7,
                owner,
                public_at: Tick(100),
                expires_at: Tick(300),
                grave,
            };
            assert_eq!(ground(&row(&item)), Some(item));
        }
    }

    #[test]
    fn a_row_without_region_or_quantity_is_nothing() {
        assert_eq!(ground(&rpc::GroundItem::default()), None);
    }
}
