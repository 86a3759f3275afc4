//! Checks of a whole copy in PostgreSQL.
//!
//! Always: each check is one transaction that ends with a rollback, so that it leaves nothing
//! behind, not even the extension `amcheck`. One thing that cannot be read costs only its own
//! savepoint.

use tonic::async_trait;

use super::session::{GenericClient, Transaction};
use super::{Postgres, Values, all, migrate};
use crate::store::Copies;
use crate::store::error::Result;
use crate::store::migrations::Layout;
use crate::store::model::Region;
use crate::store::verify::{
    COPY, COUNTERS, Copy, DOCUMENTS, Document, Findings, LAST_RUN, Part, Progress,
    REGION_DOCUMENTS, RegionDocument, fallen,
};

/// A copy is large, so nothing here has a time limit. Uniqueness and rules are those of the rows, so
/// no index may answer for them.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_indexonlyscan = off;
    SET LOCAL enable_bitmapscan = off";

/// Tables that have rows of their own.
const TABLES: &str = "SELECT c.oid::bigint, c.oid::regclass::text FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY 2";

/// Indexes of these tables, and of what they keep aside: their names, whether a check of B-trees
/// fits, and whether the database uses them.
const INDEXES: &str = "SELECT c.oid::bigint, c.oid::regclass::text, a.amname = 'btree',
      i.indisvalid AND i.indisready AND i.indislive
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    JOIN pg_class t ON t.oid = i.indrelid
    WHERE c.relkind = 'i' AND (t.relnamespace = current_schema()::regnamespace
      OR t.oid IN (SELECT reltoastrelid FROM pg_class
                   WHERE relnamespace = current_schema()::regnamespace))
    ORDER BY 2";

/// Rules of tables, each with the query that counts the rows against it.
const RULES: &str = r"
    WITH mine AS (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace
                    AND relkind = 'r'),
    keys AS (
      SELECT c.*,
        (SELECT array_agg(quote_ident(a.attname) ORDER BY k.n)
         FROM unnest(c.conkey) WITH ORDINALITY k (number, n)
         JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number) AS own,
        (SELECT array_agg(quote_ident(a.attname) ORDER BY k.n)
         FROM unnest(c.confkey) WITH ORDINALITY k (number, n)
         JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number) AS theirs
      FROM pg_constraint c WHERE c.conrelid IN (SELECT oid FROM mine) AND c.contype IN ('f', 'c'))
    SELECT conrelid::regclass || '.' || conname, convalidated,
      CASE contype
        WHEN 'c' THEN format('SELECT count(*) FROM %s WHERE NOT (%s)', conrelid::regclass,
                             pg_get_expr(conbin, conrelid))
        ELSE format('SELECT count(*) FROM %s o WHERE %s AND NOT EXISTS (SELECT 1 FROM %s t WHERE %s)',
          conrelid::regclass,
          (SELECT string_agg('o.' || name || ' IS NOT NULL', ' AND ') FROM unnest(own) name),
          confrelid::regclass,
          (SELECT string_agg('t.' || theirs[n] || ' = o.' || own[n], ' AND ')
           FROM generate_subscripts(own, 1) n))
      END
    FROM keys
    UNION ALL
    SELECT a.attrelid::regclass || '.' || quote_ident(a.attname) || ' NOT NULL', true,
      format('SELECT count(*) FROM %s WHERE %I IS NULL', a.attrelid::regclass, a.attname)
    FROM pg_attribute a WHERE a.attrelid IN (SELECT oid FROM mine) AND a.attnum > 0
      AND a.attnotnull AND NOT a.attisdropped
    UNION ALL
    SELECT i.indexrelid::regclass::text, true,
      format('SELECT count(*) FROM (SELECT 1 FROM %s WHERE %s GROUP BY %s HAVING count(*) > 1) d',
        i.indrelid::regclass,
        (SELECT string_agg(quote_ident(a.attname) || ' IS NOT NULL', ' AND ')
         FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::smallint[])[0:i.indnkeyatts - 1])),
        (SELECT string_agg(quote_ident(a.attname), ', ')
         FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::smallint[])[0:i.indnkeyatts - 1])))
    FROM pg_index i WHERE i.indrelid IN (SELECT oid FROM mine) AND i.indisunique
      AND i.indexprs IS NULL AND i.indpred IS NULL
    ORDER BY 1";

