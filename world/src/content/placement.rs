//! Things that areas place in the world: NPCs, resources and stations.
//!
//! Always: the id of a placed thing depends only on the thing, its tile and its area, never on the
//! order in a file. Ids are unique and at most 64 bytes long.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::areas::{Written, position};
use super::catalog::Catalog;
use super::fields::Fields;
use super::gathering::{ResourceKind, named_by_item};
use super::items::Items;
use super::npcs;
use super::npcs::{Dialogue, Movement, NpcKind};
use super::reader::Of;
use super::stations::StationKind;
use crate::entity::ids::EntityId;
use crate::entity::look::Kind;
use crate::features::movement::border::PAST_TILES_MAX;
use crate::geometry::tile::{Bounds, Region, Tile};
use crate::rng;

/// Most NPCs of one spawn.
const SPAWN_MAX: i64 = 64;
/// Most bytes of an id.
pub(crate) const ID_BYTES_MAX: usize = 64;

/// NPC that content places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NpcPlacement {
    /// Id that never changes.
    pub id: EntityId,
    /// Key of its dice.
    pub key: u64,
    /// Kind of NPC.
    pub kind: Arc<NpcKind>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Service as the area gives it: bank, general_store …; empty for beasts.
    pub service: Arc<str>,
    /// Tile of its home.
    pub tile: Tile,
    /// Tiles from home within which it first appears.
    pub radius: i32,
    /// Points that it walks to in turn.
    pub patrol: Vec<Tile>,
    /// Its talk: words of its own, else its kind's.
    pub dialogue: Option<Arc<Dialogue>>,
    /// Shop that it keeps.
    pub store: Option<Arc<str>>,
    /// Ticks from its death until it is back, at least 1.
    pub respawn_ticks: u32,
    /// Whether players near it may dance with it.
    pub leads_dance: bool,
}

/// Resource or station that content places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// Id that never changes.
    pub id: EntityId,
    /// `Resource` or `Station`.
    pub kind: Kind,
    /// Name that players see.
    pub name: Arc<str>,
    /// Sort: tree, ore, fishing_spot, furnace, bank …
    pub sort: Arc<str>,
    /// Id of its kind; a station's is its sort.
    pub of: Arc<str>,
    /// Text for a good look.
    pub examine: Arc<str>,
    /// Level that it takes; 1 for stations.
    pub level: u32,
    /// Middle of the tiles that it covers.
    pub tile: Tile,
    /// Tiles that it covers.
    pub covers: Bounds,
    /// Tiles on which nobody can stand because of it.
    pub blocks: Vec<Tile>,
    /// Ticks until an empty one is back; none if its kind decides.
    pub respawn_ticks: Option<u32>,
    /// Type of a rune altar: air, water …; empty for all else.
    pub rune_type: Arc<str>,
}

impl Fixture {
    /// Returns the steps from `tile` to the nearest tile that it covers; 1 from the tile next to
    /// it.
    pub fn distance(&self, tile: Tile) -> i32 {
        let past = |at: i32, min: i32, max: i32| (min - at).max(at - (max - 1)).max(0);
        let east = past(tile.x, self.covers.min_x, self.covers.max_x);
        east.max(past(tile.z, self.covers.min_z, self.covers.max_z))
    }
}

/// Everything that content places.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    pub(crate) npcs: Vec<NpcPlacement>,
    pub(crate) fixtures: Vec<Fixture>,
    /// Kinds without a record: the loader makes them from the item that they give.
    pub(crate) implied: Catalog<ResourceKind>,
    ids: BTreeSet<EntityId>,
}

/// Catalogs to which placements refer.
pub(crate) struct Kinds<'a> {
    pub(crate) items: &'a Items,
    pub(crate) npcs: &'a Catalog<NpcKind>,
    pub(crate) resources: &'a Catalog<ResourceKind>,
    pub(crate) stations: &'a Catalog<StationKind>,
}

