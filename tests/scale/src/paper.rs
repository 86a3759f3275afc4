//! Load that follows from constants of the services and is not measured here: statements at the
//! store, and messages on the bus. Pure.

use serde::{Deserialize, Serialize};

/// Ticks of a zone in a second.
const TICKS: f64 = 1.0 / 0.6;
/// Renewals of a run in a second (`ownership/keeper.rs`).
const RENEWALS: f64 = 1.0;
/// Statements of a renewal: the lease, the state, the loads (`store/postgres/runs.rs`).
const RENEWAL_STATEMENTS: f64 = 3.0;
/// Looks of a run at the store for online characters and for agents, in a second.
const LOOKS: f64 = 2.0 / 5.0;
/// Looks of a persistence service at the two versions, in a second (`feed.rs`).
const VERSIONS: f64 = 2.0 * 4.0;
/// Attempts of a persistence service to lead, in a second (`placement/planner.rs`).
const LEADS: f64 = 5.0;
/// Statements of the planner's view, in each of its rounds; the transaction's begin and end count.
const VIEW_STATEMENTS: f64 = 5.0;
/// Seconds between two renewals of an entry of presence (`social/presence.rs`).
const PRESENCE_RENEW_S: f64 = 10.0;
/// Entries of a character's presence: its place, and the owner of its name.
const PRESENCE_ENTRIES: f64 = 2.0;
/// Seconds within which a gateway asks for each friend once (`PRESENCE_POLL_SECONDS`).
const PRESENCE_POLL_S: f64 = 60.0;

/// Habits of players as far as the bus hears them.
#[derive(Debug, Clone, Copy)]
pub struct Talk {
    /// Seconds between two lines of local chat of a player.
    pub local_s: f64,
    /// Friends of a player.
    pub friends: f64,
    /// Seconds that a player stays in the world.
    pub stay_s: f64,
    /// Messages of global chat that the world's budget lets pass, in a second.
    pub global: f64,
}

/// Messages a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Bus {
    /// Entries of presence that all gateways write.
    pub renewed: f64,
    /// Entries of friends that all gateways ask for.
    pub polled: f64,
    /// Deliveries of news of who came and went, to all gateways together.
    pub news: f64,
    /// Deliveries of local chat to all gateways together.
    pub local: f64,
    /// Deliveries of global chat to all gateways together.
    pub global: f64,
}

/// Returns the load of the bus. `listeners` is the mean number of gateways that listen to the region
/// of a player.
pub fn bus(players: f64, gateways: f64, listeners: f64, talk: Talk) -> Bus {
    Bus {
        renewed: players * PRESENCE_ENTRIES / PRESENCE_RENEW_S,
        polled: players * talk.friends / PRESENCE_POLL_S,
        news: 2.0 * players / talk.stay_s * gateways,
        local: players / talk.local_s * listeners,
        global: talk.global * gateways,
    }
}

/// Returns the statements a second at the store that do not depend on the number of players.
pub fn statements(zones: f64, services: f64) -> f64 {
    let runs = zones * (RENEWALS * RENEWAL_STATEMENTS + LOOKS);
    runs + services * (VERSIONS + LEADS) + LEADS * VIEW_STATEMENTS
}

/// Returns the batches a second of zones that all have something to save in each tick.
pub fn batches(zones: f64) -> f64 {
    zones * TICKS
}

#[cfg(test)]
mod tests {
    use super::*;

    const TALK: Talk = Talk {
        local_s: 60.0,
        friends: 20.0,
        stay_s: 3_600.0,
        global: 5.0,
    };

    #[test]
    fn the_bus_carries_news_to_every_gateway_and_chat_to_those_who_listen() {
        let bus = bus(3_600.0, 50.0, 2.0, TALK);
        let expected = Bus {
            renewed: 720.0,
            polled: 1_200.0,
            news: 100.0,
            local: 120.0,
            global: 250.0,
        };
        assert_eq!(bus, expected);
    }

    #[test]
    fn statements_grow_with_zones_and_with_services_alone() {
        let one = statements(1.0, 1.0);
        assert!((statements(101.0, 1.0) - one - 340.0).abs() < 1e-9);
        assert!((statements(1.0, 3.0) - one - 26.0).abs() < 1e-9);
        assert!((batches(60.0) - 100.0).abs() < 1e-9);
    }
}
