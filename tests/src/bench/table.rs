//! The table: a line per scene with the medians of its rounds, and what differs between two builds.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use super::{Outcome, Scene};

/// Share by which a figure must be worse than before to be reported.
const WORSE_BY: f64 = 0.10;

/// Figures of a scene: medians of its rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    scene: String,
    players: usize,
    rounds: usize,
    /// From the moment a move was due to the update that shows it, in milliseconds.
    move_p50: f64,
    move_p99: f64,
    /// From the connect to standing in the world, in milliseconds.
    enter_p99: f64,
    /// Arrivals a second.
    enters: f64,
    /// Bytes of messages of each client a second, and of each update.
    bytes_a_client: f64,
    bytes_an_update: f64,
    /// Cores, by kind of process.
    cores: BTreeMap<&'static str, f64>,
    /// Longest stillness after a kill in milliseconds; none: no kill.
    still: Option<f64>,
    /// Bound within which the work of 99 of 100 ticks stayed, in milliseconds.
    tick_p99: f64,
    /// Private memory of the gateway a player, in kilobytes.
    memory_a_player: f64,
    /// Sums over all rounds, from here on.
    ticks_lost: u64,
    moves: usize,
    moves_lost: u64,
    disconnects: u64,
    failed: u64,
    map_faults: u64,
    outcomes_unknown: u64,
    /// Requests refused because the zone server had just begun to play the player.
    recovering: u64,
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn errors(round: &Outcome, code: &str) -> u64 {
    round.summary.errors.get(code).copied().unwrap_or_default()
}

impl Line {
    fn new(scene: &Scene, rounds: &[Outcome]) -> Self {
        let of = |figure: fn(&Outcome) -> f64| median(rounds.iter().map(figure));
        let sum = |figure: fn(&Outcome) -> u64| rounds.iter().map(figure).sum();
        let kinds = rounds.iter().flat_map(|round| round.cores.keys().copied());
        let cores = kinds.map(|kind| {
            let of_kind = rounds.iter().filter_map(|round| round.cores.get(kind));
            (kind, median(of_kind.copied()))
        });
        let still = |round: &Outcome| match round.still {
            Some(Some(took)) => took.as_secs_f64() * 1_000.0,
            Some(None) => f64::INFINITY,
            None => f64::NAN,
        };
        Self {
            scene: scene.name.to_owned(),
            players: scene.players,
            rounds: rounds.len(),
            move_p50: of(|round| round.summary.move_ms.p50),
            move_p99: of(|round| round.summary.move_ms.p99),
            enter_p99: of(|round| round.summary.arrive_ms.p99),
            enters: of(|round| round.summary.connect_rate),
            bytes_a_client: of(|round| {
                round.summary.bytes_per_second / (round.summary.players as f64).max(1.0)
            }),
            bytes_an_update: of(|round| {
                round.summary.bytes_per_second / round.summary.updates_per_second.max(1.0)
            }),
            cores: cores.collect(),
            still: scene.kill.then(|| median(rounds.iter().map(still))),
            tick_p99: of(|round| round.tick_p99),
            memory_a_player: of(|round| round.memory_a_player),
            ticks_lost: sum(|round| round.ticks_lost),
            moves: rounds.iter().map(|round| round.summary.move_ms.count).sum(),
            moves_lost: sum(|round| round.summary.lost),
            disconnects: sum(|round| round.summary.disconnects),
            failed: sum(|round| round.summary.failed),
            map_faults: sum(|round| round.summary.map_faults),
            outcomes_unknown: sum(|round| errors(round, "outcome_unknown")),
            recovering: sum(|round| errors(round, "zone_recovering")),
        }
    }

    fn services(&self) -> f64 {
        let services = self.cores.iter().filter(|(kind, _)| **kind != "generator");
        services.map(|(_, cores)| cores).sum()
    }

    fn generator(&self) -> f64 {
        self.cores.get("generator").copied().unwrap_or_default()
    }

