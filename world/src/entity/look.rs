//! Looks: things in the world as everybody sees them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::ids::EntityId;
use crate::geometry::tile::{Region, Tile};

/// Sort of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// Somebody's avatar.
    Player,
    /// A person or beast of the world's own.
    Npc,
    /// A tree, a rock, a fishing spot.
    Resource,
    /// A furnace, an altar, a bank.
    Station,
    /// An item on the ground.
    Item,
    /// A fire.
    Fire,
    /// The grave of a dead player, with its things.
    Grave,
}

impl Kind {
    /// Returns the word for it on the wire.
    pub fn wire(self) -> &'static str {
        self.into()
    }
}

/// The value of a public field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Field {
    /// A text.
    Text(Arc<str>),
    /// A number.
    Int(i64),
    /// Yes or no.
    Bool(bool),
}

impl From<u32> for Field {
    fn from(number: u32) -> Field {
        Field::Int(i64::from(number))
    }
}

impl From<bool> for Field {
    fn from(flag: bool) -> Field {
        Field::Bool(flag)
    }
}

impl From<&Arc<str>> for Field {
    fn from(text: &Arc<str>) -> Field {
        Field::Text(Arc::clone(text))
    }
}

impl From<&str> for Field {
    fn from(text: &str) -> Field {
        Field::Text(Arc::from(text))
    }
}

/// A thing in the world as all may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Id of the entity.
    pub id: EntityId,
    /// Sort of the entity.
    pub kind: Kind,
    /// Tile on which it stands.
    pub tile: Tile,
    /// The region to which it belongs, wherever it stands.
    pub region: Region,
    /// All other visible properties, `name` always among them; keys in camel case.
    pub fields: Vec<(&'static str, Field)>,
}

impl Look {
    /// Returns the field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(n, _)| *n == name).map(|(_, f)| f)
    }
}
