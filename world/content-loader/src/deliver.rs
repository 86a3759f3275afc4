//! Brings the content, by the settings and the rules of each environment.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use anyhow::Context;
use service_runtime::{config::Environment, run::UnusableData};
use world::{Content, Loaded, Warning};

use crate::{
    Delivered, Files,
    cache::{Cache, Copies},
    config::Config,
    fetch::fetch,
    folder,
    plan::{self, Merged, Source},
};

/// Warnings about the content that get a line each; of the rest the log tells only the number.
const WARNINGS_MAX: usize = 50;

/// Brings the content to play or to show.
///
/// # Errors
/// [`UnusableData`]: there is no content that a world can play. Anything else: a folder cannot be
/// read.
pub async fn deliver(config: &Config) -> anyhow::Result<Delivered> {
    let delivered = if config.skip {
        tracing::info!("SKIP_MANIFESTS is set: the built-in content is played");
        Delivered::embedded()
    } else if config.environment == Environment::Production {
        production(config).await?
    } else {
        development(config).await?
    };
    tracing::info!(
        source = %delivered.source,
        files = delivered.files.len(),
        version = delivered.content.hash(),
        "content"
    );
    Ok(delivered)
}

/// Brings the content of the world's folder, else the built-in content: for tools, which ask no
/// server.
///
/// # Errors
/// The folder cannot be read, or no world can play its manifests.
pub fn from_folder(world: &Path) -> anyhow::Result<Delivered> {
    let files = folder::local(world)?;
    if files.is_empty() {
        return Ok(Delivered::embedded());
    }
    Ok(playable(files, Source::Folder, false).map_err(UnusableData)?)
}

/// Asks the server first, always, and keeps its manifests as copies for the days when it is away.
async fn production(config: &Config) -> anyhow::Result<Delivered> {
    let Some(from) = config.cdn() else {
        return without_server(config).await;
    };
    let cache = Cache::new(&config.world);
    let (reading, base) = (cache.clone(), from.to_owned());
    let read = tokio::task::spawn_blocking(move || reading.read(&base)).await?;
    let copies = read.unwrap_or_else(|error| {
        tracing::error!(error = format!("{error:#}"), "the cache cannot be read");
        Copies::default()
    });
    // Each file has a tag, but only all answers together tell which copies may stay.
    let outcomes = match fetch(from, &copies.etags, config.times).await {
        Ok(outcomes) => outcomes,
        Err(why) => return from_cache(copies.files, &format!("{from} gives no manifests: {why}")),
    };
    let merged = plan::merge(&copies.files, &copies.etags, outcomes);
    for why in &merged.wrong {
        tracing::error!(from, why, "a manifest is not taken over");
    }
    if merged.stale && plan::lacks(&copies.files).is_none() {
        // Half of an update would be worse than none.
        let why = format!("{from} did not give all manifests");
        match from_cache(copies.files.clone(), &why) {
            Ok(delivered) => return Ok(delivered),
            Err(error) => tracing::error!(error = format!("{error:#}"), "no way back"),
        }
    }
    let files = merged.files.clone();
    let tried = tokio::task::spawn_blocking(move || playable(files, Source::Cdn, true)).await?;
    match tried {
        Ok(delivered) => {
            keep(cache, from.to_owned(), merged).await;
            Ok(delivered)
        }
        Err(why) => from_cache(copies.files, &format!("the manifests of {from}: {why}")),
    }
}

/// Brings the content for production without a server: from its folder, or the built-in content.
async fn without_server(config: &Config) -> anyhow::Result<Delivered> {
    let files = read_folder(config).await?;
    if files.is_empty() {
        tracing::warn!("PUBLIC_CDN_URL is not set: the built-in content is played");
        return Ok(Delivered::embedded());
    }
    tracing::warn!("PUBLIC_CDN_URL is not set: the manifests of the world directory are played");
    checked(files, Source::Folder, true).await
}

/// Brings the copies as they are, because of `why`.
fn from_cache(files: Files, why: &str) -> anyhow::Result<Delivered> {
    let count = files.len();
    let nothing = |error: String| {
        let cache = match count {
            0 => "there are no copies in the cache".to_owned(),
            _ => format!("the copies in the cache are not usable either: {error}"),
        };
        UnusableData(format!("there is no content to play: {why}; {cache}."))
    };
    let delivered = playable(files, Source::Cache, true).map_err(nothing)?;
    tracing::error!(why, files = count, "the copies in the cache are played");
    Ok(delivered)
}

