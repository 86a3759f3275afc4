//! `items/*.json`, or the older `items.json`: what can be had.
//!
//! Always: a note is made for every item that may have one; a note is never worn or eaten. XP is
//! in tenths, weights are in grams, chances in millionths.

mod bonuses;
mod read;
mod wear;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use bonuses::Bonuses;
pub use wear::{AttackType, EquipSlot, WeaponType};

use super::catalog::Catalog;
use super::fields::Fields;
use super::files;
use super::files::{MANIFESTS, Need};
use super::reader::{ContentError, Defect, Reader};
use super::tiers::Tiers;
use super::words::words;
use crate::features::training::skill::Skill;

/// The file of the older generations.
const SINGLE: &str = "items.json";
/// What the id of a note ends in.
const NOTED: &str = "_noted";

words! {
    /// What an item is for.
    ItemSort {
        Weapon = "weapon",
        Tool = "tool",
        Armor = "armor" | "armour",
        Ammunition = "ammunition",
        Resource = "resource",
        Consumable = "consumable",
        Food = "food",
        Currency = "currency",
        Junk = "junk",
        Misc = "misc",
    }
}

/// A kind of item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemKind {
    /// Unique among items.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// What a good look tells.
    pub examine: Arc<str>,
    /// What it is for.
    pub sort: ItemSort,
    /// common, uncommon, rare … as the manifest says.
    pub rarity: Arc<str>,
    /// bronze, iron, leather … as the manifest says; empty for none.
    pub tier: Arc<str>,
    /// It may be given to others.
    pub tradeable: bool,
    /// Any number of them fills one slot.
    pub stackable: bool,
    /// Worth in coins.
    pub value: u64,
    /// In grams.
    pub weight_grams: i32,
    /// Where it is worn; none for what cannot be worn.
    pub equip_slot: Option<EquipSlot>,
    /// Worn in the weapon's slot, it needs the shield's too.
    pub two_handed: bool,
    /// How one fights with it.
    pub weapon: Option<Weapon>,
    /// What it adds while it is worn.
    pub bonuses: Bonuses,
    /// The levels without which it cannot be worn, or used as a tool: its own, else those of
    /// its tier.
    pub requires: BTreeMap<Skill, u8>,
    /// What it is a tool for.
    pub tool: Option<ToolUse>,
    /// Health that it gives when it is eaten; 0 for what is not eaten.
    pub heals: u32,
    /// XP in prayer, in tenths, when it is buried; 0 for what is not buried.
    pub bury_xp_tenths: u32,
    /// The level in prayer that burying it takes.
    pub bury_level: u8,
    /// The runes of which whoever wields it has any number.
    pub endless_runes: Vec<Arc<str>>,
    /// What rubbing it gives.
    pub lamp: Option<Lamp>,
    /// What can be done with it in a pack; the first is the left click.
    pub actions: Vec<Arc<str>>,
    /// Whether it is a note or has one.
    pub note: Note,
    /// Where its pictures are; a path that begins with `asset://`.
    pub icon: Option<Arc<str>>,
    /// Its model on the ground.
    pub model: Option<Arc<str>>,
}

/// How one fights with a weapon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weapon {
    /// What sort of weapon.
    pub sort: WeaponType,
    /// What sort of attack.
    pub attack: AttackType,
    /// Ticks between attacks, at least 1.
    pub speed_ticks: u32,
    /// How far it reaches, in tiles.
    pub range_tiles: u32,
}

/// What a tool is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The skill.
    pub skill: Skill,
    /// As the manifest says; generations disagree on whether 1 is the best.
    pub priority: u32,
    /// Ticks between tries with it, if it says.
    pub roll_ticks: Option<u32>,
    /// The chance of a quicker try, in millionths.
    pub bonus_chance_millionths: u32,
    /// Ticks that a quicker try takes.
    pub bonus_roll_ticks: u32,
}

/// What rubbing a lamp gives in a skill of one's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lamp {
    /// XP, in tenths.
    pub xp_tenths: u32,
    /// The lamp is gone then.
    pub consumed: bool,
}

/// Whether an item is a note or has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Neither.
    None,
    /// It has this note.
    Has(Arc<str>),
    /// It is the note of this item.
    Of(Arc<str>),
}

/// All items. An item is also found by its alias: `<metal>_sword` and `<metal>_shortsword` are the
/// same where only one of them is there.
#[derive(Debug, Default)]
pub struct Items {
    catalog: Catalog<ItemKind>,
    /// Ids by alias.
    aliases: BTreeMap<Arc<str>, Arc<str>>,
}

impl Items {
    /// The item with that id or alias.
    pub fn get(&self, id: &str) -> Option<&Arc<ItemKind>> {
        let found = self.catalog.get(id);
        found.or_else(|| self.catalog.get(self.aliases.get(id)?))
    }

    /// Returns the id of the item that `name` is the id or alias of; `name` itself where there is
    /// no such item.
    pub fn id(&self, name: &str) -> Arc<str> {
        let kind = self.get(name);
        kind.map_or_else(|| name.into(), |kind| Arc::clone(&kind.id))
    }

    /// Returns every alias with its id, by alias.
    pub fn aliases(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.aliases.iter()
    }

