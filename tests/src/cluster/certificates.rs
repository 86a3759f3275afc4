//! The certificates of a cluster, from an authority of its own.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use service_runtime::{
    authority::{Authority, CERTIFICATE_DAYS},
    rpc::{Identity, Pem, Role, Trust},
};

use super::{Kind, Member};

/// An authority, and the folder with the files that it has issued.
pub struct Certificates {
    authority: Authority,
    /// Certificates of all authorities that count, as one PEM text.
    counting: String,
    /// The authority that takes over.
    next: Option<Authority>,
    folder: PathBuf,
    /// Processes that have certificates, by their names.
    issued: BTreeMap<String, Role>,
    operator: Trust,
}

impl Certificates {
    pub(super) fn new(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let authority = Authority::new()?;
        let counting = authority.certificate().to_owned();
        let operator = Trust::of(&issue(&authority, &counting, Role::Operator, "tests")?)?;
        Ok(Self {
            authority,
            counting,
            next: None,
            folder: folder.to_path_buf(),
            issued: BTreeMap::new(),
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
        Trust::of(&issue(&self.authority, &self.counting, role, name)?)
    }

    /// Makes another authority. Every process that runs is told that both count.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn add_authority(&mut self) -> Result<()> {
        let next = Authority::new()?;
        self.counting.push_str(next.certificate());
        self.next = Some(next);
        self.tell_who_counts()
    }

    /// Gives every process a certificate of the added authority.
    ///
    /// # Errors
    /// There is none, or a file cannot be written.
    pub fn renew(&mut self) -> Result<()> {
        self.authority = self.next.take().context("no authority was added")?;
        for (name, role) in &self.issued {
            self.write(*role, name)?;
        }
        self.operator = self.trust(Role::Operator, "tests")?;
        Ok(())
    }

    /// Lets only the newest authority count.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn retire_authority(&mut self) -> Result<()> {
        self.authority.certificate().clone_into(&mut self.counting);
        self.tell_who_counts()?;
        self.operator = self.trust(Role::Operator, "tests")?;
        Ok(())
    }

    fn tell_who_counts(&self) -> Result<()> {
        let mut names = self.issued.keys();
        names.try_for_each(|name| replace(&self.file(name, "-ca.pem"), &self.counting))
    }

    /// Returns the settings of a service, and writes its files at its first start.
    pub(super) fn env_of(&mut self, (kind, number): Member) -> Result<Vec<(String, String)>> {
        let role = match kind {
            Kind::Persistence => Role::Persistence,
            Kind::Zone => Role::Zone,
            Kind::Gateway => Role::Gateway,
        };
        let name = format!("{role}-{number}");
        if !self.issued.contains_key(&name) {
            replace(&self.file(&name, "-ca.pem"), &self.counting)?;
            self.write(role, &name)?;
            self.issued.insert(name.clone(), role);
        }
        let set = |setting: &str, end: &str| {
            let file = self.file(&name, end).display().to_string();
            (setting.to_owned(), file)
        };
        Ok(vec![
            set("INTERNAL_TLS_CA", "-ca.pem"),
            set("INTERNAL_TLS_CERT", ".pem"),
            set("INTERNAL_TLS_KEY", "-key.pem"),
        ])
    }

    /// Writes a new key and its certificate.
    fn write(&self, role: Role, name: &str) -> Result<()> {
        let pem = issue(&self.authority, &self.counting, role, name)?;
        replace(&self.file(name, "-key.pem"), &pem.key)?;
        replace(&self.file(name, ".pem"), &pem.certificate)
    }

    fn file(&self, name: &str, end: &str) -> PathBuf {
        self.folder.join(format!("{name}{end}"))
    }
}

/// Writes a file as a whole: a process that reads it meanwhile sees the one before.
fn replace(file: &Path, text: &str) -> Result<()> {
    let next = file.with_extension("next");
    fs::write(&next, text)?;
    fs::rename(&next, file).with_context(|| file.display().to_string())
}

fn issue(authority: &Authority, counting: &str, role: Role, name: &str) -> Result<Pem> {
    let name = name.to_owned();
    let mut pem = authority.issue(&Identity { role, name }, CERTIFICATE_DAYS)?;
    counting.clone_into(&mut pem.authorities);
    Ok(pem)
}
