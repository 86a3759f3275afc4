//! Converts packs, ground items, the ledger and gives between the wire and the store. Strict.

use proto::rpc::persistence::v1 as wire;

use super::malformed;
use super::model::{COORDINATE_MAX, Checked, count, number, region, small, text, wire_region};
use crate::store::stored::{Bank, Banked, PLACES, TABS, Worn};
use crate::store::unsigned;
use crate::store::value::{
    Balance, Chunk, DELTA_MAX, GroundGone, GroundItem, LedgerRow, Pack, RegionGive, RegionState,
    SLOTS, STAKES, Stack,
};

/// The longest name of a ledger cause.
const CAUSE_BYTES_MAX: usize = 32;
/// Longest document of the persistent objects of one chunk, in bytes.
const CHUNK_BYTES_MAX: usize = 64 * 1024;
/// Longest state of one region, in bytes.
const STATE_BYTES_MAX: usize = 1024 * 1024;

/// Reads the slots of a pack, each at most once.
pub(crate) fn pack(slots: Vec<wire::Slot>) -> Checked<Pack> {
    places(slots, SLOTS)
}

/// Reads the stakes, each place at most once.
pub(crate) fn stakes(slots: Vec<wire::Slot>) -> Checked<Pack> {
    places(slots, STAKES)
}

fn places(slots: Vec<wire::Slot>, end: u32) -> Checked<Pack> {
    let mut pack = Pack::new();
    for slot in slots {
        if slot.slot >= end {
            return Err(malformed(format!("there is no slot {}", slot.slot)));
        }
        let stack = stack(slot.item_id, slot.quantity)?;
        if pack.insert(small("slot", slot.slot)?, stack).is_some() {
            return Err(malformed(format!("slot {} is there twice", slot.slot)));
        }
    }
    Ok(pack)
}

fn stack(item: String, quantity: u32) -> Checked<Stack> {
    if quantity == 0 {
        return Err(malformed("a quantity must be at least 1"));
    }
    Ok(Stack {
        item: text("item_id", item)?,
        quantity: small("quantity", quantity)?,
    })
}

/// Converts the slots for the wire.
pub(crate) fn wire_pack(pack: Pack) -> Checked<Vec<wire::Slot>> {
    let slots = pack.into_iter().map(|(slot, stack)| {
        Ok(wire::Slot {
            slot: count(slot)?,
            item_id: stack.item,
            quantity: count(stack.quantity)?,
        })
    });
    slots.collect()
}

/// Reads the worn items, each place at most once.
pub(crate) fn worn(places: Vec<wire::Worn>) -> Checked<Worn> {
    let mut worn = Worn::new();
    for place in places {
        if !PLACES.contains(&place.slot.as_str()) {
            return Err(malformed("there is no such place to wear things"));
        }
        let stack = stack(place.item_id, place.quantity)?;
        if worn.insert(place.slot, stack).is_some() {
            return Err(malformed("two things are worn in one place"));
        }
    }
    Ok(worn)
}

/// Converts the worn items for the wire.
pub(crate) fn wire_worn(worn: Worn) -> Checked<Vec<wire::Worn>> {
    let places = worn.into_iter().map(|(slot, stack)| {
        Ok(wire::Worn {
            slot,
            item_id: stack.item,
            quantity: count(stack.quantity)?,
        })
    });
    places.collect()
}

/// Reads the items of a bank, each at most once.
pub(crate) fn bank(items: Vec<wire::BankItem>) -> Checked<Bank> {
    let mut bank = Bank::new();
    for item in items {
        let lies = Banked {
            quantity: small("bank.quantity", item.quantity)?,
            tab: small("bank.tab", item.tab)?,
            place: small("bank.place", item.place)?,
        };
        if lies.tab >= TABS {
            return Err(malformed(format!("a bank has {TABS} tabs")));
        }
        let id = text("bank.item_id", item.item_id)?;
        if bank.insert(id, (!item.gone).then_some(lies)).is_some() {
            return Err(malformed("an item is in the bank twice"));
        }
    }
    Ok(bank)
}

/// Converts a bank for the wire.
pub(crate) fn wire_bank(bank: Bank) -> Checked<Vec<wire::BankItem>> {
    let there = bank
        .into_iter()
        .filter_map(|(item, lies)| Some((item, lies?)));
    let items = there.map(|(item_id, lies)| {
        Ok(wire::BankItem {
            item_id,
            quantity: count(lies.quantity)?,
            tab: count(lies.tab)?,
            place: count(lies.place)?,
            gone: false,
        })
    });
    items.collect()
}

/// Reads a ground item.
pub(crate) fn ground_item(item: wire::GroundItem) -> Checked<GroundItem> {
    if item.x.abs() > COORDINATE_MAX || item.z.abs() > COORDINATE_MAX {
        return Err(malformed("the ground item lies outside any world"));
    }
    let owner = match item.owner_id.is_empty() {
        true => String::new(),
        false => text("owner_id", item.owner_id)?,
    };
    let grave = match item.grave_id.is_empty() {
        true => String::new(),
        false => text("grave_id", item.grave_id)?,
    };
    Ok(GroundItem {
        id: ground_id(item.id)?,
        region: region("ground.region", item.region)?,
        x: item.x,
        z: item.z,
        stack: stack(item.item_id, item.quantity)?,
        owner,
        public_tick: number("public_tick", item.public_tick)?,
        expires_tick: number("expires_tick", item.expires_tick)?,
        grave,
    })
}

fn ground_id(id: String) -> Checked<String> {
    if !id.starts_with("item:") {
        return Err(malformed("the id of a ground item begins with item:"));
    }
    text("ground.id", id)
}

