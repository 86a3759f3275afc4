//! Everything that manifests describe, by id.

use std::sync::Arc;

use super::ammunition::Arrow;
use super::catalog::Catalog;
use super::duel_arenas::DuelArenas;
use super::gathering::ResourceKind;
use super::items::{ItemKind, Items};
use super::music::Track;
use super::npcs::NpcKind;
use super::prayers::Prayer;
use super::quests::Quest;
use super::rare_drops::RareDrop;
use super::reader::{ContentError, Of, Reader};
use super::recipes::Recipes;
use super::runes::Runes;
use super::spells::Spell;
use super::stations::StationKind;
use super::stores::Store;
use super::tiers::Tiers;
use super::tools::Tool;
use super::unlocks::Unlocks;
use super::vegetation::Plant;
use super::{
    Content, Note, ammunition, bounds, duel_arenas, gathering, items, music, npcs, prayers, quests,
    rare_drops, recipes, runes, spells, stations, stores, tiers, tools, unlocks, vegetation,
};
use crate::item::COINS;

/// Everything that manifests describe, by id.
#[derive(Debug)]
pub(crate) struct Catalogs {
    pub(crate) items: Items,
    pub(crate) npcs: Catalog<NpcKind>,
    pub(crate) stores: Catalog<Store>,
    pub(crate) resources: Catalog<ResourceKind>,
    pub(crate) stations: Catalog<StationKind>,
    recipes: Recipes,
    prayers: Catalog<Prayer>,
    quests: Catalog<Quest>,
    spells: Catalog<Spell>,
    arrows: Catalog<Arrow>,
    rare_drops: Vec<RareDrop>,
    runes: Runes,
    tools: Catalog<Tool>,
    tiers: Tiers,
    unlocks: Unlocks,
    pub(crate) duel_arenas: DuelArenas,
    music: Catalog<Track>,
    plants: Catalog<Plant>,
}

impl Catalogs {
    pub(crate) fn load(reader: &Reader) -> Result<Catalogs, ContentError> {
        let tiers = tiers::load(reader);
        let items = items::load(reader, &tiers)?;
        reader.know_aliases(&items);
        let measured = bounds::load(reader);
        Ok(Catalogs {
            npcs: npcs::load(reader)?,
            stores: stores::load(reader)?,
            resources: gathering::load(reader, &measured),
            stations: stations::load(reader, &measured),
            recipes: recipes::load(reader),
            prayers: prayers::load(reader),
            quests: quests::load(reader, &items),
            spells: spells::load(reader),
            arrows: ammunition::load(reader, &items),
            rare_drops: rare_drops::load(reader),
            runes: runes::load(reader),
            tools: tools::load(reader),
            unlocks: unlocks::load(reader),
            duel_arenas: duel_arenas::load(reader),
            music: music::load(reader),
            plants: vegetation::load(reader),
            items,
            tiers,
        })
    }

    /// Returns whether the target of a reference is there.
    pub(crate) fn has(&self, of: Of, id: &str) -> bool {
        match of {
            Of::Item => self.items.contains(id),
            Of::Npc => self.npcs.contains(id),
            Of::Store => self.stores.contains(id),
            Of::Resource => self.resources.contains(id),
            Of::Quest => self.quests.contains(id),
            Of::Prayer => self.prayers.contains(id),
            Of::Spell => self.spells.contains(id),
            Of::Yield => self.resources.contains(id) || self.items.contains(id),
            // If there is no such file, plants are no part of this content.
            Of::Plant => self.plants.is_empty() || self.plants.contains(id),
            // Biomes are land and no catalog: the caller that resolves references knows them.
            Of::Biome => false,
        }
    }
}

/// Lookups for the rules.
impl Content {
    /// Returns all items, and the notes of those that have one.
    pub fn items(&self) -> &Items {
        &self.catalogs.items
    }

    /// Returns the item with that id.
    pub fn item(&self, id: &str) -> Option<&Arc<ItemKind>> {
        self.catalogs.items.get(id)
    }

    /// Returns whether any number of `item` lies in one slot. An unknown item does, so that it
    /// keeps.
    pub fn stackable(&self, item: &str) -> bool {
        item == COINS || self.item(item).is_none_or(|kind| kind.stackable)
    }

    /// Returns the item behind the note `item`; `item` itself if it is no note.
    pub fn unnoted<'a>(&'a self, item: &'a str) -> &'a str {
        match self.item(item).map(|kind| &kind.note) {
            Some(Note::Of(base)) => base,
            _ => item,
        }
    }

    /// Returns all shops.
    pub fn stores(&self) -> &Catalog<Store> {
        &self.catalogs.stores
    }

    /// Returns the kinds of NPCs.
    pub fn npc_kinds(&self) -> &Catalog<NpcKind> {
        &self.catalogs.npcs
    }

    /// Returns the kinds of trees, rocks and fishing spots.
    pub fn resources(&self) -> &Catalog<ResourceKind> {
        &self.catalogs.resources
    }

    /// Returns the kinds of furnaces, anvils, banks …, by type.
    pub fn stations(&self) -> &Catalog<StationKind> {
        &self.catalogs.stations
    }

    /// Returns all recipes.
    pub fn recipes(&self) -> &Recipes {
        &self.catalogs.recipes
    }

    /// Returns all prayers.
    pub fn prayers(&self) -> &Catalog<Prayer> {
        &self.catalogs.prayers
    }

    /// Returns all quests.
    pub fn quests(&self) -> &Catalog<Quest> {
        &self.catalogs.quests
    }

    /// Returns the spells for fights.
    pub fn spells(&self) -> &Catalog<Spell> {
        &self.catalogs.spells
    }

    /// Returns all arrows, by item.
    pub fn arrows(&self) -> &Catalog<Arrow> {
        &self.catalogs.arrows
    }

    /// Returns the table of rare things.
    pub fn rare_drops(&self) -> &[RareDrop] {
        &self.catalogs.rare_drops
    }

    /// Returns runes, and staves that spare them.
    pub fn runes(&self) -> &Runes {
        &self.catalogs.runes
    }

    /// Returns the tools for gathering, by item.
    pub fn tools(&self) -> &Catalog<Tool> {
        &self.catalogs.tools
    }

    /// Returns the levels that go with bronze, iron, leather …
    pub fn tiers(&self) -> &Tiers {
        &self.catalogs.tiers
    }

    /// Returns the descriptions of the rewards of levels.
    pub fn unlocks(&self) -> &Unlocks {
        &self.catalogs.unlocks
    }

    /// Returns the arenas of the file, which count unless an area has its own.
    pub fn duel_arenas(&self) -> &DuelArenas {
        &self.catalogs.duel_arenas
    }

    /// Returns the music that clients play.
    pub fn music(&self) -> &Catalog<Track> {
        &self.catalogs.music
    }

    /// Returns the plants that clients strew over the land.
    pub fn plants(&self) -> &Catalog<Plant> {
        &self.catalogs.plants
    }
}
