//! What a player has of prayer: points, and the prayers that are on.
//!
//! Always: no more points than the level in prayer; without points nothing is on.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Points and prayers; saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Devotion {
    /// Points left.
    pub points: u32,
    /// The prayers that are on, by id; five at most.
    pub active: BTreeSet<Arc<str>>,
}