/// Converts a ground item for the wire.
pub(crate) fn wire_ground_item(item: GroundItem) -> Checked<wire::GroundItem> {
    Ok(wire::GroundItem {
        id: item.id,
        region: Some(wire_region(item.region)),
        x: item.x,
        z: item.z,
        item_id: item.stack.item,
        quantity: count(item.stack.quantity)?,
        owner_id: item.owner,
        public_tick: unsigned(item.public_tick)?,
        expires_tick: unsigned(item.expires_tick)?,
        grave_id: item.grave,
    })
}

/// Reads a ground item that is gone.
pub(crate) fn ground_gone(gone: wire::GroundGone) -> Checked<GroundGone> {
    Ok(GroundGone {
        id: ground_id(gone.id)?,
        region: region("gone.region", gone.region)?,
    })
}

/// Reads the persistent objects of a chunk.
pub(crate) fn chunk(row: wire::ChunkRow) -> Checked<Chunk> {
    let at = row
        .chunk
        .ok_or_else(|| malformed("a chunk row names no chunk"))?;
    if at.x.abs() > COORDINATE_MAX || at.z.abs() > COORDINATE_MAX {
        return Err(malformed("the chunk lies outside any world"));
    }
    let read = serde_json::from_str::<serde::de::IgnoredAny>(&row.data);
    if read.is_err() || row.data.len() > CHUNK_BYTES_MAX || !row.data.starts_with('{') {
        let why = format!("a chunk's data are a JSON object of at most {CHUNK_BYTES_MAX} bytes");
        return Err(malformed(why));
    }
    Ok(Chunk {
        x: at.x,
        z: at.z,
        data: row.data,
    })
}

/// Converts the persistent objects of a chunk for the wire.
pub(crate) fn wire_chunk(chunk: Chunk) -> wire::ChunkRow {
    wire::ChunkRow {
        chunk: Some(proto::rpc::common::v1::Chunk {
            x: chunk.x,
            z: chunk.z,
        }),
        data: chunk.data,
    }
}

/// Returns the number of a balance class that only a newer version knows.
pub(crate) fn unknown_balance(rows: &wire::CommitRows) -> Option<i32> {
    let mut numbers = rows.ledger.iter().map(|row| row.balance);
    numbers.find(|number| wire::Balance::try_from(*number).is_err())
}

/// Reads a row of the ledger.
pub(crate) fn ledger_row(row: wire::LedgerRow) -> Checked<LedgerRow> {
    let balance = match row.balance() {
        wire::Balance::Unspecified => return Err(malformed("a ledger row has no balance class")),
        wire::Balance::Makes => Balance::Makes,
        wire::Balance::Grants => Balance::Grants,
        wire::Balance::Leaves => Balance::Leaves,
        wire::Balance::Moves => Balance::Moves,
        wire::Balance::Exchanges => Balance::Exchanges,
        wire::Balance::Destroys => Balance::Destroys,
        wire::Balance::Consumes => Balance::Consumes,
        wire::Balance::Changes => Balance::Changes,
        wire::Balance::Gathers => Balance::Gathers,
        wire::Balance::Works => Balance::Works,
        wire::Balance::Buys => Balance::Buys,
        wire::Balance::Sells => Balance::Sells,
    };
    let letters = |c: u8| c.is_ascii_lowercase() || c == b'_';
    if !(1..=CAUSE_BYTES_MAX).contains(&row.cause.len()) || !row.cause.bytes().all(letters) {
        let why = format!("a ledger cause has 1 to {CAUSE_BYTES_MAX} of a to z and _");
        return Err(malformed(why));
    }
    if row.delta == 0 || row.delta.unsigned_abs() > DELTA_MAX {
        return Err(malformed("the delta of a ledger row is 0 or too great"));
    }
    let character = match row.character_id.is_empty() {
        true => None,
        false => Some(text("ledger.character_id", row.character_id)?),
    };
    Ok(LedgerRow {
        character,
        item: text("ledger.item_id", row.item_id)?,
        cause: row.cause,
        balance,
        delta: row.delta,
    })
}

/// Reads the state of a region.
pub(crate) fn region_state(row: wire::RegionState) -> Checked<RegionState> {
    if !(1..=STATE_BYTES_MAX).contains(&row.state.len()) {
        let why = format!("the state of a region has 1 to {STATE_BYTES_MAX} bytes");
        return Err(malformed(why));
    }
    Ok(RegionState {
        region: region("state.region", row.region)?,
        epoch: number("state.epoch", row.epoch)?,
        state: row.state,
    })
}

/// Reads a region that the run gives away.
pub(crate) fn region_give(give: wire::RegionGive) -> Checked<RegionGive> {
    Ok(RegionGive {
        region: region("give.region", give.region)?,
        epoch: number("give.epoch", give.epoch)?,
        to: number("give.to_run_id", give.to_run_id)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_cause_is_a_short_name_with_a_balance_class() {
        let row = |cause: &str, balance: wire::Balance| {
            ledger_row(wire::LedgerRow {
                item_id: "logs".to_owned(),
                delta: 1,
                cause: cause.to_owned(),
                balance: balance.into(),
                ..wire::LedgerRow::default()
            })
        };
        assert!(row("shop_buy", wire::Balance::Buys).is_ok());
        assert!(row("shop_buy", wire::Balance::Unspecified).is_err());
        let long = "a".repeat(CAUSE_BYTES_MAX + 1);
        for wrong in ["", "Shop", "shop buy", "'; --", &long] {
            assert!(row(wrong, wire::Balance::Makes).is_err(), "{wrong:?}");
        }
    }
}
