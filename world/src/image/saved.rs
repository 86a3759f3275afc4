//! A region as the store keeps it for whoever plays it after a loss: an image without all that has
//! rows of its own there (players, ground items, fires), and without what ends with its owner
//! (trades, duels, blows on their way).
//!
//! Always: the same state gives the same bytes, whatever the tick. A part that this build or its
//! content does not know is left out and named; the rest counts.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Counters, Image, Unreadable, VERSION};
use crate::content::Content;
use crate::entity::npc::NpcState;
use crate::entity::resource::ResourceState;
use crate::features::movement::border::PAST_TILES_MAX;
use crate::features::shop::{Shelf, Shelves};
use crate::geometry::tile::Region;
use crate::time::Tick;
use crate::world::World;

impl World {
    /// Returns the bytes of `region` for the store: its NPCs, resources and shops; `None`: it is
    /// not here.
    pub fn saved_region(&self, region: Region) -> Option<Vec<u8>> {
        self.regions.get(&region)?;
        let mut npcs = self.npcs_of(region);
        for npc in &mut npcs {
            // A blow that has landed since must not land again.
            npc.combat.clash.coming.clear();
        }
        let (none, nobody) = (Vec::new(), Vec::new());
        let image = Image {
            resources: self.resources.of(&self.content, region).cloned().collect(),
            shops: self.shops_of(region),
            // The store knows the tick of the region's last play, which is later.
            ..Image::new(
                region,
                Tick::default(),
                Counters::default(),
                nobody,
                npcs,
                none,
            )
        };
        Some(image.to_bytes())
    }

    /// Takes `region` in as the store has it: with the bytes from [`World::saved_region`], as far as
    /// they fit, and as content has it where they do not. `played` is the last tick of its play, and
    /// timers go on from there at `now`. Returns the parts that do not fit.
    ///
    /// # Errors
    /// `Held`: the region is here already. Nothing has changed then.
    pub fn region_saved_in(
        &mut self,
        region: Region,
        now: Tick,
        played: Tick,
        saved: &[u8],
    ) -> Result<Vec<String>, Unreadable> {
        if self.regions.contains_key(&region) {
            return Err(Unreadable::Held);
        }
        let mut parts = Parts {
            content: &self.content,
            region,
            unfit: Vec::new(),
        };
        let image = parts.image(saved, played);
        let unfit = parts.unfit;
        self.settle_image(image.resumed(now), now);
        Ok(unfit)
    }
}

/// Checks that this build can read the bytes that the store keeps for `region`. It does not look at
/// the parts, which are left out one by one where content does not know them.
///
/// # Errors
/// A run that took the region in would begin it as content has it.
pub fn check_saved_region(region: Region, saved: &[u8]) -> Result<(), Unreadable> {
    opened(region, saved).map(|_| ())
}

/// Reads the parts of a saved region, by name.
fn opened(region: Region, saved: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    let mut all: Map<String, Value> =
        rmp_serde::from_slice(saved).map_err(|why| Unreadable::Bytes(why.to_string()))?;
    let version = all.remove("version");
    if version != Some(VERSION.into()) {
        let version = version.as_ref().and_then(Value::as_u64);
        let version = version.and_then(|version| u16::try_from(version).ok());
        return Err(Unreadable::Version(version.unwrap_or_default()));
    }
    match all.remove("region").and_then(read::<Region>) {
        Some(of) if of == region => Ok(all),
        Some(of) => Err(Unreadable::Region(of)),
        None => Err(Unreadable::Bytes("it names no region".to_owned())),
    }
}

/// The reader of saved bytes, part by part.
struct Parts<'a> {
    content: &'a Content,
    region: Region,
    /// Names of the parts that it left out.
    unfit: Vec<String>,
}

impl Parts<'_> {
    fn image(&mut self, saved: &[u8], played: Tick) -> Image {
        let fresh = Image::new(
            self.region,
            played,
            Counters::default(),
            Vec::new(),
            Vec::new(),
            Vec::new(),
        );
        let mut all = match opened(self.region, saved) {
            Ok(all) => all,
            Err(why) => {
                self.unfit.push(why.to_string());
                return fresh;
            }
        };
        let mut list = |name| match all.remove(name) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let (npcs, resources) = (list("npcs"), list("resources"));
        let shops = match all.remove("shops") {
            Some(Value::Object(shops)) => shops,
            _ => Map::new(),
        };
        Image {
            npcs: self.each(npcs, Self::npc),
            resources: self.each(resources, Self::resource),
            shops: shops
                .into_iter()
                .filter_map(|(id, shelves)| self.shop(id, shelves))
                .collect(),
            ..fresh
        }
    }

    /// Reads the parts of a list for themselves; `fits` returns what counts of one.
    fn each<T: DeserializeOwned>(
        &mut self,
        list: Vec<Value>,
        fits: impl Fn(&Self, T) -> Option<T>,
    ) -> Vec<T> {
        let mut all = Vec::with_capacity(list.len());
        for part in list {
            let name = part.get("id").and_then(Value::as_str).map(str::to_owned);
            match read(part).and_then(|part| fits(self, part)) {
                Some(part) => all.push(part),
                None => self.unfit.push(name.unwrap_or_else(|| "a part".to_owned())),
            }
        }
        all
    }

    fn npc(&self, mut npc: NpcState) -> Option<NpcState> {
        let mut placed = self.content.npcs_in(self.region).iter();
        let kind = &placed.find(|placement| placement.id == npc.id)?.kind;
        let terrain = self.content.terrain();
        let stands = terrain.walkable(npc.tile) && terrain.walkable(npc.home);
        let near = self.region.tiles_past(npc.tile) <= PAST_TILES_MAX;
        npc.health = npc.health.min(kind.health);
        let lives = npc.health > 0 || npc.combat.back_at.is_some();
        npc.goal = npc.goal.filter(|goal| terrain.walkable(*goal));
        (stands && near && lives).then_some(npc)
    }

    fn resource(&self, state: ResourceState) -> Option<ResourceState> {
        let fixture = self.content.fixture(&state.id)?;
        (Region::from(fixture.tile) == self.region).then_some(state)
    }

    fn shop(&mut self, id: String, shelves: Value) -> Option<(Arc<str>, Shelves)> {
        let known = self.content.stores().contains(id.as_str());
        let Some(shelves) = shelves.as_object().filter(|_| known) else {
            self.unfit.push(id);
            return None;
        };
        let mut read_shelves = Shelves::new();
        for (item, shelf) in shelves {
            let known = self.content.item(item).is_some();
            if let Some(shelf) = read::<Shelf>(shelf.clone()).filter(|_| known) {
                read_shelves.insert(item.as_str().into(), shelf);
            } else {
                self.unfit.push(format!("{item} of {id}"));
            }
        }
        (!read_shelves.is_empty()).then(|| (id.into(), read_shelves))
    }
}

fn read<T: DeserializeOwned>(part: Value) -> Option<T> {
    serde_json::from_value(part).ok()
}
