//! `items/*.json`, or the older `items.json`: items.
//!
//! Always: the loader makes a note for every item that may have one; nobody wears or eats a note.
//! XP is in tenths, weights are in grams, chances in millionths.

mod bonuses;
mod potion;
mod read;
mod wear;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use bonuses::Bonuses;
pub use potion::{Potion, PotionEffect};
pub use wear::{AttackType, EquipSlot, WeaponType};

use super::catalog::Catalog;
use super::fields::Fields;
use super::files;
use super::files::{MANIFESTS, Need};
use super::reader::{ContentError, Defect, Reader};
use super::tiers::Tiers;
use super::words::words;
use crate::features::training::skill::Skill;

/// File of the older generations.
const SINGLE: &str = "items.json";
/// Ending of a note's id.
const NOTED: &str = "_noted";

words! {
    /// Use of an item.
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

/// Kind of item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemKind {
    /// Id, unique among items.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Text for a good look.
    pub examine: Arc<str>,
    /// Use of the item.
    pub sort: ItemSort,
    /// Rarity as the manifest gives it: common, uncommon, rare …
    pub rarity: Arc<str>,
    /// Tier as the manifest gives it: bronze, iron, leather …; empty for none.
    pub tier: Arc<str>,
    /// Whether players may give it to others.
    pub tradeable: bool,
    /// Whether any number of them fills one slot.
    pub stackable: bool,
    /// Worth in coins.
    pub value: u64,
    /// Weight, in grams.
    pub weight_grams: i32,
    /// Slot in which a player wears it; none if nobody can wear it.
    pub equip_slot: Option<EquipSlot>,
    /// Whether it needs the shield's slot too when worn in the weapon's.
    pub two_handed: bool,
    /// Its use as a weapon.
    pub weapon: Option<Weapon>,
    /// Bonuses while worn.
    pub bonuses: Bonuses,
    /// Levels that wearing it, or using it as a tool, takes: its own, else those of its tier.
    pub requires: BTreeMap<Skill, u8>,
    /// Its use as a tool.
    pub tool: Option<ToolUse>,
    /// Health from eating it; 0 if nobody eats it.
    pub heals: u32,
    /// XP in prayer from burying it, in tenths; 0 if nobody buries it.
    pub bury_xp_tenths: u32,
    /// Level in prayer that burying it takes.
    pub bury_level: u8,
    /// Runes of which its wielder has any number.
    pub endless_runes: Vec<Arc<str>>,
    /// Experience from rubbing it.
    pub lamp: Option<Lamp>,
    /// Effects of drinking it; none if nobody drinks it.
    pub potion: Option<Potion>,
    /// Actions on it in a pack; the first is the left click.
    pub actions: Vec<Arc<str>>,
    /// Its note, or the item of which it is the note.
    pub note: Note,
    /// Path of its pictures; begins with `asset://`.
    pub icon: Option<Arc<str>>,
    /// Model on the ground.
    pub model: Option<Arc<str>>,
}

/// Use of an item as a weapon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weapon {
    /// Sort of weapon.
    pub sort: WeaponType,
    /// Sort of attack.
    pub attack: AttackType,
    /// Ticks between attacks, at least 1.
    pub speed_ticks: u32,
    /// Reach, in tiles.
    pub range_tiles: u32,
}

/// Use of an item as a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Skill of the tool.
    pub skill: Skill,
    /// Priority from the manifest; generations disagree on whether 1 is the best.
    pub priority: u32,
    /// Ticks between tries with it, if the manifest gives them.
    pub roll_ticks: Option<u32>,
    /// Chance of a quicker try, in millionths.
    pub bonus_chance_millionths: u32,
    /// Ticks that a quicker try takes.
    pub bonus_roll_ticks: u32,
}

/// Experience from rubbing a lamp, in a skill of the player's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lamp {
    /// XP, in tenths.
    pub xp_tenths: u32,
    /// Whether rubbing uses up the lamp.
    pub consumed: bool,
}

/// Relation of an item to its note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Neither a note nor an item with one.
    None,
    /// Item that has this note.
    Has(Arc<str>),
    /// Note of this item.
    Of(Arc<str>),
}

/// All items. They also have aliases: `<metal>_sword` and `<metal>_shortsword` are the same if only
/// one of them is there.
#[derive(Debug, Default)]
pub struct Items {
    catalog: Catalog<ItemKind>,
    /// Ids by alias.
    aliases: BTreeMap<Arc<str>, Arc<str>>,
}

impl Items {
    /// Returns the item with that id or alias.
    pub fn get(&self, id: &str) -> Option<&Arc<ItemKind>> {
        let found = self.catalog.get(id);
        found.or_else(|| self.catalog.get(self.aliases.get(id)?))
    }

    /// Returns the id of the item with the id or alias `name`; `name` itself if there is none.
    pub fn id(&self, name: &str) -> Arc<str> {
        let kind = self.get(name);
        kind.map_or_else(|| name.into(), |kind| Arc::clone(&kind.id))
    }

    /// Returns every alias with its id, by alias.
    pub fn aliases(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.aliases.iter()
    }

    /// Returns whether there is an item with that id or alias.
    pub fn contains(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    /// Returns all items and notes, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ItemKind>> {
        self.catalog.iter()
    }

    /// Returns the number of items and notes.
    pub fn len(&self) -> usize {
        self.catalog.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.catalog.is_empty()
    }

    /// Returns the item of a note; anything else as itself.
    pub fn unnoted(&self, item: &Arc<str>) -> Arc<str> {
        match self.get(item).map(|kind| &kind.note) {
            Some(Note::Of(base)) => Arc::clone(base),
            Some(Note::Has(_) | Note::None) | None => Arc::clone(item),
        }
    }

    /// Replaces aliases in references between items by ids.
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

    /// Returns the note of `item`, if it has one.
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

/// Returns the other name of a sword: the former or the present one of `id`.
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

/// Returns the files with the items, in reading order.
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

/// Returns whether `defect` in `file` is about two items with the same id, which production
/// refuses.
pub(crate) fn is_duplicate(file: &str, defect: Defect) -> bool {
    defect == Defect::Duplicate && (file == SINGLE || file.starts_with("items/"))
}

/// Makes the notes that no manifest describes.
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

/// Returns the note of `item`.
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
    /// Returns the same item without any use.
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
            potion: None,
            actions: ["Use", "Drop", "Examine"].map(Into::into).into(),
            ..self.clone()
        }
    }

    /// Returns whether it is a note.
    pub fn is_note(&self) -> bool {
        matches!(self.note, Note::Of(_))
    }
}

/// Returns the id of the note of `fields`' item, if it may have one.
fn noted(fields: &Fields<'_>, id: &str) -> Arc<str> {
    match fields.text_or("notedItemId", "") {
        "" => format!("{id}{NOTED}").into(),
        given => given.into(),
    }
}
