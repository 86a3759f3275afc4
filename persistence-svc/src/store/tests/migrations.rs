//! Tests of the steps of migrations, over lists that no release has.

#![expect(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]

use std::sync::Mutex;

use service_runtime::pem::ClientTls;
use test_servers::PgBouncer;
use tokio_postgres::Client;

use super::*;
use crate::database::Database;
use crate::store::error::{Result, StoreError};
use crate::store::migrations::Migration;
use crate::store::migrations::steps::steps;

const FIRST: Migration = migration(
    "CREATE TABLE law (id integer PRIMARY KEY);
     CREATE TABLE runs (step integer NOT NULL);
     INSERT INTO law SELECT generate_series(1, 10)",
);
const SECOND: Migration = migration(
    "ALTER TABLE law ADD COLUMN extra integer;
     INSERT INTO runs VALUES (1);
     -- step: alone
     CREATE INDEX CONCURRENTLY law_extra ON law (extra);
     -- step: batches
     UPDATE law SET extra = id
     WHERE id IN (SELECT id FROM law WHERE extra IS NULL ORDER BY id LIMIT 3);
     -- step: transaction
     ALTER TABLE law ALTER COLUMN extra SET NOT NULL;
     INSERT INTO runs VALUES (4)",
);
const UNIQUE: Migration =
    migration("-- step: alone\nCREATE UNIQUE INDEX CONCURRENTLY law_once ON law (once)");
const LIMIT: Duration = Duration::from_secs(60);

const fn migration(postgres: &'static str) -> Migration {
    Migration {
        oldest: 1,
        postgres,
        sqlite: "",
    }
}

/// A fresh database, reached directly or through PgBouncer.
struct Place {
    server: Arc<test_servers::Postgres>,
    pooler: Option<Arc<PgBouncer>>,
    name: String,
    judge: Client,
}

impl Place {
    async fn new(pooled: bool) -> Place {
        let name = new_id();
        let made = name.clone();
        let started = tokio::task::spawn_blocking(move || {
            let server = test_servers::Postgres::shared();
            let _ = server.create_database(&made);
            (server, pooled.then(PgBouncer::shared))
        });
        let (server, pooler) = started.await.unwrap();
        let judge = connect(&server.url_of(&name)).await;
        Place {
            server,
            pooler,
            name,
            judge,
        }
    }

    /// Returns the store as one more process has it.
    fn store(&self) -> Arc<Postgres> {
        let url = match &self.pooler {
            Some(pooler) => pooler.url_of(&self.name),
            None => self.server.url_of(&self.name),
        };
        let mut config = PostgresConfig::plain(&url, 4);
        config.pooler = self.pooler.is_some();
        let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
        let metrics = Metrics::new(&telemetry.meter());
        Arc::new(Postgres::open(&config, 4, metrics, Mutants::default()).unwrap())
    }

    /// Migrates as one more process does. Returns what it told.
    async fn migrate(&self, list: &[Migration]) -> Result<Vec<String>> {
        let lines = Mutex::new(Vec::new());
        let told = |line: &str| lines.lock().unwrap().push(line.to_owned());
        let store = self.store();
        let migrated = store.migrate_to(list, &told);
        tokio::time::timeout(LIMIT, migrated).await.unwrap()?;
        Ok(lines.into_inner().unwrap())
    }

    async fn number(&self, query: &str) -> i64 {
        self.judge.query_one(query, &[]).await.unwrap().get(0)
    }

