//! How far characters are with quests, in SQLite.

use rusqlite::{Transaction, params};

use crate::store::error::Result;
use crate::store::model::Batch;
use crate::store::quests::{QuestState, Quests, changed};

/// Those of a character.
pub(super) fn read(transaction: &Transaction<'_>, id: &str) -> Result<Quests> {
    let mut statement = transaction.prepare_cached(
        r#"SELECT "questId", status, "currentStage", "stageProgress", completed, given
           FROM quest_progress WHERE "playerId" = ?1"#,
    )?;
    let mut rows = statement.query([id])?;
    let mut quests = Quests::new();
    while let Some(row) = rows.next()? {
        let (status, counts): (String, String) = (row.get(1)?, row.get(3)?);
        let done = (row.get(4)?, row.get(5)?);
        let state = QuestState::read((&status, row.get(2)?), &counts, done)?;
        quests.insert(row.get(0)?, state);
    }
    Ok(quests)
}

/// Writes those that the batch changes.
pub(super) fn write(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let mut put = transaction.prepare_cached(
        r#"INSERT INTO quest_progress
             ("playerId", "questId", status, "currentStage", "stageProgress", completed, given)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
           ON CONFLICT ("playerId", "questId") DO UPDATE SET status = ?3, "currentStage" = ?4,
             "stageProgress" = ?5, completed = ?6, given = ?7"#,
    )?;
    for (id, quest, state) in changed(batch) {
        put.execute(params![
            id,
            quest,
            state.status(),
            state.stage,
            state.counts_text(),
            state.completed,
            state.given
        ])?;
    }
    Ok(())
}
