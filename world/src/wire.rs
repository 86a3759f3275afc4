//! Requests as clients send them: an event's wire name, and its data.
//!
//! A feature defines each request once. A variant of its `Intent` with a wire name is read as it
//! stands: `#[serde(rename)]` gives the name, and the fields are the data. If one event means
//! several intents, or its numbers need a code of their own, the feature has a `Packet` instead,
//! which becomes an intent.
//!
//! Always: a wire name begins with a small letter. A variant without one keeps its Rust name, which
//! begins with a capital letter, so that no client can ask for it. Data are read strictly: no unknown
//! field, no field twice, no value out of its bounds.

use std::fmt;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use serde::de::{EnumAccess, VariantAccess};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Value;

use crate::features::trade::screen::Screen;
use crate::item::bank::BANK_TABS;
use crate::item::{QUANTITY_MAX, SLOTS};
use crate::refusal::Refusal;

/// Longest id or name in a request, in bytes.
const ID_BYTES_MAX: usize = 64;

/// Reason why a request cannot become an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRequest {
    /// The world knows no event of that name.
    UnknownEvent,
    /// The data do not fit; in words.
    Data(String),
    /// The world refuses it, whatever its state.
    Refused(Refusal),
}

impl From<String> for BadRequest {
    fn from(words: String) -> BadRequest {
        BadRequest::Data(words)
    }
}

impl From<Refusal> for BadRequest {
    fn from(refusal: Refusal) -> BadRequest {
        BadRequest::Refused(refusal)
    }
}

/// Requests of one feature, as clients send them.
pub(crate) trait Requests: DeserializeOwned + JsonSchema {
    /// Intent of the request.
    type Intent;

    /// Returns the intent. `shown`: the screen of a trade that the player saw last.
    ///
    /// # Errors
    /// `Data`, `Refused`.
    fn intent(self, shown: Screen) -> Result<Self::Intent, BadRequest>;
}

/// Description of a request, for the protocol reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// Wire name of the event.
    pub event: String,
    /// JSON schema of its data.
    pub data: Value,
}

/// Returns the wire names among the variants of `R`, in order.
pub(crate) fn names<R: Requests>() -> impl Iterator<Item = &'static str> {
    let variants = match R::deserialize(Variants) {
        Err(Listed(variants)) => variants,
        Ok(_) => &[],
    };
    variants.iter().copied().filter(|name| is_wire_name(name))
}

fn is_wire_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Reads a request of `R`. `data`: JSON text.
///
/// # Errors
/// `Data`, `Refused`.
pub(crate) fn read<R: Requests>(
    event: &str,
    data: &[u8],
    shown: Screen,
) -> Result<R::Intent, BadRequest> {
    let mut reader = serde_json::Deserializer::from_slice(data);
    let request = R::deserialize(Named {
        event,
        data: &mut reader,
    });
    let request = request.map_err(|error| without_position(&error.to_string()).to_owned())?;
    request.intent(shown)
}

/// Returns the words of an error without the position, which would mislead somebody that sees the
/// whole message.
fn without_position(words: &str) -> &str {
    words.rfind(" at line ").map_or(words, |end| &words[..end])
}

/// Describes the requests of `R`.
pub(crate) fn described<R: Requests>(generator: &mut SchemaGenerator) -> Vec<Described> {
    let schema = generator.root_schema_for::<R>().to_value();
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    let described = variants.flat_map(|variant| {
        let about = &variant["description"];
        let without_data = variant["const"].as_str().map(|event| Described {
            event: event.to_owned(),
            data: nothing(about),
        });
        let fields = variant["properties"].as_object().into_iter().flatten();
        let with_data = fields.map(|(event, data)| {
            let mut data = data.clone();
            data["description"] = about.clone();
            Described {
                event: event.clone(),
                data,
            }
        });
        with_data.chain(without_data).collect::<Vec<_>>()
    });
    described
        .filter(|request| is_wire_name(&request.event))
        .collect()
}

fn nothing(about: &Value) -> Value {
    serde_json::json!({
        "description": about,
        "type": "object",
        "additionalProperties": false,
    })
}

/// Data of a request without any.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A request: the name of the variant, and the data of its fields.
struct Named<'n, D> {
    event: &'n str,
    data: D,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Named<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, D: Deserializer<'de>> EnumAccess<'de> for Named<'_, D> {
    type Error = D::Error;
    type Variant = Data<D>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Data<D>), D::Error> {
        let name: StrDeserializer<'_, D::Error> = self.event.into_deserializer();
        Ok((seed.deserialize(name)?, Data(self.data)))
    }
}

/// Data of a request.
struct Data<D>(D);

impl<'de, D: Deserializer<'de>> VariantAccess<'de> for Data<D> {
    type Error = D::Error;

    fn unit_variant(self) -> Result<(), D::Error> {
        Nothing::deserialize(self.0).map(|Nothing {}| ())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, D::Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct("data", fields, visitor)
    }
}

/// Asks a type for the names of its variants, and reads nothing.
struct Variants;

/// Names of the variants; the error of [`Variants`], so that nothing else is read.
#[derive(Debug)]
struct Listed(&'static [&'static str]);

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Listed {}

impl serde::de::Error for Listed {
    fn custom<T: fmt::Display>(_: T) -> Listed {
        Listed(&[])
    }
}

impl<'de> Deserializer<'de> for Variants {
    type Error = Listed;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Listed> {
        Err(Listed(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Listed> {
        Err(Listed(variants))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Checks the number of a slot of the pack.
pub(crate) fn slot(field: &str, slot: u8) -> Result<(), BadRequest> {
    within(slot < SLOTS, || format!("{field}: 0 to {}", SLOTS - 1))
}

/// Checks a number of items or coins.
pub(crate) fn quantity(field: &str, quantity: u32) -> Result<(), BadRequest> {
    within((1..=QUANTITY_MAX).contains(&quantity), || {
        format!("{field}: 1 to {QUANTITY_MAX}")
    })
}

/// Checks the number of a tab of the bank.
pub(crate) fn tab(tab: u8) -> Result<(), BadRequest> {
    within(tab < BANK_TABS, || format!("tab: 0 to {}", BANK_TABS - 1))
}

/// Checks an id or a name.
pub(crate) fn id(field: &str, id: &str) -> Result<(), BadRequest> {
    within((1..=ID_BYTES_MAX).contains(&id.len()), || {
        format!("{field}: 1 to {ID_BYTES_MAX} bytes")
    })
}

/// Checks that a number of any size is a slot of the pack or a place of an offer.
pub(crate) fn exchanged_slot(slot: i64) -> Result<u8, BadRequest> {
    let slot = u8::try_from(slot).ok().filter(|slot| *slot < SLOTS);
    slot.ok_or(BadRequest::Refused(Refusal::InvalidSlot))
}

/// Checks that a number of any size is a quantity.
pub(crate) fn exchanged_quantity(quantity: i64) -> Result<u32, BadRequest> {
    let quantity = u32::try_from(quantity).ok();
    let quantity = quantity.filter(|many| (1..=QUANTITY_MAX).contains(many));
    quantity.ok_or(BadRequest::Refused(Refusal::InvalidQuantity))
}

/// Returns the words if a value is out of its bounds.
pub(crate) fn within(fits: bool, words: impl FnOnce() -> String) -> Result<(), BadRequest> {
    if fits {
        return Ok(());
    }
    Err(BadRequest::Data(words()))
}
