//! What areas place in the world: NPCs, resources and stations.
//!
//! Always: a placed thing's id depends only on what is placed where and by which area, never on
//! the order in a file; ids are unique and at most 64 bytes long.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::border::PAST_TILES_MAX;
use crate::content::areas::{Area, position};
use crate::content::catalog::Catalog;
use crate::content::fields::Fields;
use crate::content::gathering::ResourceKind;
use crate::content::npcs::{self, Movement, NpcKind};
use crate::content::reader::Of;
use crate::content::stations::StationKind;
use crate::ids::EntityId;
use crate::look::Kind;
use crate::rng;
use crate::tile::{Region, Tile};

/// How many NPCs one spawn may hold.
const SPAWN_MAX: i64 = 64;
/// How long an id may be, in bytes.
const ID_BYTES_MAX: usize = 64;

/// An NPC that content places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpcPlacement {
    /// Its id for ever.
    pub id: EntityId,
    /// What its dice are keyed by.
    pub key: u64,
    /// What it is.
    pub kind: Arc<NpcKind>,
    /// As players see it.
    pub name: Arc<str>,
    /// bank, general_store … as the area says; empty for beasts.
    pub service: Arc<str>,
    /// Where it lives.
    pub tile: Tile,
    /// It first appears within so many tiles of there.
    pub radius: i32,
    /// The points that it walks to in turn.
    pub patrol: Vec<Tile>,
}

/// A resource or a station that content places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// Its id for ever.
    pub id: EntityId,
    /// `Resource` or `Station`.
    pub kind: Kind,
    /// As players see it.
    pub name: Arc<str>,
    /// tree, ore, fishing_spot, furnace, bank …
    pub sort: Arc<str>,
    /// Its kind's id; a station's is its sort.
    pub of: Arc<str>,
    /// What a good look tells.
    pub examine: Arc<str>,
    /// The level that it takes; 1 for stations.
    pub level: u32,
    /// Where it stands: the middle of what it covers.
    pub tile: Tile,
    /// The tiles that nobody can stand on because of it.
    pub blocks: Vec<Tile>,
}

/// Everything that is placed.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    pub(crate) npcs: Vec<NpcPlacement>,
    pub(crate) fixtures: Vec<Fixture>,
    ids: BTreeSet<EntityId>,
}

/// The catalogs that placements refer to.
pub(crate) struct Catalogs<'a> {
    pub(crate) npcs: &'a Catalog<NpcKind>,
    pub(crate) resources: &'a Catalog<ResourceKind>,
    pub(crate) stations: &'a Catalog<StationKind>,
}

impl Placed {
    /// Adds all that `area` places.
    pub(crate) fn add(&mut self, area: &Area, fields: &Fields<'_>, catalogs: &Catalogs<'_>) {
        for npc in fields.objects("npcs") {
            self.npc(area, &npc, catalogs);
        }
        for spawn in fields.objects("mobSpawns") {
            self.mobs(area, &spawn, catalogs);
        }
        for resource in fields.objects("resources") {
            self.resource(&resource, catalogs);
        }
        for station in fields.objects("stations") {
            self.station(area, &station, catalogs);
        }
    }

    fn npc(&mut self, area: &Area, fields: &Fields<'_>, catalogs: &Catalogs<'_>) -> Option<()> {
        let id = fields.key("id")?;
        let tile = place(fields)?;
        let given = fields.text_or("name", "");
        let kind = match catalogs.npcs.get(id) {
            Some(kind) => Arc::clone(kind),
            None => {
                if given.is_empty() {
                    fields.refer("id", Of::Npc, "and it has no name of its own");
                }
                Arc::new(nobody(id, given, fields.text_or("description", "")))
            }
        };
        fields.refer("storeId", Of::Store, "nothing is sold");
        let entity = self.id(fields, &format!("npc:{}:{id}", area.id), tile);
        let patrol = patrol(fields, &kind, tile);
        self.npcs.push(NpcPlacement {
            key: rng::key(entity.as_str()),
            id: entity,
            name: if given.is_empty() {
                Arc::clone(&kind.name)
            } else {
                given.into()
            },
            kind,
            service: fields.text_or("type", "").to_lowercase().into(),
            tile,
            radius: 0,
            patrol,
        });
        Some(())
    }

    fn mobs(&mut self, area: &Area, fields: &Fields<'_>, catalogs: &Catalogs<'_>) -> Option<()> {
        let id = fields.key("mobId")?;
        let tile = place(fields)?;
        let Some(kind) = catalogs.npcs.get(id) else {
            fields.refer("mobId", Of::Npc, "none appear");
            return None;
        };
        let radius = fields.int_or("spawnRadius", 0).clamp(0, 64) as i32;
        for number in 0..fields.int_or("maxCount", 1).clamp(0, SPAWN_MAX) {
            let name = format!("npc:{}:{id}:{},{}:{number}", area.id, tile.x, tile.z);
            let entity = self.id(fields, &name, tile);
            self.npcs.push(NpcPlacement {
                key: rng::key(entity.as_str()),
                id: entity,
                kind: Arc::clone(kind),
                name: Arc::clone(&kind.name),
                service: "".into(),
                tile,
                radius,
                patrol: patrol(fields, kind, tile),
            });
        }
        Some(())
    }

