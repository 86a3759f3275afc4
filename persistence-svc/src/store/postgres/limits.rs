//! The times after which the server gives up.

use std::sync::LazyLock;

/// Times (ms) for which the server works on one statement, waits for a lock, and lets a transaction
/// idle. A service that is cut off in the middle of a commit leaves a transaction that holds the
/// lease of a run. So such a transaction must end long before a lease does, and before another
/// service gives up waiting for the lock.
const LIMITS: [(&str, u32); 3] = [
    ("statement_timeout", 3_000),
    ("lock_timeout", 1_500),
    ("idle_in_transaction_session_timeout", 1_000),
];

/// Lets a transaction that only reads idle for so long while its reader writes to a slow disk. It
/// holds no lock that play needs.
pub(super) const PATIENT: &str = "SET LOCAL idle_in_transaction_session_timeout = '60s'";

/// Startup options of a connection of our own: its limits. It plans a statement once, because for
/// most of them planning takes longer than the work. So a plan must not trust the size that a table
/// has at that time: a plan that reads a whole table while that is small goes on to do so when
/// thousands have come. The costs of plans that have no other way must not begin to compile them.
pub(super) static OPTIONS: LazyLock<String> = LazyLock::new(|| {
    let limits = LIMITS.map(|(name, ms)| format!("-c {name}={ms}"));
    let plans = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off";
    format!("{} {plans}", limits.join(" "))
});

/// Statements that give the limits to one transaction.
pub(super) static LOCAL: LazyLock<String> = LazyLock::new(|| {
    let limits = LIMITS.map(|(name, ms)| format!("SET LOCAL {name} = {ms}"));
    limits.join("; ")
});

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use service_runtime::telemetry::{Telemetry, TelemetryConfig};
    use tokio::sync::mpsc;

    use super::LIMITS;
    use crate::config::PostgresConfig;
    use crate::metrics::Metrics;
    use crate::mutants::Mutants;
    use crate::store::archive::{Line, PIECE, Table};
    use crate::store::model::{Batch, CommitOutcome, Registration};
    use crate::store::postgres::Postgres;
    use crate::store::postgres::session::GenericClient as _;
    use crate::store::{Archive as _, Commits as _, DAY_MS, Runs as _, Store as _, new_id};

    const POLL: Duration = Duration::from_millis(20);

    /// Returns the store of a new database, with its server, which lives as long as somebody has it.
    async fn new_store() -> (Arc<test_servers::Postgres>, Postgres) {
        let server = tokio::task::spawn_blocking(test_servers::Postgres::shared);
        let server = server.await.unwrap();
        let config = PostgresConfig::plain(&server.create_database(&new_id()), 2);
        let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
        let metrics = Metrics::new(&telemetry.meter());
        let store = Postgres::open(&config, 2, metrics, Mutants::default()).unwrap();
        store.migrate().await.unwrap();
        (server, store)
    }

    #[tokio::test]
    async fn a_service_that_is_cut_off_in_a_commit_keeps_no_other_from_the_run() {
        let (_server, store) = new_store().await;
        let registration = Registration {
            address: "127.0.0.1:1".to_owned(),
            build: "test".to_owned(),
            content_hash: "content".to_owned(),
            regions: Vec::new(),
            towns: Default::default(),
            lease_ms: 60_000,
        };
        let run = store.register(registration).await.unwrap().run;

        let mut cut_off = store.own_client().await.unwrap();
        let open = cut_off.transaction().await.unwrap();
        let hold = "UPDATE runs SET until = until WHERE id = $1";
        assert_eq!(open.execute(hold, &[&run]).await.unwrap(), 1);
        let batch = Batch {
            run,
            sequence: 1,
            lease_ms: 60_000,
            ..Batch::default()
        };
        let done = store.commit(Arc::new(batch)).await.unwrap();
        assert_eq!(done, CommitOutcome::Done { repeated: false });
        open.commit().await.unwrap_err();
        store.close().await;
    }

    #[tokio::test]
    async fn an_export_waits_for_its_reader_longer_than_a_commit_may_idle() {
        let (_server, store) = new_store().await;
        store.keep_months(None).await.unwrap();
        let months = store.months().await.unwrap();
        let first = months.iter().map(|report| &report.month);
        let first = first.filter(|month| month.kind == "ledger");
        let first = first.min_by_key(|month| month.ends).unwrap();
        let client = store.own_client().await.unwrap();
        // Two pieces fill the channel and the hand of the export; a third one waits in the store.
        let rows = 2 * PIECE + 1;
        let fill = format!(
            r#"INSERT INTO ledger (run_id, sequence, "row", character_id, item_id, cause, delta, at)
               SELECT 0, n, 1, NULL, 'coins', 'starter', 1, {} FROM generate_series(1, {rows}) n"#,
            first.ends - 1
        );
        client.execute(&fill, &[]).await.unwrap();
        store.keep_months(Some(first.ends + DAY_MS)).await.unwrap();

        let (sender, mut receiver) = mpsc::channel::<Vec<Line>>(1);
        let read = async {
            let [_, _, (_, commit_ms)] = LIMITS;
            let idle = format!(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                   AND state = 'idle in transaction'
                   AND clock_timestamp() - state_change > {} * interval '1 ms'",
                commit_ms * 2
            );
            let idled = async || client.query_one(&idle, &[]).await.unwrap().get::<_, i64>(0) > 0;
            let waits = tokio::time::timeout(Duration::from_secs(20), async {
                while !idled().await {
                    tokio::time::sleep(POLL).await;
                }
            });
            waits.await.expect("the transaction of the export idles");
            let mut read = 0;
            while let Some(piece) = receiver.recv().await {
                read += piece.len();
            }
            read
        };
        let exported = store.export_month(Table::Ledger, &first.month, sender);
        let (exported, read) = futures::join!(exported, read);
        exported.unwrap();
        assert_eq!(read, rows);
        store.close().await;
    }
}