impl Placed {
    /// Adds all that an area places.
    pub(crate) fn add(&mut self, written: &Written<'_>, kinds: &Kinds<'_>) {
        let (npcs_before, fixtures_before) = (self.npcs.len(), self.fixtures.len());
        let fields = &written.fields;
        for npc in fields.objects("npcs") {
            self.npc(written, &npc, kinds);
        }
        for spawn in fields.objects("mobSpawns") {
            self.mobs(written, &spawn, kinds);
        }
        for resource in fields.objects("resources") {
            self.resource(written, &resource, kinds);
        }
        for station in fields.objects("stations") {
            self.station(written, &station, kinds);
        }
        self.outside(written, npcs_before, fixtures_before);
    }

    fn npc(&mut self, of: &Written<'_>, fields: &Fields<'_>, kinds: &Kinds<'_>) -> Option<()> {
        let id = fields.key("id")?;
        let tile = place(of, fields)?;
        let given = fields.text_or("name", "");
        let kind = match kinds.npcs.get(id) {
            Some(kind) => Arc::clone(kind),
            None => {
                if given.is_empty() {
                    fields.refer("id", Of::Npc, "and it has no name of its own");
                }
                let about = fields.text("description");
                Arc::new(NpcKind {
                    description: about,
                    ..NpcKind::plain(id, if given.is_empty() { id } else { given })
                })
            }
        };
        let store = fields.refer("storeId", Of::Store, "nothing is sold");
        let entity = self.id(fields, &format!("npc:{}:{id}", of.area.id), tile);
        let patrol = patrol(of, fields, &kind, tile);
        self.npcs.push(NpcPlacement {
            key: rng::key(entity.as_str()),
            id: entity,
            name: if given.is_empty() {
                Arc::clone(&kind.name)
            } else {
                given.into()
            },
            service: fields.text_or("type", "").to_lowercase().into(),
            tile,
            radius: 0,
            patrol,
            dialogue: npcs::own_words(fields).or_else(|| kind.dialogue.clone()),
            store: Some(store).filter(|store| !store.is_empty()),
            respawn_ticks: kind.fight.respawn_ticks,
            leads_dance: fields.flag_or("leadsDance", false),
            kind,
        });
        Some(())
    }

    fn mobs(&mut self, of: &Written<'_>, fields: &Fields<'_>, kinds: &Kinds<'_>) -> Option<()> {
        let id = fields.key("mobId")?;
        let tile = place(of, fields)?;
        let Some(kind) = kinds.npcs.get(id) else {
            fields.refer("mobId", Of::Npc, "none appear");
            return None;
        };
        let radius = fields.int_or("spawnRadius", 0).clamp(0, 64) as i32;
        let usual = kind.fight.respawn_ticks;
        let respawn_ticks = fields.ticks_or("respawnTicks", "respawnTime", usual).max(1);
        for number in 0..fields.int_or("maxCount", 1).clamp(0, SPAWN_MAX) {
            let name = format!("npc:{}:{id}:{},{}:{number}", of.area.id, tile.x, tile.z);
            let entity = self.id(fields, &name, tile);
            self.npcs.push(NpcPlacement {
                key: rng::key(entity.as_str()),
                id: entity,
                kind: Arc::clone(kind),
                name: Arc::clone(&kind.name),
                service: "".into(),
                tile,
                radius,
                patrol: patrol(of, fields, kind, tile),
                dialogue: kind.dialogue.clone(),
                store: None,
                respawn_ticks,
                leads_dance: false,
            });
        }
        Some(())
    }

    fn resource(
        &mut self,
        area: &Written<'_>,
        fields: &Fields<'_>,
        kinds: &Kinds<'_>,
    ) -> Option<()> {
        let of = fields.key("resourceId")?;
        let tile = place(area, fields)?;
        let sort = fields.text_or("type", "resource").to_lowercase();
        let own = kinds.resources.get(of).cloned();
        let known = own.or_else(|| {
            let kind = Arc::new(named_by_item(of, &sort, fields, kinds)?);
            self.implied.put(&kind.id, ResourceKind::clone(&kind));
            Some(kind)
        });
        if known.is_none() {
            fields.refer("resourceId", Of::Resource, "it only stands there");
        }
        let swims = sort == "fishing_spot";
        let timed = fields.has("respawnTime") || fields.has("respawnTicks");
        let (width, depth) = known.as_ref().map_or((1, 1), |k| k.footprint);
        let covers = Bounds::around(tile, width, depth);
        let fixture = Fixture {
            id: self.id(fields, &format!("res:{of}:{},{}", tile.x, tile.z), tile),
            kind: Kind::Resource,
            name: of.into(),
            sort: sort.into(),
            of: of.into(),
            examine: "".into(),
            level: 1,
            tile,
            covers,
            blocks: if swims {
                Vec::new()
            } else {
                tiles(covers).collect()
            },
            respawn_ticks: timed.then(|| fields.ticks_or("respawnTicks", "respawnTime", 1)),
            rune_type: "".into(),
        };
        self.fixtures.push(match known {
            Some(kind) => Fixture {
                name: Arc::clone(&kind.name),
                of: Arc::clone(&kind.id),
                examine: Arc::clone(&kind.examine),
                level: kind.level,
                ..fixture
            },
            None => fixture,
        });
        Some(())
    }

