//! Items on the ground.
//!
//! Always: each is in the pile of its tile and among those of its region; it is due to be gone
//! at one moment, and to be anybody's at one before, if somebody owns it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ids::{CharacterId, EntityId};
use super::look::{Field, Kind, Look};
use crate::geometry::tile::{Region, Tile};
use crate::item::Stack;
use crate::time::Tick;

/// What the ids of all ground items begin with.
pub const ID_PREFIX: &str = "item:";
/// What the ids of all graves begin with.
pub const GRAVE_PREFIX: &str = "grave:";

/// A stack that lies on the ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroundItem {
    /// `item:<run id>-<number>`, for ever its own.
    pub id: EntityId,
    /// The region to which it belongs for ever: that of whoever dropped it.
    pub region: Region,
    /// Where it lies.
    pub tile: Tile,
    /// Which item.
    pub item: Arc<str>,
    /// At least 1.
    pub quantity: u32,
    /// Who alone may take it before `public_at`; `None`: anybody may.
    pub owner: Option<CharacterId>,
    /// From then on anybody may take it.
    pub public_at: Tick,
    /// From then on it is gone.
    pub expires_at: Tick,
    /// The grave in which it is until `public_at`; nobody sees it there.
    #[serde(default)]
    pub grave: Option<EntityId>,
}

/// A grave as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraveShown {
    /// Which.
    pub id: EntityId,
    /// Where; `None`: it is no more.
    pub tile: Option<Tile>,
    /// What is in it.
    pub items: Vec<Stack>,
    /// In so many ticks what is in it lies about for anybody.
    pub ticks: u64,
}

/// What became of something on the ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroundChange {
    /// It lies there now, or something about it changed.
    Put(GroundItem),
    /// It lies there no more.
    Gone {
        /// The region to which it belonged.
        region: Region,
        /// The grave in which it was.
        grave: Option<EntityId>,
    },
}

impl GroundItem {
    /// What is seen of it: itself, or the grave in which it is.
    pub(crate) fn seen(&self) -> &EntityId {
        self.grave.as_ref().unwrap_or(&self.id)
    }

    /// Who alone may take it at `now`.
    pub(crate) fn protected_for(&self, now: Tick) -> Option<&CharacterId> {
        self.owner.as_ref().filter(|_| now < self.public_at)
    }

    /// The same with all that is due so many ticks later.
    pub(crate) fn delayed(mut self, ticks: u64) -> GroundItem {
        self.public_at = self.public_at.after(ticks);
        self.expires_at = self.expires_at.after(ticks);
        self
    }

    pub(crate) fn look(&self, name: &Arc<str>, now: Tick) -> Look {
        if let Some(grave) = &self.grave {
            return self.grave_look(grave);
        }
        let mut fields: Vec<(&'static str, Field)> = vec![
            ("name", name.into()),
            ("itemId", (&self.item).into()),
            ("quantity", self.quantity.into()),
        ];
        if let Some(owner) = self.protected_for(now) {
            fields.push(("owner", owner.as_str().into()));
        }
        Look {
            id: self.id.clone(),
            kind: Kind::Item,
            tile: self.tile,
            region: self.region,
            fields,
        }
    }
}

impl GroundItem {
    /// How the grave looks in which it is.
    fn grave_look(&self, grave: &EntityId) -> Look {
        let mut fields: Vec<(&'static str, Field)> =
            vec![("name", (&Arc::<str>::from("Grave")).into())];
        if let Some(owner) = &self.owner {
            fields.push(("owner", owner.as_str().into()));
        }
        Look {
            id: grave.clone(),
            kind: Kind::Grave,
            tile: self.tile,
            region: self.region,
            fields,
        }
    }
}

/// All that lies on the ground here.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    items: BTreeMap<EntityId, GroundItem>,
    piles: BTreeMap<Tile, BTreeSet<EntityId>>,
    regions: BTreeMap<Region, BTreeSet<EntityId>>,
    expiring: BTreeSet<(Tick, EntityId)>,
    guarded: BTreeSet<(Tick, EntityId)>,
    /// By grave.
    graves: BTreeMap<EntityId, BTreeSet<EntityId>>,
    /// What is in graves, by the moment at which it is not any more.
    buried: BTreeSet<(Tick, EntityId)>,
}

