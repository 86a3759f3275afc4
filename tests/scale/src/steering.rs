//! The gateway of each player: at random, or by the area where the player stands. Pure.

use std::{cmp::Reverse, collections::BTreeMap};

use clap::ValueEnum;
use rand::{RngExt, rngs::StdRng};
use serde::{Deserialize, Serialize};
use view::area::{Area, weight};
use world::Region;

use crate::{crowd::Crowd, land::Land};

/// Way in which players come to gateways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Steering {
    /// Each player at any gateway, as a load balancer does it.
    Random,
    /// As gateways steer: each area of 2 × 2 regions has a gateway, by rendezvous hashing.
    Squares,
    /// Each gateway has the players of some neighbouring regions, and all have the same number.
    Area,
}

/// Per cent of the mean number of players up to which a gateway gets more, as in the gateway.
const FULL_PERCENT: usize = 125;
/// Players that a gateway may have beyond that, as in the gateway.
const FULL_EXTRA: usize = 32;

/// Returns the players of each gateway, by their places in the crowd.
pub fn steer(
    steering: Steering,
    gateways: usize,
    land: &Land,
    crowd: &Crowd,
    dice: &mut StdRng,
) -> Vec<Vec<usize>> {
    let mut players = vec![Vec::new(); gateways];
    match steering {
        Steering::Random => {
            for player in 0..crowd.players {
                players[dice.random_range(0..gateways)].push(player);
            }
        }
        Steering::Squares => {
            let full = crowd.players / gateways.max(1) * FULL_PERCENT / 100 + FULL_EXTRA;
            let mut ranked: BTreeMap<Area, Vec<usize>> = BTreeMap::new();
            for player in 0..crowd.players {
                let area = Area::of(crowd.beings[player].at);
                let ranked = ranked
                    .entry(area)
                    .or_insert_with(|| by_weight(area, gateways));
                let room = ranked
                    .iter()
                    .find(|gateway| players[**gateway].len() < full);
                players[room.copied().unwrap_or(0)].push(player);
            }
        }
        Steering::Area => {
            let mut by_region: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            for player in 0..crowd.players {
                let place = land.on_curve(Region::from(crowd.beings[player].at));
                by_region.entry(place).or_default().push(player);
            }
            let mut before = 0;
            for here in by_region.into_values() {
                // The gateway in whose share the middle of the region's players falls.
                let middle = before + here.len() / 2;
                let gateway = middle * gateways / crowd.players.max(1);
                before += here.len();
                players[gateway.min(gateways - 1)].extend(here);
            }
        }
    }
    players
}

/// Returns the gateways, the one to which an area belongs first.
fn by_weight(area: Area, gateways: usize) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..gateways).collect();
    ranked.sort_by_key(|gateway| Reverse(weight(&format!("gateway-{gateway}"), area)));
    ranked
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;
    use crate::crowd::Habits;

    fn regions_of(steering: Steering) -> (usize, Vec<usize>) {
        let mut dice = StdRng::seed_from_u64(6);
        let land = Land::new(16, 4, &mut dice);
        let habits = Habits {
            in_towns: 0.2,
            walking: 0.0,
            npcs: 0,
        };
        let crowd = Crowd::new(&land, 8_000, habits, &mut dice);
        let players = steer(steering, 8, &land, &crowd, &mut dice);
        let mut all: Vec<usize> = players.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..8_000).collect::<Vec<_>>());
        let region = |player: &usize| Region::from(crowd.beings[*player].at);
        let regions = players.iter().map(|of| of.iter().map(region).collect());
        let regions = regions.map(|regions: BTreeSet<Region>| regions.len());
        let counts = players.iter().map(Vec::len).collect();
        (regions.sum(), counts)
    }

    #[test]
    fn gateways_of_areas_share_no_region_and_have_about_as_many_players_each() {
        let (regions, counts) = regions_of(Steering::Area);
        assert_eq!(regions, 256);
        assert!(
            counts.iter().all(|count| (500..1_600).contains(count)),
            "{counts:?}"
        );
    }

    /// Some of a full gateway's areas go on to the next one.
    #[test]
    fn gateways_that_steer_have_a_quarter_more_than_the_mean_at_most() {
        let (regions, counts) = regions_of(Steering::Squares);
        assert!(regions < 3 * 256, "{regions}");
        assert!(counts.iter().all(|count| *count <= 1_282), "{counts:?}");
    }

    #[test]
    fn random_gateways_have_players_everywhere() {
        let (regions, counts) = regions_of(Steering::Random);
        assert!(regions > 7 * 256, "{regions}");
        assert!(
            counts.iter().all(|count| (850..1_150).contains(count)),
            "{counts:?}"
        );
    }
}
