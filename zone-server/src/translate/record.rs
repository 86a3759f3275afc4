//! A character at rest: the store's row and the world's record.
//!
//! Always: translating one way and back changes nothing that the world knows of.

use std::collections::BTreeMap;

use proto::rpc::{
    common::v1 as common,
    persistence::v1::{CharacterRecord, Skill, Slot},
};
use world::{
    CharacterId, PlayerRecord, Region, SkillXp, Stack, Tile, item::SLOTS, record::ENERGY_FULL,
};

use crate::deliver::held::Holdings;

/// The world's record of a row.
pub(crate) fn player(row: &CharacterRecord) -> PlayerRecord {
    let skills = row.skills.iter().map(|skill| {
        let xp = SkillXp {
            level: skill.level,
            xp_tenths: skill.xp_tenths,
        };
        (skill.name.clone(), xp)
    });
    PlayerRecord {
        id: CharacterId::from(row.id.as_str()),
        name: row.name.clone(),
        tile: Tile { x: row.x, z: row.z },
        y: height(row.y),
        health: row.health,
        skills: skills.collect::<BTreeMap<_, _>>(),
        coins: row.coins,
        energy: row.run_energy.min(ENERGY_FULL),
        running: row.running,
        combat_level: row.combat_level,
        placed: row.placed,
        inventory: row.inventory.iter().filter_map(slot).collect(),
    }
}

/// Pack and coins of a row.
pub(crate) fn holdings(row: &CharacterRecord) -> Holdings {
    Holdings {
        inventory: row.inventory.iter().filter_map(slot).collect(),
        coins: row.coins,
    }
}

/// What a row has that the world does not know of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Owner<'a> {
    pub(crate) account_id: &'a str,
    pub(crate) session_id: &'a str,
    pub(crate) session_epoch: u64,
}

/// The row of a record. Its region and ownership sequence are set where the batch is cut.
pub(crate) fn row(player: PlayerRecord, owner: Owner<'_>) -> CharacterRecord {
    let skills = player.skills.into_iter().map(|(name, xp)| Skill {
        name,
        level: xp.level,
        xp_tenths: xp.xp_tenths,
    });
    let slots = player.inventory.into_iter().map(|(slot, stack)| Slot {
        slot: u32::from(slot),
        item_id: stack.item.to_string(),
        quantity: stack.quantity,
    });
    CharacterRecord {
        id: player.id.to_string(),
        account_id: owner.account_id.to_owned(),
        name: player.name,
        region: None,
        ownership_sequence: 0,
        session_epoch: owner.session_epoch,
        session_id: owner.session_id.to_owned(),
        x: player.tile.x,
        y: player.y as f32,
        z: player.tile.z,
        combat_level: player.combat_level,
        health: player.health,
        coins: player.coins,
        skills: skills.collect(),
        run_energy: player.energy,
        running: player.running,
        placed: player.placed,
        inventory: slots.collect(),
    }
}

/// A slot as the world has it; nothing, if there is no such slot or nothing in it.
fn slot(row: &Slot) -> Option<(u8, Stack)> {
    let slot = u8::try_from(row.slot).ok().filter(|slot| *slot < SLOTS)?;
    (row.quantity > 0).then(|| (slot, Stack::new(row.item_id.as_str(), row.quantity)))
}

/// Heights are whole tiles; whatever else a row says is rounded into their range.
fn height(y: f32) -> i32 {
    y.round() as i32
}

/// A region as rows name it.
pub(crate) fn region(region: Option<common::Region>) -> Option<Region> {
    region.map(|at| Region { x: at.x, z: at.z })
}

/// A region as rows name it.
pub(crate) fn rpc_region(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}

/// A tile as messages name it.
pub(crate) fn rpc_tile(tile: Tile) -> common::Tile {
    common::Tile {
        x: tile.x,
        z: tile.z,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_survives_the_world() {
        let before = CharacterRecord {
            id: "c1".to_owned(),
            account_id: "a1".to_owned(),
            name: "Ann".to_owned(),
            session_epoch: 4,
            session_id: "s1".to_owned(),
            x: -70,
            y: 3.0,
            z: 12,
            combat_level: 5,
            health: 9,
            coins: 77,
            skills: vec![Skill {
                name: "agility".to_owned(),
                level: 3,
                xp_tenths: 1740,
            }],
            run_energy: 9_000,
            running: true,
            placed: true,
            inventory: vec![Slot {
                slot: 27,
                item_id: "logs".to_owned(),
                quantity: 3,
            }],
            ..CharacterRecord::default()
        };
        let owner = Owner {
            account_id: "a1",
            session_id: "s1",
            session_epoch: 4,
        };
        assert_eq!(row(player(&before), owner), before);
    }
}
