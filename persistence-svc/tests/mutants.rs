//! The broken variants of the store: each is caught by a law of the conformance suite. Built only
//! with the feature `simulation`.

#![allow(clippy::unwrap_used, dead_code)]

use crate::laws;
use crate::stage;

use std::sync::{Mutex, PoisonError};

use persistence_svc::mutants::{self, Mutant};
use stage::Kind;

/// The variant is one for the whole process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Whether the law holds.
fn holds(law: impl AsyncFnOnce() + Send + 'static) -> bool {
    let work = move || chassis::run::runtime().unwrap().block_on(law());
    std::thread::spawn(work).join().is_ok()
}

fn caught<F: AsyncFnOnce() + Send + Copy + 'static>(mutant: Mutant, law: F) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    mutants::set(Some(mutant));
    let broken = !holds(law);
    mutants::set(None);
    assert!(broken, "{mutant:?} was not caught");
    assert!(
        holds(law),
        "the law does not hold without {mutant:?} either"
    );
}

#[test]
fn a_store_without_the_fence_is_caught() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        caught(Mutant::NoFence, async move || {
            laws::runs::a_fenced_run_is_refused_for_ever(kind).await;
        });
        caught(Mutant::NoFence, async move || {
            laws::gives::whoever_loses_a_region_its_players_get_the_next_sequence(kind).await;
        });
    }
}

#[test]
fn a_store_without_the_share_lock_is_caught() {
    caught(Mutant::NoShareLock, async || {
        laws::races::a_transfer_waits_for_a_takeover_under_way().await;
    });
    caught(Mutant::NoShareLock, async || {
        laws::races::a_give_waits_for_the_end_of_its_target().await;
    });
}
