//! Times batches over each store, sent over gRPC as a zone server sends them.
//!
//! `cargo bench -p persistence-svc --bench commit` prints one line per store, kind and size. Words
//! behind `--` choose what is measured:
//!
//! - `batches`: one batch after the other. Its rows are places alone, whole rows of who moved, these
//!   with documents, or packs with as many rows of the ledger.
//! - `walkers`: 100,000 characters of 20 runs, who all walk. Each run sends batches without a pause:
//!   of places alone; of these with every fourth row whole and with a document, as it is each minute;
//!   and of whole rows with documents, as release 0.2.0 sent them.
//!
//! SQLite waits for the disk. PostgreSQL is a private server: one that does not wait for the disk, one
//! that does (`fsync = on`), and one that also waits for a synchronous standby, which does, too.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used)]

#[path = "../tests/stage/mod.rs"]
mod stage;

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use stage::value::{Cause, ledger, owns, slot};
use stage::{Kind, Stage, Zone, at, region, stay, walked};
use test_servers::Postgres;

const SIZES: [usize; 3] = [100, 1_000, 5_000];
const ROUNDS: u64 = 12;
/// Rounds that warm up and do not count.
const WARM: u64 = 2;

/// Characters who walk at once.
const WALKERS: usize = 100_000;
/// Runs that play them.
const RUNS: usize = 20;
/// Rows of one run's batch: its share of the walkers, a row each in 25 ticks.
const ROWS: usize = WALKERS / RUNS / 25;
/// Seconds between two rows of a walker.
const APART_S: f64 = 15.0;
/// Time for which all runs write.
const LOAD: Duration = Duration::from_secs(15);

/// Settings of a server that keeps what it said it has, at the loss of the machine, too.
const DURABLE: [&str; 6] = [
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "shared_buffers=1GB",
    "max_wal_size=4GB",
    "max_connections=200",
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |name: &str| {
        let named = |word: &&String| ["batches", "walkers"].contains(&word.as_str());
        let mut named = words.iter().filter(named).peekable();
        named.peek().is_none() || named.any(|word| word == name)
    };
    let runtime = service_runtime::run::runtime().unwrap();
    runtime.block_on(async {
        for store in Store::ALL {
            if chosen("batches") {
                for size in SIZES {
                    measure(store, size).await;
                }
            }
            if chosen("walkers") {
                walkers(store).await;
            }
        }
    });
}

/// A store below the service.
#[derive(Debug, Clone, Copy)]
enum Store {
    Sqlite,
    Postgres,
    PostgresFsync,
    PostgresFsyncAndStandby,
}

impl Store {
    const ALL: [Store; 4] = [
        Store::Sqlite,
        Store::Postgres,
        Store::PostgresFsync,
        Store::PostgresFsyncAndStandby,
    ];

    /// Returns a stage over it, and the standby that must live as long.
    async fn stage(self) -> (Stage, Option<Postgres>) {
        let standby = match self {
            Store::Sqlite => return (Stage::new(Kind::Sqlite).await, None),
            Store::Postgres => return (Stage::new(Kind::Postgres).await, None),
            Store::PostgresFsync => false,
            Store::PostgresFsyncAndStandby => true,
        };
        let start = move || {
            let server = Postgres::try_start_with(&DURABLE).unwrap();
            let standby = standby.then(|| server.standby().unwrap());
            (Arc::new(server), standby)
        };
        let (server, standby) = tokio::task::spawn_blocking(start).await.unwrap();
        (Stage::over(server).await, standby)
    }
}

/// The size of the document of a character with one quest and one prayer.
const DOCUMENT_BYTES: usize = 180;

/// Returns the rows of a round in which everybody walks.
fn places(crowd: &[wire::CharacterRecord], round: u64) -> wire::CommitRows {
    let x = i32::try_from(round).unwrap();
    wire::CommitRows {
        positions: crowd.iter().map(|one| walked(one, x, 7)).collect(),
        ..wire::CommitRows::default()
    }
}

/// Returns the rows of a round in which everybody takes a step, as a service of release 0.2.0 hears
/// of it.
fn steps(crowd: &[wire::CharacterRecord], round: u64) -> wire::CommitRows {
    let x = i32::try_from(round).unwrap();
    wire::CommitRows {
        characters: crowd.iter().map(|one| stay(at(one, x, 7))).collect(),
        ..wire::CommitRows::default()
    }
}

/// Returns the rows of a round in which everybody takes a step that costs run energy, so that the
/// document is another.
fn runs(crowd: &[wire::CharacterRecord], round: u64) -> wire::CommitRows {
    let mut rows = steps(crowd, round);
    for record in rows.characters.iter_mut().flat_map(|row| &mut row.record) {
        record.state = round.to_le_bytes().repeat(DOCUMENT_BYTES / 8).into();
    }
    rows
}

