//! Brings the content to the processes that play or show it. The content comes from the content
//! server with a cache behind it, from the world's folder, from another process, or is built in.
//!
//! To read first: `config` (the settings), `plan` (pure: sources, and how a fetch changes a cache),
//! `deliver` (does it). Then: `client` (one file from a content server), `fetch` (all of them),
//! `folder` and `cache` (files on the disk). Last: `agree` (the version that the world plays),
//! `peer` (the same version as another process).
//!
//! Always: a world can play delivered content, and manifests and content are of one version. Only
//! production writes the cache, and never manifests that it could not play.

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

/// One version of the content, with its manifests.
#[derive(Debug, Clone)]
pub struct Delivered {
    /// Manifests.
    pub files: Arc<Files>,
    /// Content that the manifests describe.
    pub content: Arc<Content>,
    /// Source of the manifests.
    pub source: Source,
}

impl Delivered {
    /// Returns the content that is built into this process.
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
