//! The settings of the service.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use service_runtime::config::{Environment, Reader, Secret, is_sample};
use service_runtime::pem::{ClientTls, FileNames};
use service_runtime::rpc::{Role, Trust};

use crate::container;
use crate::database::Database;
use crate::mutants::Mutants;
use crate::store::agents::Bounds;

/// The settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address of gRPC; port 0 takes a free one.
    pub listen: String,
    /// Trust between this service and the other processes.
    pub trust: Trust,
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
    /// Whether placement prefers one owner for all regions of a town.
    pub towns: bool,
    /// Time by which leases must be overdue when half or more of all lapsed at once.
    pub mass_lapse: Duration,
    /// Time between two refreshes of the hiscores.
    pub hiscores: Duration,
    /// Largest numbers of agents.
    pub(crate) agents: Bounds,
    /// Time after which an agent that nobody needed leaves the world; `None`: no agent leaves.
    pub(crate) agent_rest: Option<Duration>,
    /// Time away after which a guest who played expires; `None`: never.
    pub(crate) guests: Option<Duration>,
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
    Postgres(PostgresConfig),
    /// PostgreSQL in a container of this machine. The service starts it if it does not run.
    Container {
        /// The program that starts it; none: docker, or else podman.
        engine: Option<String>,
        /// Port of the container on this machine.
        port: u16,
        /// The database in it.
        postgres: PostgresConfig,
    },
    /// SQLite.
    Sqlite {
        /// The folder with the database.
        folder: PathBuf,
    },
}

/// PostgreSQL as the store.
#[derive(Debug, Clone)]
pub struct PostgresConfig {
    /// Database for calls.
    pub(crate) database: Database,
    /// Whether a pooler stands before it that gives each transaction another connection.
    pub(crate) pooler: bool,
    /// The same database without the pooler, for notifications.
    pub(crate) direct: Option<Database>,
    /// The most connections that this process opens for calls.
    pub(crate) connections: usize,
}

#[cfg(test)]
impl PostgresConfig {
    /// Makes the settings of a database without a pooler.
    pub(crate) fn plain(url: &str, connections: usize) -> PostgresConfig {
        PostgresConfig {
            database: Database::parse(url, &ClientTls::default()).unwrap(),
            pooler: false,
            direct: None,
            connections,
        }
    }
}

impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreConfig::Postgres(_) => f.write_str("Postgres"),
            StoreConfig::Container { port, .. } => write!(f, "Container({port})"),
            StoreConfig::Sqlite { folder } => write!(f, "Sqlite({})", folder.display()),
        }
    }
}

impl Config {
    /// Reads all settings. Each error becomes a problem of the reader.
    pub fn read(reader: &mut Reader) -> Config {
        let trust = Trust::read(reader, Role::Persistence);
        Config {
            trust,
            ..Self::of_command(reader)
        }
    }

