//! The settings of a zone server.

use std::time::Duration;

use service_runtime::{
    config::Reader,
    rpc::{Names, Role, Trust},
};
use world::{Rules, time::TICK_MS};

use crate::mutants::Mutants;

/// The configuration of a zone server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Host and port on which the server listens; port 0 for any.
    pub listen: String,
    /// Host and port at which gateways and peers reach the server; `None`: the bound address.
    pub advertise: Option<String>,
    /// The persistence services.
    pub persistence: Names,
    /// Trust between this zone server and the other processes.
    pub trust: Trust,
    /// Port of `/livez`, `/readyz` and `/metrics`; 0: none.
    pub metrics_port: u16,
    /// Source of the content.
    pub content: content_loader::Config,
    /// Seed of the dice.
    pub seed: u64,
    /// Numbers of the rules.
    pub rules: Rules,
    /// Longest time between two saves of everything.
    pub save_interval: Duration,
    /// Time for which a character stays without a connection.
    pub linger: Duration,
    /// Shortest time for which a character stays that lost its connection in combat.
    pub linger_in_combat: Duration,
    /// Time in which a stopping run may give its regions away.
    pub drain: Duration,
    /// Ticks of published state that the run keeps for dumps.
    pub dump_ticks: usize,
    /// Folder for the records of runs that panic; `None`: no record is kept.
    pub replay_dir: Option<String>,
    /// Ticks from one picture of all regions to the next; only tests change it.
    pub replay_ticks: u64,
    /// Whether the run records the regions' hash after each tick; only tests change it.
    pub replay_checks: bool,
    /// Largest number of players that one run takes.
    pub players_max: usize,
    /// Time in which a tick may bring in regions before it leaves the rest to the next; only tests
    /// change it.
    pub regions_in_max: Duration,
    /// Time from one look at a region's state to the next; only tests change it.
    pub region_save_interval: Duration,
    /// Length of a tick in milliseconds; only tests change it.
    pub tick_ms: u64,
    /// Rules that the run breaks; only tests break any.
    pub mutants: Mutants,
}

impl Config {
    /// Reads the settings, and notes in the reader which of them are wrong.
    pub fn read(reader: &mut Reader) -> Config {
        let (listen, advertise) = where_reached(reader);
        let persistence = Names::read(reader);
        check_addresses(reader, "ZONE_LISTEN", [&listen]);
        check_addresses(reader, "ZONE_ADVERTISE", &advertise);
        let metrics_port = reader.value(
            "METRICS_PORT",
            0,
            "port of /livez, /readyz and /metrics; 0 is off",
        );
        let content = content_loader::Config::read(reader);
        let seed = reader.value("WORLD_SEED", 1, "seed of the dice");
        let rules = rules(reader);
        let save = "seconds between two full saves";
        let save = reader.within("SAVE_INTERVAL", 60_u64, 1..=HOUR_S, save);
        let linger = "seconds that a character stays without a connection";
        let linger = reader.within("LINGER_SECONDS", 60_u64, 0..=DAY_S, linger);
        let in_combat = "seconds that one stays that loses its connection while in combat";
        let in_combat = reader.within("LINGER_COMBAT_SECONDS", 180_u64, 0..=DAY_S, in_combat);
        let drain = "seconds that a zone which stops may take to give its regions to others";
        let drain = reader.within("DRAIN_SECONDS", 60_u64, 0..=HOUR_S, drain);
        let dump_ticks = reader.value("DUMP_TICKS", 0, "ticks that Inspect.Dump can show");
        let replay_dir = reader.optional(
            "REPLAY_DIR",
            "folder for the records of runs that panic; none are kept if not set",
        );
        Config {
            listen,
            advertise,
            persistence,
            trust: Trust::read(reader, Role::Zone),
            metrics_port,
            content,
            seed,
            rules,
            save_interval: Duration::from_secs(save),
            linger: Duration::from_secs(linger),
            linger_in_combat: Duration::from_secs(in_combat),
            drain: Duration::from_secs(drain),
            dump_ticks,
            replay_dir,
            replay_ticks: 100,
            replay_checks: false,
            players_max: 10_000,
            regions_in_max: Duration::from_millis(50),
            region_save_interval: REGION_SAVE_INTERVAL,
            tick_ms: TICK_MS,
            mutants: Mutants::default(),
        }
    }

    /// Returns a duration in ticks, at least one.
    pub(crate) fn ticks(&self, of: Duration) -> u64 {
        let ms = u64::try_from(of.as_millis()).unwrap_or(u64::MAX);
        (ms / self.tick_ms.max(1)).max(1)
    }
}

