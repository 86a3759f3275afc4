//! The form of a saved character: its version, then a MessagePack map with named fields.
//!
//! Always: this build reads every version that was ever released; it refuses a document that it
//! cannot read whole.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::VERSION;

/// Reason why a document is unreadable. A zone that meets one must not play the character: its next
/// save would lose the unreadable fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadDocument {
    /// The store has no document of a character that has played.
    Missing,
    /// A version that this build does not know, most likely that of a newer one.
    Version(u32),
    /// The bytes are damaged, or hold fields that this build does not know.
    Bytes(String),
}

impl fmt::Display for BadDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadDocument::Missing => f.write_str("a character that was played has no document"),
            BadDocument::Version(version) => {
                write!(f, "a document of version {version}, not of 1 to {VERSION}")
            }
            BadDocument::Bytes(why) => write!(f, "not a document of a character: {why}"),
        }
    }
}

impl std::error::Error for BadDocument {}

impl From<rmp_serde::decode::Error> for BadDocument {
    fn from(why: rmp_serde::decode::Error) -> BadDocument {
        BadDocument::Bytes(why.to_string())
    }
}

/// Returns the document of the current version.
pub(super) fn written(fields: &impl Serialize) -> Vec<u8> {
    let mut document = Vec::new();
    append(&mut document, &VERSION);
    append(&mut document, fields);
    document
}

/// Appends `value` as MessagePack with named fields.
///
/// # Panics
/// The value cannot be written. Strings, integers and maps with plain keys always can. If one ever
/// could not, the tick must end before anything of the character is saved.
pub(super) fn append(bytes: &mut Vec<u8>, value: &impl Serialize) {
    rmp_serde::encode::write_named(bytes, value)
        .unwrap_or_else(|why| panic!("a player cannot be written: {why}"));
}

/// Reads a document of any version that was ever released.
pub(super) fn read<T: DeserializeOwned>(document: &[u8]) -> Result<T, BadDocument> {
    if document.first().is_some_and(|first| is_map(*first)) {
        return from_v1(document);
    }
    let mut rest = document;
    let version = u32::deserialize(&mut rmp_serde::Deserializer::new(&mut rest))?;
    match version {
        // Fields that are younger than the document have their defaults.
        2..=VERSION => map(rest),
        unknown => Err(BadDocument::Version(unknown)),
    }
}

/// Reads a document of version 1: the map without a number before it.
fn from_v1<T: DeserializeOwned>(document: &[u8]) -> Result<T, BadDocument> {
    map(document)
}

/// Reads a map that nothing follows.
fn map<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<T, BadDocument> {
    let fields = T::deserialize(&mut rmp_serde::Deserializer::new(&mut bytes))?;
    match bytes {
        [] => Ok(fields),
        more => Err(BadDocument::Bytes(format!("{} bytes follow", more.len()))),
    }
}

/// Returns whether a MessagePack map begins with this byte.
const fn is_map(first: u8) -> bool {
    matches!(first, 0x80..=0x8f | 0xde | 0xdf)
}
