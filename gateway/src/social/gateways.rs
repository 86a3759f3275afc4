//! The gateways that gave a sign of life lately, with the numbers in it. Pure.
//!
//! Always: a gateway that is silent is forgotten after [`SILENT`]; there are at most so many.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use proto::topics::Beat;

use super::presence::SILENT;

/// Maximum number of gateways that it remembers.
const GATEWAYS_MAX: usize = 4096;

/// The last sign of life of each gateway, by its id.
#[derive(Debug, Default)]
pub(crate) struct Gateways(BTreeMap<String, (Beat, Instant)>);

impl Gateways {
    /// Takes a gateway's sign of life.
    pub(crate) fn hear(&mut self, beat: Beat, now: Instant) {
        self.0.retain(|_, (_, at)| age(*at, now) < SILENT);
        if self.0.len() < GATEWAYS_MAX || self.0.contains_key(&beat.gateway_id) {
            self.0.insert(beat.gateway_id.clone(), (beat, now));
        }
    }

    /// Returns the signs of life, by the ids of the gateways, each with its age.
    pub(crate) fn living(&self, now: Instant) -> Vec<(Beat, Duration)> {
        let all = self.0.values().map(|(beat, at)| (beat, age(*at, now)));
        let living = all.filter(|(_, age)| *age < SILENT);
        living.map(|(beat, age)| (beat.clone(), age)).collect()
    }
}

fn age(at: Instant, now: Instant) -> Duration {
    now.saturating_duration_since(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat(id: &str, players: u64) -> Beat {
        Beat {
            gateway_id: id.to_owned(),
            address: None,
            players,
            flush_us: 900,
            uptime_s: Some(5),
        }
    }

    fn listed(gateways: &Gateways, now: Instant) -> Vec<(String, u64, u64)> {
        let all = gateways.living(now).into_iter();
        all.map(|(beat, age)| (beat.gateway_id, beat.players, age.as_secs()))
            .collect()
    }

    #[test]
    fn a_gateway_is_listed_with_its_last_numbers_until_it_is_silent() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        let mut gateways = Gateways::default();
        gateways.hear(beat("b", 1), now);
        gateways.hear(beat("a", 2), now);
        gateways.hear(beat("b", 3), later(10));
        let row = |id: &str, players, age| (id.to_owned(), players, age);
        let both = [row("a", 2, 12), row("b", 3, 2)];
        assert_eq!(listed(&gateways, later(12)), both);
        assert_eq!(listed(&gateways, later(22)), [row("b", 3, 12)]);
        gateways.hear(beat("c", 0), later(40));
        assert_eq!(gateways.0.len(), 1, "the silent ones are forgotten");
    }

    #[test]
    fn there_are_no_more_gateways_than_the_bound() {
        let now = Instant::now();
        let mut gateways = Gateways::default();
        for n in 0..=GATEWAYS_MAX {
            gateways.hear(beat(&n.to_string(), 0), now);
        }
        assert_eq!(gateways.0.len(), GATEWAYS_MAX);
        gateways.hear(beat("0", 7), now);
        assert_eq!(listed(&gateways, now)[0], ("0".to_owned(), 7, 0));
    }
}
