//! Plans the settings of each service. Pure: it turns the arguments and the environment into one
//! environment for each service. It checks all of them before the launcher binds a port.

use std::{net::SocketAddr, path::PathBuf};

use service_runtime::{
    config::{ConfigError, Env, Reader},
    telemetry::TelemetryConfig,
};

use crate::arguments::Up;

/// Address that takes any free port.
const ANY_PORT: &str = "127.0.0.1:0";
/// Stands for the address of the persistence service until the launcher knows it.
const UNKNOWN: &str = "127.0.0.1:1";

/// The settings of all services.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) persistence: Env,
    pub(crate) zones: Vec<Env>,
    pub(crate) gateways: Vec<Env>,
    pub(crate) assets: Option<Assets>,
    /// Whether zone servers are processes that operators may break.
    pub(crate) chaos: bool,
    /// Folder of the world, if the world plays its own manifests.
    pub(crate) world: Option<PathBuf>,
}

/// The assets that the launcher serves itself.
#[derive(Debug)]
pub(crate) struct Assets {
    /// The world's folder.
    pub(crate) world: PathBuf,
    /// The port; 0: any that is free.
    pub(crate) port: u16,
}

impl Plan {
    /// Decides and checks all settings.
    pub(crate) fn new(up: &Up, process: &Env) -> Result<Self, ConfigError> {
        if process.get("NODE_ENV") == Some("production") {
            return Err(ConfigError::new(
                "this launcher is for local worlds: with NODE_ENV=production run the gateway, \
                 zone-server and persistence-svc binaries.",
            ));
        }
        if up.chaos && !cfg!(target_os = "linux") {
            return Err(ConfigError::new("--chaos needs Linux."));
        }
        let metrics = metrics_ports(process)?;
        let base = base(up, process);
        let port_of = |index: u16| match up.port {
            0 => Ok(0),
            first => first.checked_add(index).ok_or_else(|| {
                ConfigError::new(format!("there are no {} ports from {first} on.", index + 1))
            }),
        };
        let zones = (1..=up.zones).map(|n| with(&base, &[("METRICS_PORT", metrics(n))]));
        let gateways = (0..up.gateways)
            .map(|n| Ok(with(&base, &[("METRICS_PORT", 0), ("PORT", port_of(n)?)])));
        let plan = Self {
            persistence: with(&base, &[("METRICS_PORT", metrics(0))]),
            zones: zones.collect(),
            gateways: gateways.collect::<Result<_, ConfigError>>()?,
            assets: assets(up, process),
            chaos: up.chaos,
            world: world(process),
        };
        plan.check()?;
        Ok(plan)
    }

    /// Returns the table of every setting of every service.
    pub(crate) fn tables(&self) -> String {
        self.readers()
            .into_iter()
            .map(|(name, reader)| format!("{name}\n{}\n", reader.table()))
            .collect()
    }

    fn check(&self) -> Result<(), ConfigError> {
        for (name, reader) in self.readers() {
            reader
                .finish()
                .map_err(|error| ConfigError::new(format!("{name}: {error}")))?;
        }
        Ok(())
    }

    fn readers(&self) -> Vec<(String, Reader)> {
        let mut readers = Vec::new();
        let mut add = |name: String, env: &Env, read: fn(&mut Reader)| {
            let mut reader = Reader::new(env.clone());
            TelemetryConfig::read(&mut reader);
            read(&mut reader);
            readers.push((name, reader));
        };
        add("persistence-svc".to_owned(), &self.persistence, |reader| {
            persistence_svc::Config::read(reader);
        });
        for (index, env) in self.zones.iter().enumerate() {
            add(format!("zone-server {}", index + 1), env, |reader| {
                zone_server::Config::read(reader);
            });
        }
        for (index, env) in self.gateways.iter().enumerate() {
            add(format!("gateway {}", index + 1), env, |reader| {
                gateway::Config::read(reader);
            });
        }
        readers
    }
}

/// Returns `env` with the addresses of the persistence service and of the launcher's content
/// server.
pub(crate) fn joined(env: &Env, persistence: SocketAddr, assets: Option<SocketAddr>) -> Env {
    let mut env = env.clone();
    env.set("PERSISTENCE_ADDRESSES", persistence.to_string());
    if let Some(assets) = assets {
        let url = format!("http://localhost:{}", assets.port());
        env.set("PUBLIC_CDN_URL", url);
    }
    env
}

/// Returns the assets to serve; `None`: the settings name a content server.
fn assets(up: &Up, process: &Env) -> Option<Assets> {
    let mut reader = Reader::new(process.clone());
    let config = content_loader::Config::read(&mut reader);
    let port = match up.port {
        0 => 0,
        _ => up.cdn_port,
    };
    let world = config.world;
    config.cdn_url.is_none().then_some(Assets { world, port })
}

/// Returns the world's folder; `None`: no content comes from that folder.
fn world(process: &Env) -> Option<PathBuf> {
    let config = content_loader::Config::read(&mut Reader::new(process.clone()));
    (!config.skip && !config.all_from_cdn).then_some(config.world)
}