    /// Waits until a query finds something.
    async fn until(&self, query: &str) {
        let begun = std::time::Instant::now();
        while self.number(query).await == 0 {
            assert!(begun.elapsed() < LIMIT, "{query}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lets the time pass after which the lease of a dead process ends.
    async fn lapse(&self) {
        let lapse = "UPDATE tilestead_migration_lease SET until = '-infinity'";
        self.judge.batch_execute(lapse).await.unwrap();
    }

    async fn all_is_done_once(&self) {
        for (query, number) in [
            ("SELECT max(version)::int8 FROM tilestead_migrations", 2),
            ("SELECT count(*) FROM tilestead_migration_steps", 5),
            ("SELECT count(*) FROM runs", 2),
            ("SELECT count(DISTINCT step) FROM runs", 2),
            ("SELECT count(*) FROM law WHERE extra = id", 10),
            (
                "SELECT count(*) FROM pg_index
                 WHERE indexrelid = to_regclass('law_extra') AND indisvalid",
                1,
            ),
        ] {
            assert_eq!(self.number(query).await, number, "{query}");
        }
    }
}

async fn connect(url: &str) -> Client {
    let database = Database::parse(url, &ClientTls::default()).unwrap();
    let (client, connection) = database.connect().await.unwrap();
    tokio::task::spawn(connection);
    client
}

async fn a_killed_migration_goes_on_where_it_stopped(pooled: bool) {
    const LIST: &[Migration] = &[FIRST, SECOND];
    let place = Place::new(pooled).await;
    place.migrate(&[FIRST]).await.unwrap();
    if !pooled {
        // The database ends all connections after the first step.
        let (server, name) = (Arc::clone(&place.server), place.name.clone());
        let told = |line: &str| {
            if line.starts_with("layout 2, step 1 of 4 (transaction): done") {
                let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                      AND application_name = 'tilestead-persistence'";
                server.sql(&name, others);
            }
        };
        let away = place.store().migrate_to(LIST, &told).await.unwrap_err();
        assert!(matches!(away, StoreError::Away(_)), "{away}");
    }
    // Programs of the layout before serve meanwhile.
    place.migrate(&[FIRST]).await.unwrap();
    // The process dies after each further step that is not the last.
    for step in (if pooled { 1 } else { 2 })..=3 {
        if step > 1 {
            place.lapse().await;
        }
        let store = place.store();
        let killed = tokio::task::spawn(async move {
            let told = |line: &str| {
                let again = step > 1 && line.starts_with("layout 2, step 1");
                assert!(!again, "{line}");
                let done = line.contains(": done in");
                assert!(!done || !line.starts_with(&format!("layout 2, step {step}")));
            };
            store.migrate_to(LIST, &told).await
        });
        assert!(killed.await.unwrap_err().is_panic());
    }
    assert_eq!(place.number("SELECT count(*) FROM runs").await, 1);
    // The lease of the last one ends by itself.
    let told = place.migrate(LIST).await.unwrap();
    assert!(told[0].starts_with("another process"), "{told:?}");
    let last = "layout 2, step 4 of 4 (transaction): done";
    assert!(told.last().unwrap().starts_with(last), "{told:?}");
    place.all_is_done_once().await;
    assert_eq!(place.migrate(LIST).await.unwrap(), Vec::<String>::new());
}

async fn two_replicas_at_once_do_each_step_once(pooled: bool) {
    const LIST: &[Migration] = &[FIRST, SECOND];
    let place = Place::new(pooled).await;
    let all = futures::future::join_all((0..3).map(|_| place.migrate(LIST))).await;
    let lines: Vec<String> = all.into_iter().flat_map(|told| told.unwrap()).collect();
    let done = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
    assert_eq!(done(": done in"), 5, "{lines:#?}");
    assert_eq!(done("step 3 of 4 (batches): done"), 1, "{lines:#?}");
    assert_eq!(done(", 10 rows: UPDATE law"), 1, "{lines:#?}");
    place.all_is_done_once().await;
}

/// Another process took the lease over while this one was away, and died.
async fn who_lost_the_lease_commits_nothing(pooled: bool) {
    const LIST: &[Migration] = &[FIRST, SECOND];
    let place = Place::new(pooled).await;
    place.migrate(&[FIRST]).await.unwrap();
    let (server, name) = (Arc::clone(&place.server), place.name.clone());
    let told = |line: &str| {
        if line.starts_with("layout 2, step 1 of 4 (transaction): done") {
            let lost = "UPDATE tilestead_migration_lease
                SET holder = 'another', until = clock_timestamp() + interval '2 seconds'";
            server.sql(&name, lost);
        } else if line.contains(": done in") {
            let regained = "DO $$ BEGIN ASSERT NOT EXISTS (
                SELECT FROM tilestead_migration_lease WHERE holder = 'another'); END $$";
            server.sql(&name, regained);
        }
    };
    let store = place.store();
    let migrated = store.migrate_to(LIST, &told);
    tokio::time::timeout(LIMIT, migrated)
        .await
        .unwrap()
        .unwrap();
    place.all_is_done_once().await;
}

async fn an_index_left_half_built_is_built_anew(pooled: bool) {
    const LIST: &[Migration] = &[FIRST, UNIQUE];
    let place = Place::new(pooled).await;
    place.migrate(&[FIRST]).await.unwrap();
    let twice = "ALTER TABLE law ADD COLUMN once integer DEFAULT 7";
    place.judge.batch_execute(twice).await.unwrap();
    let refused = place.migrate(LIST).await.unwrap_err();
    assert!(matches!(refused, StoreError::Broken(_)), "{refused}");
    let held = "SELECT count(*) FROM tilestead_migration_lease WHERE until > clock_timestamp()";
    assert_eq!(place.number(held).await, 0, "the next one waits in vain");
    let count = "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('law_once')";
    assert_eq!(
        place.number(count).await,
        0,
        "what is left costs every write"
    );
    // As a process leaves it that was killed.
    let build = "CREATE UNIQUE INDEX CONCURRENTLY law_once ON law (once)";
    place.judge.batch_execute(build).await.unwrap_err();
    assert_eq!(place.number(count).await, 1);
    let once = "UPDATE law SET once = id";
    place.judge.batch_execute(once).await.unwrap();
    place.migrate(LIST).await.unwrap();
    let valid = format!("{count} AND indisvalid");
    assert_eq!(place.number(&valid).await, 1);
}

/// The holder before ends its last step after this process looked what is missing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_holder_before_did_last_is_not_repeated() {
    const LIST: &[Migration] = &[FIRST, SECOND];
    let place = Place::new(false).await;
    place.migrate(&[FIRST]).await.unwrap();
    let lapsed = "INSERT INTO tilestead_migration_lease VALUES (true, 'before', '-infinity')";
    place.judge.batch_execute(lapsed).await.unwrap();
    let before = connect(&place.server.url_of(&place.name)).await;
    let begin = "BEGIN; SELECT FROM tilestead_migration_lease FOR UPDATE";
    before.batch_execute(begin).await.unwrap();
    let migrate = async {
        place.migrate(LIST).await.unwrap();
    };
    let step = async {
        let waits = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        place.until(waits).await;
        let text = steps(SECOND.postgres).unwrap()[0].text;
        before.batch_execute(text).await.unwrap();
        let note = "INSERT INTO tilestead_migration_steps (version, step, statement)
            VALUES (2, 1, $1)";
        before.execute(note, &[&text]).await.unwrap();
        before.batch_execute("COMMIT").await.unwrap();
    };
    tokio::join!(migrate, step);
    place.all_is_done_once().await;
}

/// The server goes on with the statement of a process that has died.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_the_server_still_builds_is_waited_for() {
    const LIST: &[Migration] = &[FIRST, UNIQUE];
    let place = Place::new(false).await;
    place.migrate(&[FIRST]).await.unwrap();
    let once = "ALTER TABLE law ADD COLUMN once integer; UPDATE law SET once = id";
    place.judge.batch_execute(once).await.unwrap();
    let url = place.server.url_of(&place.name);
    // The build waits for this transaction.
    let older = connect(&url).await;
    let begin = "BEGIN; INSERT INTO law VALUES (11, 11)";
    older.batch_execute(begin).await.unwrap();
    let dead = connect(&url).await;
    let build = "CREATE UNIQUE INDEX CONCURRENTLY law_once ON law (once)";
    let building = tokio::task::spawn(async move { dead.batch_execute(build).await });
    let index = "SELECT coalesce(to_regclass('law_once')::oid::int8, 0)";
    place.until(index).await;
    let built = place.number(index).await;
    let migrate = async {
        place.migrate(LIST).await.unwrap();
    };
    let release = async {
        let looked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND pid <> pg_backend_pid() AND query LIKE '%indisvalid%'";
        place.until(looked).await;
        // It keeps the lease meanwhile.
        let until =
            "SELECT (extract(epoch FROM until) * 1000)::int8 FROM tilestead_migration_lease";
        let first = place.number(until).await;
        let later = format!("SELECT count(*) FROM ({until}) l (ms) WHERE ms > {first}");
        place.until(&later).await;
        older.batch_execute("COMMIT").await.unwrap();
        building.await.unwrap().unwrap();
    };
    tokio::join!(migrate, release);
    assert_eq!(
        place.number(index).await,
        built,
        "it was built a second time"
    );
    assert_eq!(
        place
            .number("SELECT max(version)::int8 FROM tilestead_migrations")
            .await,
        2
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_layout_that_another_version_began_with_other_steps_is_refused() {
    const OTHER: Migration = migration("ALTER TABLE law ADD COLUMN other integer");
    let place = Place::new(false).await;
    let told = |line: &str| assert!(!line.contains("layout 2, step 1 of 4"), "killed");
    let store = place.store();
    let killed = tokio::task::spawn(async move { store.migrate_to(&[FIRST, SECOND], &told).await });
    assert!(killed.await.unwrap_err().is_panic());
    let refused = place
        .migrate(&[FIRST, OTHER])
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("began layout 2 with another step 1"),
        "{refused}"
    );
}

macro_rules! ways {
    ($($name:ident),+) => {
        mod direct {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(false).await;
                }
            )+
        }
        mod pooled {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(true).await;
                }
            )+
        }
    };
}

ways! {
    a_killed_migration_goes_on_where_it_stopped,
    two_replicas_at_once_do_each_step_once,
    who_lost_the_lease_commits_nothing,
    an_index_left_half_built_is_built_anew
}
