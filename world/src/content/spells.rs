//! `combat-spells.json`.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::{Of, Reader};

/// File of the spells.
const FILE: &str = "combat-spells.json";
/// Ticks between casts, if the record gives none.
const SPEED_TICKS: u32 = 5;

/// Spell for fights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spell {
    /// Id, unique among spells.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Book with the spell: standard.
    pub book: Arc<str>,
    /// Group as the manifest gives it: strike, bolt …
    pub group: Arc<str>,
    /// Level that it takes.
    pub level: u8,
    /// Most damage, without the bonuses of gear.
    pub max_hit: u32,
    /// XP for a cast, in tenths.
    pub xp_tenths: u32,
    /// Element: air, water …; empty for none.
    pub element: Arc<str>,
    /// Ticks between casts, at least 1.
    pub speed_ticks: u32,
    /// Runes that a cast uses up.
    pub runes: Vec<RuneCost>,
}

/// Number of one rune.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuneCost {
    /// Item of the rune.
    pub rune: Arc<str>,
    /// Number of runes, at least 1.
    pub quantity: u32,
}

pub(crate) fn load(reader: &Reader) -> Catalog<Spell> {
    let mut spells = Catalog::default();
    let Some(root) = reader.object(FILE) else {
        return spells;
    };
    for (book, groups) in root.entries() {
        for (group, list) in groups.lists() {
            for fields in &list {
                if let Some(id) = fields.key("id") {
                    spells.add(fields, id, spell(id, book, group, fields));
                }
            }
        }
    }
    spells
}

fn spell<'v>(id: &'v str, book: &str, group: &str, fields: &Fields<'v>) -> Spell {
    let cost = |rune: &Fields<'_>| {
        rune.key("runeId")?;
        Some(RuneCost {
            rune: rune.refer("runeId", Of::Item, "it cannot be cast"),
            quantity: rune.count_or("quantity", 1).max(1),
        })
    };
    Spell {
        id: id.into(),
        name: fields.name(id).into(),
        book: book.into(),
        group: group.into(),
        level: fields.level_or(fields.either(&["level", "levelRequired"]), 1),
        max_hit: fields.count_or("baseMaxHit", 0).min(200),
        xp_tenths: fields.tenths("baseXp"),
        element: fields.text("element"),
        speed_ticks: fields.count_or("attackSpeed", SPEED_TICKS).clamp(1, 100),
        runes: fields.objects("runes").iter().filter_map(cost).collect(),
    }
}
