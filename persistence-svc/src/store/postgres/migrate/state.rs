//! The layouts and steps that a database has, and those that it lacks.

use std::collections::HashMap;

use super::begin::{Fault, LIMITS, LOCK};
use crate::store::error::{Result, StoreError};
use crate::store::migrations::steps::{Step, Way, steps};
use crate::store::migrations::{self, Layout, Migration};
use crate::store::postgres::session::{Client, GenericClient, Transaction};

/// Tables about the tables. A program before the steps knows only the first, and only its version.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tilestead_migrations
      (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
    ALTER TABLE tilestead_migrations ADD COLUMN IF NOT EXISTS oldest integer NOT NULL DEFAULT 1;
    CREATE TABLE IF NOT EXISTS tilestead_migration_steps
      (version integer NOT NULL, step integer NOT NULL, statement text NOT NULL,
       at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (version, step));
    CREATE TABLE IF NOT EXISTS tilestead_migration_lease
      (one boolean PRIMARY KEY DEFAULT true CHECK (one), holder text NOT NULL,
       until timestamptz NOT NULL)";

/// Layouts and steps that are done.
pub(super) struct State {
    pub(super) layout: Layout,
    /// Statement of each step that is done, by layout and number.
    done: HashMap<(u32, u32), String>,
}

impl State {
    /// Reads the state, after it has made the tables for it where they are missing.
    pub(super) async fn prepare(client: &mut Client) -> std::result::Result<State, Fault> {
        if !State::is_kept(client).await? {
            let transaction = client.transaction().await?;
            transaction.batch_execute(LIMITS).await?;
            // Two who make the same table at once would fail.
            transaction.batch_execute(LOCK).await?;
            transaction.batch_execute(TABLES).await?;
            transaction.commit().await?;
        }
        Ok(State::read(client).await?)
    }

    /// Returns whether the database has the tables of a state.
    pub(super) async fn is_kept(client: &impl GenericClient) -> Result<bool> {
        let query = "SELECT to_regclass('tilestead_migration_lease') IS NOT NULL";
        Ok(client.query_one(query, &[]).await?.try_get(0)?)
    }

    /// Reads the state of a database that may have no tables, and makes none.
    pub(super) async fn look(client: &impl GenericClient) -> Result<State> {
        if State::is_kept(client).await? {
            return State::read(client).await;
        }
        let query = "SELECT to_regclass('tilestead_migrations') IS NOT NULL";
        let mut applied: i32 = 0;
        if client.query_one(query, &[]).await?.try_get(0)? {
            let query = "SELECT coalesce(max(version), 0) FROM tilestead_migrations";
            applied = client.query_one(query, &[]).await?.try_get(0)?;
        }
        // Whoever knows no steps made only layouts that all programs may use.
        let layout = Layout {
            applied: applied.unsigned_abs(),
            oldest: 1,
        };
        let done = HashMap::new();
        Ok(State { layout, done })
    }

    /// Reads the state.
    pub(super) async fn read(client: &impl GenericClient) -> Result<State> {
        let query = "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0)
            FROM tilestead_migrations";
        let row = client.query_one(query, &[]).await?;
        let (applied, oldest): (i32, i32) = (row.try_get(0)?, row.try_get(1)?);
        let query = "SELECT version, step, statement FROM tilestead_migration_steps";
        let mut done = HashMap::new();
        for row in client.query(query, &[]).await? {
            let (version, step): (i32, i32) = (row.try_get(0)?, row.try_get(1)?);
            let key = (version.unsigned_abs(), step.unsigned_abs());
            done.insert(key, row.try_get(2)?);
        }
        let layout = Layout {
            applied: applied.unsigned_abs(),
            oldest: oldest.unsigned_abs(),
        };
        Ok(State { layout, done })
    }

    /// Returns what the database lacks of the layouts of `list`.
    ///
    /// # Errors
    /// A newer version made the tables and does not allow this one, or another one began a missing
    /// layout with other steps.
    pub(super) fn plan<'m>(&self, list: &'m [Migration]) -> Result<Plan<'m>> {
        let mut layouts = Vec::new();
        for (version, migration) in migrations::missing(list, self.layout)? {
            let mut planned = Vec::new();
            for (number, step) in (1..).zip(steps(migration.postgres)?) {
                let done = self.done.get(&(version, number));
                if done.is_some_and(|done| done != step.text) {
                    return Err(StoreError::Broken(format!(
                        "another version began layout {version} with another step {number}"
                    )));
                }
                planned.push(PlannedStep {
                    number,
                    step,
                    done: done.is_some(),
                });
            }
            layouts.push(Planned {
                version,
                oldest: migration.oldest,
                steps: planned,
            });
        }
        Ok(Plan { layouts })
    }
}

/// Layouts that a database lacks.
pub(super) struct Plan<'m> {
    pub(super) layouts: Vec<Planned<'m>>,
}

impl Plan<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.layouts.is_empty()
    }

    /// Returns whether all of it may happen in one transaction.
    pub(super) fn is_one_transaction(&self) -> bool {
        let mut steps = self.layouts.iter().flat_map(|layout| &layout.steps);
        steps.all(|step| step.step.way == Way::Transaction && !step.done)
    }
}

/// A layout that the database lacks.
pub(super) struct Planned<'m> {
    pub(super) version: u32,
    pub(super) oldest: u32,
    pub(super) steps: Vec<PlannedStep<'m>>,
}

impl<'m> Planned<'m> {
    /// Returns the steps that are not done, and whether each is the last.
    pub(super) fn missing(&self) -> impl Iterator<Item = (&PlannedStep<'m>, bool)> {
        let last = self.steps.iter().rposition(|step| !step.done);
        let all = self.steps.iter().enumerate();
        let missing = all.filter(|(_, step)| !step.done);
        missing.map(move |(at, step)| (step, Some(at) == last))
    }
}

/// A step of such a layout.
pub(super) struct PlannedStep<'m> {
    /// Number from 1.
    pub(super) number: u32,
    pub(super) step: Step<'m>,
    pub(super) done: bool,
}

/// Notes that a step is done.
pub(super) async fn note_step(
    transaction: &Transaction<'_>,
    layout: &Planned<'_>,
    step: &PlannedStep<'_>,
) -> std::result::Result<(), tokio_postgres::Error> {
    let note = "INSERT INTO tilestead_migration_steps (version, step, statement)
        VALUES ($1, $2, $3)";
    let [version, number] = [layout.version, step.number].map(u32::cast_signed);
    let values = [&version as _, &number as _, &step.step.text as _];
    transaction.execute(note, &values).await?;
    Ok(())
}

/// Notes that a layout is complete.
pub(super) async fn note_layout(
    transaction: &Transaction<'_>,
    layout: &Planned<'_>,
) -> std::result::Result<(), tokio_postgres::Error> {
    let note = "INSERT INTO tilestead_migrations (version, oldest) VALUES ($1, $2)";
    let row = [layout.version, layout.oldest].map(u32::cast_signed);
    transaction.execute(note, &[&row[0], &row[1]]).await?;
    Ok(())
}

/// Returns whether a layout is complete.
pub(super) async fn is_complete(
    transaction: &Transaction<'_>,
    version: u32,
) -> std::result::Result<bool, tokio_postgres::Error> {
    let query = "SELECT FROM tilestead_migrations WHERE version = $1";
    let found = transaction
        .query_opt(query, &[&version.cast_signed()])
        .await?;
    Ok(found.is_some())
}
