//! How far characters are with quests.
//!
//! Always: a row of a batch names only the quests of which something changed; what is not named
//! stays as the store has it.

use std::collections::BTreeMap;

use super::error::{Result, StoreError};
use super::model::Batch;

/// By quest.
pub(crate) type Quests = BTreeMap<String, QuestState>;

/// How far somebody is with one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuestState {
    /// `None`: it is not under way.
    pub(crate) stage: Option<String>,
    pub(crate) ready: bool,
    /// By stage.
    pub(crate) counts: BTreeMap<String, i32>,
    pub(crate) completed: i32,
    pub(crate) given: bool,
}

impl QuestState {
    /// As the column says it.
    pub(crate) fn status(&self) -> &'static str {
        match (&self.stage, self.ready) {
            (Some(_), true) => "ready_to_complete",
            (Some(_), false) => "in_progress",
            (None, _) if self.completed > 0 => "completed",
            (None, _) => "not_started",
        }
    }

    /// As the column keeps them.
    pub(crate) fn counts_text(&self) -> String {
        proto::encode::json_text(&self.counts)
    }

    /// What the columns say.
    pub(crate) fn read(
        (status, stage): (&str, Option<String>),
        counts: &str,
        (completed, given): (i32, bool),
    ) -> Result<QuestState> {
        let counts = serde_json::from_str(counts);
        Ok(QuestState {
            ready: status == "ready_to_complete",
            stage,
            counts: counts
                .map_err(|error| StoreError::Broken(format!("stageProgress: {error}")))?,
            completed,
            given,
        })
    }
}

/// Character, quest, and how far it is now.
pub(crate) fn changed(batch: &Batch) -> impl Iterator<Item = (&str, &str, &QuestState)> {
    batch.rows.iter().flat_map(|row| {
        let quests = row.record.quests.iter();
        quests.map(|(quest, state)| (row.record.id.as_str(), quest.as_str(), state))
    })
}
