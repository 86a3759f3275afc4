//! Many seeded stories of zones, gateways, players and a store in one process, and broken variants
//! of it all, each of which a law must catch.

use mimalloc::MiMalloc;
use simulation::{
    Settings,
    coverage::{self, TRANSITIONS},
    faults::Faults,
    seeds::{self, Report},
};
use zone_server::Mutants;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Plays seeds, or the one of `SIM_SEED`, and fails with the story of the first that breaks a law.
fn hold(test: &str, count: u64, settings: impl Fn(u64) -> Settings + Sync) -> Report {
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

/// Returns the ticks with faults. Only one story of so many is long, so that there are many.
fn ticks(seed: u64) -> u64 {
    if seed.is_multiple_of(4) { 150 } else { 60 }
}

fn settings(ticks: u64, faults: Faults, calm_ticks: u64) -> Settings {
    Settings {
        ticks,
        calm_ticks,
        faults,
        mutants: Mutants::default(),
        store_mutants: persistence_svc::Mutants::default(),
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
fn caught(mutant: &str, change: impl Fn(&mut Settings) + Sync) {
    let broken = |_| {
        let mut settings = settings(150, Faults::MANY, 60);
        change(&mut settings);
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
    caught("ack_before_commit", |settings| {
        settings.mutants.ack_before_commit = true;
    });
}

#[test]
fn saving_the_sides_of_an_exchange_apart_is_caught() {
    caught("separate_saves", |settings| {
        settings.mutants.separate_saves = true;
    });
}

#[test]
fn handing_over_whoever_acts_is_caught() {
    caught("no_pin", |settings| settings.mutants.no_pin = true);
}

#[test]
fn a_store_that_believes_the_fenced_is_caught() {
    caught("no_fence", |settings| {
        settings.store_mutants.no_fence = true;
    });
}
