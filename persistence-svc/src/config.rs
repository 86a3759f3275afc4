//! The settings of the service.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use service_runtime::config::{Environment, Reader, Secret, is_sample};

use crate::mutants::Mutants;
use crate::store::agents::Bounds;

/// The settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of gRPC; port 0 takes a free one.
    pub listen: String,
    /// The port of `/livez`, `/readyz` and `/metrics`; 0: none.
    pub metrics_port: u16,
    /// Store of the service.
    pub store: StoreConfig,
    /// Time for which a run may live without a renewal of its lease.
    pub lease: Duration,
    /// Time for which the first placement waits after the newest registration.
    pub settle: Duration,
    /// Whether placement moves regions to even out load.
    pub balance: bool,
    /// Time by which leases must be overdue when half or more of all lapsed at once.
    pub mass_lapse: Duration,
    /// Time between two refreshes of the hiscores.
    pub hiscores: Duration,
    /// Largest numbers of agents.
    pub(crate) agents: Bounds,
    /// Time after which an agent that nobody needed leaves the world; `None`: no agent leaves.
    pub(crate) agent_rest: Option<Duration>,
    /// Rules that the store breaks; only tests break any.
    pub mutants: Mutants,
}

/// Reads whether PostgreSQL runs in a container of this machine, its engine, and its port.
fn container(reader: &mut Reader, environment: Environment) -> (bool, Option<String>, u16) {
    const NAME: &str = "USE_LOCAL_POSTGRES";
    let help = "starts PostgreSQL in a container (docker or podman) where DATABASE_URL is not \
                set; in development only";
    let asked = reader.flag(NAME, false, help);
    if asked && environment != Environment::Development {
        let name = environment.name();
        reader.problem(format!(
            "{NAME} is for development, not for NODE_ENV={name}"
        ));
    }
    let help = "the program that starts it; else docker or podman";
    let engine = reader.optional("CONTAINER_ENGINE", help);
    let help = "the port of that PostgreSQL";
    let port = reader.within("LOCAL_POSTGRES_PORT", 5432_u16, 1..=u16::MAX, help);
    (asked, engine, port)
}

/// Choice of the store.
#[derive(Clone)]
pub enum StoreConfig {
    /// PostgreSQL.
    Postgres {
        /// Address of the database.
        url: Secret,
        /// The most connections that this process opens for calls.
        connections: usize,
    },
    /// PostgreSQL in a container of this machine. The service starts it if it does not run.
    Container {
        /// The program that starts it; none: docker, or else podman.
        engine: Option<String>,
        /// Port of the container on this machine.
        port: u16,
        /// The most connections that this process opens for calls.
        connections: usize,
    },
    /// SQLite.
    Sqlite {
        /// The folder with the database.
        folder: PathBuf,
    },
}

impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreConfig::Postgres { .. } => f.write_str("Postgres"),
            StoreConfig::Container { port, .. } => write!(f, "Container({port})"),
            StoreConfig::Sqlite { folder } => write!(f, "Sqlite({})", folder.display()),
        }
    }
}

impl Config {
    /// Reads all settings. Each error becomes a problem of the reader.
    pub fn read(reader: &mut Reader) -> Config {
        let listen = reader.value(
            "PERSISTENCE_LISTEN",
            "127.0.0.1:5600".to_owned(),
            "where the other services reach this one, host:port",
        );
        if !is_address(&listen) {
            reader.problem(format!(
                "PERSISTENCE_LISTEN must be host:port, not {listen:?}"
            ));
        }
        let metrics_port = reader.value(
            "METRICS_PORT",
            0,
            "port of /livez, /readyz and /metrics; 0: none",
        );
        let store = store(reader);
        let lease = "how long a zone server lives without being heard";
        let lease = millis(reader, "LEASE_MS", 3_000, 100..=60_000, lease);
        let settle = "the first regions are given out this long after the newest zone server came";
        let settle = millis(reader, "PLACEMENT_SETTLE_MS", 1_500, 0..=600_000, settle);
        // On one machine there is no network that could fail for many runs at once.
        let overdue = match store {
            StoreConfig::Postgres { .. } | StoreConfig::Container { .. } => 10_000,
            StoreConfig::Sqlite { .. } => 0,
        };
        let help = "how overdue leases must be when half or more of all lapsed at once";
        let mass_lapse = millis(reader, "MASS_LAPSE_MS", overdue, 0..=3_600_000, help);
        let help = "time between two refreshes of the hiscores";
        let hiscores = millis(reader, "HISCORES_REFRESH_MS", 60_000, 10..=3_600_000, help);
        let help = "move regions between zone servers to even out their load";
        let balance = reader.flag("BALANCE_LOAD", true, help);
        let (agents, agent_rest) = agents(reader);
        Config {
            listen,
            metrics_port,
            store,
            lease,
            settle,
            mass_lapse,
            balance,
            hiscores,
            agents,
            agent_rest,
            mutants: Mutants::default(),
        }
    }
}

