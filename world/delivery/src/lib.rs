//! How the content reaches the processes that play or show it: from the content server with a
//! cache behind it, from the world's folder, from another process, or from what is built in.
//!
//! In reading order: `config` (what is set), `plan` (pure: where from, and what a fetch makes of
//! a cache), `deliver` (does it), `client` (one file from a content server), `fetch` (all of
//! them), `folder` and `cache` (what is on the disk), `agree` (which version the world plays),
//! `peer` (the same version as another process).
//!
//! Always: what is delivered can be played, and manifests and content are of one version; only
//! production writes the cache, and never what could not be played.

mod agree;
mod cache;
mod check;
mod client;
mod config;
mod deliver;
mod fetch;
mod folder;
mod peer;
mod plan;

use std::{collections::BTreeMap, sync::Arc};

use world::Content;

pub use agree::{Run, other_version};
pub use check::check;
pub use config::{Config, Times};
pub use deliver::{built_in, deliver, from_folder};
pub use folder::{inside, local};
pub use peer::{ContentService, Shelf, from_runs};
pub use plan::Source;
pub use proto::rpc::content::v1::content_server::ContentServer;

/// Manifests: text by path below the folder of manifests.
pub type Files = BTreeMap<String, String>;

/// One version of the content, with the manifests that it was read from.
#[derive(Debug, Clone)]
pub struct Delivered {
    /// The manifests.
    pub files: Arc<Files>,
    /// What they say.
    pub content: Arc<Content>,
    /// Where they came from.
    pub source: Source,
}

impl Delivered {
    /// What is built into this process.
    pub fn embedded() -> Self {
        let texts = Content::embedded_files().iter();
        let files = texts.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self {
            files: Arc::new(files.collect()),
            content: Content::embedded(),
            source: Source::BuiltIn,
        }
    }
}
