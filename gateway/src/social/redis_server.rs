//! The address of a Redis or of the nodes of a Redis Cluster, and how connections are secured.
//!
//! Always: an error never shows the address, which may hold a password. All nodes of a cluster have
//! the same user, password and certificates.

use std::fmt;

use redis::{
    Client, ClientTlsConfig, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion,
    TlsCertificates, io::tcp::TcpSettings,
};
use service_runtime::{
    config::{Reader, Secret},
    pem::{ClientTls, FileNames},
};

/// Settings of the files for TLS to Redis.
const FILES: FileNames = FileNames {
    ca: "REDIS_CA_FILE",
    cert: "REDIS_CERT_FILE",
    key: "REDIS_KEY_FILE",
};

/// The Redis of the settings.
#[derive(Debug, Clone)]
pub(crate) enum RedisPlace {
    Server(RedisServer),
    Cluster(RedisSeeds),
}

/// A Redis that can be connected to.
#[derive(Clone)]
pub(crate) struct RedisServer(Client);

/// Nodes of a cluster that name all others.
#[derive(Debug, Clone)]
pub(crate) struct RedisSeeds {
    first: RedisServer,
    others: Vec<RedisServer>,
}

/// Host and port of a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl fmt::Debug for RedisServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedisServer")
    }
}

impl RedisPlace {
    /// Reads the settings of Redis; `None` without an address. Faults become problems of the
    /// reader.
    pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
        let url = reader.secret("REDIS_URL", "the bus between gateways; else in-process");
        let help = "password for REDIS_URL, if that has none";
        let password = reader.secret("REDIS_PASSWORD", help);
        let help = "REDIS_URL names nodes of a Redis Cluster, comma separated";
        let cluster = reader.flag("REDIS_CLUSTER", false, help);
        let files = ClientTls::read(reader, FILES);
        let Some(url) = url else {
            if cluster {
                reader.problem("REDIS_CLUSTER needs REDIS_URL: a node of the cluster".to_owned());
            }
            return None;
        };
        let place = if cluster {
            RedisSeeds::new(url.expose(), password.as_ref(), &files).map(Self::Cluster)
        } else {
            RedisServer::new(url.expose(), password.as_ref(), &files).map(Self::Server)
        };
        place
            .map_err(|clause| reader.problem(format!("REDIS_URL {clause}")))
            .ok()
    }
}

impl RedisSeeds {
    /// Joins the addresses of some nodes with a password and files.
    ///
    /// # Errors
    /// A clause that follows `REDIS_URL`.
    pub(crate) fn new(
        urls: &str,
        password: Option<&Secret>,
        files: &ClientTls,
    ) -> Result<Self, &'static str> {
        let servers = urls.split(',').map(str::trim);
        let servers = servers.map(|url| RedisServer::new(url, password, files));
        let mut servers = servers.collect::<Result<Vec<_>, _>>()?.into_iter();
        let first = servers.next().ok_or("names no node")?;
        let others: Vec<RedisServer> = servers.collect();
        let secured = |server: &RedisServer| {
            let info = server.0.get_connection_info();
            let user = info.redis_settings();
            let tls = matches!(info.addr(), ConnectionAddr::TcpTls { .. });
            let user = (
                user.username().map(str::to_owned),
                user.password().map(str::to_owned),
            );
            (tls, user)
        };
        for server in [&first].into_iter().chain(&others) {
            if server.address().is_none() {
                return Err("must name nodes of the cluster by host and port");
            }
            if server.0.get_connection_info().redis_settings().db() != 0 {
                return Err("must name no database: a cluster has only one");
            }
            if secured(server) != secured(&first) {
                return Err("must have the same user, password and TLS for each node");
            }
        }
        Ok(Self { first, others })
    }

    /// Returns the nodes that the settings name.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &RedisServer> {
        [&self.first].into_iter().chain(&self.others)
    }

    /// Returns another node of the same cluster; `None` if nothing can be there.
    pub(crate) fn node(&self, at: &NodeAddress) -> Option<RedisServer> {
        let info = self.first.0.get_connection_info().clone();
        let (host, port) = (at.host.clone(), at.port);
        let addr = match info.addr().clone() {
            ConnectionAddr::TcpTls {
                insecure,
                tls_params,
                ..
            } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure,
                tls_params,
            },
            ConnectionAddr::Tcp(..) => ConnectionAddr::Tcp(host, port),
            _ => return None,
        };
        Client::open(info.set_addr(addr)).map(RedisServer).ok()
    }
}