/// Reads the bounds of agents, and the time after which they rest.
fn agents(reader: &mut Reader) -> (Bounds, Option<Duration>) {
    let help = "agents of one account";
    let account = reader.within("AGENTS_PER_ACCOUNT_MAX", 5, 0..=i64::MAX, help);
    let help = "agents that live in the world at the same time when nobody plays them";
    let world = reader.within("AGENTS_MAX", 1_000, 0..=i64::MAX, help);
    let help = "an agent leaves the world when its owner has not come into the world, ordered it or \
                spoken to it for so long; 0: none does";
    let rest: u64 = reader.within("AGENT_REST_SECONDS", 86_400, 0..=31_536_000, help);
    let rest = (rest > 0).then(|| Duration::from_secs(rest));
    (Bounds { account, world }, rest)
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn millis(
    reader: &mut Reader,
    name: &'static str,
    default: u64,
    range: RangeInclusive<u64>,
    help: &'static str,
) -> Duration {
    Duration::from_millis(reader.within(name, default, range, help))
}

/// Reports a well-known password in words (`password=…`). The reader itself sees only passwords in
/// addresses.
fn known_password(reader: &mut Reader, parsed: &tokio_postgres::Config) {
    let password = parsed.get_password().map(String::from_utf8_lossy);
    if password.is_some_and(|password| is_sample(&password)) {
        reader.problem("the password in DATABASE_URL is one that everybody knows".to_owned());
    }
}

fn store(reader: &mut Reader) -> StoreConfig {
    let url = reader.secret("DATABASE_URL", "postgres://…; none: SQLite in DATA_DIR");
    let folder = reader.value(
        "DATA_DIR",
        "data".to_owned(),
        "folder of the SQLite database, where DATABASE_URL is not set",
    );
    let connections = reader.value(
        "DATABASE_CONNECTIONS",
        16,
        "the most connections to PostgreSQL for calls",
    );
    if connections == 0 || connections > 1_000 {
        reader.problem("DATABASE_CONNECTIONS must be from 1 to 1000".to_owned());
    }
    let environment = reader.environment();
    let (container, engine, port) = container(reader, environment);
    let Some(url) = url else {
        if environment == Environment::Production {
            reader.problem("DATABASE_URL is missing (it is required in production)".to_owned());
        }
        if container {
            return StoreConfig::Container {
                engine,
                port,
                connections,
            };
        }
        return StoreConfig::Sqlite {
            folder: PathBuf::from(folder),
        };
    };
    match url.expose().parse::<tokio_postgres::Config>() {
        // The parser's own message could hold the password.
        Err(_) => reader.problem("DATABASE_URL is no address of a PostgreSQL database".to_owned()),
        Ok(parsed) if parsed.get_hosts().is_empty() => {
            reader.problem("DATABASE_URL names no host".to_owned());
        }
        Ok(parsed) if parsed.get_ssl_mode() == tokio_postgres::config::SslMode::Require => {
            reader.problem(
                "DATABASE_URL asks for TLS, which this build does not speak to PostgreSQL"
                    .to_owned(),
            );
        }
        Ok(parsed) if environment == Environment::Production => known_password(reader, &parsed),
        Ok(_) => {}
    }
    StoreConfig::Postgres { url, connections }
}