/// Columns that count by themselves: the name, and the queries for the count and the greatest number
/// in use.
const SEQUENCES: &str = r"
    SELECT t.name || '.' || t.column, format('SELECT last_value - (NOT is_called)::integer FROM %s', t.sequence),
      format('SELECT coalesce(max(%I), 0)::bigint FROM %s', t.column, t.name)
    FROM (SELECT c.oid::regclass::text AS name, a.attname::text AS column,
            pg_get_serial_sequence(c.oid::regclass::text, a.attname) AS sequence
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
          WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0
            AND NOT a.attisdropped AND c.relnamespace = current_schema()::regnamespace) t
    WHERE t.sequence IS NOT NULL ORDER BY 1";

/// Where `amcheck` is missing, at least every page of a table is read.
const NO_AMCHECK: &str = "the structure of tables and indexes was not checked, because the \
                          extension amcheck cannot be used";

#[async_trait]
impl Copies for Postgres {
    async fn layout(&self) -> Result<Layout> {
        migrate::layout(&self.client().await?).await
    }

    async fn copy(&self) -> Result<Copy> {
        let client = self.client().await?;
        let row = client.query_one(COPY, &[]).await?;
        let (incarnation, living) = (row.try_get(0)?, row.try_get(1)?);
        let asked = "SELECT pg_is_in_recovery(), current_setting('data_checksums') = 'on'";
        let row = client.query_one(asked, &[]).await?;
        let (recovers, sums): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
        let mut notes = Vec::new();
        if recovers {
            notes.push("PostgreSQL still recovers, so it takes no writes yet".to_owned());
        }
        if !sums {
            notes.push(
                "data checksums are off: a page that a disk changed shows only if its structure \
                 is wrong"
                    .to_owned(),
            );
        }
        Ok(Copy {
            incarnation,
            living,
            notes,
        })
    }

    async fn examine(&self, part: Part, progress: Progress<'_>) -> Result<Findings> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        transaction.batch_execute(SETTINGS).await?;
        // It is rolled back when it is dropped.
        match part {
            Part::Pages => pages(&transaction, progress).await,
            Part::Indexes => indexes(&transaction, progress).await,
            Part::Rules => rules(&transaction, progress).await,
            Part::Counters => counters(&transaction).await,
        }
    }

    async fn documents(&self, after: &str, most: i64) -> Result<Vec<Document>> {
        let client = self.client().await?;
        let query = DOCUMENTS.replace('?', "$");
        all(&client.query(&query, &[&after, &most]).await?)
    }

    async fn region_documents(&self, after: Region, most: i64) -> Result<Vec<RegionDocument>> {
        let client = self.client().await?;
        let query = REGION_DOCUMENTS.replace('?', "$");
        let values: Values<'_> = &[&after.x, &after.z, &most];
        all(&client.query(&query, values).await?)
    }
}

/// Runs a query that a damaged database may refuse, without the end of the transaction.
async fn guarded(
    transaction: &Transaction<'_>,
    query: &str,
    values: Values<'_>,
) -> Result<Vec<tokio_postgres::Row>> {
    transaction.batch_execute("SAVEPOINT one").await?;
    let rows = transaction.query(query, values).await;
    let end = match rows {
        Ok(_) => "RELEASE SAVEPOINT one",
        Err(_) => "ROLLBACK TO SAVEPOINT one",
    };
    let ended = transaction.batch_execute(end).await;
    let rows = rows?;
    ended?;
    Ok(rows)
}

/// Returns the schema of `amcheck`, if the user may call it. If it is not installed, it is until the
/// rollback, where the user may do that.
async fn amcheck(transaction: &Transaction<'_>) -> Result<Option<String>> {
    let known = "SELECT 1 FROM pg_extension WHERE extname = 'amcheck'";
    if transaction.query_opt(known, &[]).await?.is_none() {
        let created = guarded(transaction, "CREATE EXTENSION amcheck", &[]).await;
        if let Err(error) = &created {
            tracing::debug!(%error, "amcheck cannot be used");
            return Ok(None);
        }
    }
    let schema = "SELECT quote_ident(n.nspname) FROM pg_extension e
                  JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'amcheck'";
    let schema: String = transaction.query_one(schema, &[]).await?.try_get(0)?;
    let may = format!(
        "SELECT has_function_privilege('{schema}.bt_index_check(regclass, boolean)', 'execute')"
    );
    let may: bool = transaction.query_one(&may, &[]).await?.try_get(0)?;
    Ok(may.then_some(schema))
}

