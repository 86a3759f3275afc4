//! Content: turns the text of manifests into catalogs and the land. Reads no file.
//!
//! Always: the same text gives the same content and the same hash. A required manifest that is
//! missing is an error that names it; any other fault is a warning.

mod ammunition;
mod areas;
mod biomes;
mod bounds;
mod buildings;
mod catalog;
mod catalogs;
mod duel_arenas;
mod fields;
mod files;
mod gathering;
mod homes;
mod items;
mod land;
mod music;
mod npcs;
mod placement;
mod prayers;
mod quests;
mod rare_drops;
mod reader;
mod recipes;
mod rings;
mod runes;
mod shores;
mod spells;
mod stations;
mod stores;
mod tiers;
mod tools;
mod unlocks;
mod vegetation;
mod words;
mod zones;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

pub use ammunition::Arrow;
pub use areas::Area;
pub use bounds::{ModelBounds, tiles_covered};
pub use catalog::Catalog;
pub use duel_arenas::{Arena, DuelArenas, Hall};
pub use files::{MANIFESTS, Manifest, Need, manifest, missing, parse};
pub use gathering::{ResourceKind, ToolNeed, Yield};
pub use items::{
    AttackType, Bonuses, EquipSlot, ItemKind, ItemSort, Items, Lamp, Note, Potion, PotionEffect,
    ToolUse, Weapon, WeaponType,
};
pub use music::Track;
pub use npcs::{
    Answer, Condition, Dialogue, Drop, Drops, Effect, Fight, Movement, Node, NpcKind, Overrides,
    ServiceKind, Services, Stats, Test,
};
pub use placement::{Fixture, NpcPlacement};
pub use prayers::{Prayer, PrayerKind};
pub use quests::{Difficulty, Quest, Reward, Stage, StageKind};
pub use rare_drops::RareDrop;
pub use reader::{ContentError, Defect, Warning};
pub use recipes::{
    Consumed, Cooking, Crafting, Effort, Firemaking, Fletching, Part, Recipes, Runecrafting,
    Smelting, Smithing, Tanning,
};
pub use rings::{Ring, Rings};
pub use runes::{Rune, Runes};
pub use spells::{RuneCost, Spell};
pub use stations::StationKind;
pub use stores::{Good, Store};
pub use tiers::{Tiers, Use};
pub use tools::Tool;
pub use unlocks::{Unlock, UnlockKind, Unlocks};
pub use vegetation::Plant;
pub use zones::{ArenaGrid, Fishing, FlatZone, SubZone};

use crate::entity::ids::{CharacterId, EntityId};
use crate::geometry::Terrain;
use crate::geometry::tile::{Bounds, Region, Tile};
use crate::rng;
use catalogs::Catalogs;
use placement::{Kinds, Placed};
use reader::{Of, Reader};

static EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/manifests.rs"));

/// Everything about the world that play does not change.
#[derive(Debug)]
pub struct Content {
    hash: String,
    terrain: Terrain,
    spawn: Tile,
    /// Tiles of new characters, once somebody asks for them.
    homes: OnceLock<Vec<Tile>>,
    areas: Vec<Area>,
    npcs: BTreeMap<Region, Vec<NpcPlacement>>,
    dance_leaders: Vec<NpcPlacement>,
    fixtures: BTreeMap<EntityId, Fixture>,
    fixture_ids: BTreeMap<Region, Vec<EntityId>>,
    catalogs: Catalogs,
    rings: Option<Rings>,
}

/// Content, and the faults found in it.
#[derive(Debug)]
pub struct Loaded {
    /// Content.
    pub content: Content,
    /// Faults, in the order in which the loader found them.
    pub warnings: Vec<Warning>,
}

impl Loaded {
    /// Returns whether production refuses the content because of `warning`.
    pub fn is_fatal(warning: &Warning) -> bool {
        items::is_duplicate(&warning.file, warning.defect)
    }

