//! The scenes of the benchmark.

use std::time::Duration;

use proto::client::Format;

use crate::load::Scenario;

/// Store of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// SQLite, and a bus within the gateway.
    Sqlite,
    /// PostgreSQL that writes through to the disk, and Redis.
    Postgres,
}

/// One scene.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    /// Its name.
    pub name: &'static str,
    /// Number of clients.
    pub players: usize,
    /// Behaviour of the clients.
    pub scenario: Scenario,
    /// Encoding of their messages.
    pub format: Format,
    /// Most players that each is shown.
    pub shown: Option<u16>,
    /// Time over which they connect.
    pub ramp: Duration,
    /// Time between that and the measured time.
    pub settle: Duration,
    /// The measured time.
    pub measured: Duration,
    /// The store.
    pub store: StoreKind,
    /// Whether they connect as soon as the gateway is ready, before zone servers play any region.
    pub cold: bool,
    /// Sockets beside the clients that do harm.
    pub hostile: usize,
    /// Whether a zone server is killed in the middle of the measured time.
    pub kill: bool,
}

const fn town(name: &'static str, players: usize, format: Format, shown: Option<u16>) -> Scene {
    Scene {
        name,
        players,
        scenario: Scenario::Steps,
        format,
        shown,
        ramp: Duration::from_millis(players as u64 * 12),
        settle: Duration::from_secs(30),
        measured: Duration::from_secs(40),
        store: StoreKind::Sqlite,
        cold: false,
        hostile: 0,
        kill: false,
    }
}

/// Time over which 12,000 connect of whom 600 a second shall arrive: 667 a second, so that the last
/// ones have time to.
const ENTER_RAMP: Duration = Duration::from_millis(18_000);

const fn storm(name: &'static str, players: usize, ramp: Duration, store: StoreKind) -> Scene {
    Scene {
        name,
        players,
        scenario: Scenario::Steps,
        format: Format::Compact,
        shown: Some(255),
        ramp,
        settle: Duration::ZERO,
        measured: Duration::from_secs(20),
        store,
        cold: false,
        hostile: 0,
        kill: false,
    }
}

/// All scenes, in the order in which they are played. The town is a square of 41 × 41 tiles around
/// where new characters stand, which lies across a border of two zones; each client takes one step
/// a second.
pub const SCENES: [Scene; 19] = [
    town("town-500", 500, Format::Compact, None),
    town("town-2000", 2_000, Format::Compact, None),
    Scene {
        // Until then many of those whom a client meets are strangers to it, who are named.
        settle: Duration::from_secs(180),
        ..town("town-2000-capped", 2_000, Format::Compact, Some(255))
    },
    town("town-3000-capped", 3_000, Format::Compact, Some(255)),
    town("town-5000", 5_000, Format::Compact, None),
    town("town-1000", 1_000, Format::Compact, None),
    Scene {
        hostile: 50,
        ..town("hostile-1000", 1_000, Format::Compact, None)
    },
    town("town-1000-msgpack", 1_000, Format::MessagePack, None),
    town("town-1000-json", 1_000, Format::Json, None),
    town("town-5000-msgpack", 5_000, Format::MessagePack, None),
    town("town-5000-json", 5_000, Format::Json, None),
    Scene {
        scenario: Scenario::Spread,
        settle: Duration::from_secs(90),
        ..town("spread-5000", 5_000, Format::Compact, None)
    },
    Scene {
        scenario: Scenario::Spread,
        settle: Duration::from_secs(90),
        ..town("spread-10000", 10_000, Format::Compact, None)
    },
    Scene {
        scenario: Scenario::Border,
        ..town("border-500", 500, Format::Compact, None)
    },
    Scene {
        scenario: Scenario::Border,
        ..town("border-2000", 2_000, Format::Compact, None)
    },
    Scene {
        kill: true,
        ..town("kill-1000", 1_000, Format::Compact, None)
    },
    storm("enter-sqlite", 12_000, ENTER_RAMP, StoreKind::Sqlite),
    storm("enter-postgres", 12_000, ENTER_RAMP, StoreKind::Postgres),
    Scene {
        cold: true,
        ..storm(
            "storm-postgres",
            5_000,
            Duration::from_secs(1),
            StoreKind::Postgres,
        )
    },
];
