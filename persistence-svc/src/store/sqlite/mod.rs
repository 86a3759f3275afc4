//! The store of one machine: SQLite in the data folder.
//!
//! Always: one process (a lock file), one thread with one connection behind a bounded queue, so
//! everything happens in one order; an acknowledged change is on the disk (`synchronous=FULL`).

mod accounts;
mod agents;
mod archive;
mod commits;
mod directory;
mod hiscores;
mod identity;
mod items;
mod operators;
pub(crate) mod ownership;
mod passwords;
mod personal;
mod placement;
mod queries;
mod runs;
mod sessions;
mod social;
mod stored;
mod value;
mod verify;

use std::fs::{File, OpenOptions, TryLockError};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use rusqlite::{Connection, ErrorCode, Params, Row, TransactionBehavior};
use service_runtime::config::ConfigError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;
use tonic::async_trait;

use super::Store;
use super::environment::{Environment, Machine};
use super::error::{Result, StoreError, StoreLocked};
use super::migrations::sql::{short, statements};
use super::migrations::steps::refuse_steps;
use super::migrations::{self, Layout, MIGRATIONS, Told};
use super::row::FromRow;
use crate::mutants::Mutants;
use crate::together::Answers;

/// Name of the database in the data folder.
pub(crate) const FILE: &str = "world.sqlite";
const QUEUE: usize = 256;
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// One transaction, for the thread that has the connection.
pub(crate) type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// The store. A drop closes it soon; [`Store::close`] waits until it is closed.
pub(crate) struct Sqlite {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    closed: Mutex<Option<oneshot::Receiver<()>>>,
    changed: Arc<Notify>,
    answer_limit: Duration,
    environment: Arc<dyn Environment>,
}

/// A transaction, and the surroundings of its store.
pub(crate) struct Transaction<'c> {
    inner: rusqlite::Transaction<'c>,
    environment: &'c dyn Environment,
}

impl<'c> Deref for Transaction<'c> {
    type Target = rusqlite::Transaction<'c>;

    fn deref(&self) -> &rusqlite::Transaction<'c> {
        &self.inner
    }
}

impl Transaction<'_> {
    /// Returns the time of the store's clock, in milliseconds.
    fn now_ms(&self) -> i64 {
        self.environment.now_ms()
    }

    /// Returns a fresh id.
    fn new_id(&self) -> String {
        self.environment.new_id()
    }

    /// Returns the rules that the store breaks.
    fn mutants(&self) -> Mutants {
        self.environment.mutants()
    }
}

impl Sqlite {
    /// Opens the world in `folder`. If there is none, makes it. Fails with [`StoreLocked`] if it is
    /// open already.
    pub(crate) fn open(
        folder: &Path,
        answer_limit: Duration,
        environment: Arc<dyn Environment>,
    ) -> anyhow::Result<Sqlite> {
        std::fs::create_dir_all(folder).map_err(|error| {
            ConfigError::new(format!(
                "the data folder {} cannot be made ({error})",
                folder.display()
            ))
        })?;
        let lock = lock(folder)?;
        Sqlite::start(folder, Some(lock), answer_limit, environment)
    }

    /// Opens an existing world for an operator, beside a process that may have it open.
    pub(crate) fn beside(folder: &Path, answer_limit: Duration) -> anyhow::Result<Sqlite> {
        if !folder.join(FILE).is_file() {
            let why = format!("there is no world in {}", folder.display());
            return Err(ConfigError::new(why).into());
        }
        Sqlite::start(folder, None, answer_limit, Arc::new(Machine::default()))
    }

    fn start(
        folder: &Path,
        lock: Option<File>,
        answer_limit: Duration,
        environment: Arc<dyn Environment>,
    ) -> anyhow::Result<Sqlite> {
        let file = folder.join(FILE);
        let connection = connect(&file)
            .with_context(|| format!("the world in {} cannot be opened", file.display()))?;
        let (store, inbox, done) = Sqlite::over(answer_limit, environment);
        thread::Builder::new()
            .name("sqlite".to_owned())
            .spawn(move || {
                work(connection, inbox);
                drop(lock);
                let _ = done.send(());
            })
            .context("start the SQLite thread")?;
        Ok(store)
    }

