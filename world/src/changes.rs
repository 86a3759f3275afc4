//! What changed in a tick that must be saved.
//!
//! Always: what `valued`, `worn`, `staked`, `banked` and `ground` changed of any holder is what `ledger` says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ground_item::GroundChange;
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::training::skill::Skill;
use crate::geometry::tile::Chunk;
use crate::item::ledger::LedgerEntry;

/// Who and what must be saved, and how soon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Those who stand elsewhere than before.
    pub moved: BTreeSet<CharacterId>,
    /// Those whose pack or pouch changed.
    pub valued: BTreeSet<CharacterId>,
    /// Those who wear something else.
    #[serde(default)]
    pub worn: BTreeSet<CharacterId>,
    /// Of whom something else is at stake.
    #[serde(default)]
    pub staked: BTreeSet<CharacterId>,
    /// Of which items something changed in somebody's bank; of none: how it is kept did.
    #[serde(default)]
    pub banked: BTreeMap<CharacterId, BTreeSet<Arc<str>>>,
    /// In which skills whose experience grew.
    #[serde(default)]
    pub trained: BTreeMap<CharacterId, BTreeSet<Skill>>,
    /// Quests with which somebody is further than before, or has begun or ended.
    #[serde(default)]
    pub quests: BTreeMap<CharacterId, BTreeSet<Arc<str>>>,
    /// How many NPCs of which kind who has killed.
    #[serde(default)]
    pub kills: BTreeMap<CharacterId, BTreeMap<Arc<str>, u32>>,
    /// What became of things on the ground.
    pub ground: BTreeMap<EntityId, GroundChange>,
    /// In which chunks something came that outlives whoever plays them, as
    /// [`crate::World::lasting`] has it.
    #[serde(default)]
    pub lasting: BTreeSet<Chunk>,
    /// Who gained or lost what; several rows may speak of the same holder, item and cause.
    pub ledger: Vec<LedgerEntry>,
}
