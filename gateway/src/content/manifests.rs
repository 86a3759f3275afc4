//! The content's manifests, ready to send.
//!
//! Always: the gateway serves all of them from memory, so that no path of a client is ever a path
//! on the disk.

use std::collections::BTreeMap;

use content_loader::Files;

use crate::http::stored::{FIVE_MINUTES, Stored};

/// All manifests, by path.
pub(crate) struct Manifests(BTreeMap<String, Stored>);

impl Manifests {
    pub(crate) fn new(files: &Files) -> Self {
        let stored = files.iter().map(|(path, text)| {
            let stored = Stored::new(text.clone(), "application/json", FIVE_MINUTES);
            (path.clone(), stored.packed())
        });
        Self(stored.collect())
    }

    /// Returns the manifest at a path.
    pub(crate) fn stored(&self, path: &str) -> Option<&Stored> {
        self.0.get(path)
    }
}
