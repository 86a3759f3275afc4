//! Certificates for servers and clients of tests, and the folders that hold them.

use std::fs;
use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

use crate::folder::Folder;

/// A CA with a folder for its files.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: Folder,
}

/// Paths of a certificate and its key.
#[derive(Debug, Clone)]
pub struct Certified {
    /// Certificate (PEM).
    pub cert: PathBuf,
    /// Its key (PEM).
    pub key: PathBuf,
}

impl Authority {
    /// Makes a new CA, which nobody trusts yet.
    ///
    /// # Panics
    /// If there is no folder for its files.
    #[must_use]
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap_or_else(|why| panic!("{why}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let folder = Folder::new("ca").unwrap_or_else(|why| panic!("{why}"));
        // Each has a name of its own, as CAs in the world do.
        let name = folder.path().display().to_string();
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, key());
        let authority = Authority {
            issuer: issuer.unwrap_or_else(|why| panic!("make a CA: {why}")),
            folder,
        };
        authority.write("ca.pem", &authority.issuer.pem());
        authority
    }

    /// Returns the path of the CA's own certificate (PEM).
    #[must_use]
    pub fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Makes a certificate for a server or a client. `names` are host names and addresses; the first
    /// one is also its common name.
    ///
    /// # Panics
    /// If a name cannot be one.
    #[must_use]
    pub fn certify(&self, names: &[&str]) -> Certified {
        let list: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(list).unwrap_or_else(|why| panic!("{why}"));
        let first = names.first().copied().unwrap_or("nobody");
        params.distinguished_name.push(DnType::CommonName, first);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = key();
        let signed = params.signed_by(&key, &*self.issuer);
        let signed = signed.unwrap_or_else(|why| panic!("sign a certificate: {why}"));
        Certified {
            cert: self.write(&format!("{first}.pem"), &signed.pem()),
            key: self.write(&format!("{first}.key"), &key.serialize_pem()),
        }
    }

    /// Writes a file that only the account of servers may read.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap_or_else(|why| panic!("write {}: {why}", path.display()));
        crate::folder::protect(&path).unwrap_or_else(|why| panic!("{why}"));
        path
    }
}

impl Default for Authority {
    fn default() -> Authority {
        Authority::new()
    }
}

fn key() -> KeyPair {
    KeyPair::generate().unwrap_or_else(|why| panic!("make a key: {why}"))
}
