//! The address of a Redis, and how a connection to it is secured.
//!
//! Always: an error never shows the address, which may hold a password.

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

/// A Redis that can be connected to.
#[derive(Clone)]
pub(crate) struct RedisServer(Client);

impl fmt::Debug for RedisServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedisServer")
    }
}

impl RedisServer {
    /// Reads the settings of Redis; `None` without an address. Faults become problems of the
    /// reader.
    pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
        let url = reader.secret("REDIS_URL", "the bus between gateways; else in-process");
        let help = "password for REDIS_URL, if that has none";
        let password = reader.secret("REDIS_PASSWORD", help);
        let files = ClientTls::read(reader, FILES);
        let server = Self::new(url?.expose(), password.as_ref(), &files);
        server
            .map_err(|clause| reader.problem(format!("REDIS_URL {clause}")))
            .ok()
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
}
