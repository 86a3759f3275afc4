//! The content's manifests: from the world's folder where it has them, else those that ship.
//!
//! Always: all of them are read at the start and served from memory, so that no path that a
//! client names is ever a path on the disk.

use std::{collections::BTreeMap, fs, path::Path as FilePath, sync::Arc};

use anyhow::Context;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use chassis::config::ConfigError;
use world::Content;

use super::{
    problem::Problem,
    stored::{FIVE_MINUTES, Stored},
};
use crate::app::App;

/// A manifest has at most this many bytes.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// There are at most this many.
const COUNT_MAX: usize = 1000;

/// All manifests, by path.
pub(crate) struct Manifests(BTreeMap<String, Stored>);

/// Reads the manifests of the world's folder, or those that ship, and the content in them.
pub(crate) fn load(world: &FilePath) -> anyhow::Result<(Manifests, Arc<Content>)> {
    let folder = world.join("assets/manifests");
    if !folder.is_dir() {
        let texts = Content::embedded_files().iter();
        let stored = texts.map(|(path, text)| ((*path).to_owned(), stored((*text).to_owned())));
        return Ok((Manifests(stored.collect()), Content::embedded()));
    }
    let mut texts = BTreeMap::new();
    read_folder(&folder, "", &mut texts)
        .with_context(|| format!("read the manifests in {}", folder.display()))?;
    let loaded = Content::load(&texts).map_err(|error| {
        ConfigError::new(format!(
            "the manifests in {} are not usable: {error}",
            folder.display()
        ))
    })?;
    tracing::info!(
        files = texts.len(),
        warnings = loaded.warnings.len(),
        "manifests"
    );
    let stored = texts.into_iter().map(|(path, text)| (path, stored(text)));
    Ok((Manifests(stored.collect()), Arc::new(loaded.content)))
}

fn stored(text: String) -> Stored {
    Stored::new(text, "application/json", FIVE_MINUTES)
}

fn read_folder(
    folder: &FilePath,
    prefix: &str,
    texts: &mut BTreeMap<String, String>,
) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() && prefix.matches('/').count() < 4 {
            read_folder(&entry.path(), &format!("{path}/"), texts)?;
        } else if kind.is_file() && name.ends_with(".json") {
            anyhow::ensure!(texts.len() < COUNT_MAX, "more than {COUNT_MAX} manifests");
            anyhow::ensure!(entry.metadata()?.len() <= BYTES_MAX, "{path} is too long");
            let text = fs::read_to_string(entry.path()).with_context(|| path.clone())?;
            texts.insert(path, text);
        }
    }
    Ok(())
}

pub(super) async fn get(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    match path.map(|Path(path)| app.manifests.0.get(&path)) {
        Ok(Some(stored)) => stored.answer(&headers),
        _ => Problem::not_found(&uri).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_folder_the_manifests_that_ship_are_served() {
        let (manifests, content) = load(FilePath::new("/nowhere")).unwrap();
        for required in [
            "world-areas.json",
            "npcs.json",
            "biomes.json",
            "stores.json",
        ] {
            assert!(manifests.0.contains_key(required), "{required}");
        }
        assert_eq!(content.hash(), Content::embedded().hash());
    }

    #[test]
    fn a_folder_is_read_with_its_subfolders_and_played() {
        let world = std::env::temp_dir().join(format!("world-{}", uuid::Uuid::new_v4()));
        let folder = world.join("assets/manifests");
        for (path, text) in Content::embedded_files() {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        fs::write(folder.join("notes.txt"), "no manifest").unwrap();
        let (manifests, content) = load(&world).unwrap();
        assert_eq!(manifests.0.len(), Content::embedded_files().len());
        assert_eq!(content.hash(), Content::embedded().hash());

        fs::write(folder.join("npcs.json"), "{").unwrap();
        let error = load(&world).err().unwrap();
        assert_eq!(chassis::run::exit_code(&error), 64);
        fs::remove_dir_all(&world).unwrap();
    }
}
