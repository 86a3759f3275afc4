//! `music.json`: what clients play; the rules only know that it is there.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::Reader;

/// The file.
const FILE: &str = "music.json";

/// A piece of music.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Unique among pieces.
    pub id: Arc<str>,
    /// As players see it.
    pub name: Arc<str>,
    /// theme, ambient, combat …
    pub kind: Arc<str>,
    /// intro, normal, combat …
    pub category: Arc<str>,
    /// Where it is; begins with `asset://`.
    pub path: Arc<str>,
    /// How long it is, in seconds.
    pub seconds: u32,
}

pub(crate) fn load(reader: &Reader) -> Catalog<Track> {
    let mut tracks = Catalog::default();
    for fields in &reader.records(FILE) {
        if let Some(id) = fields.key("id") {
            tracks.add(fields, id, track(id, fields));
        }
    }
    tracks
}

fn track<'v>(id: &'v str, fields: &Fields<'v>) -> Track {
    Track {
        id: id.into(),
        name: fields.name(id).into(),
        kind: fields.text_or("type", "").to_lowercase().into(),
        category: fields.text_or("category", "").to_lowercase().into(),
        path: fields.text("path"),
        seconds: fields.count_or("duration", 0),
    }
}
