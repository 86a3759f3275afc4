//! A character at rest: the store's row and the world's record. Only columns and items are
//! translated; all else is in the document, which `world` writes and reads.
//!
//! Always: a translation one way and back changes nothing that the world knows.

use std::{collections::BTreeSet, sync::Arc};

use proto::rpc::{
    common::v1 as common,
    persistence::v1::{BankItem, CharacterRecord, CharacterRow, PositionRow, Skill, Slot, Worn},
};
use world::{
    BadDocument, CharacterId, CharacterState, Columns, Deposit, PlayerRecord, Region, SkillXp,
    Stack, Tile, content::EquipSlot, item::SLOTS,
};

use crate::deliver::held::Holdings;

/// Returns the world's record of a row.
///
/// # Errors
/// The document in the row cannot be read.
pub(crate) fn player(row: &CharacterRecord) -> Result<PlayerRecord, BadDocument> {
    let columns = Columns {
        id: CharacterId::from(row.id.as_str()),
        name: row.name.clone(),
        tile: Tile { x: row.x, z: row.z },
        y: height(row.y),
        health: row.health,
        skills: skills(row).collect(),
        coins: row.coins,
        combat_level: row.combat_level,
        placed: row.placed,
        inventory: row.inventory.iter().filter_map(slot).collect(),
        equipment: row.equipment.iter().filter_map(worn).collect(),
        stakes: row.stakes.iter().filter_map(stake).collect(),
        bank: row.bank.iter().filter_map(deposit).collect(),
    };
    PlayerRecord::from_store(columns, &row.state)
}

/// Enters in `has` what a row has just written of value.
pub(crate) fn acknowledge(has: &mut Holdings, row: &CharacterRow) {
    let Some(record) = &row.record else { return };
    if !record.state.is_empty() {
        match CharacterState::from_document(&record.state) {
            Ok(state) => {
                has.bank.placeholders = state.bank_placeholders;
                has.quests = state.quests;
            }
            // This run wrote it.
            Err(why) => {
                tracing::error!(character = record.id, %why, "a document of this run cannot be read")
            }
        }
    }
    if row.holdings {
        has.inventory = record.inventory.iter().filter_map(slot).collect();
        has.coins = record.coins;
    }
    if row.worn {
        has.equipment = record.equipment.iter().filter_map(worn).collect();
    }
    for item in &record.bank {
        has.bank.items.remove(&*item.item_id);
    }
    has.bank
        .items
        .extend(record.bank.iter().filter_map(deposit));
    has.skills.extend(skills(record));
}

/// Enters in `has` what a row of a position has just written of value.
pub(crate) fn acknowledge_walk(has: &mut Holdings, row: &PositionRow) {
    has.skills.extend(row.agility.map(|grown| {
        let xp = SkillXp {
            level: grown.level,
            xp_tenths: grown.xp_tenths,
        };
        (world::Skill::Agility, xp)
    }));
}

/// Returns a worn stack with its slot; `None`: the stack is empty or the slot unknown.
fn worn(row: &Worn) -> Option<(EquipSlot, Stack)> {
    let slot = EquipSlot::named(&row.slot).filter(|_| row.quantity > 0)?;
    Some((slot, Stack::new(row.item_id.as_str(), row.quantity)))
}

/// Returns all of one item in the bank, unless it is gone.
fn deposit(row: &BankItem) -> Option<(Arc<str>, Deposit)> {
    let deposit = Deposit {
        quantity: row.quantity,
        tab: u8::try_from(row.tab).unwrap_or_default(),
        place: row.place,
    };
    (!row.gone).then(|| (row.item_id.as_str().into(), deposit))
}

/// Returns the skills of a row that the world knows.
fn skills(row: &CharacterRecord) -> impl Iterator<Item = (world::Skill, SkillXp)> + '_ {
    row.skills.iter().filter_map(|skill| {
        let xp = SkillXp {
            level: skill.level,
            xp_tenths: skill.xp_tenths,
        };
        Some((world::Skill::named(&skill.name)?, xp))
    })
}

/// The fields of a row that the world does not know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Owner<'a> {
    pub(crate) account_id: &'a str,
    pub(crate) session_id: &'a str,
    pub(crate) session_epoch: u64,
}

/// Returns the row of a record. The code that cuts the batch sets its region and ownership
/// sequence.
pub(crate) fn row(player: &PlayerRecord, owner: &Owner<'_>) -> CharacterRecord {
    let items = player.bank.items.iter();
    CharacterRecord {
        bank: items.map(|(item, there)| banked(item, *there)).collect(),
        ..without_bank(player, owner)
    }
}

/// As [`row`], but with only these items of the bank.
pub(crate) fn row_with(
    player: &PlayerRecord,
    owner: &Owner<'_>,
    items: &BTreeSet<Arc<str>>,
) -> CharacterRecord {
    let there = |item| player.bank.items.get_key_value(item);
    let items = items.iter().filter_map(there);
    CharacterRecord {
        bank: items.map(|(item, there)| banked(item, *there)).collect(),
        ..without_bank(player, owner)
    }
}

/// Returns the part of a row of which the row of a position is made.
pub(crate) fn place(player: &PlayerRecord, session_epoch: u64) -> CharacterRecord {
    CharacterRecord {
        id: player.id.to_string(),
        session_epoch,
        x: player.tile.x,
        y: player.y as f32,
        z: player.tile.z,
        combat_level: player.combat_level,
        health: player.health,
        skills: player
            .skills
            .get(&world::Skill::Agility)
            .map(|xp| skill_row(world::Skill::Agility, *xp))
            .into_iter()
            .collect(),
        ..CharacterRecord::default()
    }
}

