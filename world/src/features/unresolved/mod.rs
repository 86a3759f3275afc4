//! Unresolved intents: requests that leave a part open. The tick resolves each into another intent,
//! by the pack and the target at that moment. All that holds for the other intent holds for it.

mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;

/// Request that leaves a part open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Opens what somebody or something offers: a bank, a shop, else a talk.
    Open {
        /// NPC or thing.
        target: EntityId,
    },
    /// Uses an item for its own effect, or on something.
    Use {
        /// Item to use.
        what: InPack,
        /// Thing on which to use it.
        target: Option<EntityId>,
    },
    /// Buries bones.
    Bury {
        /// Bones.
        what: InPack,
    },
}

/// Item in the own pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum InPack {
    /// Item in that slot.
    Slot(u8),
    /// One item of that kind, in the first slot that holds one.
    Item(Arc<str>),
}

impl Intent {
    /// Returns whether its answer tells the things that somebody holds.
    pub(crate) const fn about_value(&self) -> bool {
        match self {
            Intent::Use { .. } | Intent::Bury { .. } => true,
            Intent::Open { .. } => false,
        }
    }
}
