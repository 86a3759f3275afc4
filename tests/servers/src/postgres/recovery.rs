//! The programs of a backup: an archive of the log, base backups, a receiver of the log, and a server
//! that is restored from them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Postgres, START_LIMIT, psql};
use crate::folder::{Folder, protect};
use crate::process::{Server, run, unprivileged, wait_until};

/// A base backup, taken while the server was used.
pub struct BaseBackup(Folder);

/// Receives the log of a server as it is written. The server answers a commit only when the receiver
/// has it on its disk.
pub struct Receiver {
    program: Server,
    folder: Folder,
}

impl Postgres {
    /// Starts a server that archives its log, whatever happens to the server itself. `settings` are
    /// those of [`Postgres::try_start_with`].
    ///
    /// # Errors
    /// As [`Postgres::try_start_with`].
    pub fn try_start_archiving(settings: &[&str]) -> Result<Postgres, String> {
        let archive = Folder::new("wal")?;
        let folder = archive.path().display();
        let command = format!(
            "archive_command=test ! -f {folder}/%f && cp %p {folder}/%f.part && mv {folder}/%f.part \
             {folder}/%f"
        );
        let mut all = settings.to_vec();
        all.extend(["wal_level=replica", "archive_mode=on", "archive_timeout=5"]);
        all.push(&command);
        let mut server = Postgres::try_start_with(&all)?;
        server.archive = Some(Arc::new(archive));
        Ok(server)
    }

    /// Takes a base backup with `pg_basebackup`.
    ///
    /// # Errors
    /// The program failed.
    pub fn base_backup(&self) -> Result<BaseBackup, String> {
        let folder = Folder::new("base")?;
        let mut copy = unprivileged(&self.binaries.join("pg_basebackup"));
        copy.args(["-c", "fast", "-X", "stream", "-U", "postgres"]);
        copy.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        copy.arg("-D").arg(folder.path().join("d"));
        run("pg_basebackup", copy)?;
        let mut check = unprivileged(&self.binaries.join("pg_verifybackup"));
        check.arg(folder.path().join("d"));
        run("pg_verifybackup", check)?;
        Ok(BaseBackup(folder))
    }

    /// Starts `pg_receivewal --synchronous` for this server, and waits until the server waits for it.
    ///
    /// # Errors
    /// The two do not find each other.
    pub fn receive_log(&self) -> Result<Receiver, String> {
        let folder = Folder::new("recv")?;
        let command = || {
            let mut receive = unprivileged(&self.binaries.join("pg_receivewal"));
            receive.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
            receive.args(["-U", "postgres", "--slot", "archive"]);
            receive
        };
        let mut make = command();
        make.args(["--create-slot", "--if-not-exists"]);
        run("pg_receivewal", make)?;
        let mut receive = command();
        receive.arg("--synchronous").arg("-D").arg(folder.path());
        let log = self.folder.path().join("receiver.log");
        let program = Server::start("pg_receivewal", receive, &log)?;
        self.waits_for("pg_receivewal")?;
        Ok(Receiver { program, folder })
    }

    /// Ends the server at once, and takes its data away, as if the machine was lost. The archive
    /// stays.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn lose(&mut self) -> Result<(), String> {
        self.kill9();
        let data = self.folder.path().join("d");
        let gone = wait_until(START_LIMIT, || fs::remove_dir_all(&data).is_ok());
        if gone {
            return Ok(());
        }
        Err(format!("cannot remove {}", data.display()))
    }

    /// Starts a new server from a base backup and the archive of this one. It ends its recovery at
    /// the time `until`, or, if that is `None`, with all that the archive and the receiver have.
    ///
    /// # Errors
    /// The server did not come up, or its recovery did not reach that time.
    pub fn restored(
        &self,
        backup: BaseBackup,
        until: Option<&str>,
        receiver: Option<Receiver>,
    ) -> Result<Postgres, String> {
        let archive = self.archive.clone().ok_or("there is no archive")?;
        let received = receiver.map(Receiver::end).transpose()?;
        let data = backup.0.path().join("d");
        let mut settings = fs::read_to_string(data.join("postgresql.auto.conf"))
            .map_err(|error| format!("the settings of the base backup: {error}"))?;
        let mut restore = format!("cp {}/%f \"%p\"", archive.path().display());
        if let Some(received) = &received {
            restore.push_str(&format!(" || cp {}/%f \"%p\"", received.path().display()));
        }
        settings.push_str(&format!("restore_command = '{restore}'\n"));
        if let Some(until) = until {
            settings.push_str(&format!("recovery_target_time = '{until}'\n"));
            settings.push_str("recovery_target_action = 'promote'\n");
        }
        // The receiver of the lost server is not one of this server.
        settings.push_str("synchronous_standby_names = ''\n");
        write(&data.join("postgresql.auto.conf"), &settings)?;
        write(&data.join("recovery.signal"), "")?;
        let binaries = self.binaries.clone();
        let mut server = Postgres::start_in(binaries, backup.0, self.settings.clone())?;
        server.archive = Some(archive);
        let mut why = String::new();
        let writes = wait_until(START_LIMIT, || {
            let asked = psql(
                &server.binaries,
                server.folder.path(),
                server.port,
                "postgres",
                "SELECT 1 / (NOT pg_is_in_recovery())::integer",
            );
            asked.map_err(|error| why = error).is_ok()
        });
        if writes {
            return Ok(server);
        }
        Err(format!("the recovery did not end: {why}\n{}", server.log()))
    }
}

impl Receiver {
    /// Ends the program. Returns what it received, whose last file counts as a whole one.
    fn end(mut self) -> Result<Folder, String> {
        self.program.stop();
        let folder = &self.folder;
        let files = fs::read_dir(folder.path()).map_err(|error| error.to_string())?;
        for file in files.flatten() {
            let path: PathBuf = file.path();
            if path.extension().is_some_and(|end| end == "partial") {
                fs::rename(&path, path.with_extension("")).map_err(|error| error.to_string())?;
            }
        }
        Ok(self.folder)
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    protect(path)
}
