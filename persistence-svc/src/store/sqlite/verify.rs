//! Checks of a whole copy in SQLite, and the making of one.

use std::path::Path;

use rusqlite::params;
use tokio::sync::oneshot;
use tonic::async_trait;

use super::{Job, Sqlite, Transaction, all, closed, layout};
use crate::store::Copies;
use crate::store::error::{Result, StoreError};
use crate::store::migrations::Layout;
use crate::store::model::Region;
use crate::store::verify::{
    COPY, COUNTERS, Copy, DOCUMENTS, Document, Findings, LAST_RUN, Part, Progress,
    REGION_DOCUMENTS, RegionDocument, fallen,
};

/// Faults that SQLite looks for in one go.
const FAULTS_MAX: u32 = 1_000;

impl Sqlite {
    /// Writes a copy of the database, as it is at one moment, to a file that does not exist. The
    /// service that has the database open goes on meanwhile.
    pub(crate) async fn copy_to(&self, file: &Path) -> Result<()> {
        let jobs = self.jobs().ok_or_else(closed)?;
        let (answer, result) = oneshot::channel();
        let file = file.display().to_string();
        // It takes no time limit: a copy of a large world takes as long as it takes.
        let job: Job = Box::new(move |connection| {
            let copied = connection.execute("VACUUM INTO ?1", [file]);
            let _ = answer.send(copied.map(|_| ()));
        });
        jobs.send(job).await.map_err(|_| closed())?;
        Ok(result.await.map_err(|_| closed())??)
    }
}

#[async_trait]
impl Copies for Sqlite {
    async fn layout(&self) -> Result<Layout> {
        self.read(layout).await
    }

    async fn copy(&self) -> Result<Copy> {
        self.read(|transaction| {
            let (incarnation, living) =
                transaction.query_row(COPY, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Copy {
                incarnation,
                living,
                notes: Vec::new(),
            })
        })
        .await
    }

    async fn examine(&self, part: Part, _progress: Progress<'_>) -> Result<Findings> {
        self.read(move |transaction| match part {
            Part::Pages => pages(transaction),
            Part::Indexes => Ok(Findings::default()),
            Part::Rules => references(transaction),
            Part::Counters => counters(transaction),
        })
        .await
    }

    async fn documents(&self, after: &str, most: i64) -> Result<Vec<Document>> {
        let after = after.to_owned();
        self.read(move |transaction| all(transaction, DOCUMENTS, params![after, most]))
            .await
    }

    async fn region_documents(&self, after: Region, most: i64) -> Result<Vec<RegionDocument>> {
        let values = (after.x, after.z, most);
        self.read(move |transaction| all(transaction, REGION_DOCUMENTS, values))
            .await
    }
}

/// Checks pages, indexes and the rules of single rows, all of which are one check to SQLite.
fn pages(transaction: &Transaction<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let pages = transaction.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))?;
    found.looked = pages.unsigned_abs();
    let mut check = transaction.prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?;
    let mut rows = check.query([])?;
    while let Some(row) = rows.next()? {
        let said: String = row.get(0)?;
        if said != "ok" {
            found.fault(said);
        }
    }
    Ok(found)
}

fn references(transaction: &Transaction<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let mut check = transaction.prepare("PRAGMA foreign_key_check")?;
    let mut rows = check.query([])?;
    while let Some(row) = rows.next()? {
        let (table, of): (String, String) = (row.get(0)?, row.get(2)?);
        found.fault(format!(
            "a row of {table} names a row of {of} that is not there"
        ));
    }
    let keys = "SELECT count(*) FROM sqlite_schema s, pragma_foreign_key_list(s.name)
                WHERE s.type = 'table'";
    found.looked = number(transaction, keys)?.unsigned_abs();
    Ok(found)
}

fn counters(transaction: &Transaction<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let tables = "SELECT name FROM sqlite_schema
                  WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%' ORDER BY name";
    let mut tables = transaction.prepare(tables)?;
    let tables = tables.query_map([], |row| row.get::<_, String>(0))?;
    let sequence = |table: &str| {
        format!("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '{table}'")
    };
    let mut counted = Vec::new();
    for table in tables {
        let table = table?;
        let used = format!("SELECT coalesce(max(rowid), 0) FROM \"{table}\"");
        counted.push((format!("the number of {table}"), sequence(&table), used));
    }
    for (what, count, used) in COUNTERS {
        counted.push((what.to_owned(), count.to_owned(), used.to_owned()));
    }
    let runs = "the number of runs that anything names";
    counted.push((runs.to_owned(), sequence("runs"), LAST_RUN.to_owned()));
    for (what, count, used) in counted {
        found.looked += 1;
        let count = number(transaction, &count);
        let used = number(transaction, &used);
        let (count, used) = (found.take(&what, count)?, found.take(&what, used)?);
        if let (Some(count), Some(used)) = (count, used)
            && let Some(fault) = fallen(&what, count, used)
        {
            found.fault(fault);
        }
    }
    Ok(found)
}

fn number(transaction: &Transaction<'_>, query: &str) -> Result<i64> {
    let row = transaction.query_row(query, [], |row| row.get(0));
    row.map_err(StoreError::from)
}
