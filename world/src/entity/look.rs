//! How a thing in the world looks to everybody.

use std::sync::Arc;

use super::ids::EntityId;
use crate::geometry::tile::{Region, Tile};

/// What sort of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// What is left of somebody, with their things.
    Grave,
}

impl Kind {
    /// The word for it on the wire.
    pub const fn wire(self) -> &'static str {
        match self {
            Kind::Player => "player",
            Kind::Npc => "npc",
            Kind::Resource => "resource",
            Kind::Station => "station",
            Kind::Item => "item",
            Kind::Fire => "fire",
            Kind::Grave => "grave",
        }
    }
}

/// The value of a public field.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Which.
    pub id: EntityId,
    /// What sort of thing.
    pub kind: Kind,
    /// Where it stands.
    pub tile: Tile,
    /// The region to which it belongs, wherever it stands.
    pub region: Region,
    /// What else there is to see, `name` always among it; camel case.
    pub fields: Vec<(&'static str, Field)>,
}

impl Look {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(n, _)| *n == name).map(|(_, f)| f)
    }
}
