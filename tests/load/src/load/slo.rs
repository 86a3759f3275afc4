//! Objectives such as `p99<1300ms,disconnects=0,gaps=0`. Pure.

use std::{fmt, str::FromStr};

use super::report::Summary;

/// Comparison of a value with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compare {
    Below,
    AtMost,
    Equal,
    AtLeast,
    Above,
}

impl Compare {
    const ALL: [(&'static str, Self); 5] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Below),
        (">", Self::Above),
        ("=", Self::Equal),
    ];

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Equal => (value - limit).abs() < f64::EPSILON,
            Self::AtLeast => value >= limit,
            Self::Above => value > limit,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Objective {
    text: String,
    metric: &'static str,
    compare: Compare,
    limit: f64,
}

/// Objectives that must all be met.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slo(Vec<Objective>);

type Read = fn(&Summary) -> f64;

/// Values for which there may be objectives.
const METRICS: [(&str, Read); 22] = [
    ("p50", |s| s.move_ms.p50),
    ("p95", |s| s.move_ms.p95),
    ("p99", |s| s.move_ms.p99),
    ("max", |s| s.move_ms.max),
    ("moves", |s| s.move_ms.count as f64),
    ("lost", |s| s.lost as f64),
    ("unanswered", |s| s.unanswered as f64),
    ("disconnects", |s| s.disconnects as f64),
    ("failed", |s| s.failed as f64),
    ("gaps", |s| s.gaps as f64),
    ("errors", |s| s.errors_total as f64),
    ("unreadable", |s| s.unreadable as f64),
    ("mapfaults", |s| s.map_faults as f64),
    ("connected", |s| s.arrived as f64),
    ("updates", |s| s.updates_per_second),
    ("arrive99", |s| s.arrive_ms.p99),
    ("exchanges", |s| s.exchanges.0 as f64),
    ("between", |s| s.exchanges.1 as f64),
    ("takenback", |s| s.taken_back as f64),
    ("unasked", |s| s.unasked as f64),
    ("resumed", |s| s.resumed as f64),
    ("notresumed", |s| s.resume_failed as f64),
];

impl Slo {
    /// Returns the objectives that `summary` misses, in words.
    pub fn missed(&self, summary: &Summary) -> Vec<String> {
        let missed = self.0.iter().filter_map(|objective| {
            let read = METRICS
                .iter()
                .find(|(name, _)| *name == objective.metric)?
                .1;
            let value = read(summary);
            let held = objective.compare.holds(value, objective.limit);
            (!held).then(|| format!("{}: it is {value}", objective.text))
        });
        missed.collect()
    }
}

impl FromStr for Slo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(objective)
            .collect::<Result<Vec<_>, _>>()
            .map(Self)
    }
}

fn objective(text: &str) -> Result<Objective, String> {
    let (at, sign, compare) = Compare::ALL
        .iter()
        .find_map(|(sign, compare)| text.find(sign).map(|at| (at, *sign, *compare)))
        .ok_or_else(|| format!("{text}: a metric, one of < <= = >= >, and a number"))?;
    let name = text[..at].trim();
    let known = METRICS.map(|(name, _)| name);
    let metric = known
        .into_iter()
        .find(|metric| *metric == name)
        .ok_or_else(|| format!("{name}: not one of {}", known.join(", ")))?;
    let value = text[at + sign.len()..].trim();
    let (number, factor) = match value {
        v if v.ends_with("ms") => (&v[..v.len() - 2], 1.0),
        v if v.ends_with('s') => (&v[..v.len() - 1], 1000.0),
        v => (v, 1.0),
    };
    let number: f64 = number
        .trim()
        .parse()
        .map_err(|_| format!("{value}: not a number, or one with ms or s"))?;
    Ok(Objective {
        text: text.to_owned(),
        metric,
        compare,
        limit: number * factor,
    })
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.0.iter().map(|o| o.text.as_str()).collect();
        f.write_str(&texts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_that_is_met_is_silent_and_one_that_is_missed_says_by_what() {
        let slo: Slo = "p99<1.3s, disconnects=0,connected>=2".parse().unwrap();
        let mut summary = Summary::default();
        summary.move_ms.p99 = 1299.0;
        summary.arrived = 2;
        assert!(slo.missed(&summary).is_empty());
        summary.move_ms.p99 = 1300.0;
        summary.disconnects = 1;
        let missed = slo.missed(&summary);
        assert_eq!(missed.len(), 2);
        assert!(missed[0].contains("1300"), "{missed:?}");
    }

    #[test]
    fn what_is_no_objective_is_refused() {
        for text in ["p98<1", "p99", "p99<fast", "=3"] {
            assert!(text.parse::<Slo>().is_err(), "{text}");
        }
    }
}
