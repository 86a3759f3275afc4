//! `music.json`: the music that clients play; the rules only know that it is there.

use std::sync::Arc;

use super::catalog::Catalog;
use super::fields::Fields;
use super::reader::Reader;

/// File of the music.
const FILE: &str = "music.json";

/// Piece of music.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Id, unique among pieces.
    pub id: Arc<str>,
    /// Name that players see.
    pub name: Arc<str>,
    /// Kind: theme, ambient, combat …
    pub kind: Arc<str>,
    /// Category: intro, normal, combat …
    pub category: Arc<str>,
    /// Path; begins with `asset://`.
    pub path: Arc<str>,
    /// Length, in seconds.
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