/// Time from one look at a region's state to the next.
const REGION_SAVE_INTERVAL: Duration = Duration::from_secs(30);
const HOUR_S: u64 = 60 * 60;
const DAY_S: u64 = 24 * HOUR_S;
/// 15 minutes.
const NEWCOMER_TICKS: u64 = 1_500;
/// A week.
const GROUND_TICKS_MAX: u64 = 1_008_000;

/// Reads the address on which the server listens, and the one at which others reach it.
fn where_reached(reader: &mut Reader) -> (String, Option<String>) {
    let listen = reader.value(
        "ZONE_LISTEN",
        "127.0.0.1:0".to_owned(),
        "where gateways and other zones connect",
    );
    let advertise = reader.optional(
        "ZONE_ADVERTISE",
        "host:port at which others reach this zone; the bound address if not set",
    );
    (listen, advertise)
}

fn rules(reader: &mut Reader) -> Rules {
    let defaults = Rules::default();
    let (walk, run) = ("walking speed", "running speed");
    let walk_tiles = tiles_per_tick(reader, "WALK_TILES_PER_TICK", defaults.walk_tiles, walk);
    let run_tiles = tiles_per_tick(reader, "RUN_TILES_PER_TICK", defaults.run_tiles, run);
    let own = "ticks of 600 ms for which only the dropper may take a dropped thing";
    let ground_own_ticks = reader.value("GROUND_OWN_TICKS", defaults.ground_own_ticks, own);
    let lies = "ticks of 600 ms after which a dropped thing is gone";
    let ground_ticks = reader.value("GROUND_TICKS", defaults.ground_ticks, lies);
    if ground_ticks < ground_own_ticks.max(1) || ground_ticks > GROUND_TICKS_MAX {
        reader.problem(format!(
            "GROUND_TICKS must be 1 to {GROUND_TICKS_MAX} and at least GROUND_OWN_TICKS"
        ));
    }
    let newcomer = "ticks of 600 ms for which a new character gives nothing to others, unless its \
                    total level is 40; 0: none";
    Rules {
        walk_tiles,
        run_tiles,
        ground_own_ticks,
        ground_ticks,
        newcomer_ticks: reader.value("NEWCOMER_TICKS", NEWCOMER_TICKS, newcomer),
        ..defaults
    }
}

fn check_addresses<'a>(
    reader: &mut Reader,
    name: &str,
    texts: impl IntoIterator<Item = &'a String>,
) {
    let fits = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok();
    for text in texts {
        if !text.rsplit_once(':').is_some_and(fits) {
            reader.problem(format!("{name} must be host:port, not {text:?}"));
        }
    }
}

/// Reads a speed from 1 to 8 tiles in a tick.
fn tiles_per_tick(
    reader: &mut Reader,
    name: &'static str,
    default: u32,
    help: &'static str,
) -> u32 {
    let value = reader.value(name, default, help);
    if value == 0 || value > 8 {
        reader.problem(format!("{name} must be 1 to 8"));
        return default;
    }
    value
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    #[test]
    fn defaults_are_those_of_the_specification() {
        let mut reader = Reader::new(Env::default());
        let config = Config::read(&mut reader);
        assert!(reader.finish().is_ok());
        assert_eq!(config.persistence.names, ["127.0.0.1:5600"]);
        assert_eq!(config.ticks(config.save_interval), 100);
        assert_eq!((config.rules.walk_tiles, config.rules.run_tiles), (2, 4));
    }

    #[test]
    fn absurd_times_are_refused_with_what_is_allowed() {
        for (name, value, allowed) in [
            ("SAVE_INTERVAL", "0", "1 to 3600"),
            ("SAVE_INTERVAL", "3601", "1 to 3600"),
            ("LINGER_SECONDS", "18446744073709551615", "0 to 86400"),
            ("DRAIN_SECONDS", "3601", "0 to 3600"),
        ] {
            let mut reader = Reader::new(Env::from_pairs([(name, value)]));
            Config::read(&mut reader);
            let sentence = reader.finish().unwrap_err().to_string();
            let said = format!("{name} must be {allowed}, not {value}");
            assert!(sentence.contains(&said), "{sentence}");
        }
    }

    #[test]
    fn a_speed_of_zero_is_a_problem() {
        let env = Env::from_pairs([("WALK_TILES_PER_TICK", "0"), ("PERSISTENCE_ADDRESSES", ",")]);
        let mut reader = Reader::new(env);
        Config::read(&mut reader);
        let sentence = reader.finish().unwrap_err().to_string();
        assert!(sentence.contains("WALK_TILES_PER_TICK"), "{sentence}");
        assert!(sentence.contains("PERSISTENCE_ADDRESSES"), "{sentence}");
    }
}