    /// Refuses content that production does not play, though development does: two items with the
    /// same id.
    ///
    /// # Errors
    /// [`ContentError::Duplicate`] for the first of them.
    pub fn strict(self) -> Result<Loaded, ContentError> {
        let found = self.warnings.iter().find(|warning| Self::is_fatal(warning));
        match found {
            Some(warning) => Err(ContentError::Duplicate {
                file: warning.file.clone(),
                at: warning.at.clone(),
                why: warning.what.clone(),
            }),
            None => Ok(self),
        }
    }
}

impl Content {
    /// Reads manifests: text by path below the folder of manifests, such as `items/food.json`.
    ///
    /// # Errors
    /// A required manifest is missing or cannot be read.
    pub fn load(files: &BTreeMap<String, String>) -> Result<Loaded, ContentError> {
        let reader = Reader::new(files);
        let content = Content::read(&reader, hash(files))?;
        Ok(Loaded {
            content,
            warnings: reader.into_warnings(),
        })
    }

    fn read(reader: &Reader, hash: String) -> Result<Content, ContentError> {
        let mut catalogs = Catalogs::load(reader)?;
        let kinds = Kinds {
            items: &catalogs.items,
            npcs: &catalogs.npcs,
            resources: &catalogs.resources,
            stations: &catalogs.stations,
        };
        let biomes = biomes::load(reader)?;
        let biome_ids: BTreeSet<String> = biomes.by_id.keys().cloned().collect();
        let root = reader.required_object(areas::FILE)?;
        let read = areas::load(&root);
        let mut placed = Placed::default();
        for written in &read {
            placed.add(written, &kinds);
        }
        for kind in placed.implied.iter() {
            let kind = ResourceKind::clone(kind);
            catalogs.resources.put(&kind.id.clone(), kind);
        }
        let areas: Vec<Area> = read.into_iter().map(|written| written.area).collect();
        let (mut plan, spawn) = land::load(&root, &areas, biomes);
        plan.buildings = buildings::load(reader);
        for fixture in &placed.fixtures {
            plan.blocked.extend(&fixture.blocks);
            let beside = fixture.blocks.iter().flat_map(|tile| around(*tile));
            plan.clear.extend(beside.chain(around(fixture.tile)));
        }
        plan.clear
            .extend(placed.npcs.iter().flat_map(|npc| around(npc.tile)));
        plan.clear.extend(around(spawn));
        let doors = plan.buildings.iter().flat_map(|b| &b.doors);
        plan.clear.extend(doors.flat_map(|door| around(*door)));
        let rings = rings::rings(&areas, &catalogs.duel_arenas);
        plan.fences = rings.iter().flat_map(Rings::fences).collect();
        let terrain = Terrain::new(plan);
        let taken = placed.fixtures.iter().map(|fixture| fixture.tile).collect();
        let spots = shores::spots(&areas, &catalogs.resources, &terrain, &taken);
        placed.fixtures.extend(spots);
        let mut content = Content {
            hash,
            terrain,
            spawn,
            homes: OnceLock::new(),
            areas,
            npcs: BTreeMap::new(),
            dance_leaders: Vec::new(),
            fixtures: BTreeMap::new(),
            fixture_ids: BTreeMap::new(),
            catalogs,
            rings,
        };
        content.place(placed);
        reader.resolve(|of, id| match of {
            Of::Biome => biome_ids.contains(id),
            of => content.catalogs.has(of, id),
        });
        Ok(content)
    }

    /// Sorts the placed things by region; in a region by id.
    fn place(&mut self, placed: Placed) {
        let leaders = placed.npcs.iter().filter(|npc| npc.leads_dance);
        self.dance_leaders = leaders.cloned().collect();
        for npc in placed.npcs {
            self.npcs
                .entry(Region::from(npc.tile))
                .or_default()
                .push(npc);
        }
        for list in self.npcs.values_mut() {
            list.sort_by(|a, b| a.id.cmp(&b.id));
        }
        for fixture in placed.fixtures {
            let ids = self
                .fixture_ids
                .entry(Region::from(fixture.tile))
                .or_default();
            ids.push(fixture.id.clone());
            self.fixtures.insert(fixture.id.clone(), fixture);
        }
        self.fixture_ids.values_mut().for_each(|ids| ids.sort());
    }

