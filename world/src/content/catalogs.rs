//! All that manifests describe, by id.

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

/// All that manifests describe, by id.
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

    /// Whether what a manifest refers to is there.
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
            // Where there is no such file, plants are no part of this content.
            Of::Plant => self.plants.is_empty() || self.plants.contains(id),
            // They are land and no catalog: whoever resolves knows them.
            Of::Biome => false,
        }
    }
}

/// What rules ask for.
impl Content {
    /// All items, and the notes of those that have one.
    pub fn items(&self) -> &Items {
        &self.catalogs.items
    }

    /// The item with that id.
    pub fn item(&self, id: &str) -> Option<&Arc<ItemKind>> {
        self.catalogs.items.get(id)
    }

    /// Whether any number of `item` lies in one slot. What is not known does, so that it keeps.
    pub fn stackable(&self, item: &str) -> bool {
        item == COINS || self.item(item).is_none_or(|kind| kind.stackable)
    }

    /// The item that `item` is the note of; `item` itself where it is no note.
    pub fn unnoted<'a>(&'a self, item: &'a str) -> &'a str {
        match self.item(item).map(|kind| &kind.note) {
            Some(Note::Of(base)) => base,
            _ => item,
        }
    }

    /// All shops.
    pub fn stores(&self) -> &Catalog<Store> {
        &self.catalogs.stores
    }

    /// The kinds of NPCs.
    pub fn npc_kinds(&self) -> &Catalog<NpcKind> {
        &self.catalogs.npcs
    }

    /// The kinds of trees, rocks and fishing spots.
    pub fn resources(&self) -> &Catalog<ResourceKind> {
        &self.catalogs.resources
    }

    /// The kinds of furnaces, anvils, banks …, by type.
    pub fn stations(&self) -> &Catalog<StationKind> {
        &self.catalogs.stations
    }

    /// What can be made of what.
    pub fn recipes(&self) -> &Recipes {
        &self.catalogs.recipes
    }

    /// All prayers.
    pub fn prayers(&self) -> &Catalog<Prayer> {
        &self.catalogs.prayers
    }

    /// All quests.
    pub fn quests(&self) -> &Catalog<Quest> {
        &self.catalogs.quests
    }

    /// The spells for fights.
    pub fn spells(&self) -> &Catalog<Spell> {
        &self.catalogs.spells
    }

    /// All arrows, by item.
    pub fn arrows(&self) -> &Catalog<Arrow> {
        &self.catalogs.arrows
    }

    /// The table of rare things.
    pub fn rare_drops(&self) -> &[RareDrop] {
        &self.catalogs.rare_drops
    }

    /// Runes, and staves that spare them.
    pub fn runes(&self) -> &Runes {
        &self.catalogs.runes
    }

    /// What one gathers with, by item.
    pub fn tools(&self) -> &Catalog<Tool> {
        &self.catalogs.tools
    }

    /// The levels that go with bronze, iron, leather …
    pub fn tiers(&self) -> &Tiers {
        &self.catalogs.tiers
    }

    /// What levels bring, in words.
    pub fn unlocks(&self) -> &Unlocks {
        &self.catalogs.unlocks
    }

    /// Where duels are fought, unless an area says so itself.
    pub fn duel_arenas(&self) -> &DuelArenas {
        &self.catalogs.duel_arenas
    }

    /// What clients play.
    pub fn music(&self) -> &Catalog<Track> {
        &self.catalogs.music
    }

    /// What clients strew over the land.
    pub fn plants(&self) -> &Catalog<Plant> {
        &self.catalogs.plants
    }
}