fn skill_row(skill: world::Skill, xp: SkillXp) -> Skill {
    Skill {
        name: skill.name().to_owned(),
        level: xp.level,
        xp_tenths: xp.xp_tenths,
    }
}

fn banked(item: &Arc<str>, there: Deposit) -> BankItem {
    BankItem {
        item_id: item.to_string(),
        quantity: there.quantity,
        tab: u32::from(there.tab),
        place: there.place,
        gone: false,
    }
}

fn without_bank(player: &PlayerRecord, owner: &Owner<'_>) -> CharacterRecord {
    let skills = player.skills.iter();
    let skills = skills.map(|(skill, xp)| skill_row(*skill, *xp));
    let worn = player.equipment.iter().map(|(slot, stack)| Worn {
        slot: slot.name().to_owned(),
        item_id: stack.item.to_string(),
        quantity: stack.quantity,
    });
    let slots = player.inventory.iter().map(|(slot, stack)| Slot {
        slot: u32::from(*slot),
        item_id: stack.item.to_string(),
        quantity: stack.quantity,
    });
    let stakes = player.stakes.iter().map(|(place, stack)| Slot {
        slot: u32::from(*place),
        item_id: stack.item.to_string(),
        quantity: stack.quantity,
    });
    CharacterRecord {
        id: player.id.to_string(),
        account_id: owner.account_id.to_owned(),
        name: player.name.clone(),
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
        placed: player.placed,
        inventory: slots.collect(),
        equipment: worn.collect(),
        stakes: stakes.collect(),
        bank: Vec::new(),
        state: player.state().to_document().into(),
        // It never changes in the world.
        look: String::new(),
    }
}

/// Returns a slot as the world has it; nothing if there is no such slot or nothing in it.
fn slot(row: &Slot) -> Option<(u8, Stack)> {
    let slot = u8::try_from(row.slot).ok().filter(|slot| *slot < SLOTS)?;
    (row.quantity > 0).then(|| (slot, Stack::new(row.item_id.as_str(), row.quantity)))
}

/// Returns a place of a stake, as [`slot`].
fn stake(row: &Slot) -> Option<(u8, Stack)> {
    let place = u8::try_from(row.slot).ok();
    let place = place.filter(|place| *place < world::STAKES_MAX)?;
    (row.quantity > 0).then(|| (place, Stack::new(row.item_id.as_str(), row.quantity)))
}

/// Returns a height in whole tiles: rounds all that a row says into their range.
fn height(y: f32) -> i32 {
    y.round() as i32
}

/// Returns a region from a row.
pub(crate) fn region(region: Option<common::Region>) -> Option<Region> {
    region.map(|at| Region { x: at.x, z: at.z })
}

/// Returns a region for a row.
pub(crate) fn rpc_region(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}

/// Returns a tile for a message.
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
        let state = CharacterState {
            energy: 9_000,
            bank_placeholders: true,
            ..CharacterState::default()
        };
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
            placed: true,
            inventory: vec![Slot {
                slot: 27,
                item_id: "logs".to_owned(),
                quantity: 3,
            }],
            equipment: vec![Worn {
                slot: "ring".to_owned(),
                item_id: "signet".to_owned(),
                quantity: 1,
            }],
            stakes: vec![Slot {
                slot: 55,
                item_id: "coins".to_owned(),
                quantity: 9,
            }],
            bank: vec![BankItem {
                item_id: "coal".to_owned(),
                quantity: 0,
                tab: 8,
                place: 70_000,
                gone: false,
            }],
            state: state.to_document().into(),
            ..CharacterRecord::default()
        };
        let owner = Owner {
            account_id: "a1",
            session_id: "s1",
            session_epoch: 4,
        };
        let record = player(&before).unwrap();
        assert!(record.energy == 9_000 && record.bank.placeholders);
        assert_eq!(row(&record, &owner), before);
    }

    #[test]
    fn a_row_that_lost_its_document_makes_no_player() {
        let mut row = CharacterRecord {
            placed: true,
            state: CharacterState::default().to_document().into(),
            ..CharacterRecord::default()
        };
        assert!(player(&row).is_ok());
        row.state = row.state.slice(1..9);
        assert!(player(&row).is_err());
        row.state.clear();
        assert_eq!(player(&row), Err(BadDocument::Missing));
        row.placed = false;
        assert_eq!(
            player(&row).map(|new| new.state()),
            Ok(CharacterState::default())
        );
    }

    #[test]
    fn a_document_is_acknowledged_with_its_row_and_a_row_without_one_says_nothing() {
        let state = CharacterState {
            bank_placeholders: true,
            quests: [("errand".into(), world::QuestState::default())].into(),
            ..CharacterState::default()
        };
        let mut row = CharacterRow {
            record: Some(CharacterRecord {
                state: state.to_document().into(),
                ..CharacterRecord::default()
            }),
            ..CharacterRow::default()
        };
        let mut has = Holdings::default();
        acknowledge(&mut has, &row);
        assert!(has.bank.placeholders && has.quests == state.quests);
        row.record = Some(CharacterRecord::default());
        acknowledge(&mut has, &row);
        assert!(has.bank.placeholders && has.quests == state.quests);
    }
}
