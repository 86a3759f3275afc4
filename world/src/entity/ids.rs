//! Names of characters and of things in the world. Cheap to copy; compared by text.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(from = "Arc<str>", into = "Arc<str>")]
        pub struct $name {
            /// The first bytes of the text, which tell most ids apart: a map compares its keys
            /// without a look at their texts.
            head: u128,
            text: Arc<str>,
        }

        impl $name {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.text
            }
        }

        impl From<Arc<str>> for $name {
            fn from(text: Arc<str>) -> $name {
                $name { head: head(&text), text }
            }
        }

        impl From<$name> for Arc<str> {
            fn from(id: $name) -> Arc<str> {
                id.text
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name::from(Arc::<str>::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> $name {
                $name::from(Arc::<str>::from(text))
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.text.hash(state);
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                String::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.text)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.text)
            }
        }
    };
}

/// Returns the first 16 bytes of a text as a number, so that texts are in the order of these
/// numbers; a shorter text ends in zeros.
fn head(text: &str) -> u128 {
    let mut head = [0; 16];
    let bytes = text.as_bytes();
    let length = bytes.len().min(head.len());
    head[..length].copy_from_slice(&bytes[..length]);
    u128::from_be_bytes(head)
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
        EntityId {
            head: self.head,
            text: Arc::clone(&self.text),
        }
    }
}

impl EntityId {
    /// Returns the same text as a character's id; such a character need not exist.
    pub fn character(&self) -> CharacterId {
        CharacterId {
            head: self.head,
            text: Arc::clone(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps of ids are in the order of their texts: what a tick does in turn depends on it.
    #[test]
    fn ids_are_in_the_order_of_their_texts() {
        let texts = [
            "",
            "a",
            "a\0",
            "b",
            "npc:goblin:1",
            "npc:goblin:10",
            "npc:goblin:chief",
            "npc:goblin:chief:1",
            "npc:goblin:chief:2",
            "0190a1b2-c3d4-7e5f-8a9b-000000000001",
            "0190a1b2-c3d4-7e5f-8a9b-000000000002",
            "\u{e4}",
        ];
        for one in texts {
            for other in texts {
                let ids = [one, other].map(CharacterId::from);
                assert_eq!(ids[0].cmp(&ids[1]), one.cmp(other), "{one:?} and {other:?}");
                assert_eq!(ids[0] == ids[1], one == other);
            }
        }
    }
}
