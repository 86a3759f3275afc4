//! Whose saved state changed in a tick.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::CharacterId;

/// Who must be saved, and how soon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Those who stand elsewhere than before.
    pub moved: BTreeSet<CharacterId>,
    /// Those who gained or lost something of value.
    pub valued: BTreeSet<CharacterId>,
}
