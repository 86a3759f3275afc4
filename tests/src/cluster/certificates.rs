//! The certificates of a cluster, from an authority of its own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use service_runtime::{
    authority::{Authority, CERTIFICATE_DAYS},
    rpc::{Identity, Pem, Role, Trust},
};

use super::{Kind, Member};

/// An authority, and the folder with the files that it has issued.
pub(super) struct Certificates {
    authority: Authority,
    folder: PathBuf,
    operator: Trust,
}

impl Certificates {
    pub(super) fn new(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let authority = Authority::new()?;
        let operator = Trust::of(&issue(&authority, Role::Operator, "tests")?)?;
        Ok(Self {
            authority,
            folder: folder.to_path_buf(),
            operator,
        })
    }

    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    pub(super) fn operator(&self) -> &Trust {
        &self.operator
    }

    pub(super) fn trust(&self, role: Role, name: &str) -> Result<Trust> {
        Trust::of(&issue(&self.authority, role, name)?)
    }

    /// Returns the settings of a service, and writes its files at its first start.
    pub(super) fn env_of(&self, (kind, number): Member) -> Result<Vec<(String, String)>> {
        let role = match kind {
            Kind::Persistence => Role::Persistence,
            Kind::Zone => Role::Zone,
            Kind::Gateway => Role::Gateway,
        };
        let name = format!("{role}-{number}");
        let file = |end: &str| self.folder.join(format!("{name}{end}"));
        let (authorities, certificate, key) = (file("-ca.pem"), file(".pem"), file("-key.pem"));
        if !certificate.exists() {
            let pem = issue(&self.authority, role, &name)?;
            fs::write(&authorities, pem.authorities)?;
            fs::write(&key, pem.key)?;
            fs::write(&certificate, pem.certificate)?;
        }
        let set = |name: &str, file: PathBuf| (name.to_owned(), file.display().to_string());
        Ok(vec![
            set("INTERNAL_TLS_CA", authorities),
            set("INTERNAL_TLS_CERT", certificate),
            set("INTERNAL_TLS_KEY", key),
        ])
    }
}

fn issue(authority: &Authority, role: Role, name: &str) -> Result<Pem> {
    let name = name.to_owned();
    authority.issue(&Identity { role, name }, CERTIFICATE_DAYS)
}