    /// Returns the built-in manifests: (path, text), by path.
    pub fn embedded_files() -> &'static [(&'static str, &'static str)] {
        EMBEDDED
    }

    /// Returns the built-in content, read once per process.
    ///
    /// # Panics
    /// If nobody can read it, which the tests of this crate rule out.
    pub fn embedded() -> Arc<Content> {
        static CONTENT: OnceLock<Arc<Content>> = OnceLock::new();
        let read = || {
            let files = EMBEDDED
                .iter()
                .map(|(p, t)| ((*p).to_owned(), (*t).to_owned()));
            match Content::load(&files.collect()) {
                Ok(loaded) => Arc::new(loaded.content),
                Err(e) => panic!("the embedded content cannot be read: {e}"),
            }
        };
        Arc::clone(CONTENT.get_or_init(read))
    }

    /// Returns the SHA-256 over all paths and texts, in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the land.
    pub fn terrain(&self) -> &Terrain {
        &self.terrain
    }

    /// Returns the land's outer edge; multiples of 64.
    pub fn bounds(&self) -> Bounds {
        self.terrain.bounds()
    }

    /// Returns all regions of the world.
    pub fn regions(&self) -> Vec<Region> {
        self.bounds().regions()
    }

    /// Returns the tile around which new players first stand.
    pub fn spawn(&self) -> Tile {
        self.spawn
    }

    /// Returns the tile on which a character first stands, rises from the dead and comes home.
    /// Characters spread over the tiles around the spawn, all in its region.
    pub fn home_of(&self, who: &CharacterId) -> Tile {
        let tiles = self
            .homes
            .get_or_init(|| homes::homes(&self.terrain, self.spawn));
        let count = u64::try_from(tiles.len()).unwrap_or(1).max(1);
        let at = usize::try_from(rng::key(who.as_str()) % count).unwrap_or(0);
        tiles.get(at).copied().unwrap_or(self.spawn)
    }

    /// Returns the named parts of the world, in the order of the manifest, towns first.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// Returns the rings for duels; `None`: there are none.
    pub fn rings(&self) -> Option<&Rings> {
        self.rings.as_ref()
    }

    /// Returns the smallest area in which `tile` lies.
    pub fn area_at(&self, tile: Tile) -> Option<&Area> {
        let around = self.areas.iter().filter(|a| a.bounds.contains(tile));
        around.min_by_key(|a| a.bounds.area())
    }

    /// Returns the NPCs that live in `region`, by id.
    pub fn npcs_in(&self, region: Region) -> &[NpcPlacement] {
        self.npcs.get(&region).map_or(&[], Vec::as_slice)
    }

    /// Returns the NPCs that lead dances, in the order of the manifest.
    pub fn dance_leaders(&self) -> &[NpcPlacement] {
        &self.dance_leaders
    }

    /// Returns the resources and stations that stand in `region`, by id.
    pub fn fixtures_in(&self, region: Region) -> impl Iterator<Item = &Fixture> {
        let ids = self.fixture_ids.get(&region).into_iter().flatten();
        ids.filter_map(|id| self.fixtures.get(id))
    }

    /// Returns the resource or station with that id.
    pub fn fixture(&self, id: &EntityId) -> Option<&Fixture> {
        self.fixtures.get(id)
    }
}

/// Returns the tile and its eight neighbours.
fn around(tile: Tile) -> impl Iterator<Item = Tile> {
    (-1..=1).flat_map(move |dx| (-1..=1).map(move |dz| tile.moved(dx, dz)))
}

fn hash(files: &BTreeMap<String, String>) -> String {
    let mut sha = Sha256::new();
    for text in files.iter().flat_map(|(path, text)| [path, text]) {
        sha.update((text.len() as u64).to_le_bytes());
        sha.update(text);
    }
    let mut hex = String::new();
    for byte in sha.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