    fn station(&mut self, of: &Written<'_>, fields: &Fields<'_>, kinds: &Kinds<'_>) -> Option<()> {
        let sort = fields.key("type")?.to_lowercase();
        let tile = place(of, fields)?;
        let known = kinds.stations.get(&sort);
        let usual = known.map_or(sort.as_str(), |k| &k.name);
        let (width, depth) = known.map_or((1, 1), |k| k.footprint);
        // A quarter turn puts its width north.
        let turns = fields.int_or("rotation", 0).rem_euclid(180);
        let across = (45..135).contains(&turns);
        let covers = if across {
            Bounds::around(tile, depth, width)
        } else {
            Bounds::around(tile, width, depth)
        };
        let name = fields.text_or("id", &sort);
        let id = self.id(fields, &format!("sta:{}:{name}", of.area.id), tile);
        self.fixtures.push(Fixture {
            id,
            kind: Kind::Station,
            name: fields.text_or("name", usual).into(),
            sort: sort.as_str().into(),
            of: sort.as_str().into(),
            examine: known.map_or_else(|| "".into(), |k| Arc::clone(&k.examine)),
            level: 1,
            tile,
            covers,
            blocks: tiles(covers).collect(),
            respawn_ticks: None,
            rune_type: fields.text_or("runeType", "").to_lowercase().into(),
        });
        Some(())
    }

    /// Warns of things that an area places far outside itself. They stay there, under the rules of
    /// the area in which they lie.
    fn outside(&self, of: &Written<'_>, npcs_before: usize, fixtures_before: usize) {
        let npcs = self.npcs[npcs_before..].iter().map(|npc| npc.tile);
        let fixtures = self.fixtures[fixtures_before..]
            .iter()
            .map(|fixture| fixture.tile);
        let (mut all, mut out) = (0, 0);
        let near = of.area.near();
        for tile in npcs.chain(fixtures) {
            all += 1;
            out += u32::from(!near.contains(tile));
        }
        if out > 0 {
            let what = format!("{out} of {all} placed things lie outside, and stay there");
            of.fields.warn("bounds", &what);
        }
    }

    /// Returns `wanted` as an id. If it is taken or too long, the tile or a number follows it.
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

/// Returns the points to which an NPC of `kind` with its home at `home` walks: its own, else its
/// kind's. Points too far from its region are left out.
fn patrol(of: &Written<'_>, fields: &Fields<'_>, kind: &NpcKind, home: Tile) -> Vec<Tile> {
    let mut points = npcs::patrol(fields);
    if let (true, Movement::Patrol { points: usual }) = (points.is_empty(), &kind.movement) {
        points.clone_from(usual);
    }
    let (east, north) = of.offset;
    for point in &mut points {
        *point = point.moved(east, north);
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

/// Reads the position of the thing that `fields` describe; if there is none, warns that it is
/// skipped.
fn place(of: &Written<'_>, fields: &Fields<'_>) -> Option<Tile> {
    let tile = fields.object("position").as_ref().and_then(position);
    if tile.is_none() {
        fields.warn("position", "must be {x, z} from -10000 to 10000, skipped");
    }
    let (east, north) = of.offset;
    tile.map(|tile| tile.moved(east, north))
}

fn tiles(covers: Bounds) -> impl Iterator<Item = Tile> {
    let rows = covers.min_z..covers.max_z;
    rows.flat_map(move |z| (covers.min_x..covers.max_x).map(move |x| Tile::new(x, z)))
}
