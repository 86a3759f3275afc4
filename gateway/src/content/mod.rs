//! The content that this gateway serves and shows.
//!
//! Always: the manifests and the content come from one version. Another version replaces both as
//! a whole, and only where it is the one that the zones play.

pub(crate) mod land;
pub(crate) mod manifests;
pub(crate) mod unlocks;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use content_loader::{Delivered, Run, Source};
use service_runtime::rpc::Trust;
use tokio_util::sync::CancellationToken;
use world::Content;

use self::{land::Land, manifests::Manifests};
use crate::{directory::DirectoryView, http::stored::Stored, zone_link::Zones};

/// Pause between two looks at the versions that zones play.
const LOOK: Duration = Duration::from_secs(1);
/// Pause after the gateway failed to get a version, before the next try.
const PAUSE: Duration = Duration::from_secs(5);

/// One version.
pub(crate) struct Version {
    pub(crate) content: Arc<Content>,
    pub(crate) manifests: Manifests,
    pub(crate) land: Land,
    /// The unlocks of levels.
    pub(crate) unlocks: Stored,
    pub(crate) source: Source,
}

impl Version {
    /// Prepares delivered content for clients.
    pub(crate) fn new(delivered: Delivered) -> Self {
        Self {
            manifests: Manifests::new(&delivered.files),
            land: Land::new(&delivered.content),
            unlocks: unlocks::stored(&delivered.content),
            content: delivered.content,
            source: delivered.source,
        }
    }
}

/// The version that clients get now.
pub(crate) struct Shown(ArcSwap<Version>);

impl Shown {
    pub(crate) fn new(version: Version) -> Self {
        Self(ArcSwap::from_pointee(version))
    }

    /// Returns the current version; two calls may return two versions.
    pub(crate) fn version(&self) -> Arc<Version> {
        self.0.load_full()
    }

    /// Returns the current content. Another version may take its place at any time: a caller that
    /// needs it twice keeps its copy.
    pub(crate) fn content(&self) -> Arc<Content> {
        Arc::clone(&self.version().content)
    }
}

/// Follows the zones until `stop`: when they play another version, gets it from one of them and
/// shows it.
pub(crate) async fn follow(shown: Arc<Shown>, zones: Zones, trust: Trust, stop: CancellationToken) {
    let mut pause = LOOK;
    while stop
        .run_until_cancelled(tokio::time::sleep(pause))
        .await
        .is_some()
    {
        pause = LOOK;
        let mine = shown.content().hash().to_owned();
        let others = content_loader::other_version(&runs(&zones.directory()), None, &mine);
        let Some(version) = others.first().map(|run| run.content.clone()) else {
            continue;
        };
        match stop
            .run_until_cancelled(content_loader::from_runs(&trust, &others))
            .await
        {
            Some(Ok(delivered)) => {
                tracing::warn!(
                    mine,
                    version,
                    "the zones play another content: it is shown now"
                );
                shown.0.store(Arc::new(Version::new(delivered)));
            }
            Some(Err(error)) => {
                let error = format!("{error:#}");
                tracing::error!(mine, version, error, "the zones play another content");
                pause = PAUSE;
            }
            None => return,
        }
    }
}

/// Returns the runs of the directory.
fn runs(view: &DirectoryView) -> Vec<Run> {
    let run = view.runs().map(|run| Run {
        id: run.run_id,
        address: run.address.clone(),
        content: run.content.clone(),
        leaving: run.draining,
    });
    run.collect()
}