impl RedisServer {
    /// Returns host and port; `None` for a socket of this machine.
    pub(crate) fn address(&self) -> Option<NodeAddress> {
        match self.0.get_connection_info().addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                Some(NodeAddress {
                    host: host.clone(),
                    port: *port,
                })
            }
            _ => None,
        }
    }

    /// Joins an address with a password and files.
    ///
    /// # Errors
    /// A clause that follows `REDIS_URL`.
    pub(crate) fn new(
        url: &str,
        password: Option<&Secret>,
        files: &ClientTls,
    ) -> Result<Self, &'static str> {
        let mut address = address(url)?;
        if let Some(password) = password {
            let settings = address.redis_settings().clone();
            if settings.password().is_some() {
                return Err("has a password, and REDIS_PASSWORD is set too: only one may be");
            }
            address = address.set_redis_settings(settings.set_password(password.expose()));
        }
        // Small messages do not wait for each other, and the kernel notices a host that vanished.
        let tcp = TcpSettings::default()
            .set_nodelay(true)
            .set_user_timeout(super::redis_bus::SILENCE_MAX);
        let address = address.set_tcp_settings(tcp);
        let broken = "is no address of a Redis";
        if !is_tls(&address)? {
            if files.is_set() {
                return Err("must begin with rediss:// where a file for TLS is set");
            }
            return Client::open(address).map(Self).map_err(|_| broken);
        }
        service_runtime::run::install_crypto();
        let client_tls = files.identity().map(|own| ClientTlsConfig {
            client_cert: own.cert.clone(),
            client_key: own.key.clone(),
        });
        let root_cert = files.ca_pem().map(<[u8]>::to_vec);
        let certificates = TlsCertificates {
            client_tls,
            root_cert,
        };
        let client = Client::build_with_tls(address, certificates);
        client.map(Self).map_err(|_| broken)
    }

    /// Returns the client, which connects when somebody asks.
    pub(crate) fn client(&self) -> Client {
        self.0.clone()
    }
}

/// Returns whether the address asks for TLS.
fn is_tls(address: &ConnectionInfo) -> Result<bool, &'static str> {
    match address.addr() {
        ConnectionAddr::TcpTls { insecure: true, .. } => {
            Err("must not end with #insecure: name the server's CA in REDIS_CA_FILE")
        }
        ConnectionAddr::TcpTls { .. } => Ok(true),
        _ => Ok(false),
    }
}

/// Reads the address of Redis. The error names the fault without the text, which may hold a
/// password.
fn address(url: &str) -> Result<ConnectionInfo, &'static str> {
    let address = resp3(url).into_connection_info();
    let address = address.map_err(|_| "is no address of a Redis")?;
    match address.redis_settings().protocol() {
        ProtocolVersion::RESP3 => Ok(address),
        _ => Err("must not ask for another protocol than resp3"),
    }
}

/// Returns the address with RESP3; without it the gateway hears nothing.
fn resp3(url: &str) -> String {
    if url.contains("protocol=") {
        return url.to_owned();
    }
    let mark = if url.contains('?') { '&' } else { '?' };
    // An address without a database needs its slash before the question mark.
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let slash = if mark == '?' && !authority.contains('/') {
        "/"
    } else {
        ""
    };
    format!("{url}{slash}{mark}protocol=resp3")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_asks_for_resp3() {
        for (given, used) in [
            ("redis://h:1", "redis://h:1/?protocol=resp3"),
            ("redis://h/2", "redis://h/2?protocol=resp3"),
            (
                "redis+unix:///tmp/r.sock",
                "redis+unix:///tmp/r.sock?protocol=resp3",
            ),
            (
                "redis+unix:///r?db=1",
                "redis+unix:///r?db=1&protocol=resp3",
            ),
            ("redis://h/?protocol=resp3", "redis://h/?protocol=resp3"),
        ] {
            assert_eq!(resp3(given), used);
            assert!(Client::open(used).is_ok(), "{used}");
        }
    }

    #[test]
    fn nodes_of_a_cluster_have_hosts_one_user_and_no_database() {
        let seeds = |urls| RedisSeeds::new(urls, None, &ClientTls::default());
        let two = seeds("redis://u:p@a:1, redis://u:p@b").unwrap();
        let ports: Vec<_> = two.servers().filter_map(RedisServer::address).collect();
        let at = |host: &str, port| NodeAddress {
            host: host.to_owned(),
            port,
        };
        assert_eq!(ports, [at("a", 1), at("b", 6379)]);
        let other = two.node(&at("c", 3)).unwrap();
        assert_eq!(other.address(), Some(at("c", 3)));
        let settings = other.0.get_connection_info().redis_settings();
        assert_eq!(
            (settings.username(), settings.password()),
            (Some("u"), Some("p"))
        );
        for (urls, clause) in [
            ("redis://a,", "is no address"),
            ("redis://a/1", "database"),
            ("redis+unix:///tmp/r.sock", "host and port"),
            ("redis://u:p@a,redis://u:q@b", "the same user"),
            ("redis://a,rediss://b", "the same user"),
        ] {
            let refused = seeds(urls).unwrap_err();
            assert!(refused.contains(clause), "{urls}: {refused}");
        }
    }
}