/// Returns the rows of a round in which one of four walkers has its row of the minute.
fn minutes(crowd: &[wire::CharacterRecord], round: u64) -> wire::CommitRows {
    let (whole, rest) = crowd.split_at(crowd.len() / 4);
    wire::CommitRows {
        positions: places(rest, round).positions,
        ..runs(whole, round)
    }
}

/// Returns the rows of a round in which everybody gets one arrow more than at the round before.
fn gains(crowd: &[wire::CharacterRecord], round: u64) -> wire::CommitRows {
    let arrows = u32::try_from(round).unwrap();
    let gained = |one: &wire::CharacterRecord| ledger(&one.id, "arrow", Cause::STARTER, 1);
    let has = |one: &wire::CharacterRecord| owns(one, 0, &[slot(3, "arrow", arrows)]);
    wire::CommitRows {
        characters: crowd.iter().map(has).collect(),
        ledger: crowd.iter().map(gained).collect(),
        ..wire::CommitRows::default()
    }
}

type Rows = fn(&[wire::CharacterRecord], u64) -> wire::CommitRows;

async fn measure(store: Store, size: usize) {
    let (stage, _standby) = store.stage().await;
    let zone = stage.zone(region(0, 0)).await;
    let crowd = stage.crowd(&zone, size).await;
    let mut sequence = 0;
    for (what, rows) in [
        ("places", places as Rows),
        ("whole rows", steps),
        ("whole rows and documents", runs),
        ("packs and ledger", gains),
    ] {
        let mut took = Vec::new();
        for round in 1..=ROUNDS {
            sequence += 1;
            let batch = rows(&crowd, round);
            let begun = Instant::now();
            let reply = stage.batch(zone.run, sequence, batch).await;
            let elapsed = begun.elapsed();
            assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
            if round > WARM {
                took.push(elapsed);
            }
        }
        took.sort_unstable();
        let (median, worst) = (took[took.len() / 2], took[took.len() - 1]);
        tell(store, what, size, median, worst);
    }
    assert!(stage.check().await.differences.is_empty());
    stage.end().await;
}

#[allow(clippy::cast_precision_loss)]
fn tell(store: Store, what: &str, size: usize, median: Duration, worst: Duration) {
    let rate = size as f64 / median.as_secs_f64();
    println!(
        "{store:?} {what}: {size} characters: median {:.1} ms, worst {:.1} ms, {rate:.0} rows/s",
        median.as_secs_f64() * 1_000.0,
        worst.as_secs_f64() * 1_000.0,
    );
}

/// One run and the characters that it plays.
struct Walking {
    zone: Zone,
    crowd: Vec<wire::CharacterRecord>,
    sequence: u64,
}

impl Walking {
    /// Sends batches of its characters in turn until `end`. Returns how long each took.
    async fn writes(&mut self, stage: &Stage, rows: Rows, end: Instant) -> Vec<Duration> {
        let mut took = Vec::new();
        for part in self.crowd.chunks(ROWS).cycle() {
            if Instant::now() >= end {
                break;
            }
            self.sequence += 1;
            let batch = rows(part, self.sequence);
            let begun = Instant::now();
            let reply = stage.batch(self.zone.run, self.sequence, batch).await;
            took.push(begun.elapsed());
            assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
        }
        took
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts are small")]
async fn walkers(store: Store) {
    let (stage, _standby) = store.stage().await;
    let mut walking = Vec::new();
    for number in 0..RUNS {
        let zone = stage.zone(region(i32::try_from(number).unwrap(), 0)).await;
        let crowd = stage.crowd(&zone, WALKERS / RUNS).await;
        // Everybody has stood in the world before, and has a document.
        let reply = stage.batch(zone.run, 1, runs(&crowd, 1)).await;
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
        walking.push(Walking {
            zone,
            crowd,
            sequence: 1,
        });
    }
    let needed = WALKERS as f64 / APART_S;
    println!("{store:?} {WALKERS} walkers in {RUNS} runs: {needed:.0} rows/s are needed");
    for (what, rows) in [
        ("places", places as Rows),
        ("places, one of four rows whole with its document", minutes),
        ("whole rows and documents", runs),
    ] {
        let begun = Instant::now();
        let all = walking
            .iter_mut()
            .map(|one| one.writes(&stage, rows, begun + LOAD));
        let mut took: Vec<Duration> = futures::future::join_all(all).await.concat();
        let elapsed = begun.elapsed().as_secs_f64();
        took.sort_unstable();
        let rate = (took.len() * ROWS) as f64 / elapsed;
        println!(
            "{store:?} {what}: {rate:.0} rows/s, {:.1} times the need; batches of {ROWS}: median \
             {:.0} ms, p99 {:.0} ms",
            rate / needed,
            took[took.len() / 2].as_secs_f64() * 1_000.0,
            took[took.len() * 99 / 100].as_secs_f64() * 1_000.0,
        );
    }
    stage.end().await;
}