async fn pages(transaction: &Transaction<'_>, progress: Progress<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let structure = amcheck(transaction).await?;
    if structure.is_none() {
        found.unchecked.push(NO_AMCHECK.to_owned());
    }
    let tables: Vec<(i64, String)> = all(&transaction.query(TABLES, &[]).await?)?;
    for (done, (oid, table)) in (0_u64..).zip(&tables) {
        progress(done, tables.len() as u64);
        found.looked += 1;
        let Some(schema) = &structure else {
            let read = guarded(transaction, &format!("SELECT count(*) FROM {table}"), &[]).await;
            found.take(&format!("table {table}"), read)?;
            continue;
        };
        let check = format!(
            "SELECT coalesce(blkno, 0), coalesce(msg, '')
             FROM {schema}.verify_heapam($1::bigint::oid::regclass, check_toast => true)"
        );
        let rows = guarded(transaction, &check, &[oid]).await;
        for row in found
            .take(&format!("table {table}"), rows)?
            .unwrap_or_default()
        {
            let (block, why): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
            found.fault(format!("table {table}: page {block}: {why}"));
        }
    }
    Ok(found)
}

async fn indexes(transaction: &Transaction<'_>, progress: Progress<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let structure = amcheck(transaction).await?;
    if structure.is_none() {
        found.unchecked.push(NO_AMCHECK.to_owned());
    }
    let rows = transaction.query(INDEXES, &[]).await?;
    for (done, row) in (0_u64..).zip(&rows) {
        progress(done, rows.len() as u64);
        found.looked += 1;
        let (oid, name): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
        let (tree, used): (bool, bool) = (row.try_get(2)?, row.try_get(3)?);
        if !used {
            found.fault(format!(
                "index {name} is invalid, so PostgreSQL does not use it: REINDEX INDEX {name}"
            ));
        } else if let Some(schema) = &structure
            && tree
        {
            let check = format!("SELECT {schema}.bt_index_check($1::bigint::oid::regclass, true)");
            let checked = guarded(transaction, &check, &[&oid]).await;
            found.take(&format!("index {name}"), checked)?;
        } else if structure.is_some() {
            let skipped = format!("index {name} was not checked: it is no B-tree");
            found.unchecked.push(skipped);
        }
    }
    Ok(found)
}

async fn rules(transaction: &Transaction<'_>, progress: Progress<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let rules = transaction.query(RULES, &[]).await?;
    for (done, row) in (0_u64..).zip(&rules) {
        progress(done, rules.len() as u64);
        found.looked += 1;
        let (name, valid): (String, bool) = (row.try_get(0)?, row.try_get(1)?);
        let query: String = row.try_get(2)?;
        if !valid {
            found.fault(format!("rule {name} was never checked for all rows"));
        }
        let rows = guarded(transaction, &query, &[]).await;
        let rows = found.take(&format!("rule {name}"), rows)?;
        let against: i64 = match rows.unwrap_or_default().first() {
            Some(row) => row.try_get(0)?,
            None => 0,
        };
        if against != 0 {
            found.fault(format!("rule {name}: {against} rows are against it"));
        }
    }
    Ok(found)
}

async fn counters(transaction: &Transaction<'_>) -> Result<Findings> {
    let mut found = Findings::default();
    let rows = transaction.query(SEQUENCES, &[]).await?;
    let mut counted: Vec<(String, String, String)> = Vec::new();
    for row in &rows {
        counted.push((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    }
    for (what, count, used) in COUNTERS {
        counted.push((what.to_owned(), count.to_owned(), used.to_owned()));
    }
    let runs = "SELECT pg_get_serial_sequence('runs', 'id')";
    let runs: Option<String> = transaction.query_one(runs, &[]).await?.try_get(0)?;
    if let Some(runs) = runs {
        let count = format!("SELECT last_value - (NOT is_called)::integer FROM {runs}");
        counted.push(("the number of runs".to_owned(), count, LAST_RUN.to_owned()));
    }
    for (what, count, used) in counted {
        found.looked += 1;
        let count = number(transaction, &count).await;
        let used = number(transaction, &used).await;
        let count = found.take(&what, count)?;
        let used = found.take(&what, used)?;
        if let (Some(count), Some(used)) = (count, used)
            && let Some(fault) = fallen(&what, count, used)
        {
            found.fault(fault);
        }
    }
    Ok(found)
}

async fn number(transaction: &Transaction<'_>, query: &str) -> Result<i64> {
    let rows = guarded(transaction, query, &[]).await?;
    let missing = || crate::store::error::StoreError::Broken("its row is missing".to_owned());
    Ok(rows.first().ok_or_else(missing)?.try_get(0)?)
}
