//! `persistence-svc certs DIR`: makes an authority and certificates for development and small
//! installations.
//!
//! Always: an authority that is in the folder stays, so that the command may run again before its
//! certificates expire. Nobody but the owner may read a key.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use service_runtime::authority::{Authority, CERTIFICATE_DAYS};
use service_runtime::rpc::{Identity, Role};
use service_runtime::run;

const NAME: &str = "persistence-svc";

/// Makes an authority (ca.pem, ca-key.pem) and certificates with their keys (gateway.pem,
/// gateway-key.pem and so on) for TLS between the processes. An authority that is in the folder
/// stays, and makes the certificates anew.
#[derive(Debug, Parser)]
#[command(name = "persistence-svc certs")]
struct Arguments {
    /// Folder for the files; made if it is not there
    dir: PathBuf,
    /// Processes, each as ROLE/NAME; the name * is good for all names of the role [default: */* of
    /// gateway, zone, persistence and operator]
    identities: Vec<Identity>,
    /// Days for which the certificates are good
    #[arg(long, default_value_t = CERTIFICATE_DAYS, value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: i64,
}

/// Runs the command. `arguments` begin with its name.
pub fn main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    run::command(NAME, arguments, |arguments: Arguments| {
        run::exit(NAME, make(&arguments))
    })
}

fn make(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = &arguments.dir;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let authority = authority(folder)?;
    let mut identities = arguments.identities.clone();
    if identities.is_empty() {
        let name = "*".to_owned();
        identities.extend(Role::ALL.map(|role| Identity {
            role,
            name: name.clone(),
        }));
    }
    for identity in &identities {
        let pem = authority.issue(identity, arguments.days)?;
        let file = match identity.exact_name() {
            Some(name) => format!("{}-{name}", identity.role),
            None => identity.role.to_string(),
        };
        write_key(&folder.join(format!("{file}-key.pem")), &pem.key)?;
        write(&folder.join(format!("{file}.pem")), &pem.certificate)?;
        // A closed stdout changes nothing.
        let _ = writeln!(std::io::stdout(), "{identity}: {file}.pem, {file}-key.pem");
    }
    Ok(())
}

/// Returns the folder's authority; makes it if there is none.
fn authority(folder: &Path) -> anyhow::Result<Authority> {
    let (certificate, key) = (folder.join("ca.pem"), folder.join("ca-key.pem"));
    if !certificate.exists() {
        let made = Authority::new()?;
        write_key(&key, made.key())?;
        write(&certificate, made.certificate())?;
        return Ok(made);
    }
    let read = |path: &Path| fs::read_to_string(path).with_context(|| path.display().to_string());
    Authority::restore(&read(&certificate)?, &read(&key)?)
}

/// Writes a file as a whole: a process that reads it meanwhile sees the one before.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, text).with_context(|| new.display().to_string())?;
    fs::rename(&new, path).with_context(|| path.display().to_string())
}

/// Writes a key as a whole, for the eyes of its owner.
fn write_key(path: &Path, text: &str) -> anyhow::Result<()> {
    let new = path.with_extension("new");
    // One of an attempt that was cut short may have other rights.
    let _ = fs::remove_file(&new);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| new.display().to_string())?;
    fs::rename(&new, path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use service_runtime::rpc::{Pem, Trust};

    use super::*;

    fn arguments(dir: &Path, identities: &[&str]) -> Arguments {
        Arguments {
            dir: dir.to_path_buf(),
            identities: identities.iter().map(|i| i.parse().unwrap()).collect(),
            days: 2,
        }
    }

    #[test]
    fn the_files_are_good_and_a_second_run_keeps_the_authority() {
        let folder = std::env::temp_dir().join(format!("ts-certs-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        make(&arguments(&folder, &[])).unwrap();
        let before = read("ca.pem");
        make(&arguments(&folder, &["zone/zone-7"])).unwrap();
        assert_eq!(read("ca.pem"), before);
        for (file, identity) in [("gateway", "gateway/*"), ("zone-zone-7", "zone/zone-7")] {
            let pem = Pem {
                authorities: before.clone(),
                certificate: read(&format!("{file}.pem")),
                key: read(&format!("{file}-key.pem")),
            };
            let trust = Trust::of(&pem).unwrap();
            assert_eq!(trust.identity().unwrap().to_string(), identity);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let key = fs::metadata(folder.join("ca-key.pem")).unwrap();
            assert_eq!(key.permissions().mode() & 0o777, 0o600);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
