//! A temporary folder that an unprivileged server may write to; dropping it removes it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The account that a server runs as when the test runs as root.
pub(crate) const ACCOUNT: &str = "nobody";

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// The folder. Its path stays short: a unix socket's path is limited to 107 bytes.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one; owned by [`ACCOUNT`] when the caller is root.
    pub(crate) fn new(kind: &str) -> Result<Folder, String> {
        let nanos = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.subsec_nanos());
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ts-{kind}-{}-{number}-{nanos:x}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)
            .map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        let folder = Folder(path);
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700))
            .map_err(|error| format!("cannot protect {}: {error}", folder.0.display()))?;
        give(&folder.0)?;
        Ok(folder)
    }

    /// Returns the folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Lets only the account of servers read and write a file.
pub(crate) fn protect(file: &Path) -> Result<(), String> {
    fs::set_permissions(file, fs::Permissions::from_mode(0o600))
        .map_err(|error| format!("cannot protect {}: {error}", file.display()))?;
    give(file)
}

/// Gives a fresh file or folder to [`ACCOUNT`] when the caller is root.
fn give(fresh: &Path) -> Result<(), String> {
    if is_root(fresh) {
        let (user, group) = account_ids()?;
        std::os::unix::fs::chown(fresh, Some(user), Some(group))
            .map_err(|error| format!("cannot give {} to {ACCOUNT}: {error}", fresh.display()))?;
    }
    Ok(())
}

/// Returns whether who made `fresh` is root.
fn is_root(fresh: &Path) -> bool {
    fs::metadata(fresh).is_ok_and(|data| data.uid() == 0)
}

/// Returns whether this process is root.
pub(crate) fn am_root() -> bool {
    is_root(Path::new("/proc/self"))
}

fn account_ids() -> Result<(u32, u32), String> {
    let accounts = fs::read_to_string("/etc/passwd")
        .map_err(|error| format!("cannot read /etc/passwd: {error}"))?;
    accounts
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&ACCOUNT))
        .and_then(|fields| Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?)))
        .ok_or_else(|| format!("there is no account {ACCOUNT} to run servers as"))
}
