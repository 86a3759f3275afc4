//! The broken variants of the store: each is caught by a law of the conformance suite.

#![allow(clippy::unwrap_used)]

use crate::laws;
use crate::stage;

use persistence_svc::Mutants;
use stage::{Kind, MUTANTS};

const NO_FENCE: Mutants = Mutants {
    no_fence: true,
    no_share_lock: false,
};
const NO_SHARE_LOCK: Mutants = Mutants {
    no_fence: false,
    no_share_lock: true,
};

/// Returns whether the law holds over stores that break these rules.
fn holds(mutants: Mutants, law: impl AsyncFnOnce() + Send + 'static) -> bool {
    let work = move || {
        let runtime = service_runtime::run::runtime().unwrap();
        runtime.block_on(MUTANTS.scope(mutants, law()));
    };
    std::thread::spawn(work).join().is_ok()
}

fn caught<F: AsyncFnOnce() + Send + Copy + 'static>(mutants: Mutants, law: F) {
    assert!(!holds(mutants, law), "{mutants:?} was not caught");
    assert!(
        holds(Mutants::default(), law),
        "the law does not hold without {mutants:?} either"
    );
}

#[test]
fn a_store_without_the_fence_is_caught() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        caught(NO_FENCE, async move || {
            laws::runs::a_fenced_run_is_refused_for_ever(kind).await;
        });
        caught(NO_FENCE, async move || {
            laws::gives::whoever_loses_a_region_its_players_get_the_next_sequence(kind).await;
        });
    }
}

#[test]
fn a_store_without_the_share_lock_is_caught() {
    caught(NO_SHARE_LOCK, async || {
        laws::races::a_transfer_waits_for_a_takeover_under_way(Kind::Postgres).await;
    });
    caught(NO_SHARE_LOCK, async || {
        laws::races::a_give_waits_for_the_end_of_its_target(Kind::Postgres).await;
    });
}
