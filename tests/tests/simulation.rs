//! Many seeded stories of zones, gateways, players and a store in one process.

use tests::sim::{
    Settings,
    faults::Faults,
    seeds::{self, Report},
};

/// Plays seeds, or the one of `SIM_SEED`, and fails with the story of the first that breaks a law.
fn hold(test: &str, count: u64, settings: impl Fn(u64) -> Settings + Sync) -> Report {
    let one = std::env::var("SIM_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let count = std::env::var("SIM_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(count);
    let report = match one {
        Some(seed) => seeds::play(seed, 1, &settings),
        None => seeds::play(1, count, &settings),
    };
    println!(
        "{} seeds in {:.1} s\n{}",
        report.seeds, report.seconds, report.coverage
    );
    if let Some((seed, law)) = &report.broken {
        let story = seeds::story(*seed, settings(*seed), 250);
        panic!(
            "{story}\n\nseed {seed}: {law}\nagain: SIM_SEED={seed} cargo test --release -p tests \
             --test simulation {test} -- --nocapture"
        );
    }
    report
}

fn settings(faults: Faults, calm_ticks: u64) -> Settings {
    Settings {
        ticks: 180,
        calm_ticks,
        faults,
        mutants: zone_server::Mutants::default(),
        told: false,
        sequence_names_owner: false,
    }
}

#[test]
fn without_faults_everybody_plays() {
    hold("without_faults_everybody_plays", 50, |_| {
        settings(Faults::NONE, 20)
    });
}

#[test]
fn laws_hold_under_every_fault() {
    hold("laws_hold_under_every_fault", 300, |_| {
        settings(Faults::MANY, 0)
    });
}

#[test]
fn everything_comes_right_after_the_faults() {
    hold("everything_comes_right_after_the_faults", 300, |_| {
        settings(Faults::MANY, 60)
    });
}
