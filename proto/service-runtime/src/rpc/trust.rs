//! Whom a process trusts, and as whom it appears: mutual TLS between the processes, or none.
//!
//! Always: in production a process has certificates, or an operator said that something else
//! protects its connections. When the files change, new connections use the new ones and open
//! connections stay. Files that cannot be used change nothing.

use std::{
    io::{Error, ErrorKind},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context;
use arc_swap::ArcSwap;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, TlsStream};
use tokio_util::either::Either;

use super::{
    identity::{Identity, NoIdentity, Role},
    tls::{Material, Pem},
};
use crate::config::Reader;

/// Pause between two looks at the files.
pub const RELOAD: Duration = Duration::from_secs(2);
/// Time for a TCP connection, by address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time for a TLS handshake.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection, encrypted or not.
pub(super) type Connection = Either<TcpStream, TlsStream<TcpStream>>;

/// Trust of one process. Clones share it, also when its files change.
#[derive(Clone, Default)]
pub struct Trust(Option<Arc<Shared>>);

struct Shared {
    identity: Identity,
    files: Option<Files>,
    /// Texts of the last attempt, whether they could be used or not.
    seen: Mutex<Option<Pem>>,
    now: ArcSwap<Material>,
}

/// Paths of the PEM files.
#[derive(Debug, Clone)]
struct Files {
    authorities: String,
    certificate: String,
    key: String,
}

impl Files {
    fn read(&self) -> anyhow::Result<Pem> {
        let text = |path: &str| std::fs::read_to_string(path).with_context(|| path.to_owned());
        Ok(Pem {
            authorities: text(&self.authorities)?,
            certificate: text(&self.certificate)?,
            key: text(&self.key)?,
        })
    }
}

impl Trust {
    /// Returns the trust of a process without TLS: it believes everybody who reaches it.
    pub fn none() -> Self {
        Self(None)
    }

    /// Builds the trust of texts that never change.
    ///
    /// # Errors
    /// If the texts cannot be used; see [`Pem`].
    pub fn of(pem: &Pem) -> anyhow::Result<Self> {
        Self::built(pem, None)
    }

    fn built(pem: &Pem, files: Option<Files>) -> anyhow::Result<Self> {
        let material = Material::new(pem)?;
        Ok(Self(Some(Arc::new(Shared {
            identity: material.identity.clone(),
            files,
            seen: Mutex::new(Some(pem.clone())),
            now: ArcSwap::from_pointee(material),
        }))))
    }

    /// Reads `INTERNAL_TLS` and the files that it needs, for a process of `role`.
    pub fn read(reader: &mut Reader, role: Role) -> Self {
        let production = reader.production();
        let mode = reader.value(
            "INTERNAL_TLS",
            "auto".to_owned(),
            "TLS between the processes: on, off (a service mesh does it), or auto (with files: on)",
        );
        let files = read_files(reader);
        let wanted = match mode.as_str() {
            "on" => true,
            "off" => return Self::none(),
            "auto" => production || files.iter().any(Option::is_some),
            _ => {
                reader.problem("INTERNAL_TLS must be auto, on or off".to_owned());
                return Self::none();
            }
        };
        match files {
            [Some(authorities), Some(certificate), Some(key)] => {
                let files = Files {
                    authorities,
                    certificate,
                    key,
                };
                Self::open(files, role).unwrap_or_else(|error| {
                    reader.problem(format!("INTERNAL_TLS cannot use its files: {error:#}"));
                    Self::none()
                })
            }
            _ if wanted => {
                reader.problem(
                    "INTERNAL_TLS_CA, INTERNAL_TLS_CERT and INTERNAL_TLS_KEY must name the files \
                     of TLS between the processes, unless a service mesh does it \
                     (INTERNAL_TLS=off)"
                        .to_owned(),
                );
                Self::none()
            }
            _ => Self::none(),
        }
    }

    fn open(files: Files, role: Role) -> anyhow::Result<Self> {
        let trust = Self::built(&files.read()?, Some(files))?;
        let identity = trust.identity().context("no identity")?;
        anyhow::ensure!(
            identity.role == role,
            "the certificate is that of {identity}, and this process is a {role}"
        );
        Ok(trust)
    }

