//! Steers players of one area to one gateway, as far as the gateways have addresses of their own.
//! Pure.
//!
//! A gateway that has the players of few areas replicates only these. Always: it is a hint, and a
//! player may stay where it is. Nobody is sent to a gateway that gives no sign of life, that drains,
//! or that has many more players than the others.

use std::{cmp::Reverse, collections::HashMap, time::Instant};

use proto::topics::Beat;
use view::area::{Area, weight};

use super::presence::SILENT;

/// Maximum number of gateways that it remembers.
const GATEWAYS_MAX: usize = 4096;
/// Per cent of the mean number of players up to which a gateway gets more of them.
const FULL_PERCENT: u64 = 125;
/// Players that a gateway may have beyond that, so that the first ones go where they should.
const FULL_EXTRA: u64 = 32;

#[derive(Debug, Clone)]
struct Gateway {
    address: String,
    players: u64,
    heard: Instant,
}

/// The gateways that have addresses of their own, this one too.
#[derive(Debug, Default)]
pub(crate) struct Steering {
    gateways: HashMap<String, Gateway>,
}

impl Steering {
    /// Takes a gateway's sign of life.
    pub(crate) fn hear(&mut self, beat: Beat, now: Instant) {
        self.gateways
            .retain(|_, gateway| now.saturating_duration_since(gateway.heard) < SILENT);
        let Some(address) = beat.address else {
            self.gateways.remove(&beat.gateway_id);
            return;
        };
        let known = self.gateways.contains_key(&beat.gateway_id);
        if known || self.gateways.len() < GATEWAYS_MAX {
            let gateway = Gateway {
                address,
                players: beat.players,
                heard: now,
            };
            self.gateways.insert(beat.gateway_id, gateway);
        }
    }

    /// Returns the address of the gateway for players in an area; `None`: the one named `own` is as
    /// good as any.
    pub(crate) fn other(&self, own: &str, area: Area, now: Instant) -> Option<&str> {
        if !self.gateways.contains_key(own) {
            return None;
        }
        let lives =
            |(_, gateway): &(_, &Gateway)| now.saturating_duration_since(gateway.heard) < SILENT;
        let living: Vec<(&String, &Gateway)> = self.gateways.iter().filter(lives).collect();
        let players: u64 = living.iter().map(|(_, gateway)| gateway.players).sum();
        let mean = players / (living.len() as u64).max(1);
        let full = mean * FULL_PERCENT / 100 + FULL_EXTRA;
        // This one keeps a player who is here already, however many there are.
        let has_room =
            |(name, gateway): &&(&String, &Gateway)| *name == own || gateway.players < full;
        let (name, gateway) = living
            .iter()
            .filter(has_room)
            .max_by_key(|(name, _)| (weight(name, area), Reverse(*name)))?;
        (*name != own).then_some(gateway.address.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat(n: usize, players: u64) -> Beat {
        Beat {
            gateway_id: format!("g{n}"),
            address: Some(format!("wss://g{n}.example.org/ws")),
            players,
            flush_us: 0,
            uptime_s: None,
        }
    }

    fn of(gateways: usize, now: Instant) -> Steering {
        let mut steering = Steering::default();
        for n in 0..gateways {
            steering.hear(beat(n, 0), now);
        }
        steering
    }

    fn area(n: usize) -> Area {
        let n = i32::try_from(n).unwrap();
        Area {
            x: n % 16,
            z: n / 16,
        }
    }

    /// Returns the gateway at which the players of each of 256 areas are at last.
    fn homes(steering: &Steering, now: Instant) -> Vec<String> {
        let home = |n| {
            let other = steering.other("g0", area(n), now);
            other.unwrap_or("wss://g0.example.org/ws").to_owned()
        };
        (0..256).map(home).collect()
    }

    #[test]
    fn all_gateways_name_the_same_one_and_areas_are_shared_evenly() {
        let now = Instant::now();
        let steering = of(4, now);
        let homes = homes(&steering, now);
        for (n, home) in homes.iter().enumerate() {
            for own in ["g1", "g2", "g3"] {
                let other = steering.other(own, area(n), now);
                let here = format!("wss://{own}.example.org/ws");
                assert_eq!(other.unwrap_or(&here), home);
            }
        }
        for n in 0..4 {
            let own = format!("wss://g{n}.example.org/ws");
            let count = homes.iter().filter(|home| **home == own).count();
            assert!((40..90).contains(&count), "g{n} has {count} of 256 areas");
        }
    }

    #[test]
    fn a_gateway_that_comes_takes_areas_and_no_other_area_changes() {
        let now = Instant::now();
        let (before, after) = (homes(&of(4, now), now), homes(&of(5, now), now));
        let changed = before
            .iter()
            .zip(&after)
            .filter(|(before, after)| before != after);
        let to: Vec<&String> = changed.map(|(_, after)| after).collect();
        assert!(to.iter().all(|to| *to == "wss://g4.example.org/ws"));
        assert!((25..80).contains(&to.len()), "{} areas changed", to.len());
    }

    #[test]
    fn nobody_is_sent_to_a_gateway_that_is_silent_drains_or_is_full() {
        let now = Instant::now();
        let mut steering = of(2, now);
        let there = (0..256)
            .map(area)
            .find(|area| steering.other("g0", *area, now).is_some());
        let there = there.expect("an area of the other");
        steering.hear(beat(0, 100), now);
        steering.hear(beat(1, 300), now);
        assert_eq!(steering.other("g0", there, now), None, "full");
        steering.hear(beat(1, 120), now);
        assert!(steering.other("g0", there, now).is_some());
        assert_eq!(
            steering.other("g9", there, now),
            None,
            "has no address itself"
        );
        steering.hear(beat(0, 100), now + SILENT);
        assert_eq!(steering.other("g0", there, now + SILENT), None, "silent");
        steering.hear(beat(1, 100), now + SILENT);
        assert!(steering.other("g0", there, now + SILENT).is_some());
        let gone = Beat {
            address: None,
            ..beat(1, 100)
        };
        steering.hear(gone, now + SILENT);
        assert_eq!(steering.other("g0", there, now + SILENT), None, "drains");
    }
}
