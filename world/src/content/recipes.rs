//! `recipes/*.json`: recipes.
//!
//! Always: XP is in tenths, chances are in millionths, times are in ticks. Items of the single file
//! of December 2025 carry their recipes themselves; a recipe of its own file takes precedence.

mod cooking;
mod crafting;
mod firemaking;
mod fletching;
mod runecrafting;
mod smelting;
mod smithing;
mod tanning;

use std::sync::Arc;

pub use cooking::Cooking;
pub use crafting::{Consumed, Crafting};
pub use firemaking::Firemaking;
pub use fletching::Fletching;
pub use runecrafting::Runecrafting;
pub use smelting::Smelting;
pub use smithing::Smithing;
pub use tanning::Tanning;

use super::catalog::Catalog;
use super::fields::Fields;
use super::items;
use super::reader::{Of, Reader};

/// Consequence for a recipe that names an unknown item.
const UNMADE: &str = "it cannot be made";
/// Ticks for one product, if the record gives none.
const TICKS: u32 = 4;

/// Recipes of all skills.
#[derive(Debug, Default)]
pub struct Recipes {
    /// Recipes by the raw item.
    pub cooking: Catalog<Cooking>,
    /// Recipes by the log.
    pub firemaking: Catalog<Firemaking>,
    /// Recipes by product.
    pub smelting: Catalog<Smelting>,
    /// Recipes by product.
    pub smithing: Catalog<Smithing>,
    /// Recipes by product.
    pub crafting: Catalog<Crafting>,
    /// Recipes by product and first input; see [`Fletching::key`].
    pub fletching: Catalog<Fletching>,
    /// Recipes by the hide.
    pub tanning: Catalog<Tanning>,
    /// Recipes by the rune's type.
    pub runecrafting: Catalog<Runecrafting>,
}

impl Recipes {
    /// Returns the number of recipes.
    pub fn len(&self) -> usize {
        let making = self.smelting.len() + self.smithing.len() + self.crafting.len();
        let other = self.fletching.len() + self.tanning.len() + self.runecrafting.len();
        self.cooking.len() + self.firemaking.len() + making + other
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Cost and gain that every recipe has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Level that it takes.
    pub level: u8,
    /// XP for one, in tenths.
    pub xp_tenths: u32,
    /// Ticks for one.
    pub ticks: u32,
}

/// Number of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Item.
    pub item: Arc<str>,
    /// Number of items, at least 1.
    pub amount: u32,
}

pub(crate) fn load(reader: &Reader) -> Recipes {
    let mut recipes = Recipes {
        cooking: of(reader, "recipes/cooking.json", cooking::read),
        firemaking: of(reader, "recipes/firemaking.json", firemaking::read),
        smelting: of(reader, "recipes/smelting.json", smelting::read),
        smithing: of(reader, "recipes/smithing.json", smithing::read),
        crafting: of(reader, "recipes/crafting.json", crafting::read),
        fletching: of(reader, "recipes/fletching.json", fletching::read),
        tanning: of(reader, "recipes/tanning.json", tanning::read),
        runecrafting: of(reader, "recipes/runecrafting.json", runecrafting::read),
    };
    for file in items::files_of(reader) {
        for item in &reader.records(file) {
            embedded(item, &mut recipes);
        }
    }
    recipes
}

fn of<T>(
    reader: &Reader,
    file: &str,
    read: impl Fn(&Fields<'_>) -> Option<(String, T)>,
) -> Catalog<T> {
    let mut found = Catalog::default();
    for fields in &reader.records(file) {
        if let Some((key, recipe)) = read(fields) {
            found.add(fields, &key, recipe);
        }
    }
    found
}

/// Adds the recipes that the record of an item carries.
fn embedded(item: &Fields<'_>, recipes: &mut Recipes) {
    let Some(id) = item.get("id").and_then(|id| id.as_str()) else {
        return;
    };
    fn put<T>(into: &mut Catalog<T>, id: &str, recipe: Option<T>) {
        if let Some(recipe) = recipe.filter(|_| !into.contains(id)) {
            into.put(id, recipe);
        }
    }
    let part = |name: &str| {
        item.get(name)
            .filter(|v| v.is_object())
            .and(item.object(name))
    };
    let (cooking, fire) = (part("cooking"), part("firemaking"));
    let (smelting, smithing) = (part("smelting"), part("smithing"));
    put(
        &mut recipes.cooking,
        id,
        cooking.map(|f| cooking::embedded(id, &f)),
    );
    put(
        &mut recipes.firemaking,
        id,
        fire.map(|f| firemaking::embedded(id, &f)),
    );
    put(
        &mut recipes.smelting,
        id,
        smelting.map(|f| smelting::embedded(id, &f)),
    );
    put(
        &mut recipes.smithing,
        id,
        smithing.map(|f| smithing::embedded(id, &f)),
    );
}

fn effort(fields: &Fields<'_>) -> Effort {
    Effort {
        level: fields.level_or(
            fields.either(&["level", "levelRequired", "requiredLevel"]),
            1,
        ),
        xp_tenths: fields.tenths(fields.either(&["xp", "xpAmount"])),
        ticks: fields.count_or("ticks", TICKS),
    }
}

/// Reads the items of a list of {item, amount}.
fn parts(fields: &Fields<'_>, name: &str) -> Vec<Part> {
    let read = |part: &Fields<'_>| {
        part.key("item")?;
        Some(Part {
            item: part.refer("item", Of::Item, UNMADE),
            amount: part.count_or("amount", 1).max(1),
        })
    };
    fields.objects(name).iter().filter_map(read).collect()
}

/// Reads the item that the field `name` must name.
fn item(fields: &Fields<'_>, name: &str) -> Option<Arc<str>> {
    fields.key(name)?;
    Some(fields.refer(name, Of::Item, UNMADE))
}