/// Keeps copies of the fetched manifests. If it cannot write them, the world plays on all the same.
async fn keep(cache: Cache, from: String, merged: Merged) {
    let (changed, removed) = (merged.changed.len(), merged.removed.len());
    let written = tokio::task::spawn_blocking(move || cache.write(&from, &merged)).await;
    match written.context("the cache's task").flatten() {
        Ok(()) => tracing::info!(changed, removed, "the cache is up to date"),
        Err(error) => tracing::warn!(error = format!("{error:#}"), "the cache is not written"),
    }
}

/// Brings the folder's content. If manifests are missing there, brings a content server's, in
/// memory only. If no server has any and the folder is empty, brings the built-in content.
async fn development(config: &Config) -> anyhow::Result<Delivered> {
    let files = if config.all_from_cdn {
        Files::new()
    } else {
        read_folder(config).await?
    };
    let lacking = plan::lacks(&files);
    if lacking.is_none() {
        return checked(files, Source::Folder, false).await;
    }
    let servers = [
        (config.cdn(), Source::Cdn),
        (config.production_cdn_url.as_deref(), Source::ProductionCdn),
    ];
    for (from, source) in servers {
        let Some(from) = from else { continue };
        match from_server(config, from, source).await {
            Ok(delivered) => return Ok(delivered),
            Err(why) => tracing::warn!(from, why, "no manifests from there"),
        }
    }
    match lacking {
        Some(lacking) if !files.is_empty() => {
            let folder = folder::manifests(&config.world);
            let folder = folder.display();
            let why =
                format!("{folder} lacks {lacking}, and no content server has manifests to play.");
            Err(UnusableData(why).into())
        }
        _ => {
            tracing::warn!(
                "there are no manifests in the world directory and no content server has any: \
                 the built-in content is played"
            );
            Ok(Delivered::embedded())
        }
    }
}

async fn from_server(config: &Config, from: &str, source: Source) -> Result<Delivered, String> {
    let outcomes = fetch(from, &BTreeMap::new(), config.times).await?;
    let merged = plan::merge(&Files::new(), &BTreeMap::new(), outcomes);
    for why in &merged.wrong {
        tracing::warn!(from, why, "a manifest is left out");
    }
    let read = tokio::task::spawn_blocking(move || playable(merged.files, source, false));
    read.await.map_err(|error| error.to_string())?
}

async fn read_folder(config: &Config) -> anyhow::Result<Files> {
    let world = config.world.clone();
    tokio::task::spawn_blocking(move || folder::local(&world)).await?
}

async fn checked(files: Files, source: Source, strict: bool) -> anyhow::Result<Delivered> {
    let read = tokio::task::spawn_blocking(move || playable(files, source, strict)).await?;
    let unusable = |why| UnusableData(format!("the manifests of the world directory: {why}."));
    Ok(read.map_err(unusable)?)
}

/// Reads the manifests and logs their faults; an error if no world can play them. `strict` is for
/// production, which plays nothing ambiguous.
pub(crate) fn playable(files: Files, source: Source, strict: bool) -> Result<Delivered, String> {
    if is_built_in(&files) {
        // This process has read these already, and all its services share them.
        return Ok(Delivered {
            source,
            ..Delivered::embedded()
        });
    }
    let loaded = Content::load(&files);
    let loaded = if strict {
        loaded.and_then(Loaded::strict)
    } else {
        loaded
    };
    let loaded = loaded.map_err(|error| error.to_string())?;
    tell(&loaded.warnings);
    Ok(Delivered {
        files: Arc::new(files),
        content: Arc::new(loaded.content),
        source,
    })
}

/// Logs the faults of content that the world plays all the same. Faults that production refuses
/// come first, and as errors.
fn tell(warnings: &[Warning]) {
    let (fatal, rest): (Vec<_>, Vec<_>) = warnings.iter().partition(|w| Loaded::is_fatal(w));
    for error in fatal.iter().take(WARNINGS_MAX) {
        tracing::error!(%error, "content that production does not play");
    }
    for warning in rest.iter().take(WARNINGS_MAX) {
        tracing::warn!(%warning, "content");
    }
    let more = [fatal, rest].map(|all| all.len().saturating_sub(WARNINGS_MAX));
    let more: usize = more.into_iter().sum();
    if more > 0 {
        tracing::warn!(more, "further warnings about the content are not shown");
    }
}

/// Returns the text of the manifest at `path` that is built into this process.
pub fn built_in(path: &str) -> Option<&'static str> {
    let mut all = Content::embedded_files().iter();
    all.find(|(known, _)| *known == path).map(|(_, text)| *text)
}

fn is_built_in(files: &Files) -> bool {
    let built_in = Content::embedded_files();
    let same = |(path, text): &(&str, &str)| files.get(*path).is_some_and(|ours| ours == text);
    files.len() == built_in.len() && built_in.iter().all(same)
}