    /// Returns what may be compared between two builds; less is better for all of it.
    fn costs(&self) -> [(&'static str, f64); 6] {
        [
            ("move p99", self.move_p99),
            ("enter p99", self.enter_p99),
            ("bytes an update", self.bytes_an_update),
            ("cores of the services", self.services()),
            ("time an arrival takes", 1.0 / self.enters.max(0.001)),
            ("memory of a connection", self.memory_a_player),
        ]
    }
}

/// All scenes of one build.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Table(Vec<Line>);

impl Table {
    /// Adds a scene with its rounds.
    pub fn add(&mut self, scene: &Scene, rounds: &[Outcome]) {
        self.0.push(Line::new(scene, rounds));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<18} {:>7} {:>13} {:>9} {:>8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>8} {:>8}  wrong",
            "scene",
            "players",
            "move p50/p99",
            "enter p99",
            "enters/s",
            "B/s each",
            "B/update",
            "services",
            "generator",
            "still",
            "tick p99",
            "KB each"
        )?;
        for line in &self.0 {
            let still = line
                .still
                .map_or("-".to_owned(), |ms| format!("{ms:.0} ms"));
            writeln!(
                f,
                "{:<18} {:>7} {:>13} {:>9} {:>8.0} {:>9.0} {:>9.0} {:>9.2} {:>9.2} {still:>10} {:>8} {:>8.1}  {}",
                line.scene,
                line.players,
                format!("{:.0}/{:.0} ms", line.move_p50, line.move_p99),
                format!("{:.0} ms", line.enter_p99),
                line.enters,
                line.bytes_a_client,
                line.bytes_an_update,
                line.services(),
                line.generator(),
                format!("≤ {:.0} ms", line.tick_p99),
                line.memory_a_player,
                Wrong(line),
            )?;
        }
        Ok(())
    }
}

struct Wrong<'a>(&'a Line);

impl fmt::Display for Wrong<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.0;
        let counts = [
            ("moves lost", line.moves_lost),
            ("disconnects", line.disconnects),
            ("failed", line.failed),
            ("map faults", line.map_faults),
            ("outcomes unknown", line.outcomes_unknown),
            ("recovering", line.recovering),
            ("ticks lost", line.ticks_lost),
        ];
        let wrong: Vec<String> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        match wrong.is_empty() {
            true => write!(f, "nothing in {} moves", line.moves),
            false => write!(f, "{} in {} moves", wrong.join(", "), line.moves),
        }
    }
}

/// Two builds, scene by scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    ratios: Vec<(String, &'static str, f64)>,
}

impl Compared {
    /// Compares the same scenes before and now.
    pub fn new(before: &Table, now: &Table) -> Self {
        let pairs = before.0.iter().zip(&now.0);
        let ratios = pairs.flat_map(|(before, now)| {
            let costs = before.costs().into_iter().zip(now.costs());
            costs.map(|((what, old), (_, new))| (now.scene.clone(), what, new / old))
        });
        Self {
            ratios: ratios.collect(),
        }
    }

    /// Returns what became worse by more than a tenth.
    pub fn worse(&self) -> Vec<String> {
        let worse = self
            .ratios
            .iter()
            .filter(|(.., ratio)| *ratio > 1.0 + WORSE_BY);
        worse
            .map(|(scene, what, ratio)| format!("{scene}: {what} × {ratio:.2}"))
            .collect()
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "now over before, less is better:")?;
        for (scene, what, ratio) in &self.ratios {
            writeln!(f, "{scene:<18} {what:<24} {ratio:.2}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        bench::SCENES,
        load::{Summary, report::Quantiles},
    };

    fn outcome(p99: f64, cores: f64) -> Outcome {
        Outcome {
            summary: Summary {
                players: 500,
                move_ms: Quantiles {
                    count: 100,
                    p99,
                    ..Quantiles::default()
                },
                connect_rate: 100.0,
                updates_per_second: 1_000.0,
                bytes_per_second: 1e6,
                ..Summary::default()
            },
            cores: BTreeMap::from([("gateway", cores), ("generator", 0.5)]),
            still: Some(Some(Duration::from_millis(700))),
            tick_p99: 20.0,
            ticks_lost: 0,
            memory_a_player: 40.0,
        }
    }

    fn table(rounds: &[Outcome]) -> Table {
        let mut table = Table::default();
        table.add(&SCENES[0], rounds);
        table
    }

    #[test]
    fn a_line_has_the_medians_of_its_rounds() {
        let rounds = [
            outcome(900.0, 0.3),
            outcome(600.0, 0.1),
            outcome(610.0, 0.2),
        ];
        let table = table(&rounds);
        let line = &table.0[0];
        assert_eq!(
            (line.move_p99, line.services(), line.generator()),
            (610.0, 0.2, 0.5)
        );
        assert_eq!(
            (line.bytes_an_update, line.bytes_a_client),
            (1_000.0, 2_000.0)
        );
        assert!(
            table.to_string().contains("nothing in 300 moves"),
            "{table}"
        );
    }

    #[test]
    fn a_figure_that_is_worse_by_more_than_a_tenth_is_named() {
        let before = table(&[outcome(600.0, 0.2)]);
        let same = Compared::new(&before, &table(&[outcome(655.0, 0.21)]));
        assert_eq!(same.worse(), Vec::<String>::new());
        let worse = Compared::new(&before, &table(&[outcome(670.0, 0.21)]));
        assert_eq!(worse.worse(), ["town-500: move p99 × 1.12"]);
    }
}
