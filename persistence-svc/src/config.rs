//! The settings of the service.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use chassis::config::{Reader, Secret};

/// The settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where gRPC is served; port 0 takes a free one.
    pub listen: String,
    /// The port of `/livez`, `/readyz` and `/metrics`; 0: none.
    pub metrics_port: u16,
    /// Which store.
    pub store: StoreConfig,
    /// How long a run may live without renewing its lease.
    pub lease: Duration,
    /// How long the first placement waits after the newest registration.
    pub settle: Duration,
    /// Regions are moved to even out load.
    pub balance: bool,
    /// How overdue leases must be when half or more of all lapsed at once.
    pub mass_lapse: Duration,
}

/// Which store to use.
#[derive(Clone)]
pub enum StoreConfig {
    /// PostgreSQL.
    Postgres {
        /// How to reach it.
        url: Secret,
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
            StoreConfig::Sqlite { folder } => write!(f, "Sqlite({})", folder.display()),
        }
    }
}

impl Config {
    /// Reads all settings; what is wrong becomes a problem of the reader.
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
        let lease = millis(
            reader,
            "LEASE_MS",
            3_000,
            "how long a zone server lives without being heard",
        );
        if !(100..=60_000).contains(&lease.as_millis()) {
            reader.problem("LEASE_MS must be from 100 to 60000".to_owned());
        }
        let settle = millis(
            reader,
            "PLACEMENT_SETTLE_MS",
            1_500,
            "the first regions are given out this long after the newest zone server came",
        );
        // On one machine nothing lies between that could fail for many at once.
        let overdue = match store {
            StoreConfig::Postgres { .. } => 10_000,
            StoreConfig::Sqlite { .. } => 0,
        };
        let mass_lapse = millis(
            reader,
            "MASS_LAPSE_MS",
            overdue,
            "how overdue leases must be when half or more of all lapsed at once",
        );
        let help = "move regions between zone servers to even out their load";
        let balance = reader.flag("BALANCE_LOAD", true, help);
        Config {
            listen,
            metrics_port,
            store,
            lease,
            settle,
            mass_lapse,
            balance,
        }
    }
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn millis(reader: &mut Reader, name: &'static str, default: u64, help: &'static str) -> Duration {
    Duration::from_millis(reader.value(name, default, help))
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
    let production = reader.production();
    let Some(url) = url else {
        if production {
            reader.problem("DATABASE_URL is missing (it is required in production)".to_owned());
        }
        return StoreConfig::Sqlite {
            folder: PathBuf::from(folder),
        };
    };
    match url.expose().parse::<tokio_postgres::Config>() {
        // The parser's words could hold the password.
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
        Ok(_) => {}
    }
    StoreConfig::Postgres { url, connections }
}
