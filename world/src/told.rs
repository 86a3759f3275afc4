//! Messages as players get them: an event's wire name, and its data.
//!
//! A feature defines each of its messages once, in its `told.rs`. It has a type with the fields and
//! their docs, and a line of [`server_events!`](crate::server_events) with the wire name. The
//! feature's `Event` says which message a player gets, and whether it shows value.
//!
//! Always: no rule reads a message. Numbers with a fraction exist only in messages.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::content::Content;
use crate::entity::player::record::PlayerRecord;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;

/// An event that the server sends.
pub trait ServerEvent: Serialize {
    /// Its wire name.
    const NAME: &'static str;
}

/// An event of the server's as the protocol reference describes it.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Wire name.
    pub event: &'static str,
    /// Schema of the data, and of the types in it.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

impl Described {
    /// Returns the description of `T`.
    pub const fn of<T: ServerEvent + JsonSchema>() -> Described {
        Described {
            event: T::NAME,
            schema: SchemaGenerator::subschema_for::<T>,
        }
    }
}

/// Gives the types of one file their wire names, and lists them as the `EVENTS` of that file.
#[macro_export]
macro_rules! server_events {
    ($($data:ty => $name:literal,)*) => {
        $(impl $crate::told::ServerEvent for $data {
            const NAME: &'static str = $name;
        })*

        /// The events of this file.
        pub(crate) const EVENTS: &[$crate::told::Described] =
            &[$($crate::told::Described::of::<$data>(),)*];
    };
}

/// Message to one player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Wire name of the event.
    pub event: &'static str,
    /// Data, as JSON text.
    pub data: Vec<u8>,
    /// Whether it tells of value, and so waits until the store has saved that.
    pub of_value: bool,
}

impl Message {
    /// Returns a message that goes out at once.
    pub(crate) fn now<T: ServerEvent>(data: &T) -> Message {
        Message {
            event: T::NAME,
            // A type that cannot be written is a fault; the golden samples of all types find it.
            data: serde_json::to_vec(data).unwrap_or_else(|_| b"null".to_vec()),
            of_value: false,
        }
    }

    /// Returns a message that tells of value.
    pub(crate) fn of_value<T: ServerEvent>(data: &T) -> Message {
        Message {
            of_value: true,
            ..Message::now(data)
        }
    }
}

/// Player that gets a message.
#[derive(Debug, Clone, Copy)]
pub struct Recipient<'a> {
    /// The player's own record; `None`: the player has left the world.
    pub record: Option<&'a PlayerRecord>,
    /// Content of the world.
    pub content: &'a Content,
}

/// Number of which clients read a `PER`th part, with a fraction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parts<const PER: u32>(pub u64);

/// A number in tenths.
pub type Tenths = Parts<10>;
/// A number in hundredths.
pub type Hundredths = Parts<100>;

impl<const PER: u32> Serialize for Parts<PER> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / f64::from(PER))
    }
}

impl<'de, const PER: u32> Deserialize<'de> for Parts<PER> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Ok(Parts((number * f64::from(PER)).round() as u64))
    }
}

impl<const PER: u32> JsonSchema for Parts<PER> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        f64::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        f64::json_schema(generator)
    }
}

impl<const PER: u32> From<u32> for Parts<PER> {
    fn from(parts: u32) -> Self {
        Parts(parts.into())
    }
}

/// Refusal that clients read as its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusalCode(pub Refusal);

impl Serialize for RefusalCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.code())
    }
}

impl<'de> Deserialize<'de> for RefusalCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        let known = Refusal::ALL.iter().find(|refusal| refusal.code() == code);
        known.map_or_else(
            || Err(D::Error::custom(format!("{code} is no code of a refusal"))),
            |refusal| Ok(RefusalCode(*refusal)),
        )
    }
}

impl JsonSchema for RefusalCode {
    fn schema_name() -> Cow<'static, str> {
        "RefusalCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: BTreeSet<&str> = Refusal::ALL.iter().map(|refusal| refusal.code()).collect();
        json_schema!({"type": "string", "enum": codes})
    }
}

/// Position of something.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// East, in tiles.
    pub x: i32,
    /// Height.
    pub y: f32,
    /// North, in tiles.
    pub z: i32,
}

impl Position {
    /// Returns the position of a player that stands on `tile`.
    pub fn of(record: &PlayerRecord, tile: Tile) -> Position {
        Position {
            x: tile.x,
            y: record.y as f32,
            z: tile.z,
        }
    }
}

/// So many of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stack {
    /// The item's id.
    pub item_id: Arc<str>,
    /// Quantity.
    pub quantity: u32,
}

impl From<&crate::item::Stack> for Stack {
    fn from(stack: &crate::item::Stack) -> Stack {
        Stack {
            item_id: Arc::clone(&stack.item),
            quantity: stack.quantity,
        }
    }
}

/// Returns stacks as clients read them.
pub(crate) fn stacks(stacks: &[crate::item::Stack]) -> Vec<Stack> {
    stacks.iter().map(Stack::from).collect()
}

/// `notice`: a text for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Stable, for programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// `info`, `warning` or `error`.
    pub level: String,
}

server_events! {
    Notice => "notice",
}

/// Defines why an exchange came to nothing, from one row per reason: its doc, its variant, its name
/// for programs and its sentence for people.
macro_rules! endings {
    ($(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $variant:ident = $word:literal, $sentence:literal;)+
    }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize,
            serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Returns its name for programs.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// Returns its sentence for people.
            pub const fn sentence(self) -> &'static str {
                match self { $($name::$variant => $sentence,)+ }
            }
        }
    };
}
pub(crate) use endings;
