//! `recipes/firemaking.json`.

use std::sync::Arc;

use super::{Effort, effort, item};
use crate::content::fields::Fields;

/// Logs that players can light.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firemaking {
    /// Logs.
    pub log: Arc<str>,
    /// Cost and gain.
    pub effort: Effort,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Firemaking)> {
    let log = item(fields, "log")?;
    Some((log.to_string(), embedded(&log, fields)))
}

/// Returns the recipe that the record of `log` carries.
pub(super) fn embedded(log: &str, fields: &Fields<'_>) -> Firemaking {
    Firemaking {
        log: log.into(),
        effort: effort(fields),
    }
}
