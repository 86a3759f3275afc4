//! Certificates and keys that settings name: PEM files, read once before the process binds a port.
//!
//! Always: an error names the setting and the file, and never shows what a key file holds.

use std::{fmt, sync::Arc};

use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};

use crate::config::Reader;

/// Names of the settings of one client's files.
#[derive(Debug, Clone, Copy)]
pub struct FileNames {
    /// Setting of the file with the certificates of CAs.
    pub ca: &'static str,
    /// Setting of the file with the client's certificate and its chain.
    pub cert: &'static str,
    /// Setting of the file with the client's key.
    pub key: &'static str,
}

/// The files by which one client trusts a server and proves itself to it.
#[derive(Clone, Default)]
pub struct ClientTls {
    ca: Option<Arc<Ca>>,
    identity: Option<Arc<Identity>>,
}

struct Ca {
    pem: Vec<u8>,
    roots: Arc<RootCertStore>,
}

/// A client's certificate with its key, as the files hold them.
pub struct Identity {
    /// Certificate and chain, in PEM.
    pub cert: Vec<u8>,
    /// Key, in PEM.
    pub key: Vec<u8>,
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientTls")
            .field("ca", &self.ca.is_some())
            .field("identity", &self.identity.is_some())
            .finish()
    }
}

impl ClientTls {
    /// Reads the files that the settings name. Each fault becomes a problem of the reader.
    pub fn read(reader: &mut Reader, names: FileNames) -> Self {
        let help = "file (PEM) with the CAs that may sign the server's certificate; else the \
                    system's";
        let ca: Option<String> = reader.optional(names.ca, help);
        let cert: Option<String> =
            reader.optional(names.cert, "file (PEM) with the client certificate");
        let key: Option<String> = reader.optional(names.key, "file (PEM) with its key");
        let ca = ca.map(|path| Ca::read(names.ca, &path));
        let identity = match (cert, key) {
            (Some(cert), Some(key)) => Some(Identity::read(names, &cert, &key)),
            (None, None) => None,
            _ => Some(Err(format!(
                "{} and {} go together: set both or neither",
                names.cert, names.key
            ))),
        };
        Self {
            ca: noted(reader, ca).map(Arc::new),
            identity: noted(reader, identity).map(Arc::new),
        }
    }

    /// Returns whether a setting names a file.
    pub fn is_set(&self) -> bool {
        self.ca.is_some() || self.identity.is_some()
    }

    /// Returns the named CAs.
    pub fn named_roots(&self) -> Option<Arc<RootCertStore>> {
        self.ca.as_ref().map(|ca| Arc::clone(&ca.roots))
    }

    /// Returns the named CAs in PEM.
    pub fn ca_pem(&self) -> Option<&[u8]> {
        self.ca.as_ref().map(|ca| &ca.pem[..])
    }

    /// Returns the client's certificate and key.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_deref()
    }
}

impl Ca {
    fn read(name: &str, path: &str) -> Result<Self, String> {
        let pem = contents(name, path)?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates(name, path, &pem)? {
            roots
                .add(certificate)
                .map_err(|error| format!("{name} holds no usable CA: {path} ({error})"))?;
        }
        let roots = Arc::new(roots);
        Ok(Self { pem, roots })
    }
}

impl Identity {
    /// Reads certificate and key, and checks that the key is that of the certificate.
    fn read(names: FileNames, cert: &str, key: &str) -> Result<Self, String> {
        let identity = Self {
            cert: contents(names.cert, cert)?,
            key: contents(names.key, key)?,
        };
        let chain = certificates(names.cert, cert, &identity.cert)?;
        let private = identity
            .private_key()
            .ok_or_else(|| format!("{} holds no private key in PEM: {key}", names.key))?;
        let provider = rustls::crypto::ring::default_provider();
        CertifiedKey::from_der(chain, private, &provider).map_err(|_| {
            format!(
                "the key in {} does not fit the certificate in {} ({key}, {cert})",
                names.key, names.cert
            )
        })?;
        Ok(identity)
    }

    /// Returns the certificate and its chain.
    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(&self.cert)
            .flatten()
            .collect()
    }

    /// Returns the key; `None` if there is none in the file.
    pub fn private_key(&self) -> Option<PrivateKeyDer<'static>> {
        PrivateKeyDer::from_pem_slice(&self.key).ok()
    }
}

/// Returns the CAs that this machine trusts; empty if it has none.
pub fn system_roots() -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Arc::new(roots)
}

fn noted<T>(reader: &mut Reader, read: Option<Result<T, String>>) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(clause) => {
            reader.problem(clause);
            None
        }
    }
}

fn contents(name: &str, path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{name} cannot be read: {path} ({error})"))
}

fn certificates(
    name: &str,
    path: &str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) | Err(_) => Err(format!("{name} holds no certificate in PEM: {path}")),
    }
}
