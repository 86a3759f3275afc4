//! What a player asks without saying all of it. It becomes another intent when it is played, by
//! what lies in the pack and what the target offers then; all that holds for that one holds for it.

mod tick;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;

/// A request that leaves a part open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Open what somebody or something offers: a bank, a shop, else a talk.
    Open {
        /// Who, or what.
        target: EntityId,
    },
    /// Use a thing for what it is, or on something.
    Use {
        /// Which thing.
        what: InPack,
        /// On what.
        target: Option<EntityId>,
    },
    /// Bury bones.
    Bury {
        /// Which.
        what: InPack,
    },
}

/// A thing in the own pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum InPack {
    /// What lies in that slot.
    Slot(u8),
    /// One of that kind, in the first slot where one lies.
    Item(Arc<str>),
}

impl Intent {
    /// Whether its answer tells what somebody holds.
    pub(crate) const fn about_value(&self) -> bool {
        match self {
            Intent::Use { .. } | Intent::Bury { .. } => true,
            Intent::Open { .. } => false,
        }
    }
}
