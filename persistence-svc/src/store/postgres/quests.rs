//! How far characters are with quests, in PostgreSQL: read and written in one statement each, over
//! arrays.

use std::collections::BTreeMap;

use deadpool_postgres::{GenericClient, Transaction};

use super::Values;
use crate::store::error::Result;
use crate::store::model::Batch;
use crate::store::quests::{QuestState, Quests, changed};

/// Those of characters; who has none is not named.
pub(super) async fn read<C: GenericClient>(
    client: &C,
    ids: &[&str],
) -> Result<BTreeMap<String, Quests>> {
    let mut all: BTreeMap<String, Quests> = BTreeMap::new();
    if ids.is_empty() {
        return Ok(all);
    }
    let statement = client
        .prepare_cached(
            r#"SELECT "playerId", "questId", status, "currentStage", "stageProgress", completed,
                 given
               FROM quest_progress WHERE "playerId" = ANY($1)"#,
        )
        .await?;
    for row in client.query(&statement, &[&ids]).await? {
        let (status, counts): (&str, &str) = (row.try_get(2)?, row.try_get(4)?);
        let done = (row.try_get(5)?, row.try_get(6)?);
        let state = QuestState::read((status, row.try_get(3)?), counts, done)?;
        let quests = all.entry(row.try_get(0)?).or_default();
        quests.insert(row.try_get(1)?, state);
    }
    Ok(all)
}

/// Writes those that the batch changes.
pub(super) async fn write(transaction: &Transaction<'_>, batch: &Batch) -> Result<()> {
    let all: Vec<(&str, &str, &QuestState)> = changed(batch).collect();
    if all.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = all.iter().map(|(id, ..)| *id).collect();
    let quests: Vec<&str> = all.iter().map(|(_, quest, _)| *quest).collect();
    let states = || all.iter().map(|(.., state)| *state);
    let status: Vec<&str> = states().map(QuestState::status).collect();
    let stages: Vec<Option<&str>> = states().map(|state| state.stage.as_deref()).collect();
    let counts: Vec<String> = states().map(QuestState::counts_text).collect();
    let completed: Vec<i32> = states().map(|state| state.completed).collect();
    let given: Vec<bool> = states().map(|state| state.given).collect();
    let statement = transaction
        .prepare_cached(
            r#"INSERT INTO quest_progress
                 ("playerId", "questId", status, "currentStage", "stageProgress", completed, given)
               SELECT * FROM UNNEST($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
                 $6::integer[], $7::boolean[])
               ON CONFLICT ("playerId", "questId") DO UPDATE
                 SET status = excluded.status, "currentStage" = excluded."currentStage",
                   "stageProgress" = excluded."stageProgress", completed = excluded.completed,
                   given = excluded.given"#,
        )
        .await?;
    let values: Values<'_> = &[&ids, &quests, &status, &stages, &counts, &completed, &given];
    transaction.execute(&statement, values).await?;
    Ok(())
}