    /// Returns the own identity; `None`: without TLS.
    pub fn identity(&self) -> Option<&Identity> {
        self.0.as_ref().map(|shared| &shared.identity)
    }

    /// Looks at the files again and again, for ever. The process takes changed ones for new
    /// connections.
    pub async fn follow(self) {
        let Some(shared) = self.0 else {
            tracing::warn!("connections between the processes are not encrypted (INTERNAL_TLS)");
            return;
        };
        let Some(files) = shared.files.clone() else {
            return;
        };
        loop {
            tokio::time::sleep(RELOAD).await;
            let files = files.clone();
            let read = tokio::task::spawn_blocking(move || files.read()).await;
            let Ok(read) = read else { continue };
            match shared.renew(read) {
                Ok(true) => tracing::info!("new certificates: they count for new connections"),
                Ok(false) => {}
                Err(error) => tracing::error!(
                    error = format!("{error:#}"),
                    "the certificates cannot be used: those before stay"
                ),
            }
        }
    }

    /// Opens a connection to a process of `role` at `authority` (host:port).
    pub(super) async fn connect(&self, role: Role, authority: &str) -> Result<Connection, Error> {
        let stream = dial(authority).await?;
        stream.set_nodelay(true)?;
        let Some(shared) = &self.0 else {
            return Ok(Either::Left(stream));
        };
        let connector = shared.now.load().connector.clone();
        // The name is not compared, and not sent either.
        let name = ServerName::try_from("tilestead").map_err(Error::other)?;
        let opening = timeout(HANDSHAKE_TIMEOUT, connector.connect(name, stream));
        let stream = TlsStream::Client(opening.await??);
        let server = certificate(&stream).ok_or(NoIdentity::Missing);
        let server = server.and_then(Identity::of).map_err(Error::other)?;
        if server.role != role {
            let why = format!("{authority} is {server}, and not a {role}");
            return Err(Error::new(ErrorKind::PermissionDenied, why));
        }
        Ok(Either::Right(stream))
    }

    /// Returns the side of TLS that takes connections; `None`: without TLS.
    pub(super) fn acceptor(&self) -> Option<TlsAcceptor> {
        Some(self.0.as_ref()?.now.load().acceptor.clone())
    }
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Trust").field(&self.identity()).finish()
    }
}

impl Shared {
    /// Takes over changed texts. Returns whether there were any.
    ///
    /// # Errors
    /// Once for each unusable state of the files.
    fn renew(&self, read: anyhow::Result<Pem>) -> anyhow::Result<bool> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let pem = match read {
            Ok(pem) => pem,
            // A missing file is said once, too.
            Err(error) => return seen.take().map_or(Ok(false), |_| Err(error)),
        };
        if seen.as_ref() == Some(&pem) {
            return Ok(false);
        }
        let material = Material::new(&pem);
        *seen = Some(pem);
        let material = material?;
        let (own, new) = (&self.identity, &material.identity);
        anyhow::ensure!(own == new, "they are those of {new}, and not of {own}");
        self.now.store(Arc::new(material));
        Ok(true)
    }
}

fn read_files(reader: &mut Reader) -> [Option<String>; 3] {
    [
        reader.optional("INTERNAL_TLS_CA", "PEM file of the authorities that count"),
        reader.optional("INTERNAL_TLS_CERT", "PEM file of the own certificate"),
        reader.optional("INTERNAL_TLS_KEY", "PEM file of the own private key"),
    ]
}

/// Connects to the first address of `authority` that takes the connection.
async fn dial(authority: &str) -> Result<TcpStream, Error> {
    let mut last = Error::new(ErrorKind::NotFound, "the name has no address");
    for address in tokio::net::lookup_host(authority).await? {
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(late) => last = late.into(),
        }
    }
    Err(last)
}

/// Returns the certificate of the other side, which the handshake has verified.
pub(super) fn certificate(stream: &TlsStream<TcpStream>) -> Option<&CertificateDer<'static>> {
    stream.get_ref().1.peer_certificates()?.first()
}
