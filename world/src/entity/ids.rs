//! Names of characters and of things in the world. Cheap to copy; compared by text.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> $name {
                $name(Arc::from(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    };
}

text_id! {
    /// A character: an avatar that somebody plays.
    CharacterId
}

text_id! {
    /// Anything that stands in the world. A player's id is its character id; things of content have
    /// `npc:…`, `res:…` or `sta:…` and keep it for ever.
    EntityId
}

impl CharacterId {
    /// Returns the id under which the character stands in the world.
    pub fn entity(&self) -> EntityId {
        EntityId(Arc::clone(&self.0))
    }
}

impl EntityId {
    /// Returns the same text as a character's id; such a character need not exist.
    pub fn character(&self) -> CharacterId {
        CharacterId(Arc::clone(&self.0))
    }
}
