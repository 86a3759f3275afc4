//! `gathering/*.json` and `resources.json`: trees, rocks, fishing spots, herb patches.

use std::sync::Arc;

use super::bounds::ModelBounds;
use super::catalog::Catalog;
use super::fields::Fields;
use super::placement::Kinds;
use super::reader::{Of, Reader};
use super::stations::own_footprint;
use crate::features::training::skill::Skill;

const FILES: [&str; 4] = [
    "resources.json",
    "gathering/woodcutting.json",
    "gathering/mining.json",
    "gathering/fishing.json",
];
/// Ticks between tries, if the record gives none.
const CYCLE_TICKS: u32 = 4;
/// Ticks until it is back, if the record gives none.
const RESPAWN_TICKS: u32 = 80;

/// Kind of tree, rock or fishing spot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceKind {
    /// Id, unique among kinds.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Sort: tree, ore, fishing_spot …
    pub kind: Arc<str>,
    /// Text for a good look.
    pub examine: Arc<str>,
    /// Level that it takes.
    pub level: u32,
    /// Skill that it takes, and for which it gives XP; none for a thing that only stands there.
    pub skill: Option<Skill>,
    /// Tool that it takes, worn or in the pack.
    pub tool: ToolNeed,
    /// Item that every success uses up.
    pub bait: Option<Arc<str>>,
    /// Ticks between tries, at least 1.
    pub cycle_ticks: u32,
    /// Chance that a success empties it, in millionths.
    pub deplete_millionths: u32,
    /// Ticks until it is back.
    pub respawn_ticks: u32,
    /// Products, the main one first.
    pub yields: Vec<Yield>,
    /// Model; a path that begins with `asset://`.
    pub model: Option<Arc<str>>,
    /// Scale of the model, in thousandths.
    pub scale_thousandths: u32,
    /// Tiles that it covers, east and north.
    pub footprint: (i32, i32),
}

/// Tool that gathering takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolNeed {
    /// No tool.
    Nothing,
    /// Any tool of that skill: the manifest says `pickaxe`, or `bronze_hatchet`.
    Any(Skill),
    /// This item.
    Item(Arc<str>),
}

/// Product that a try may give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Yield {
    /// Item.
    pub item: Arc<str>,
    /// Number of items.
    pub quantity: u32,
    /// Chance, in millionths.
    pub chance_millionths: u32,
    /// XP, in tenths.
    pub xp_tenths: u32,
    /// Level that it takes.
    pub level: u8,
    /// For fish: the chance at level 1 and at level 99, in 256ths.
    pub catch: Option<(u32, u32)>,
}

pub(crate) fn load(reader: &Reader, bounds: &ModelBounds) -> Catalog<ResourceKind> {
    let mut kinds = Catalog::default();
    for file in FILES {
        for fields in &reader.records(file) {
            if let Some(id) = fields.key("id") {
                kinds.add(fields, id, kind(id, fields, bounds));
            }
        }
    }
    kinds
}

fn kind<'v>(id: &'v str, fields: &Fields<'v>, bounds: &ModelBounds) -> ResourceKind {
    let level = fields.either(&["levelRequired", "requiredLevel"]);
    let sort = fields.text_or("type", fields.text_or("resourceType", "resource"));
    let scale_thousandths = fields.parts_or("scale", 1_000, 1_000);
    ResourceKind {
        id: id.into(),
        name: fields.name(id).into(),
        kind: sort.to_lowercase().into(),
        examine: fields
            .text_or("examine", fields.text_or("description", ""))
            .into(),
        level: u32::from(fields.level_or(level, 1)),
        skill: fields.skill("harvestSkill"),
        tool: tool(fields),
        bait: Some(fields.refer("secondaryRequired", Of::Item, "nothing can be gathered"))
            .filter(|id| !id.is_empty()),
        cycle_ticks: fields
            .ticks_or("baseCycleTicks", "harvestTime", CYCLE_TICKS)
            .max(1),
        deplete_millionths: fields.millionths_or("depleteChance", 1_000_000),
        respawn_ticks: fields.ticks_or("respawnTicks", "respawnTime", RESPAWN_TICKS),
        yields: fields
            .objects("harvestYield")
            .iter()
            .filter_map(given)
            .collect(),
        model: Some(fields.text("modelPath")).filter(|path| !path.is_empty()),
        scale_thousandths,
        footprint: footprint(fields, sort, bounds, scale_thousandths),
    }
}

