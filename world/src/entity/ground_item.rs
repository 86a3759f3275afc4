//! Items on the ground.
//!
//! Always: each item is in the pile of its tile and among those of its region. It goes at one
//! moment. If somebody owns it, it becomes anybody's at an earlier one. A tile holds 128 items at
//! most: the one that would expire first makes room for one more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ids::{CharacterId, EntityId};
use super::look::{Field, Kind, Look};
use crate::content::Content;
use crate::geometry::tile::{Region, Tile};
use crate::item::QUANTITY_MAX;
use crate::refusal::Refusal;
use crate::time::Tick;

/// Prefix of the ids of all ground items.
pub const ID_PREFIX: &str = "item:";
/// Prefix of the ids of all graves.
pub const GRAVE_PREFIX: &str = "grave:";
/// Steps within which one may set out for an item.
pub(crate) const REACH_TILES: u32 = 32;
/// A year in ticks: nothing lies so long past its time.
const NEVER_TICKS: u64 = 52_560_000;
/// Most items on a tile.
const PILE_MAX: usize = 128;
/// Most items on the ground of a world.
const GROUND_MAX: usize = 65_536;

/// A stack that lies on the ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroundItem {
    /// `item:<run id>-<number>`, for ever its own.
    pub id: EntityId,
    /// Region to which it belongs for ever: that of the character that dropped it.
    pub region: Region,
    /// Tile on which it lies.
    pub tile: Tile,
    /// Id of the item.
    pub item: Arc<str>,
    /// At least 1.
    pub quantity: u32,
    /// Character that alone may take it before `public_at`; `None`: anybody may.
    pub owner: Option<CharacterId>,
    /// Tick from which anybody may take it.
    pub public_at: Tick,
    /// Tick from which it is gone.
    pub expires_at: Tick,
    /// The grave in which it is until `public_at`; nobody sees it there.
    #[serde(default)]
    pub grave: Option<EntityId>,
}

/// A change to something on the ground.
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
    /// Returns the id that others see: its own, or that of the grave in which it is.
    pub(crate) fn seen(&self) -> &EntityId {
        self.grave.as_ref().unwrap_or(&self.id)
    }

    /// Returns the character that alone may take it at `now`.
    pub(crate) fn protected_for(&self, now: Tick) -> Option<&CharacterId> {
        self.owner.as_ref().filter(|_| now < self.public_at)
    }

    /// Returns the tick at which an item that expires at `expires_at` becomes anybody's, if it never
    /// may. That tick is so late that the item is gone by then, even if its removal was late.
    pub(crate) fn never_public(expires_at: Tick) -> Tick {
        expires_at.after(NEVER_TICKS)
    }

    /// Checks whether `who` at `from` may set out for it, or take it.
    ///
    /// # Errors
    /// `TooFar`; `Protected`: it belongs to another for now.
    pub(crate) fn may_take(&self, who: &CharacterId, from: Tile, now: Tick) -> Result<(), Refusal> {
        if from.steps_to(self.tile) > REACH_TILES {
            return Err(Refusal::TooFar);
        }
        if self.protected_for(now).is_some_and(|owner| owner != who) {
            return Err(Refusal::Protected);
        }
        Ok(())
    }

    /// Returns the same item with all its moments so many ticks later.
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
    /// Returns the look of the grave in which it is.
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
    /// Items in graves, by grave.
    graves: BTreeMap<EntityId, BTreeSet<EntityId>>,
    /// Items in graves, by the moment at which they leave the grave.
    buried: BTreeSet<(Tick, EntityId)>,
}

impl Ground {
    pub(crate) fn get(&self, id: &EntityId) -> Option<&GroundItem> {
        self.items.get(id)
    }

    /// Puts an item down; replaces one of the same id.
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

    /// Returns the items on `tile`, by id.
    pub(crate) fn pile(&self, tile: Tile) -> impl Iterator<Item = &GroundItem> {
        let ids = self.piles.get(&tile).into_iter().flatten();
        ids.filter_map(|id| self.items.get(id))
    }

    /// Returns the item that must go from `tile` for the limit of 128: the first to expire.
    pub(crate) fn surplus(&self, tile: Tile) -> Option<&EntityId> {
        let full = self.piles.get(&tile)?.len() > PILE_MAX;
        let first = self.pile(tile).filter(|_| full);
        let first = first.min_by_key(|item| (item.expires_at, &item.id));
        first.map(|item| &item.id)
    }

    /// Returns whether the ground takes no thing more that does not merge with another one.
    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= GROUND_MAX
    }

    /// Returns the stack of its like on the same tile with the same protected owner, if `item`
    /// stacks.
    pub(crate) fn like(&self, content: &Content, now: Tick, item: &GroundItem) -> Option<EntityId> {
        if !content.stackable(&item.item) {
            return None;
        }
        let same = |there: &&GroundItem| {
            there.item == item.item
                && there.region == item.region
                && there.protected_for(now) == item.owner.as_ref()
                // A thing that never becomes anybody's must not merge with one that does.
                && (there.public_at > there.expires_at) == (item.public_at > item.expires_at)
                && there.quantity.saturating_add(item.quantity) <= QUANTITY_MAX
        };
        self.pile(item.tile)
            .find(same)
            .map(|there| there.id.clone())
    }

    /// Returns the items that belong to `region`, by id.
    pub(crate) fn of(&self, region: Region) -> impl Iterator<Item = &GroundItem> {
        let ids = self.regions.get(&region).into_iter().flatten();
        ids.filter_map(|id| self.items.get(id))
    }

    /// Returns the items in a grave, by id; none if there is no such grave here.
    pub(crate) fn in_grave(&self, grave: &EntityId) -> impl Iterator<Item = &GroundItem> {
        let ids = self.graves.get(grave).into_iter().flatten();
        ids.filter_map(|id| self.items.get(id))
    }

    /// Returns the graves of `who`, by id.
    pub(crate) fn graves_of(&self, who: &CharacterId) -> Vec<EntityId> {
        let first = |grave: &&EntityId| self.in_grave(grave).next();
        let of = |grave: &&EntityId| first(grave).is_some_and(|i| i.owner.as_ref() == Some(who));
        self.graves.keys().filter(of).cloned().collect()
    }

    /// Returns the item that lies here under that id, or the first of the items in that grave.
    pub(crate) fn seen(&self, id: &EntityId) -> Option<&GroundItem> {
        let lies = self.get(id).filter(|item| item.grave.is_none());
        lies.or_else(|| self.in_grave(id).next())
    }

    /// Returns the items that should not be in their graves any more at `now`.
    pub(crate) fn graves_due(&self, now: Tick) -> Vec<EntityId> {
        let due = self.buried.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, id)| id.clone()).collect()
    }

    /// Returns the items that should be gone at `now`, the longest overdue first.
    pub(crate) fn expired(&self, now: Tick) -> Vec<EntityId> {
        let due = self.expiring.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, id)| id.clone()).collect()
    }

    /// Returns the items that have become anybody's by `now`; names each of them once.
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