impl Ground {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn get(&self, id: &EntityId) -> Option<&GroundItem> {
        self.items.get(id)
    }

    /// Puts an item down; one of the same id is replaced.
    pub(crate) fn put(&mut self, item: GroundItem) {
        self.take(&item.id);
        let id = &item.id;
        if let Some(grave) = &item.grave {
            let inside = self.graves.entry(grave.clone()).or_default();
            inside.insert(id.clone());
            self.buried.insert((item.public_at, id.clone()));
        } else {
            self.piles.entry(item.tile).or_default().insert(id.clone());
        }
        let of_region = self.regions.entry(item.region).or_default();
        of_region.insert(id.clone());
        self.expiring.insert((item.expires_at, id.clone()));
        if item.owner.is_some() && item.grave.is_none() {
            self.guarded.insert((item.public_at, id.clone()));
        }
        self.items.insert(id.clone(), item);
    }

    pub(crate) fn take(&mut self, id: &EntityId) -> Option<GroundItem> {
        let item = self.items.remove(id)?;
        leave_out(&mut self.piles, &item.tile, id);
        if let Some(grave) = &item.grave {
            leave_out(&mut self.graves, grave, id);
            self.buried.remove(&(item.public_at, id.clone()));
        }
        leave_out(&mut self.regions, &item.region, id);
        self.expiring.remove(&(item.expires_at, id.clone()));
        self.guarded.remove(&(item.public_at, id.clone()));
        Some(item)
    }

    /// What lies on `tile`, by id.
    pub(crate) fn pile(&self, tile: Tile) -> impl Iterator<Item = &GroundItem> {
        let ids = self.piles.get(&tile).into_iter().flatten();
        ids.filter_map(|id| self.items.get(id))
    }

    /// How many lie on `tile`.
    pub(crate) fn pile_len(&self, tile: Tile) -> usize {
        self.piles.get(&tile).map_or(0, BTreeSet::len)
    }

    /// What belongs to `region`, by id.
    pub(crate) fn of(&self, region: Region) -> impl Iterator<Item = &GroundItem> {
        let ids = self.regions.get(&region).into_iter().flatten();
        ids.filter_map(|id| self.items.get(id))
    }

    /// What is in a grave, by id; nothing: there is no such grave here.
    pub(crate) fn in_grave(&self, grave: &EntityId) -> impl Iterator<Item = &GroundItem> {
        let ids = self.graves.get(grave).into_iter().flatten();
        ids.filter_map(|id| self.items.get(id))
    }

    /// The graves of `who`, by id.
    pub(crate) fn graves_of(&self, who: &CharacterId) -> Vec<EntityId> {
        let first = |grave: &&EntityId| self.in_grave(grave).next();
        let of = |grave: &&EntityId| first(grave).is_some_and(|i| i.owner.as_ref() == Some(who));
        self.graves.keys().filter(of).cloned().collect()
    }

    /// What lies here under that id: a thing, or the first of what is in a grave.
    pub(crate) fn seen(&self, id: &EntityId) -> Option<&GroundItem> {
        let lies = self.get(id).filter(|item| item.grave.is_none());
        lies.or_else(|| self.in_grave(id).next())
    }

    /// What should not be in its grave any more at `now`.
    pub(crate) fn graves_due(&self, now: Tick) -> Vec<EntityId> {
        let due = self.buried.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, id)| id.clone()).collect()
    }

    /// What should be gone at `now`, the longest overdue first.
    pub(crate) fn expired(&self, now: Tick) -> Vec<EntityId> {
        let due = self.expiring.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, id)| id.clone()).collect()
    }

    /// What has become anybody's by `now`; each is told once.
    pub(crate) fn published(&mut self, now: Tick) -> Vec<EntityId> {
        let mut ids = Vec::new();
        while let Some((_, id)) = self.guarded.first().filter(|(at, _)| *at <= now) {
            ids.push(id.clone());
            self.guarded.pop_first();
        }
        ids
    }
}

fn leave_out<K: Ord>(sets: &mut BTreeMap<K, BTreeSet<EntityId>>, key: &K, id: &EntityId) {
    if let Some(ids) = sets.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            sets.remove(key);
        }
    }
}
