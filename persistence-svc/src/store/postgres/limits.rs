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

    use service_runtime::telemetry::{Telemetry, TelemetryConfig};

    use crate::config::PostgresConfig;
    use crate::metrics::Metrics;
    use crate::mutants::Mutants;
    use crate::store::model::{Batch, CommitOutcome, Registration};
    use crate::store::postgres::Postgres;
    use crate::store::postgres::session::GenericClient as _;
    use crate::store::{Commits as _, Runs as _, Store as _, new_id};

    #[tokio::test]
    async fn a_service_that_is_cut_off_in_a_commit_keeps_no_other_from_the_run() {
        let server = tokio::task::spawn_blocking(test_servers::Postgres::shared);
        let server = server.await.unwrap();
        let config = PostgresConfig::plain(&server.create_database(&new_id()), 2);
        let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
        let metrics = Metrics::new(&telemetry.meter());
        let store = Postgres::open(&config, 2, metrics, Mutants::default()).unwrap();
        store.migrate().await.unwrap();
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
}
