//! A record as a file: a header, then the changes, each as MessagePack with named fields.
//!
//! Always: a file is there whole or not at all; a folder holds at most [`FILES_MAX`] of them.

use std::{
    io::{Error, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use world::{CharacterId, Rules};

use super::{
    change::{self, Change},
    recorder::{GENERATION_BYTES_MAX, Kept},
};

/// Version of the file format.
pub(crate) const FORMAT: u32 = 3;
/// Records that a folder may hold: a run that panics again and again does not fill the disk.
pub(crate) const FILES_MAX: usize = 20;
/// Largest file that is read, in bytes.
const READ_MAX: u64 = 4 * GENERATION_BYTES_MAX as u64;
const PREFIX: &str = "replay-";

/// The origin of a record, and all that a replay of it needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: u32,
    /// Version of the zone server.
    pub(crate) build: String,
    pub(crate) content_hash: String,
    pub(crate) seed: u64,
    /// Rules by which the run played.
    pub(crate) rules: Rules,
    pub(crate) run_id: u64,
    /// Tick in which the run ended.
    pub(crate) tick: u64,
    /// Character whose input the world was handling.
    pub(crate) handled: Option<CharacterId>,
    /// Characters whose inputs the tick was to play.
    pub(crate) players: Vec<CharacterId>,
    /// Whether the record ends before that tick, because it was too large.
    pub(crate) truncated: bool,
}

/// Returns the beginning of a record's file; `None`: the header cannot be written.
pub(crate) fn head(header: &Header) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    change::write(&mut head, header).then_some(head)
}

/// Writes a record into `folder` and returns its path. Blocks.
///
/// # Errors
/// The process cannot write to the folder, or the folder holds too many records.
pub(crate) fn save(folder: &Path, header: &Header, kept: &Kept) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let mut records = 0;
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        records += usize::from(name.to_string_lossy().starts_with(PREFIX));
    }
    if records >= FILES_MAX {
        let why = format!("the folder holds {FILES_MAX} records; remove some");
        return Err(Error::new(ErrorKind::QuotaExceeded, why));
    }
    let head = head(header).ok_or_else(|| Error::from(ErrorKind::InvalidData))?;
    let name = format!("{PREFIX}run-{}-tick-{}.rmp", header.run_id, header.tick);
    let path = folder.join(name);
    let draft = path.with_extension("draft");
    let mut file = std::fs::File::create(&draft)?;
    file.write_all(&head)?;
    file.write_all(&kept.bytes)?;
    file.sync_all()?;
    std::fs::rename(&draft, &path)?;
    Ok(path)
}

/// A record that was read.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) header: Header,
    bytes: Vec<u8>,
    at: usize,
}

impl Record {
    /// Reads the header of a file. Blocks.
    ///
    /// # Errors
    /// A sentence: the file cannot be read, or is no record.
    pub(crate) fn open(path: &Path) -> Result<Record, String> {
        let named = |why: String| format!("cannot read {}: {why}", path.display());
        let size = std::fs::metadata(path).map_err(|e| named(e.to_string()))?;
        if size.len() > READ_MAX {
            return Err(named(format!("larger than {READ_MAX} bytes")));
        }
        let bytes = std::fs::read(path).map_err(|e| named(e.to_string()))?;
        let mut rest = &*bytes;
        let header: Header = rmp_serde::from_read(&mut rest)
            .map_err(|e| named(format!("not a record of a run ({e})")))?;
        if header.format != FORMAT {
            return Err(named(format!("a record of format {}", header.format)));
        }
        let at = bytes.len() - rest.len();
        Ok(Record { header, bytes, at })
    }
}

impl Iterator for Record {
    type Item = Result<Change, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.bytes.get(self.at..)?;
        if rest.is_empty() {
            return None;
        }
        let read = rmp_serde::from_read(&mut rest);
        self.at = self.bytes.len() - rest.len();
        if read.is_err() {
            self.at = self.bytes.len();
        }
        Some(read.map_err(|why| format!("the record is broken: {why}")))
    }
}
