//! The private folder of a world that may be broken: the socket for gateways, and the certificates of
//! the zone servers.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use anyhow::Context;
use service_runtime::{config::Env, rpc::Pem};

/// A folder that only this user may look into; it goes with its value.
pub(super) struct Folder {
    path: PathBuf,
    socket: PathBuf,
}

impl Folder {
    /// Makes it among the system's temporary files.
    pub(super) fn new() -> anyhow::Result<Self> {
        let name = format!("tilestead-chaos-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // A process of the same id that was killed left it.
        let _ = fs::remove_dir_all(&path);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("make {}", path.display()))?;
        let socket = path.join("socket");
        Ok(Self { path, socket })
    }

    /// Returns the path of the socket.
    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Writes the certificate of `name`, and names its files in `env`.
    pub(super) fn keep(&self, name: &str, pem: &Pem, env: &mut Env) -> anyhow::Result<()> {
        for (variable, part, text) in [
            ("INTERNAL_TLS_CA", "ca", &pem.authorities),
            ("INTERNAL_TLS_CERT", "cert", &pem.certificate),
            ("INTERNAL_TLS_KEY", "key", &pem.key),
        ] {
            let path = self.path.join(format!("{name}.{part}.pem"));
            let file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
            written.with_context(|| format!("write {}", path.display()))?;
            env.set(variable, path.to_string_lossy());
        }
        env.set("INTERNAL_TLS", "on");
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is readable by this user alone.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn nobody_else_reads_a_key_and_all_goes_in_the_end() {
        let folder = Folder::new().unwrap();
        let (path, mut env) = (folder.path.clone(), Env::default());
        let pem = Pem {
            authorities: "a".to_owned(),
            certificate: "b".to_owned(),
            key: "c".to_owned(),
        };
        folder.keep("zone-server-1", &pem, &mut env).unwrap();
        let key = env.get("INTERNAL_TLS_KEY").unwrap();
        assert_eq!(fs::read_to_string(key).unwrap(), "c");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(Path::new(key))), (0o700, 0o600));
        drop(folder);
        assert!(!path.exists());
    }
}
