//! The address of a PostgreSQL database, and how far a connection to it is secured.
//!
//! Always: `sslmode` means what it means to libpq; an error never shows the address, which may hold
//! a password.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use service_runtime::any_name::AnyName;
use service_runtime::pem::{ClientTls, system_roots};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A connection, which somebody must drive.
pub(crate) type Connection =
    tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// How far a connection is secured: the values of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
enum SslMode {
    /// Never TLS.
    Disable,
    /// TLS if the server offers it; nobody checks its certificate.
    Prefer,
    /// TLS. A named CA must have signed the server's certificate; without one nobody checks it.
    Require,
    /// TLS, and a trusted CA has signed the server's certificate.
    VerifyCa,
    /// As [`SslMode::VerifyCa`], and the certificate names the host of the address.
    VerifyFull,
}

/// A database that can be connected to.
#[derive(Clone)]
pub struct Database {
    config: tokio_postgres::Config,
    mode: SslMode,
    tls: MakeRustlsConnect,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("sslmode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl Database {
    /// Reads an address and joins it with the files of the settings.
    ///
    /// # Errors
    /// A clause that follows the name of the setting, such as `names no host`.
    pub(crate) fn parse(text: &str, files: &ClientTls) -> Result<Self, String> {
        let Stripped { rest, taken } = strip(text)?;
        let mut mode = SslMode::Prefer;
        for (name, value) in taken {
            if name != "sslmode" {
                return Err(format!(
                    "must not have {name}: DATABASE_CA_FILE, DATABASE_CERT_FILE and \
                     DATABASE_KEY_FILE name such files"
                ));
            }
            mode = SslMode::from_str(&value).map_err(|_| {
                "has an unknown sslmode: it may be disable, prefer, require, verify-ca or \
                 verify-full"
                    .to_owned()
            })?;
        }
        if mode < SslMode::Require && files.named_roots().is_some() {
            return Err(
                "does not ask for a check of certificates, but DATABASE_CA_FILE is set: add \
                 sslmode=verify-full (or verify-ca, or require)"
                    .to_owned(),
            );
        }
        // The parser's own message could hold the password.
        let parsed = rest.parse::<tokio_postgres::Config>();
        let mut config = parsed.map_err(|_| "is no address of a PostgreSQL database".to_owned())?;
        if config.get_hosts().is_empty() {
            return Err("names no host".to_owned());
        }
        config.ssl_mode(match mode {
            SslMode::Disable => tokio_postgres::config::SslMode::Disable,
            SslMode::Prefer => tokio_postgres::config::SslMode::Prefer,
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => {
                tokio_postgres::config::SslMode::Require
            }
        });
        let tls = MakeRustlsConnect::new(client_config(mode, files)?);
        Ok(Self { config, mode, tls })
    }

    /// Returns the parameters of a connection.
    pub(crate) fn config(&self) -> &tokio_postgres::Config {
        &self.config
    }

    /// Returns the parameters of a connection, to change them.
    pub(crate) fn config_mut(&mut self) -> &mut tokio_postgres::Config {
        &mut self.config
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// If no host answers, the security cannot be had, or the server refuses.
    pub(crate) async fn connect(&self) -> Result<(Client, Connection), tokio_postgres::Error> {
        match self.config.connect(self.tls.clone()).await {
            // As libpq: whoever only prefers TLS goes on without it.
            Err(error) if self.mode == SslMode::Prefer && without_tls(&error) => {
                let mut plain = self.config.clone();
                plain.ssl_mode(tokio_postgres::config::SslMode::Disable);
                plain.connect(self.tls.clone()).await
            }
            answer => answer,
        }
    }
}

/// Returns whether a connection without TLS may succeed after this error.
fn without_tls(error: &tokio_postgres::Error) -> bool {
    let handshake = std::error::Error::source(error)
        .and_then(|cause| cause.downcast_ref::<std::io::Error>())
        .and_then(std::io::Error::get_ref)
        .is_some_and(|cause| cause.is::<rustls::Error>());
    handshake || error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

fn client_config(mode: SslMode, files: &ClientTls) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let broken = |error: rustls::Error| format!("cannot be reached by TLS ({error})");
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(broken)?
        .dangerous()
        .with_custom_certificate_verifier(verifier(mode, files, provider)?);
    let mut config = match files.identity() {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = identity.private_key().ok_or("lacks the client's key")?;
            let own = builder.with_client_auth_cert(identity.chain(), key);
            own.map_err(broken)?
        }
    };
    // For `sslnegotiation=direct`.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(config)
}

fn verifier(
    mode: SslMode,
    files: &ClientTls,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let named = files.named_roots();
    let roots = match (mode, named) {
        (SslMode::Disable | SslMode::Prefer, _) | (SslMode::Require, None) => None,
        (SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull, Some(roots)) => Some(roots),
        (SslMode::VerifyCa | SslMode::VerifyFull, None) => Some(system_roots()),
    };
    if roots.as_ref().is_some_and(|roots| roots.is_empty()) {
        return Err(
            "asks for a check of certificates, but this machine knows no CA: set \
                    DATABASE_CA_FILE"
                .to_owned(),
        );
    }
    Ok(match roots {
        Some(roots) if mode == SslMode::VerifyFull => {
            let full = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
            full.map_err(|error| format!("cannot be checked by its CA ({error})"))?
        }
        roots => Arc::new(AnyName { roots, provider }),
    })
}

/// An address without the parameters of TLS, and these with their values.
struct Stripped {
    rest: String,
    taken: Vec<(String, String)>,
}

/// Takes `sslmode` and the files of libpq out of an address, because the parser of `tokio-postgres`
/// does not know all their values.
fn strip(text: &str) -> Result<Stripped, String> {
    let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
    if is_url {
        Ok(strip_url(text))
    } else {
        strip_words(text).ok_or_else(|| "is no address of a PostgreSQL database".to_owned())
    }
}

fn is_ours(name: &str) -> bool {
    matches!(name, "sslmode" | "sslrootcert" | "sslcert" | "sslkey")
}

fn strip_url(text: &str) -> Stripped {
    // A password may hold a question mark; it ends at the first @.
    let host = text.find('@').unwrap_or_default();
    let Some(mark) = text[host..].find('?').map(|mark| mark + host) else {
        return Stripped {
            rest: text.to_owned(),
            taken: Vec::new(),
        };
    };
    let parameters = text[mark + 1..].split('&');
    let (taken, kept): (Vec<&str>, Vec<&str>) =
        parameters.partition(|one| is_ours(one.split('=').next().unwrap_or_default()));
    let mut rest = text[..mark].to_owned();
    if !kept.is_empty() {
        rest = format!("{rest}?{}", kept.join("&"));
    }
    let taken = taken.into_iter().map(|one| {
        let (name, value) = one.split_once('=').unwrap_or((one, ""));
        (name.to_owned(), value.to_owned())
    });
    Stripped {
        rest,
        taken: taken.collect(),
    }
}

/// Reads `name=value` words. A value may stand in single quotes, and a backslash takes the next
/// character as it is. Returns `None` for anything else.
fn strip_words(text: &str) -> Option<Stripped> {
    let mut stripped = Stripped {
        rest: String::new(),
        taken: Vec::new(),
    };
    let mut left = text.trim_start();
    while !left.is_empty() {
        let (name, after) = left.split_once('=')?;
        let after = after.trim_start();
        let (value, length) = word(after)?;
        let end = left.len() - after.len() + length;
        let name = name.trim_end();
        if is_ours(name) {
            stripped.taken.push((name.to_owned(), value));
        } else {
            stripped.rest.push_str(&left[..end]);
            stripped.rest.push(' ');
        }
        left = left[end..].trim_start();
    }
    Some(stripped)
}

/// Returns the value at the beginning of `text`, and the bytes that it takes there.
fn word(text: &str) -> Option<(String, usize)> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut characters = text.char_indices().skip(usize::from(quoted));
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.push(characters.next()?.1),
            '\'' if quoted => return Some((value, at + 1)),
            space if !quoted && space.is_whitespace() => return Some((value, at)),
            other => value.push(other),
        }
    }
    (!quoted).then_some((value, text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str) -> Result<SslMode, String> {
        Database::parse(text, &ClientTls::default()).map(|database| database.mode)
    }

    #[test]
    fn every_sslmode_is_read_from_both_forms_of_an_address() {
        for (value, known) in [
            ("disable", SslMode::Disable),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
        ] {
            let url = format!("postgres://me:a?b@host/game?connect_timeout=3&sslmode={value}");
            assert_eq!(mode(&url), Ok(known));
            let words = format!("host=there sslmode = '{value}' password='a b' user=me");
            assert_eq!(mode(&words), Ok(known));
        }
        assert_eq!(mode("postgres://host/game"), Ok(SslMode::Prefer));
        assert_eq!(SslMode::from_str("verify-ca"), Ok(SslMode::VerifyCa));
        assert_eq!(SslMode::from_str("verify-full"), Ok(SslMode::VerifyFull));
    }

    #[test]
    fn all_else_of_an_address_stays() {
        let url = "postgres://me:pass@host:6432/game?sslmode=require&connect_timeout=3";
        let words = r"host=host user='me' password='p\'s x' port=6432 sslmode=require dbname=game";
        for (text, password) in [(url, "pass"), (words, "p's x")] {
            let database = Database::parse(text, &ClientTls::default()).unwrap();
            let config = database.config();
            assert_eq!(config.get_ports(), [6432]);
            assert_eq!(config.get_dbname(), Some("game"));
            assert_eq!(config.get_user(), Some("me"));
            assert_eq!(config.get_password(), Some(password.as_bytes()));
        }
    }

    #[test]
    fn an_error_says_what_is_allowed_and_never_the_password() {
        for (text, words) in [
            ("postgres://me:hidden@host/g?sslmode=maybe", "verify-full"),
            ("postgres://me:hidden@host/g?sslmode=", "verify-full"),
            (
                "postgres://me:hidden@host/g?sslrootcert=/x",
                "DATABASE_CA_FILE",
            ),
            ("host=there password='hidden", "no address"),
            ("password=hidden", "names no host"),
            ("postgres://me:hidden@host:port/g", "no address"),
        ] {
            let said = mode(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
            assert!(!said.contains("hidden"), "{said}");
        }
    }
}
