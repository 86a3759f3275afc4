//! The content that is played: from the world folder if it has any, else what is built in.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use anyhow::Context;
use world::Content;

/// Manifests of one folder, its subfolders included.
const FILES_MAX: usize = 1_000;

/// Reads the content of the world folder `folder`.
///
/// # Errors
/// A file cannot be read, or the manifests are none.
pub(crate) fn load(folder: &str) -> anyhow::Result<Arc<Content>> {
    let manifests = Path::new(folder).join("assets/manifests");
    if !manifests.is_dir() {
        return Ok(Content::embedded());
    }
    let mut files = BTreeMap::new();
    collect(&manifests, "", &mut files)
        .with_context(|| format!("read the manifests in {}", manifests.display()))?;
    let loaded = Content::load(&files)
        .map_err(|why| chassis::config::ConfigError::new(format!("the content: {why}")))?;
    for warning in &loaded.warnings {
        tracing::warn!(?warning, "content");
    }
    Ok(Arc::new(loaded.content))
}

fn collect(
    folder: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, String>,
) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), files)?;
        } else if name.ends_with(".json") {
            anyhow::ensure!(files.len() < FILES_MAX, "more than {FILES_MAX} manifests");
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("read {}", path.display()))?;
            files.insert(format!("{prefix}{name}"), text);
        }
    }
    Ok(())
}
