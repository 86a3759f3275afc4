//! Changes of a tick that the store must save.
//!
//! Always: `ledger` states all changes to holders in `valued`, `worn`, `staked`, `banked` and
//! `ground`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ground_item::GroundChange;
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::training::skill::Skill;
use crate::geometry::tile::{Chunk, Region};
use crate::item::ledger::LedgerEntry;

/// Characters and objects that the store must save, by kind of change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Characters that went a step on foot. Run energy and such changes with every step, and alone
    /// is no reason to save anybody.
    #[serde(default)]
    pub walked: BTreeSet<CharacterId>,
    /// Characters that something else put elsewhere, or whose health, prayers, potions or combat
    /// settings an act changed.
    #[serde(default)]
    pub altered: BTreeSet<CharacterId>,
    /// Characters with a changed pack or pouch.
    pub valued: BTreeSet<CharacterId>,
    /// Characters that wear something else.
    #[serde(default)]
    pub worn: BTreeSet<CharacterId>,
    /// Characters with something else at stake.
    #[serde(default)]
    pub staked: BTreeSet<CharacterId>,
    /// Items that changed in somebody's bank; none: only its switch for placeholders changed.
    #[serde(default)]
    pub banked: BTreeMap<CharacterId, BTreeSet<Arc<str>>>,
    /// Skills in which a character gained experience.
    #[serde(default)]
    pub trained: BTreeMap<CharacterId, BTreeSet<Skill>>,
    /// Quests that a character advanced, began or ended.
    #[serde(default)]
    pub quests: BTreeMap<CharacterId, BTreeSet<Arc<str>>>,
    /// Number of NPCs of each kind that a character killed.
    #[serde(default)]
    pub kills: BTreeMap<CharacterId, BTreeMap<Arc<str>, u32>>,
    /// Changes to things on the ground.
    pub ground: BTreeMap<EntityId, GroundChange>,
    /// Chunks with new persistent objects, as [`crate::World::persistent_objects`] has them.
    #[serde(default)]
    #[serde(rename = "lasting")]
    pub persistent_objects: BTreeSet<Chunk>,
    /// Regions with a shop of which somebody has just bought, or to which somebody has sold.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub shops: BTreeSet<Region>,
    /// Gains and losses; several rows may speak of the same holder, item and cause.
    pub ledger: Vec<LedgerEntry>,
}
