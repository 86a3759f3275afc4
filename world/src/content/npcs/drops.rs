//! Things that NPCs leave behind.

use std::sync::Arc;

use crate::content::fields::Fields;
use crate::content::reader::Of;

/// Chance of 1, in millionths.
const CERTAIN: u32 = 1_000_000;
/// Lists of a table, the one of certain drops first.
const LISTS: [&str; 5] = ["always", "common", "uncommon", "rare", "veryRare"];
/// Lists of a table in the oldest generation.
const OLD_LISTS: [&str; 4] = [
    "guaranteedDrops",
    "commonDrops",
    "uncommonDrops",
    "rareDrops",
];

/// Things that an NPC leaves behind. The world rolls for every entry by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drops {
    /// Entries, in the order of the manifest, the default drop first.
    pub entries: Vec<Drop>,
    /// Chance of one of [`crate::content::RareDrop`], in millionths.
    pub rare_table_millionths: u32,
}

/// Thing that an NPC may leave behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drop {
    /// Item.
    pub item: Arc<str>,
    /// Fewest items.
    pub least: u32,
    /// Most items.
    pub most: u32,
    /// Chance, in millionths.
    pub chance_millionths: u32,
    /// Whether it comes as a note.
    pub noted: bool,
}

pub(super) fn read(npc: &Fields<'_>) -> Drops {
    // The oldest generation has a list.
    if npc.get("drops").is_some_and(|drops| drops.is_array()) {
        let entries = npc.objects("drops");
        return Drops {
            entries: entries.iter().filter_map(|f| entry(f, false)).collect(),
            rare_table_millionths: 0,
        };
    }
    if let Some(table) = npc.object("drops") {
        let mut entries = lists(&table, &LISTS);
        let default = table.object("defaultDrop");
        let default = default.filter(|drop| drop.flag_or("enabled", true));
        if let Some(drop) = default.and_then(|drop| entry(&drop, true)) {
            entries.insert(0, drop);
        }
        let rare = table.flag_or("rareDropTable", false);
        let chance = table.millionths_or("rareDropTableChance", 0);
        return Drops {
            entries,
            rare_table_millionths: if rare { chance } else { 0 },
        };
    }
    let table = npc.object("lootTable");
    Drops {
        entries: table.map_or_else(Vec::new, |table| lists(&table, &OLD_LISTS)),
        rare_table_millionths: 0,
    }
}

fn lists(table: &Fields<'_>, names: &[&str]) -> Vec<Drop> {
    let mut found = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let entries = table.objects(name);
        found.extend(entries.iter().filter_map(|f| entry(f, number == 0)));
    }
    found
}

fn entry(fields: &Fields<'_>, certain: bool) -> Option<Drop> {
    fields.key("itemId")?;
    let least = fields.count_or(fields.either(&["minQuantity", "quantity"]), 1);
    let most = fields.count_or(fields.either(&["maxQuantity", "quantity"]), least);
    if most < least {
        fields.warn("maxQuantity", "below minQuantity, taken as it");
    }
    let certain = certain || fields.flag_or("isGuaranteed", false);
    if !certain && !fields.has("chance") {
        fields.warn("chance", "there is none, it is never left behind");
    }
    Some(Drop {
        item: fields.refer("itemId", Of::Item, "it is never left behind"),
        least,
        most: most.max(least),
        chance_millionths: fields.millionths_or("chance", if certain { CERTAIN } else { 0 }),
        noted: fields.flag_or("noted", false),
    })
}
