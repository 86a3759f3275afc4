//! Changes to trees, rocks and fishing spots: felled, emptied, swum away.
//!
//! Always: a resource without an entry here stands as content has it; one with an entry belongs to
//! the region in which content places it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::EntityId;
use crate::content::{Content, Fixture};
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// Changing state of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResourceState {
    pub(crate) id: EntityId,
    /// Its tile, if it is not where content has it.
    #[serde(default)]
    pub(crate) tile: Option<Tile>,
    /// Tick at which it moves on, if it does.
    #[serde(default)]
    pub(crate) moves_at: Option<Tick>,
    /// Tick until which it is empty.
    #[serde(default)]
    pub(crate) back_at: Option<Tick>,
    /// Ticks for which somebody cut it since it was last whole.
    #[serde(default)]
    pub(crate) cut_ticks: u32,
}

impl ResourceState {
    pub(crate) fn of(id: &EntityId) -> ResourceState {
        ResourceState {
            id: id.clone(),
            tile: None,
            moves_at: None,
            back_at: None,
            cut_ticks: 0,
        }
    }

    /// Moves all its due moments so many ticks later.
    pub(crate) fn delay(&mut self, ticks: u64) {
        for at in [&mut self.moves_at, &mut self.back_at] {
            *at = at.map(|at| at.after(ticks));
        }
    }

    /// Returns whether it is as content has it.
    pub(crate) fn is_plain(&self) -> bool {
        self.tile.is_none()
            && self.moves_at.is_none()
            && self.back_at.is_none()
            && self.cut_ticks == 0
    }
}

/// Resources that differ from content, by id.
#[derive(Debug, Default)]
pub(crate) struct Resources(BTreeMap<EntityId, ResourceState>);

impl Resources {
    pub(crate) fn get(&self, id: &EntityId) -> Option<&ResourceState> {
        self.0.get(id)
    }

    /// Returns the state of that resource for changes; adds a plain one if there is none.
    pub(crate) fn entry(&mut self, id: &EntityId) -> &mut ResourceState {
        let state = self.0.entry(id.clone());
        state.or_insert_with(|| ResourceState::of(id))
    }

    pub(crate) fn put(&mut self, state: ResourceState) {
        self.0.insert(state.id.clone(), state);
    }

    pub(crate) fn take(&mut self, id: &EntityId) -> Option<ResourceState> {
        self.0.remove(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ResourceState> {
        self.0.values()
    }

    /// Returns the tile on which `fixture` is now.
    pub(crate) fn tile(&self, fixture: &Fixture) -> Tile {
        let moved = self.get(&fixture.id).and_then(|state| state.tile);
        moved.unwrap_or(fixture.tile)
    }

    /// Returns whether the resource is empty now.
    pub(crate) fn is_empty(&self, id: &EntityId) -> bool {
        self.get(id).is_some_and(|state| state.back_at.is_some())
    }

    /// Returns the states of the resources of `region`, by id.
    pub(crate) fn of<'a>(
        &'a self,
        content: &'a Content,
        region: Region,
    ) -> impl Iterator<Item = &'a ResourceState> {
        let ids = content.fixtures_in(region);
        ids.filter_map(|fixture| self.0.get(&fixture.id))
    }
}
