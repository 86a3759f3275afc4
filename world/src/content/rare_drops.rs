//! `rare-drops.json`: the table of rare things. If `npcs.json` gives an NPC a chance for the table,
//! the NPC leaves one of them behind with that chance.

use std::sync::Arc;

use super::fields::Fields;
use super::reader::{Of, Reader};

/// File of the table.
const FILE: &str = "rare-drops.json";
/// Greatest share, so that sums stay small.
const WEIGHT_MAX: u32 = 1_000_000;

/// Entry of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RareDrop {
    /// Item.
    pub item: Arc<str>,
    /// Fewest items.
    pub least: u32,
    /// Most items.
    pub most: u32,
    /// Its share among the shares of all.
    pub weight: u32,
    /// Whether it comes as a note.
    pub noted: bool,
}

pub(crate) fn load(reader: &Reader) -> Vec<RareDrop> {
    let records = reader.records(FILE);
    records.iter().filter_map(read).collect()
}

fn read(fields: &Fields<'_>) -> Option<RareDrop> {
    fields.key("itemId")?;
    let least = fields.count_or("minQuantity", 1);
    let most = fields.count_or("maxQuantity", least);
    if most < least {
        fields.warn("maxQuantity", "below minQuantity, taken as it");
    }
    Some(RareDrop {
        item: fields.refer("itemId", Of::Item, "it is never left behind"),
        least,
        most: most.max(least),
        weight: fields.count_or("weight", 1).min(WEIGHT_MAX),
        noted: fields.flag_or("noted", false),
    })
}
