//! Mutual TLS 1.3 from PEM texts.
//!
//! Always: both sides check the other's certificate by the same authorities, anew for each
//! connection; no session is resumed. Addresses play no part: a certificate names a role, and the
//! caller checks that.

use std::sync::Arc;

use rustls::{
    ClientConfig, Error, RootCertStore, ServerConfig,
    client::Resumption,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    version::TLS13,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::identity::Identity;
use crate::any_name::AnyName;

/// Protocol of every connection.
const HTTP_2: &[u8] = b"h2";

/// The texts of an identity, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem {
    /// Certificates of the authorities whose certificates count; several while they change.
    pub authorities: String,
    /// Own certificate, and those between it and an authority.
    pub certificate: String,
    /// Private key of the own certificate.
    pub key: String,
}

/// One state of the certificates, ready for new connections.
pub(super) struct Material {
    pub(super) identity: Identity,
    pub(super) connector: TlsConnector,
    pub(super) acceptor: TlsAcceptor,
}

impl Material {
    /// Builds both sides' settings.
    ///
    /// # Errors
    /// If a text is no PEM, the key is not that of the certificate, or the certificate names no
    /// identity.
    pub(super) fn new(pem: &Pem) -> anyhow::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let mut authorities = RootCertStore::empty();
        for certificate in certificates(&pem.authorities)? {
            authorities.add(certificate)?;
        }
        anyhow::ensure!(!authorities.is_empty(), "no authority is given");
        let authorities = Arc::new(authorities);
        let chain = certificates(&pem.certificate)?;
        let own = chain.first().ok_or(super::identity::NoIdentity::Missing)?;
        let identity = Identity::of(own)?;
        let key = || PrivateKeyDer::from_pem_slice(pem.key.as_bytes());
        let client = client(&provider, &authorities, chain.clone(), key()?)?;
        let server = server(&provider, &authorities, chain, key()?)?;
        Ok(Self {
            identity,
            connector: TlsConnector::from(Arc::new(client)),
            acceptor: TlsAcceptor::from(Arc::new(server)),
        })
    }
}

fn certificates(pem: &str) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    Ok(read?)
}

fn client(
    provider: &Arc<CryptoProvider>,
    authorities: &Arc<RootCertStore>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ClientConfig, Error> {
    // The directory knows servers by address, and certificates name roles: the caller checks those.
    let verifier = AnyName {
        roots: Some(Arc::clone(authorities)),
        provider: Arc::clone(provider),
    };
    let mut config = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_client_auth_cert(chain, key)?;
    config.alpn_protocols = vec![HTTP_2.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(config)
}

fn server(
    provider: &Arc<CryptoProvider>,
    authorities: &Arc<RootCertStore>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> anyhow::Result<ServerConfig> {
    // Without a certificate a connection opens, so that each call on it is refused in words.
    let roots = Arc::clone(authorities);
    let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider))
        .allow_unauthenticated()
        .build()?;
    let mut config = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![HTTP_2.to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}