/// Returns the environment that all services share. An empty value unsets a variable.
fn base(up: &Up, process: &Env) -> Env {
    let mut env = process.clone();
    for name in [
        "DATABASE_URL",
        "DATABASE_URL_FILE",
        "REDIS_URL",
        "REDIS_URL_FILE",
    ] {
        env.set(name, "");
    }
    // Each gateway and zone must have its own value. The launcher itself gives out certificates.
    for name in [
        "CHAOS_SOCKET",
        "GATEWAY_ID",
        "ZONE_ADVERTISE",
        "INTERNAL_TLS",
        "INTERNAL_TLS_CA",
        "INTERNAL_TLS_CERT",
        "INTERNAL_TLS_KEY",
    ] {
        env.set(name, "");
    }
    if env.get("LOG_LEVEL").is_none() {
        env.set("LOG_LEVEL", "warn,tilestead=info");
    }
    // All zones start together here, so placement does not wait long for any.
    if env.get("PLACEMENT_SETTLE_MS").is_none() {
        env.set("PLACEMENT_SETTLE_MS", "600");
    }
    env.set("DATA_DIR", up.data.to_string_lossy());
    env.set("PERSISTENCE_LISTEN", ANY_PORT);
    env.set("PERSISTENCE_ADDRESSES", UNKNOWN);
    env.set("ZONE_LISTEN", ANY_PORT);
    env
}

/// Returns a function for the n-th service's metrics port: `METRICS_PORT` + n, or 0 (off) if that
/// is not set.
fn metrics_ports(process: &Env) -> Result<impl Fn(u16) -> u16, ConfigError> {
    let mut reader = Reader::new(process.clone());
    let first = reader.value("METRICS_PORT", 0_u16, "port");
    reader.finish()?;
    Ok(move |n| match first {
        0 => 0,
        first => first.saturating_add(n),
    })
}

fn with(base: &Env, ports: &[(&str, u16)]) -> Env {
    let mut env = base.clone();
    for (name, port) in ports {
        env.set(*name, port.to_string());
    }
    env
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn up(port: u16) -> Up {
        Up {
            zones: 3,
            gateways: 2,
            data: PathBuf::from("/the/data"),
            port,
            cdn_port: 8080,
            chaos: false,
            print_config: false,
        }
    }

    #[test]
    fn each_service_gets_its_own_settings() {
        let process = Env::from_pairs([
            ("DATABASE_URL", "postgres://elsewhere"),
            ("METRICS_PORT", "9000"),
            ("WORLD_SEED", "7"),
        ]);
        let plan = Plan::new(&up(6000), &process).unwrap();
        assert_eq!(plan.persistence.get("DATA_DIR"), Some("/the/data"));
        assert_eq!(plan.persistence.get("DATABASE_URL"), None);
        assert_eq!(plan.persistence.get("METRICS_PORT"), Some("9000"));
        let ports = |envs: &[Env], name: &str| -> Vec<String> {
            envs.iter()
                .map(|env| env.get(name).unwrap().to_owned())
                .collect()
        };
        assert_eq!(ports(&plan.zones, "METRICS_PORT"), ["9001", "9002", "9003"]);
        assert_eq!(ports(&plan.zones, "WORLD_SEED"), ["7", "7", "7"]);
        assert_eq!(ports(&plan.gateways, "PORT"), ["6000", "6001"]);
        assert_eq!(ports(&plan.gateways, "METRICS_PORT"), ["0", "0"]);
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let at = joined(&plan.zones[0], address(77), Some(address(88)));
        assert_eq!(at.get("PERSISTENCE_ADDRESSES"), Some("127.0.0.1:77"));
        assert_eq!(at.get("PUBLIC_CDN_URL"), Some("http://localhost:88"));
        let at = joined(&plan.zones[0], address(77), None);
        assert_eq!(at.get("PUBLIC_CDN_URL"), None);
    }

    #[test]
    fn assets_are_served_unless_somebody_else_does() {
        let port = |port, process: &Env| {
            let plan = Plan::new(&up(port), process).unwrap();
            plan.assets.map(|assets| assets.port)
        };
        assert_eq!(port(6000, &Env::default()), Some(8080));
        assert_eq!(port(0, &Env::default()), Some(0));
        let elsewhere = Env::from_pairs([("PUBLIC_CDN_URL", "https://cdn.example")]);
        assert_eq!(port(6000, &elsewhere), None);
    }

    #[test]
    fn a_wrong_setting_is_named_with_the_service_that_has_it() {
        let process = Env::from_pairs([("WALK_TILES_PER_TICK", "far")]);
        let sentence = Plan::new(&up(6000), &process).unwrap_err().to_string();
        assert!(sentence.starts_with("zone-server 1: "), "{sentence}");
        assert!(sentence.contains("WALK_TILES_PER_TICK"), "{sentence}");
    }

    #[test]
    fn ports_end_at_65535() {
        let nothing = Env::default();
        assert!(Plan::new(&up(65_534), &nothing).is_ok());
        assert!(Plan::new(&up(65_535), &nothing).is_err());
        let free = Plan::new(&up(0), &nothing).unwrap();
        assert_eq!(free.gateways[1].get("PORT"), Some("0"));
    }

    #[test]
    fn production_is_refused() {
        let process = Env::from_pairs([("NODE_ENV", "production")]);
        let sentence = Plan::new(&up(6000), &process).unwrap_err().to_string();
        assert!(sentence.contains("local worlds"), "{sentence}");
    }
}
