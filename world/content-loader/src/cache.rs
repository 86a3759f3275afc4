//! Copies of the content server's manifests, which production keeps in the world's folder.
//!
//! Always: a file changes as a whole, the index after the files. If the index knows another text
//! for a file, the file has no tag, so a fetch asks for it anew. Processes that share the folder
//! take turns.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Files, folder, plan::Merged};

/// Index of the copies. Not a manifest: names with a dot are none.
const INDEX: &str = ".index.json";
const LOCK: &str = ".lock";

/// Folder of the copies.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// Contents of the folder.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pub(crate) files: Files,
    /// Tags under which this server gave the files.
    pub(crate) etags: BTreeMap<String, String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    /// Server that gave the files.
    from: String,
    files: BTreeMap<String, Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    etag: String,
    sha256: String,
}

impl Cache {
    pub(crate) fn new(world: &Path) -> Self {
        Self {
            folder: folder::manifests(world),
        }
    }

    /// Reads the copies of known manifests, and those tags that the server at `from` gave.
    pub(crate) fn read(&self, from: &str) -> anyhow::Result<Copies> {
        let _turn = self.turn(File::lock_shared);
        let mut files = folder::read(&self.folder)?;
        files.retain(|path, _| world::content::manifest(path).is_some());
        let index = fs::read(self.folder.join(INDEX)).unwrap_or_default();
        // An index that nobody can read only makes a fetch ask for everything.
        let index: Index = serde_json::from_slice(&index).unwrap_or_default();
        let known = index.files.into_iter().filter(|(path, entry)| {
            let text = files.get(path);
            index.from == from && text.is_some_and(|text| sha256(text) == entry.sha256)
        });
        let etags = known.map(|(path, entry)| (path, entry.etag)).collect();
        Ok(Copies { files, etags })
    }

    /// Makes the copies equal to `merged`, and writes its tags as those of `from`. A copy with the
    /// right text stays as it is.
    pub(crate) fn write(&self, from: &str, merged: &Merged) -> anyhow::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let _turn = self.turn(File::lock);
        self.sweep();
        for path in world::content::MANIFESTS.iter().map(|m| m.path) {
            let file = self.folder.join(path);
            match (merged.files.get(path), fs::read(&file)) {
                (Some(text), Ok(copy)) if copy == text.as_bytes() => {}
                (Some(text), _) => self.replace(path, text)?,
                (None, Ok(_)) => {
                    fs::remove_file(file).with_context(|| format!("remove {path}"))?;
                }
                (None, Err(_)) => {}
            }
        }
        let entry = |(path, etag): (&String, &String)| {
            let text = merged.files.get(path)?;
            let (etag, sha256) = (etag.clone(), sha256(text));
            Some((path.clone(), Entry { etag, sha256 }))
        };
        let index = Index {
            from: from.to_owned(),
            files: merged.etags.iter().filter_map(entry).collect(),
        };
        self.replace(INDEX, &serde_json::to_string_pretty(&index)?)
    }

    /// Waits for the lock on the folder. Without the lock file it waits for nobody.
    fn turn(&self, lock: fn(&File) -> io::Result<()>) -> Option<File> {
        let file = self.folder.join(LOCK);
        let file = File::options().create(true).append(true).open(file).ok()?;
        lock(&file).ok()?;
        Some(file)
    }

    /// Replaces the file by the text, all of it or nothing.
    fn replace(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let target = self.folder.join(path);
        let folder = target.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let draft = folder.join(format!(".{name}.{}.draft", uuid::Uuid::new_v4().simple()));
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&draft, &target)
        });
        if written.is_err() {
            // The draft is of no use; if it stays, the next writer sweeps it away.
            let _ = fs::remove_file(&draft);
        }
        written.with_context(|| format!("write {}", target.display()))
    }

    /// Removes drafts that killed writers left.
    fn sweep(&self) {
        let folders = world::content::MANIFESTS
            .iter()
            .map(|m| self.folder.join(m.path));
        let folders = folders.filter_map(|file| file.parent().map(Path::to_owned));
        let folders: std::collections::BTreeSet<PathBuf> = folders.collect();
        let entries = folders
            .iter()
            .filter_map(|f| fs::read_dir(f).ok())
            .flatten();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') && name.ends_with(".draft") {
                // A draft that this process cannot remove does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
