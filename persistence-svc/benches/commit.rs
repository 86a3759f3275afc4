//! Times a batch over each store. Its rows move a character, also write a document, or write packs
//! with as many rows of the ledger.
//!
//! `cargo bench -p persistence-svc --bench commit` prints one line per store, kind and size. The
//! batch goes over gRPC as a zone server sends it. PostgreSQL is a private server that does not
//! wait for the disk; SQLite waits for it.

#![allow(
    clippy::disallowed_methods,
    reason = "the tasks of a test end with its runtime"
)]
#![allow(clippy::unwrap_used)]

#[path = "../tests/stage/mod.rs"]
mod stage;

use std::time::{Duration, Instant};

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use stage::value::{Cause, ledger, owns, slot};
use stage::{Kind, Stage, at, region, stay};

const SIZES: [usize; 3] = [100, 1_000, 5_000];
const ROUNDS: u64 = 12;
/// Rounds that warm up and do not count.
const WARM: u64 = 2;

fn main() {
    let runtime = service_runtime::run::runtime().unwrap();
    runtime.block_on(async {
        for kind in [Kind::Sqlite, Kind::Postgres] {
            for size in SIZES {
                measure(kind, size).await;
            }
        }
    });
}

/// The size of the document of a character with one quest and one prayer.
const DOCUMENT_BYTES: usize = 180;

/// Returns the rows of a round in which everybody takes a step.
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

async fn measure(kind: Kind, size: usize) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let crowd = stage.crowd(&zone, size).await;
    let mut sequence = 0;
    for (what, rows) in [
        ("positions", steps as fn(&_, u64) -> _),
        ("positions and documents", runs),
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
        tell(kind, what, size, median, worst);
    }
    assert!(stage.check().await.differences.is_empty());
    stage.end().await;
}

#[allow(clippy::cast_precision_loss)]
fn tell(kind: Kind, what: &str, size: usize, median: Duration, worst: Duration) {
    let rate = size as f64 / median.as_secs_f64();
    println!(
        "{kind:?} {what}: {size} characters: median {:.1} ms, worst {:.1} ms, {rate:.0} rows/s",
        median.as_secs_f64() * 1_000.0,
        worst.as_secs_f64() * 1_000.0,
    );
}