    /// Returns a store, and its jobs for whoever has the connection. The sender tells the store
    /// that the connection is closed.
    pub(crate) fn over(
        answer_limit: Duration,
        environment: Arc<dyn Environment>,
    ) -> (Sqlite, mpsc::Receiver<Job>, oneshot::Sender<()>) {
        let (jobs, inbox) = mpsc::channel(QUEUE);
        let (done, closed) = oneshot::channel();
        let store = Sqlite {
            jobs: Mutex::new(Some(jobs)),
            closed: Mutex::new(Some(closed)),
            changed: Arc::new(Notify::new()),
            answer_limit,
            environment,
        };
        (store, inbox, done)
    }

    /// Runs `work` in one transaction that only reads.
    pub(crate) async fn read<R, F>(&self, work: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<R> + Send + 'static,
    {
        self.call(TransactionBehavior::Deferred, work).await
    }

    /// Runs `work` in one transaction, and commits it if `work` succeeds.
    async fn write<R, F>(&self, work: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<R> + Send + 'static,
    {
        self.call(TransactionBehavior::Immediate, work).await
    }

    async fn call<R, F>(&self, behavior: TransactionBehavior, work: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<R> + Send + 'static,
    {
        let jobs = self.jobs().ok_or_else(closed)?;
        let (answer, result) = oneshot::channel();
        let environment = Arc::clone(&self.environment);
        let job: Job = Box::new(move |connection| {
            // The caller may have gone; the transaction still ran.
            let _ = answer.send(transact(connection, behavior, environment.as_ref(), work));
        });
        let late = || StoreError::Away("no answer in time".to_owned());
        let answered = async {
            jobs.send(job).await.map_err(|_| closed())?;
            result.await.map_err(|_| closed())?
        };
        timeout(self.answer_limit, answered)
            .await
            .map_err(|_| late())?
    }

    fn jobs(&self) -> Option<mpsc::Sender<Job>> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.clone()
    }
}

fn take<T>(from: &Mutex<Option<T>>) -> Option<T> {
    from.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn closed() -> StoreError {
    StoreError::Away("it is closed".to_owned())
}

fn transact<R>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    environment: &dyn Environment,
    work: impl FnOnce(&Transaction<'_>) -> Result<R>,
) -> Result<R> {
    let transaction = Transaction {
        inner: connection.transaction_with_behavior(behavior)?,
        environment,
    };
    let result = work(&transaction)?;
    transaction.inner.commit()?;
    Ok(result)
}

fn work(mut connection: Connection, mut inbox: mpsc::Receiver<Job>) {
    while let Some(job) = inbox.blocking_recv() {
        job(&mut connection);
    }
    if let Err((_, error)) = connection.close() {
        tracing::warn!(%error, "the database did not close well");
    }
}

fn lock(folder: &Path) -> anyhow::Result<File> {
    let path = folder.join("tilestead.lock");
    let opened = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let file = opened.map_err(|error| {
        ConfigError::new(format!("{} cannot be written ({error})", path.display()))
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let why = format!("{} is locked", path.display());
            Err(
                anyhow::Error::new(ConfigError::new(why)).context(StoreLocked {
                    folder: folder.display().to_string(),
                }),
            )
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("lock {}", path.display()))
        }
    }
}

fn connect(path: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(path).context("open it")?;
    connection
        .busy_timeout(Duration::from_secs(1))
        .context("set the busy timeout")?;
    for (name, value) in [
        ("journal_mode", "WAL"),
        ("synchronous", "FULL"),
        ("foreign_keys", "ON"),
    ] {
        connection
            .pragma_update(None, name, value)
            .with_context(|| format!("set {name}"))?;
    }
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

/// Returns the layout of the tables; there may be none yet.
fn layout(transaction: &Transaction<'_>) -> Result<Layout> {
    let applied = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let query = "SELECT count(*) FROM sqlite_schema WHERE name = 'tilestead_migrations'";
    let kept: u32 = transaction.query_row(query, [], |row| row.get(0))?;
    let mut oldest = 1;
    if kept != 0 {
        let query = "SELECT coalesce(max(oldest), 1) FROM tilestead_migrations";
        oldest = transaction.query_row(query, [], |row| row.get(0))?;
    }
    Ok(Layout { applied, oldest })
}

#[async_trait]
impl Store for Sqlite {
    fn system(&self) -> &'static str {
        "sqlite"
    }

    /// Brings the tables up to date. `user_version` is the number of the last migration.
    async fn migrate_telling(&self, told: Told<'_>) -> Result<()> {
        let done = self.write(|transaction| {
            transaction.execute_batch(
                "CREATE TABLE IF NOT EXISTS tilestead_migrations
                   (version INTEGER PRIMARY KEY, oldest INTEGER NOT NULL)",
            )?;
            let layout = layout(transaction)?;
            let mut done = Vec::new();
            for (version, migration) in migrations::missing(MIGRATIONS, layout)? {
                refuse_steps(migration.sqlite)?;
                transaction.execute_batch(migration.sqlite)?;
                let note = "INSERT INTO tilestead_migrations (version, oldest) VALUES (?1, ?2)";
                transaction.execute(note, [version, migration.oldest])?;
                transaction.pragma_update(None, "user_version", version)?;
                done.push(version);
            }
            Ok(done)
        });
        for version in done.await? {
            told(&format!("layout {version}: done"));
        }
        Ok(())
    }

    async fn show_migration(&self) -> Result<Vec<String>> {
        self.read(|transaction| {
            let number = |pragma| transaction.pragma_query_value(None, pragma, |row| row.get(0));
            let (pages, page): (u32, u32) = (number("page_count")?, number("page_size")?);
            let bytes = u64::from(pages) * u64::from(page);
            let mut lines = vec![format!(
                "the database has {bytes} bytes; only one process may have it open meanwhile"
            )];
            let layout = layout(transaction)?;
            let all = migrations::missing(MIGRATIONS, layout)?;
            for (version, migration) in all {
                let beside = migrations::beside(migration.oldest, version);
                lines.push(format!("layout {version}, in one transaction: {beside}"));
                let statements = statements(migration.sqlite);
                lines.extend(statements.iter().map(|text| format!("    {}", short(text))));
            }
            if lines.len() == 1 {
                lines.push("nothing is missing".to_owned());
            }
            Ok(lines)
        })
        .await
    }

    fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    async fn listen(&self) {
        // There are no other replicas.
        std::future::pending::<()>().await;
    }

    async fn close(&self) {
        drop(take(&self.jobs));
        if let Some(done) = take(&self.closed)
            && timeout(CLOSE_LIMIT, done).await.is_err()
        {
            tracing::warn!("the database is still open");
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        let away = [
            ErrorCode::DatabaseBusy,
            ErrorCode::DatabaseLocked,
            ErrorCode::DiskFull,
            ErrorCode::SystemIoFailure,
            ErrorCode::CannotOpen,
            ErrorCode::OutOfMemory,
        ];
        match error.sqlite_error_code() {
            Some(code) if away.contains(&code) => StoreError::Away(error.to_string()),
            _ => StoreError::Broken(error.to_string()),
        }
    }
}

/// Returns whether the error says that a unique value exists already.
fn is_duplicate(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// Reads one row of an answer.
fn read<T: FromRow>(row: &Row<'_>) -> rusqlite::Result<T> {
    T::from_row(row)
}

/// Reads all rows of the answer to a query.
fn all<T: FromRow>(
    transaction: &Transaction<'_>,
    query: &str,
    values: impl Params,
) -> Result<Vec<T>> {
    let mut statement = transaction.prepare_cached(query)?;
    let rows = statement.query_map(values, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Does `work` for each request. The transaction undoes all that a request did which fails, and
/// keeps all of the others.
fn each<A, R>(
    transaction: &Transaction<'_>,
    asks: Vec<A>,
    work: impl Fn(&Transaction<'_>, A) -> Result<R>,
) -> Answers<R> {
    let savepoint = |sql| transaction.prepare_cached(sql)?.execute([]);
    let mut answers = Vec::with_capacity(asks.len());
    for ask in asks {
        savepoint("SAVEPOINT request")?;
        let answer = work(transaction, ask);
        if answer.is_err() {
            savepoint("ROLLBACK TO request")?;
        }
        savepoint("RELEASE request")?;
        answers.push(answer);
    }
    Ok(answers)
}

/// Notes that runs or regions changed.
fn bump(transaction: &Transaction<'_>) -> Result<()> {
    transaction.execute("UPDATE directory SET version = version + 1", [])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_database_is_named() {
        let folder = std::env::temp_dir().join(format!("world-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("world.sqlite");
        std::fs::write(&file, "not a database, and long enough to be read as one").unwrap();
        let error = Sqlite::open(
            &folder,
            Duration::from_secs(1),
            Arc::new(Machine::default()),
        )
        .err()
        .unwrap();
        let said = format!("{error:#}");
        assert!(said.contains(&file.display().to_string()), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
