//! Tests that a store refuses plans from a planner whose view is wrong. No caller can send such a
//! plan over gRPC.

mod hiscores;
mod migrations;

use std::sync::Arc;
use std::time::Duration;

use service_runtime::telemetry::{Telemetry, TelemetryConfig};

use super::environment::Machine;
use super::model::{Batch, CommitOutcome, Region, RegionOwner, Registration, RunState};
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::{Store, new_id};
use crate::config::PostgresConfig;
use crate::metrics::Metrics;
use crate::mutants::Mutants;
use crate::placement::plan::{Change, Move};

const HERE: Region = Region { x: 0, z: 0 };
const THERE: Region = Region { x: 1, z: 0 };

async fn register(store: &dyn Store, lease_ms: i64) -> i64 {
    register_with(store, lease_ms, &[]).await
}

async fn register_with(store: &dyn Store, lease_ms: i64, towns: &[(Region, i32)]) -> i64 {
    let registration = Registration {
        address: "127.0.0.1:1".to_owned(),
        build: "test".to_owned(),
        content_hash: "content".to_owned(),
        regions: vec![HERE, THERE],
        towns: towns.iter().copied().collect(),
        lease_ms,
    };
    store.register(registration).await.unwrap().run
}

fn change(fence: &[i64], moves: &[(Region, i64, i64)]) -> Change {
    let step = |&(region, epoch, to)| Move { region, epoch, to };
    Change {
        fence: fence.to_vec(),
        moves: moves.iter().map(step).collect(),
        ..Change::default()
    }
}

/// Carries a plan out. Returns how many runs it fenced and how many regions it gave.
async fn apply(store: &dyn Store, change: Change) -> (usize, usize) {
    let applied = store.apply(change).await.unwrap();
    (applied.lapsed + applied.witnessed, applied.moved)
}

async fn owner(store: &dyn Store, region: Region) -> (i64, i64) {
    let directory = store.directory().await.unwrap();
    let mut owners = directory.regions.iter();
    let RegionOwner { run, epoch, .. } = owners.find(|owner| owner.region == region).unwrap();
    (*run, *epoch)
}

async fn a_plan_from_a_wrong_view_changes_nothing(store: &dyn Store) {
    store.migrate().await.unwrap();
    let (lives, other) = (register(store, 60_000).await, register(store, 60_000).await);
    let given = apply(store, change(&[], &[(HERE, 0, lives)])).await;
    assert_eq!(given, (0, 1));
    assert_eq!(owner(store, HERE).await, (lives, 1));
    for wrong in [
        // The lease has not ended.
        change(&[lives], &[(HERE, 1, other)]),
        // The owner is not fenced.
        change(&[], &[(HERE, 1, other)]),
        // Nobody has the region, but it is at another epoch.
        change(&[], &[(THERE, 1, other)]),
        // No such run is there to take it.
        change(&[], &[(THERE, 0, 4_711)]),
    ] {
        assert_eq!(apply(store, wrong.clone()).await, (0, 0), "{wrong:?}");
        assert_eq!(owner(store, HERE).await, (lives, 1));
        assert_eq!(owner(store, THERE).await, (0, 0));
    }
    // Two planners saw the same: only one of them does it.
    let dead = register(store, 0).await;
    apply(store, change(&[], &[(THERE, 0, dead)])).await;
    let takeover = change(&[dead], &[(THERE, 1, other)]);
    let (one, two) = tokio::join!(apply(store, takeover.clone()), apply(store, takeover));
    let mut done = [one, two];
    done.sort_unstable();
    assert_eq!(done, [(0, 0), (1, 1)]);
    assert_eq!(owner(store, THERE).await, (other, 2));
    // A fenced run gets nothing, and its regions that the plan forgot become nobody's.
    store.release(lives).await.unwrap();
    assert_eq!(owner(store, HERE).await, (0, 2));
    let given = apply(store, change(&[], &[(HERE, 2, lives)])).await;
    assert_eq!(given, (0, 0));
    let forgotten = register(store, 0).await;
    apply(store, change(&[], &[(HERE, 2, forgotten)])).await;
    assert_eq!(apply(store, change(&[forgotten], &[])).await, (1, 0));
    assert_eq!(owner(store, HERE).await, (0, 4));
    let runs = store.directory().await.unwrap().runs;
    assert_eq!(runs.iter().map(|run| run.id).collect::<Vec<_>>(), [other]);
    assert!(runs.iter().all(|run| run.state == RunState::Live));
}

async fn one_replica_leads(store: &dyn Store) {
    store.migrate().await.unwrap();
    assert!(store.lead("one", 60_000).await.unwrap());
    assert!(store.lead("one", 60_000).await.unwrap());
    assert!(!store.lead("two", 60_000).await.unwrap());
    store.resign("two").await.unwrap();
    assert!(!store.lead("two", 60_000).await.unwrap());
    store.resign("one").await.unwrap();
    assert!(store.lead("two", 0).await.unwrap());
    // The lease of `two` had no length, so it is over.
    assert!(store.lead("one", 60_000).await.unwrap());
}

