//! Mutual TLS 1.3 from PEM texts.
//!
//! Always: both sides check the other's certificate by the same authorities, anew for each
//! connection; no session is resumed. Addresses play no part: a certificate names a role, and the
//! caller checks that.

use std::sync::Arc;

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    SignatureScheme,
    client::{
        Resumption,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor,
    },
    crypto::{CryptoProvider, ring, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier},
    version::TLS13,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::identity::Identity;

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
    let verifier = ByAuthority {
        authorities: Arc::clone(authorities),
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

/// Checks that a server's certificate is from one of the authorities and in its time. It does not
/// compare names: the directory knows servers by address, and certificates name roles.
#[derive(Debug)]
struct ByAuthority {
    authorities: Arc<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for ByAuthority {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &self.authorities,
            intermediates,
            now,
            algorithms,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Both sides speak TLS 1.3 only.
        Err(Error::InvalidCertificate(CertificateError::BadSignature))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