/// Returns the tiles that it covers: those of the record, else the measured ones of its model. A
/// tree blocks only the tile of its trunk, a fishing spot nothing.
fn footprint(fields: &Fields<'_>, sort: &str, bounds: &ModelBounds, scale: u32) -> (i32, i32) {
    if let Some(own) = own_footprint(fields) {
        return own;
    }
    match sort.to_lowercase().as_str() {
        "tree" | "fishing_spot" => (1, 1),
        _ => {
            let model = fields.text_or("modelPath", "");
            bounds.footprint("", model, scale).unwrap_or((1, 1))
        }
    }
}

/// Returns the kind of a place that names the item that it gives, as in the oldest generation. It
/// takes the kind that gives this item, else it makes a new one from the place and the item.
pub(crate) fn named_by_item(
    item: &str,
    sort: &str,
    place: &Fields<'_>,
    known: &Kinds<'_>,
) -> Option<ResourceKind> {
    let gives = |kind: &&Arc<ResourceKind>| {
        kind.kind.as_ref() == sort && kind.yields.iter().any(|y| y.item.as_ref() == item)
    };
    if let Some(kind) = known.resources.iter().find(gives) {
        return Some(ResourceKind::clone(kind));
    }
    let item = known.items.get(item)?;
    let skill = match sort {
        "tree" => Some(Skill::Woodcutting),
        "ore" | "mine" => Some(Skill::Mining),
        "fishing_spot" => Some(Skill::Fishing),
        _ => None,
    };
    let level = place.level_or("level", 1);
    Some(ResourceKind {
        id: Arc::clone(&item.id),
        name: Arc::clone(&item.name),
        kind: sort.into(),
        examine: Arc::clone(&item.examine),
        level: u32::from(level),
        skill,
        tool: skill.map_or(ToolNeed::Nothing, ToolNeed::Any),
        bait: None,
        cycle_ticks: CYCLE_TICKS,
        deplete_millionths: 1_000_000,
        respawn_ticks: place.ticks_or("respawnTicks", "respawnTime", RESPAWN_TICKS),
        yields: vec![Yield {
            item: Arc::clone(&item.id),
            quantity: 1,
            chance_millionths: 1_000_000,
            xp_tenths: 0,
            level,
            catch: None,
        }],
        model: None,
        scale_thousandths: 1_000,
        footprint: (1, 1),
    })
}

fn tool(fields: &Fields<'_>) -> ToolNeed {
    let tool = fields.text_or("toolRequired", "");
    match tool.to_lowercase().as_str() {
        "" => ToolNeed::Nothing,
        "pickaxe" | "bronze_pickaxe" => ToolNeed::Any(Skill::Mining),
        "hatchet" | "axe" | "bronze_hatchet" => ToolNeed::Any(Skill::Woodcutting),
        _ => ToolNeed::Item(fields.refer("toolRequired", Of::Item, "nothing can be gathered")),
    }
}

fn given(fields: &Fields<'_>) -> Option<Yield> {
    fields.key("itemId")?;
    let rate = fields.object("successRate");
    let catch = match &rate {
        Some(rate) => Some((rate.count_or("low", 0), rate.count_or("high", 0))),
        None if fields.has("catchLow") || fields.has("catchHigh") => Some((
            fields.count_or("catchLow", 0),
            fields.count_or("catchHigh", 0),
        )),
        None => None,
    };
    Some(Yield {
        item: fields.refer("itemId", Of::Item, "it is not given"),
        quantity: fields.count_or("quantity", 1).max(1),
        chance_millionths: fields.millionths_or("chance", 1_000_000),
        xp_tenths: fields.tenths(fields.either(&["xpAmount", "xp"])),
        level: fields.level_or(fields.either(&["levelRequired", "requiredLevel"]), 1),
        catch,
    })
}
