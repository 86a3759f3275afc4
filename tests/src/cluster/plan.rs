//! The parts of a cluster, and the settings that tests change.

use std::path::PathBuf;

/// Parts of a cluster.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Names the folder of its logs.
    pub name: &'static str,
    /// Gateways.
    pub gateways: usize,
    /// Zone servers.
    pub zones: usize,
    /// Persistence services.
    pub persistence: usize,
    /// Rate limits are in force.
    pub rate_limits: bool,
    /// Ticks that zones remember for dumps.
    pub dump_ticks: u32,
    /// A PostgreSQL server of its own, which may be killed, and a proxy on every way between
    /// processes that may be cut.
    pub breakable: bool,
    /// The services run in production: PostgreSQL only by TLS and through PgBouncer, Redis only by
    /// TLS, rate limits. Clients name their addresses by `X-Forwarded-For`.
    pub production: bool,
    /// All persistence services have one port and one name, which stands for so many of them at
    /// first; see [`Cluster::name`].
    pub one_name: Option<usize>,
    /// Regions move between zone servers to even out their load; without it, tests know who owns
    /// what.
    pub balance: bool,
    /// Whether the planner prefers one owner for a town. Without that, borders lie near the spawn.
    pub towns: bool,
    /// No other cluster runs meanwhile: this one loads the machine, or is measured.
    pub alone: bool,
    /// The addresses of the database and of Redis stand in files.
    pub secret_files: bool,
    /// Settings of a PostgreSQL server of its own, each as `name=value`; empty: it needs none.
    pub postgres: Vec<&'static str>,
    /// PostgreSQL archives its log, so that it can be restored.
    pub archive: bool,
    /// Folder of the services' binaries at first; none: those of this build.
    pub binaries: Option<PathBuf>,
    /// Further variables of every service.
    pub env: Vec<(String, String)>,
}

impl Plan {
    /// Returns the plan of one gateway, two zones, one persistence service, and no rate limits.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            gateways: 1,
            zones: 2,
            persistence: 1,
            rate_limits: false,
            dump_ticks: 0,
            breakable: false,
            production: false,
            one_name: None,
            balance: false,
            towns: false,
            alone: false,
            secret_files: false,
            postgres: Vec::new(),
            archive: false,
            binaries: None,
            env: Vec::new(),
        }
    }

    /// Sets the number of services of each kind.
    #[must_use]
    pub fn of(mut self, gateways: usize, zones: usize, persistence: usize) -> Self {
        (self.gateways, self.zones, self.persistence) = (gateways, zones, persistence);
        self
    }

    /// Adds a variable of every service.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Kind of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `persistence-svc`
    Persistence,
    /// `zone-server`
    Zone,
    /// `gateway`
    Gateway,
}

impl Kind {
    /// Returns the binary's name.
    pub const fn binary(self) -> &'static str {
        match self {
            Self::Persistence => "persistence-svc",
            Self::Zone => "zone-server",
            Self::Gateway => "gateway",
        }
    }
}

/// A service of a cluster: which kind, and its number from 0.
pub type Member = (Kind, usize);