    fn resource(&mut self, fields: &Fields<'_>, catalogs: &Catalogs<'_>) -> Option<()> {
        let of = fields.key("resourceId")?;
        let tile = place(fields)?;
        let sort = fields.text_or("type", "resource").to_lowercase();
        let known = catalogs.resources.get(of);
        fields.refer("resourceId", Of::Resource, "it only stands there");
        let swims = sort == "fishing_spot";
        let id = self.id(fields, &format!("res:{of}:{},{}", tile.x, tile.z), tile);
        self.fixtures.push(Fixture {
            id,
            kind: Kind::Resource,
            name: known.map_or_else(|| of.into(), |k| Arc::clone(&k.name)),
            sort: sort.into(),
            of: of.into(),
            examine: known.map_or_else(|| "".into(), |k| Arc::clone(&k.examine)),
            level: known.map_or(1, |k| k.level),
            tile,
            blocks: if swims { Vec::new() } else { vec![tile] },
        });
        Some(())
    }

    fn station(&mut self, area: &Area, fields: &Fields<'_>, catalogs: &Catalogs<'_>) -> Option<()> {
        let sort = fields.key("type")?.to_lowercase();
        let tile = place(fields)?;
        let known = catalogs.stations.get(&sort);
        let usual = known.map_or(sort.as_str(), |k| &k.name);
        let (width, depth) = known.map_or((1, 1), |k| k.footprint);
        let (low, name) = (
            tile.moved(-(width / 2), -(depth / 2)),
            fields.text_or("id", &sort),
        );
        let blocks = (0..depth).flat_map(|dz| (0..width).map(move |dx| low.moved(dx, dz)));
        let id = self.id(fields, &format!("sta:{}:{name}", area.id), tile);
        self.fixtures.push(Fixture {
            id,
            kind: Kind::Station,
            name: fields.text_or("name", usual).into(),
            sort: sort.as_str().into(),
            of: sort.as_str().into(),
            examine: known.map_or_else(|| "".into(), |k| Arc::clone(&k.examine)),
            level: 1,
            tile,
            blocks: blocks.collect(),
        });
        Some(())
    }

    /// `wanted` as an id, with the tile or a number behind it where it is taken or too long.
    fn id(&mut self, fields: &Fields<'_>, wanted: &str, tile: Tile) -> EntityId {
        let mut id = EntityId::from(wanted);
        if wanted.len() > ID_BYTES_MAX {
            let short: String = wanted.chars().take(ID_BYTES_MAX / 4).collect();
            id = EntityId::from(format!("{short}~{:016x}", rng::key(wanted)));
        } else if self.ids.contains(&id) {
            id = EntityId::from(format!("{wanted}:{},{}", tile.x, tile.z));
        }
        let mut number = 2;
        while id.as_str().len() > ID_BYTES_MAX || self.ids.contains(&id) {
            if number == 2 {
                fields.warn("position", &format!("{wanted} is placed there twice"));
            }
            let short: String = wanted.chars().take(ID_BYTES_MAX / 4).collect();
            id = EntityId::from(format!("{short}~{:016x}:{number}", rng::key(wanted)));
            number += 1;
        }
        self.ids.insert(id.clone());
        id
    }
}

/// The points to which one of `kind` who lives at `home` walks: its own, else its kind's; those
/// that are too far from its region are left out.
fn patrol(fields: &Fields<'_>, kind: &NpcKind, home: Tile) -> Vec<Tile> {
    let mut points = npcs::patrol(fields);
    if let (true, Movement::Patrol { points: usual }) = (points.is_empty(), &kind.movement) {
        points.clone_from(usual);
    }
    let region = Region::from(home);
    let all = points.len();
    points.retain(|point| region.tiles_past(*point) <= PAST_TILES_MAX);
    if points.len() < all {
        let why = format!("goes more than {PAST_TILES_MAX} tiles past its region, cut short");
        fields.warn("patrolPath", &why);
    }
    points
}

/// Where the thing that `fields` describe is; without it the thing is skipped with a warning.
fn place(fields: &Fields<'_>) -> Option<Tile> {
    let tile = fields.object("position").as_ref().and_then(position);
    if tile.is_none() {
        fields.warn("position", "must be {x, z} from -10000 to 10000, skipped");
    }
    tile
}

/// Somebody who has no record of its own.
fn nobody(id: &str, name: &str, description: &str) -> NpcKind {
    NpcKind {
        id: id.into(),
        name: if name.is_empty() { id } else { name }.into(),
        description: description.into(),
        category: "neutral".into(),
        level: 1,
        health: 10,
        attackable: false,
        movement: Movement::Stationary,
        tiles_per_tick: 1,
        leash_tiles: 7,
    }
}