    /// Whether there is an item with that id.
    pub fn contains(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    /// All items and notes, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ItemKind>> {
        self.catalog.iter()
    }

    /// How many items and notes there are.
    pub fn len(&self) -> usize {
        self.catalog.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.catalog.is_empty()
    }

    /// A note as the thing of which it is one; anything else as itself.
    pub fn unnoted(&self, item: &Arc<str>) -> Arc<str> {
        match self.get(item).map(|kind| &kind.note) {
            Some(Note::Of(base)) => Arc::clone(base),
            Some(Note::Has(_) | Note::None) | None => Arc::clone(item),
        }
    }

    /// Names what items say of each other by its id.
    fn resolved(mut self) -> Items {
        let aliases = &self.aliases;
        let resolve = |name: &mut Arc<str>| {
            if let Some(id) = aliases.get(name) {
                *name = Arc::clone(id);
            }
        };
        self.catalog.each(|item| {
            item.endless_runes.iter_mut().for_each(resolve);
            match &mut item.note {
                Note::Has(name) | Note::Of(name) => resolve(name),
                Note::None => {}
            }
        });
        self
    }

    /// The note of `item`, if it has one.
    pub fn note_of(&self, item: &str) -> Option<&Arc<ItemKind>> {
        match &self.get(item)?.note {
            Note::Has(note) => self.get(note),
            Note::None | Note::Of(_) => None,
        }
    }
}

/// Returns the id of each item by the alias that it has.
fn aliases(catalog: &Catalog<ItemKind>) -> BTreeMap<Arc<str>, Arc<str>> {
    let alias = |id: &Arc<str>| {
        let alias = renamed(id).filter(|alias| !catalog.contains(alias))?;
        Some((alias.into(), Arc::clone(id)))
    };
    catalog.ids().filter_map(alias).collect()
}

/// The other name of what once was called `id`, or is now.
fn renamed(id: &str) -> Option<String> {
    let (base, end) = match id.strip_suffix(NOTED) {
        Some(base) => (base, NOTED),
        None => (id, ""),
    };
    if let Some(metal) = base.strip_suffix("_shortsword") {
        return Some(format!("{metal}_sword{end}"));
    }
    let metal = base.strip_suffix("_sword")?;
    Some(format!("{metal}_shortsword{end}"))
}

/// The files in which items stand, in the order in which they are read.
pub(crate) fn files_of(reader: &Reader) -> Vec<&'static str> {
    if files::items_in_folder(|file| reader.has(file)) {
        let paths = MANIFESTS.iter().map(|manifest| manifest.path);
        paths.filter(|path| path.starts_with("items/")).collect()
    } else {
        vec![SINGLE]
    }
}

pub(crate) fn load(reader: &Reader, tiers: &Tiers) -> Result<Items, ContentError> {
    let mut catalog = Catalog::default();
    for file in files_of(reader) {
        let required = files::manifest(file).is_none_or(|m| m.need != Need::Optional);
        let records = if required {
            reader.required_records(file)?
        } else {
            reader.records(file)
        };
        for fields in &records {
            if let Some(item) = read::item(fields, tiers) {
                catalog.add(fields, &item.id.clone(), item);
            }
        }
    }
    add_notes(&mut catalog);
    let items = Items {
        aliases: aliases(&catalog),
        catalog,
    };
    Ok(items.resolved())
}

/// Whether `warning` is about two items with the same id, which production refuses.
pub(crate) fn is_duplicate(file: &str, defect: Defect) -> bool {
    defect == Defect::Duplicate && (file == SINGLE || file.starts_with("items/"))
}

/// Makes the notes that are not written down.
fn add_notes(catalog: &mut Catalog<ItemKind>) {
    let mut notes = Vec::new();
    let ids: Vec<Arc<str>> = catalog.ids().cloned().collect();
    catalog.each(|item| {
        let Note::Has(id) = &item.note else { return };
        if !ids.contains(id) {
            notes.push(note(item, id));
        }
    });
    for note in notes {
        catalog.put(&note.id.clone(), note);
    }
}

/// The note of `item`.
fn note(item: &ItemKind, id: &Arc<str>) -> ItemKind {
    ItemKind {
        id: Arc::clone(id),
        stackable: true,
        weight_grams: 0,
        note: Note::Of(Arc::clone(&item.id)),
        ..item.as_paper()
    }
}

impl ItemKind {
    /// The same thing, but good for nothing.
    fn as_paper(&self) -> ItemKind {
        ItemKind {
            equip_slot: None,
            two_handed: false,
            weapon: None,
            bonuses: Bonuses::default(),
            requires: BTreeMap::new(),
            tool: None,
            heals: 0,
            bury_xp_tenths: 0,
            endless_runes: Vec::new(),
            lamp: None,
            actions: ["Use", "Drop", "Examine"].map(Into::into).into(),
            ..self.clone()
        }
    }

    /// Whether it is a note.
    pub fn is_note(&self) -> bool {
        matches!(self.note, Note::Of(_))
    }
}

/// The id of the note of `fields`' item, if it may have one.
fn noted(fields: &Fields<'_>, id: &str) -> Arc<str> {
    match fields.text_or("notedItemId", "") {
        "" => format!("{id}{NOTED}").into(),
        given => given.into(),
    }
}
