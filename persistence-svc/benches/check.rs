//! Times the check of an old world over PostgreSQL: a ledger of a year, all months but the last
//! closed.
//!
//! `cargo bench -p persistence-svc --bench check -- 100000000` fills a private server with as many
//! rows, of 200,000 characters and 400 items, and prints how long a check takes, and a full one. It
//! needs some 200 bytes of disk for each row while it runs. The ledger lacks the three indexes for
//! lists, which no check uses.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Instant;

use persistence_svc::Config;
use service_runtime::config::{Env, Reader};
use service_runtime::telemetry::{Telemetry, TelemetryConfig};
use test_servers::Postgres;
use tokio_postgres::{Client, NoTls};

const MONTHS: i64 = 12;
const CHARACTERS: i64 = 200_000;
const HOUR_MS: i64 = 3_600_000;
/// Settings of a small server of its own.
const SERVER: [&str; 5] = [
    "shared_buffers=2GB",
    "work_mem=64MB",
    "max_wal_size=1GB",
    "max_locks_per_transaction=256",
    "autovacuum_naptime=10s",
];

fn main() {
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let rows: i64 = numbers.next().unwrap_or(2_000_000);
    let runtime = service_runtime::run::runtime().unwrap();
    let server = Postgres::try_start_with(&SERVER).unwrap();
    runtime.block_on(measure(&server, rows));
}

fn config(url: &str) -> Config {
    let settings = BTreeMap::from([("DATABASE_URL", url.to_owned())]);
    let mut reader = Reader::new(Env::from_pairs(settings));
    let config = Config::read(&mut reader);
    reader.finish().unwrap();
    config
}

fn telemetry() -> Telemetry {
    Telemetry::new("check", &TelemetryConfig::default()).unwrap()
}

async fn measure(server: &Postgres, rows: i64) {
    let url = server.create_database("world");
    let config = config(&url);
    persistence_svc::migrate(config.clone(), telemetry())
        .await
        .unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let prepare = format!(
        r#"DROP INDEX ledger_by_time; DROP INDEX ledger_by_holder; DROP INDEX ledger_by_item;
           INSERT INTO users (id, name, "createdAt") VALUES ('u', 'U', 1);
           CREATE FUNCTION who(c bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
             $$ SELECT '01990000-0000-7000-8000-' || lpad(c::text, 12, '0') $$;
           INSERT INTO characters (id, "accountId", name, "nameKey", "createdAt", "regionX", "regionZ")
             SELECT who(n), 'u', 'C' || n, 'c' || n, 1, 0, 0 FROM generate_series(0, {CHARACTERS} - 1) n"#
    );
    client.batch_execute(&prepare).await.unwrap();
    for month in 0..MONTHS {
        let begun = Instant::now();
        let begins = fill(&client, month, rows / MONTHS).await;
        let filled = begun.elapsed();
        // A month closes six hours after its end; the last one stays open.
        let hours = if month == MONTHS - 1 { 7 } else { 1 };
        let now = begins + hours * HOUR_MS;
        let closed = persistence_svc::keep_months(&config, &telemetry(), now).await;
        let closed = closed.unwrap().join(", ");
        let took = begun.elapsed() - filled;
        println!("month {month}: filled in {filled:.0?}; kept in {took:.0?}: {closed}");
    }
    hold(&client).await;
    let size = "SELECT pg_size_pretty(pg_database_size('world')),
                  (SELECT count(*) FROM ledger_balances)";
    let row = client.query_one(size, &[]).await.unwrap();
    let (size, balances): (String, i64) = (row.get(0), row.get(1));
    println!("{rows} rows, {balances} balances, {size}");
    for full in [false, false, true] {
        let begun = Instant::now();
        let found = persistence_svc::check(&config, &telemetry(), full)
            .await
            .unwrap();
        assert_eq!(found.differences, Vec::<String>::new());
        let what = if full { "a full check" } else { "a check" };
        println!("{what}: {:.1} s", begun.elapsed().as_secs_f64());
    }
}

/// Fills a month. Each character gets some of 30 items and gives away all but one of them; it gets
/// them in no order. Returns the begin of the month.
async fn fill(client: &Client, month: i64, rows: i64) -> i64 {
    let bounds = format!(
        "SELECT greatest(begins, ends - 30 * 86400000::bigint), ends FROM archive_months
         WHERE kind = 'ledger' ORDER BY begins OFFSET {month} LIMIT 1"
    );
    let bounds = client.query_one(&bounds, &[]).await.unwrap();
    let (begins, ends): (i64, i64) = (bounds.get(0), bounds.get(1));
    let pairs = rows / 2;
    let step = (ends - begins) / pairs.max(1);
    let insert = format!(
        "INSERT INTO ledger
         SELECT {month} + 1, p / 10, ((p % 10) * 2 + side)::integer,
           who(c), 'item_' || (c * 31 + ((p / {CHARACTERS} + p * 17 + {month}) % 30) * 13) % 400,
           CASE side WHEN 1 THEN 'pickup' ELSE 'drop' END,
           CASE side WHEN 1 THEN 2 + p % 8 ELSE -1 - p % 8 END, {begins} + p * {step}
         FROM generate_series(0::bigint, {pairs} - 1) p, LATERAL (SELECT (p * 7919) % {CHARACTERS} AS c) w,
           generate_series(1, 2) side"
    );
    client.batch_execute(&insert).await.unwrap();
    begins
}

/// Puts all that the ledger says into banks.
async fn hold(client: &Client) {
    let fill = "SET session_replication_role = replica;
        INSERT INTO bank SELECT holder, item, sum(amount), 0, row_number() OVER (PARTITION BY holder)
          FROM (SELECT character_id AS holder, item_id AS item, amount FROM ledger_balances
                UNION ALL SELECT character_id, item_id, sum(delta) FROM ledger
                  WHERE at >= (SELECT max(ends) FROM archive_months WHERE closed_at > 0)
                  GROUP BY 1, 2) s
          GROUP BY holder, item;
        SET session_replication_role = origin;
        ANALYZE";
    client.batch_execute(fill).await.unwrap();
}