    /// Reads the settings of an operator's command, which talks to the store alone.
    pub fn of_command(reader: &mut Reader) -> Config {
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
            StoreConfig::Postgres(_) | StoreConfig::Container { .. } => 10_000,
            StoreConfig::Sqlite { .. } => 0,
        };
        let help = "how overdue leases must be when half or more of all lapsed at once";
        let mass_lapse = millis(reader, "MASS_LAPSE_MS", overdue, 0..=3_600_000, help);
        let help = "time between two refreshes of the hiscores";
        let hiscores = millis(reader, "HISCORES_REFRESH_MS", 60_000, 10..=3_600_000, help);
        let help = "move regions between zone servers to even out their load";
        let balance = reader.flag("BALANCE_LOAD", true, help);
        let help = "prefer one zone server for all regions of a town";
        let towns = reader.flag("KEEP_TOWNS", true, help);
        let (agents, agent_rest) = agents(reader);
        let help =
            "a guest, whom only a device key knows, expires after so many days away; 0: never";
        let guests: u64 = reader.within("GUEST_DAYS", 90, 0..=36_500, help);
        let guests = (guests > 0).then(|| Duration::from_secs(guests * 86_400));
        Config {
            listen,
            trust: Trust::none(),
            metrics_port,
            store,
            lease,
            settle,
            mass_lapse,
            balance,
            towns,
            hiscores,
            agents,
            agent_rest,
            guests,
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

/// Settings of the files for TLS to PostgreSQL.
const FILES: FileNames = FileNames {
    ca: "DATABASE_CA_FILE",
    cert: "DATABASE_CERT_FILE",
    key: "DATABASE_KEY_FILE",
};

/// Reads the address of a database, in words or as a URL. It is no problem if none is set.
fn database(
    reader: &mut Reader,
    name: &'static str,
    help: &'static str,
    files: &ClientTls,
    password: Option<&Secret>,
) -> Option<Database> {
    let url = reader.secret(name, help)?;
    match Database::parse(url.expose(), files) {
        Err(clause) => {
            reader.problem(format!("{name} {clause}"));
            None
        }
        Ok(mut database) => {
            let given = database.config().get_password();
            let given = given.map(|given| String::from_utf8_lossy(given).into_owned());
            // The reader itself sees only passwords in addresses.
            if reader.production() && given.as_deref().is_some_and(is_sample) {
                reader.problem(format!(
                    "the password in {name} is one that everybody knows"
                ));
            }
            match (given, password) {
                (Some(_), Some(_)) => reader.problem(format!(
                    "only one of {name} and DATABASE_PASSWORD may hold the password"
                )),
                (None, Some(password)) => {
                    database.config_mut().password(password.expose());
                }
                (_, None) => {}
            }
            Some(database)
        }
    }
}

/// Reads whether a pooler stands before the database.
fn pooler(reader: &mut Reader) -> bool {
    const NAME: &str = "DATABASE_POOLER";
    let help = "transaction: DATABASE_URL is a pooler that gives each transaction another \
                connection, as PgBouncer; none: no pooler";
    let text = reader.value(NAME, "none".to_owned(), help);
    if !matches!(text.as_str(), "none" | "transaction") {
        reader.problem(format!("{NAME} must be none or transaction, not {text:?}"));
    }
    text == "transaction"
}

/// Reads all settings of PostgreSQL; `None` without an address.
fn postgres(reader: &mut Reader) -> (Option<PostgresConfig>, usize) {
    let password = reader.secret(
        "DATABASE_PASSWORD",
        "password for DATABASE_URL, if that has none",
    );
    let files = ClientTls::read(reader, FILES);
    let password = password.as_ref();
    let help = "postgres://…; none: SQLite in DATA_DIR";
    let found = database(reader, "DATABASE_URL", help, &files, password);
    let pooler = pooler(reader);
    let help = "the database without the pooler, to hear of changes at once; else it is asked \
                every 250 ms";
    let direct = database(reader, "DATABASE_DIRECT_URL", help, &files, password);
    let connections = reader.within(
        "DATABASE_CONNECTIONS",
        16_usize,
        1..=1_000,
        "the most connections to PostgreSQL for calls",
    );
    let options = |database: &Database| database.config().get_options().is_some();
    if pooler && found.as_ref().is_some_and(options) {
        let clause = "DATABASE_URL must not have options with DATABASE_POOLER=transaction";
        reader.problem(clause.to_owned());
    }
    let config = found.map(|database| PostgresConfig {
        database,
        pooler,
        direct,
        connections,
    });
    (config, connections)
}

fn store(reader: &mut Reader) -> StoreConfig {
    let asked = reader.is_set("DATABASE_URL");
    let (postgres, connections) = postgres(reader);
    let folder = reader.value(
        "DATA_DIR",
        "data".to_owned(),
        "folder of the SQLite database, where DATABASE_URL is not set",
    );
    let environment = reader.environment();
    let (container, engine, port) = container(reader, environment);
    if let Some(postgres) = postgres {
        return StoreConfig::Postgres(postgres);
    }
    if !asked && environment == Environment::Production {
        reader.problem("DATABASE_URL is missing (it is required in production)".to_owned());
    }
    if container && let Some(postgres) = container::config(port, connections) {
        return StoreConfig::Container {
            engine,
            port,
            postgres,
        };
    }
    StoreConfig::Sqlite {
        folder: PathBuf::from(folder),
    }
}