async fn runs_that_ended_long_ago_are_forgotten(store: &dyn Store) {
    store.migrate().await.unwrap();
    let (ended, lives) = (register(store, 60_000).await, register(store, 60_000).await);
    let batch = |run| {
        let batch = Batch {
            run,
            sequence: 1,
            lease_ms: 60_000,
            ..Batch::default()
        };
        store.commit(Arc::new(batch))
    };
    for run in [ended, lives] {
        let done = batch(run).await.unwrap();
        assert_eq!(done, CommitOutcome::Done { repeated: false });
    }
    store.suspect(ended, "gateway:one", None).await.unwrap();
    store.release(ended).await.unwrap();
    assert_eq!(store.prune(60_000, 10).await.unwrap(), 0);
    // The negative age keeps the test independent of a clock that stands still for a moment.
    assert_eq!(store.prune(-1_000, 0).await.unwrap(), 0);
    assert_eq!(store.prune(-1_000, 10).await.unwrap(), 1);
    assert_eq!(store.prune(-1_000, 10).await.unwrap(), 0);
    // An unknown run counts as fenced; the prune leaves a live run alone.
    assert_eq!(batch(ended).await.unwrap(), CommitOutcome::Fenced);
    let again = CommitOutcome::Done { repeated: true };
    assert_eq!(batch(lives).await.unwrap(), again);
}

async fn the_last_run_that_names_towns_decides(store: &dyn Store) {
    store.migrate().await.unwrap();
    let towns = async || {
        let view = store.view().await.unwrap();
        let regions = view.regions.iter();
        regions.map(|one| one.town).collect::<Vec<i32>>()
    };
    register(store, 60_000).await;
    assert_eq!(towns().await, [0, 0]);
    let strange = Region { x: 9, z: 9 };
    for (named, known) in [
        (&[(HERE, 1), (THERE, 1), (strange, 1)][..], [1, 1]),
        // A zone server of 0.2.0 names none.
        (&[], [1, 1]),
        (&[(THERE, 2)], [0, 2]),
    ] {
        register_with(store, 60_000, named).await;
        assert_eq!(towns().await, known);
    }
}

async fn over_sqlite<F: AsyncFnOnce(&dyn Store)>(law: F) {
    let folder = std::env::temp_dir().join(format!("persistence-unit-{}", new_id()));
    let store = Sqlite::open(
        &folder,
        Duration::from_secs(10),
        Arc::new(Machine::default()),
    )
    .unwrap();
    law(&store).await;
    store.close().await;
    std::fs::remove_dir_all(folder).unwrap();
}

async fn over_postgres<F: AsyncFnOnce(&dyn Store)>(law: F) {
    let server = tokio::task::spawn_blocking(test_servers::Postgres::shared);
    let server = server.await.unwrap();
    let config = PostgresConfig::plain(&server.create_database(&new_id()), 4);
    let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
    let metrics = Metrics::new(&telemetry.meter());
    let store = Arc::new(Postgres::open(&config, 4, metrics, Mutants::default()).unwrap());
    law(store.as_ref()).await;
    store.close().await;
}

mod sqlite_store {
    #[tokio::test]
    async fn runs_that_ended_long_ago_are_forgotten() {
        super::over_sqlite(super::runs_that_ended_long_ago_are_forgotten).await;
    }

    #[tokio::test]
    async fn a_plan_from_a_wrong_view_changes_nothing() {
        super::over_sqlite(super::a_plan_from_a_wrong_view_changes_nothing).await;
    }

    #[tokio::test]
    async fn the_last_run_that_names_towns_decides() {
        super::over_sqlite(super::the_last_run_that_names_towns_decides).await;
    }

    #[tokio::test]
    async fn one_replica_leads() {
        super::over_sqlite(super::one_replica_leads).await;
    }
}

mod postgres_store {
    #[tokio::test]
    async fn runs_that_ended_long_ago_are_forgotten() {
        super::over_postgres(super::runs_that_ended_long_ago_are_forgotten).await;
    }

    #[tokio::test]
    async fn a_plan_from_a_wrong_view_changes_nothing() {
        super::over_postgres(super::a_plan_from_a_wrong_view_changes_nothing).await;
    }

    #[tokio::test]
    async fn the_last_run_that_names_towns_decides() {
        super::over_postgres(super::the_last_run_that_names_towns_decides).await;
    }

    #[tokio::test]
    async fn one_replica_leads() {
        super::over_postgres(super::one_replica_leads).await;
    }
}
