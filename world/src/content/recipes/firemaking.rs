//! `recipes/firemaking.json`.

use std::sync::Arc;

use super::{Effort, effort, item};
use crate::content::fields::Fields;

/// Logs that can be lit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firemaking {
    /// The logs.
    pub log: Arc<str>,
    /// What it takes and gives.
    pub effort: Effort,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Firemaking)> {
    let log = item(fields, "log")?;
    Some((log.to_string(), embedded(&log, fields)))
}

/// The recipe that the record of `log` carries.
pub(super) fn embedded(log: &str, fields: &Fields<'_>) -> Firemaking {
    Firemaking {
        log: log.into(),
        effort: effort(fields),
    }
}
