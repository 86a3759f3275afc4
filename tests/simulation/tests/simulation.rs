//! Many seeded stories of zones, gateways, players and a store in one process, and broken variants
//! of it all, each of which a law must catch.

use std::sync::{PoisonError, RwLock};

use mimalloc::MiMalloc;
use persistence_svc::mutants::{self, Mutant};
use simulation::{
    Settings,
    coverage::{self, TRANSITIONS},
    faults::Faults,
    seeds::{self, Report},
};
use zone_server::Mutants;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The store's mutants break the whole process: whoever plays reads, whoever breaks it writes.
static STORE: RwLock<()> = RwLock::new(());

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Plays seeds, or the one of `SIM_SEED`, and fails with the story of the first that breaks a law.
fn hold(test: &str, count: u64, settings: impl Fn(u64) -> Settings + Sync) -> Report {
    let _whole = STORE.read().unwrap_or_else(PoisonError::into_inner);
    let (first, count) = match number("SIM_SEED") {
        Some(seed) => (seed, 1),
        None => (1, number("SIM_SEEDS").unwrap_or(count)),
    };
    let report = seeds::play(first, count, &settings);
    println!("{test}: {} seeds in {:.1} s", report.seeds, report.seconds);
    println!("{}", report.coverage);
    if let Some((seed, law)) = &report.broken {
        let story = seeds::story(
            *seed,
            settings(*seed),
            number("SIM_LINES").unwrap_or(250) as usize,
        );
        panic!(
            "{story}\n\nseed {seed}: {law}\nagain: SIM_SEED={seed} cargo test --release -p tests \
             --test simulation {test} -- --nocapture"
        );
    }
    report
}

/// Ticks with faults: only one story of so many is long, so that there are many.
fn ticks(seed: u64) -> u64 {
    if seed.is_multiple_of(4) { 150 } else { 60 }
}

fn settings(ticks: u64, faults: Faults, calm_ticks: u64) -> Settings {
    Settings {
        ticks,
        calm_ticks,
        faults,
        mutants: Mutants::default(),
        told: false,
    }
}

#[test]
fn without_faults_everybody_plays() {
    let test = "without_faults_everybody_plays";
    hold(test, 40, |_| settings(150, Faults::NONE, 60));
}

#[test]
fn laws_hold_under_every_fault() {
    let test = "laws_hold_under_every_fault";
    hold(test, 1_200, |seed| settings(ticks(seed), Faults::STORM, 0));
}

#[test]
fn everything_comes_right_after_the_faults_and_every_transition_was_taken() {
    let test = "everything_comes_right_after_the_faults_and_every_transition_was_taken";
    let report = hold(test, 800, |seed| settings(ticks(seed), Faults::MANY, 60));
    println!("counted by the processes:\n{}", coverage::counted());
    if number("SIM_SEED").or(number("SIM_SEEDS")).is_none() {
        let never = TRANSITIONS
            .iter()
            .filter(|what| report.coverage.of(what) == 0);
        let never: Vec<_> = never.collect();
        assert!(never.is_empty(), "never taken: {never:?}");
    }
}

/// Plays seeds until a law is broken; fails when none is.
fn caught(mutant: &str, change: impl Fn(&mut Mutants) + Sync) {
    let broken = |_| {
        let mut settings = settings(150, Faults::MANY, 60);
        change(&mut settings.mutants);
        settings
    };
    let report = seeds::play(1, 400, &broken);
    let Some((seed, law)) = report.broken else {
        panic!("no law catches {mutant} in {} seeds", report.seeds);
    };
    println!(
        "{mutant} is caught by seed {seed} after {} seeds: {law}",
        report.seeds
    );
}

#[test]
fn telling_before_the_commit_is_caught() {
    let _whole = STORE.read().unwrap_or_else(PoisonError::into_inner);
    caught("ack_before_commit", |mutants| {
        mutants.ack_before_commit = true
    });
}

#[test]
fn saving_the_sides_of_an_exchange_apart_is_caught() {
    let _whole = STORE.read().unwrap_or_else(PoisonError::into_inner);
    caught("separate_saves", |mutants| mutants.separate_saves = true);
}

#[test]
fn handing_over_whoever_acts_is_caught() {
    let _whole = STORE.read().unwrap_or_else(PoisonError::into_inner);
    caught("no_pin", |mutants| mutants.no_pin = true);
}

#[test]
fn a_store_that_believes_the_fenced_is_caught() {
    let _alone = STORE.write().unwrap_or_else(PoisonError::into_inner);
    mutants::set(Some(Mutant::NoFence));
    let caught = std::panic::catch_unwind(|| caught("no_fence", |_| {}));
    mutants::set(None);
    if let Err(words) = caught {
        std::panic::resume_unwind(words);
    }
}
