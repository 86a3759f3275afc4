//! Tests of lists that do not hold everybody. The service's own lists are too long for a test to
//! fill.

use std::time::Duration;

use super::*;
use crate::store::hiscores::{Refreshed, Sizes};
use crate::store::queries::Page;

const SIZES: Sizes = Sizes { shown: 4, kept: 6 };
const MINING: usize = 8;

/// Refreshes until every list is full. Returns how many refreshes that took.
async fn refresh(store: &dyn Store) -> usize {
    for rounds in 1..100 {
        let refreshed = store.refresh_hiscores(0, SIZES).await.unwrap();
        if refreshed == Refreshed::Done {
            return rounds;
        }
    }
    panic!("the lists are never filled")
}

async fn miners(store: &dyn Store) -> Vec<String> {
    let page = Page {
        offset: 0,
        limit: 100,
    };
    let found = store.ranking(Some(MINING), page).await.unwrap();
    assert_eq!(found.rows.len() as i64, found.total);
    found.rows.into_iter().map(|row| row.name).collect()
}

fn miner(number: u32, xp: u32) -> String {
    format!(
        r#"INSERT INTO characters (id, "accountId", name, "nameKey", "createdAt", "regionX",
             "regionZ", placed, "miningXp")
           VALUES ('c{number}', 'u', 'C{number}', 'c{number}', {number}, 0, 0, 1 = 1, {xp});"#
    )
}

const DUE: &str = "INSERT INTO hiscore_due (character_id) VALUES";

async fn a_list_of_the_best_is_cut_and_filled_again(store: &dyn Store, sql: impl AsyncFn(String)) {
    store.migrate().await.unwrap();
    let crowd: String = (0..10).map(|n| miner(n, n * 10)).collect();
    sql(format!(
        r#"INSERT INTO users (id, name, "createdAt") VALUES ('u', 'U', 1); {crowd}
           UPDATE hiscore_lists SET complete = (1 = 0);"#
    ))
    .await;
    assert_eq!(refresh(store).await, 18, "one list is filled at a time");
    assert_eq!(miners(store).await, ["C9", "C8", "C7", "C6", "C5", "C4"]);
    // A better character pushes the last one out; a character worse than the last stays out.
    let worse = r#"UPDATE characters SET "miningXp" = 35 WHERE id = 'c3';"#;
    sql(format!("{} {worse} {DUE} ('c10'), ('c3');", miner(10, 999))).await;
    assert_eq!(refresh(store).await, 1);
    assert_eq!(miners(store).await, ["C10", "C9", "C8", "C7", "C6", "C5"]);
    // A list that is too short for its readers takes characters that never were in it.
    sql("DELETE FROM characters WHERE id IN ('c10', 'c9', 'c8')".to_owned()).await;
    refresh(store).await;
    assert_eq!(miners(store).await, ["C7", "C6", "C5"]);
    refresh(store).await;
    assert_eq!(miners(store).await, ["C7", "C6", "C5", "C4", "C3", "C2"]);
    let due = store.refresh_hiscores(60_000, SIZES).await.unwrap();
    assert_eq!(due, Refreshed::NotDue);
}

#[tokio::test]
async fn a_list_of_the_best_is_cut_and_filled_again_in_sqlite() {
    let folder = std::env::temp_dir().join(format!("persistence-unit-{}", new_id()));
    let store = Sqlite::open(
        &folder,
        Duration::from_secs(10),
        Arc::new(Machine::default()),
    )
    .unwrap();
    let sql = async |text: String| {
        let beside = rusqlite::Connection::open(folder.join("world.sqlite")).unwrap();
        beside.busy_timeout(Duration::from_secs(5)).unwrap();
        beside.execute_batch(&text).unwrap();
    };
    a_list_of_the_best_is_cut_and_filled_again(&store, sql).await;
    store.close().await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_list_of_the_best_is_cut_and_filled_again_in_postgres() {
    let server = tokio::task::spawn_blocking(test_servers::Postgres::shared);
    let (server, name) = (server.await.unwrap(), new_id());
    let config = PostgresConfig::plain(&server.create_database(&name), 4);
    let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
    let store = Postgres::open(
        &config,
        4,
        Metrics::new(&telemetry.meter()),
        Mutants::default(),
    )
    .unwrap();
    let sql = async |text: String| server.sql(&name, &text);
    a_list_of_the_best_is_cut_and_filled_again(&store, sql).await;
    store.close().await;
}
