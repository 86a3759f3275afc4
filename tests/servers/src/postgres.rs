//! A private PostgreSQL server.

mod recovery;

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use crate::folder::Folder;
use crate::process::{Server, find, run, unprivileged, wait_until};
pub use recovery::{BaseBackup, Receiver};

const START_LIMIT: Duration = Duration::from_secs(20);
const START_ATTEMPTS: u32 = 5;

/// A running server with the database `postgres`, superuser `postgres`, no password. It never waits
/// for the disk: a commit survives the death of its process, not of the machine.
pub struct Postgres {
    server: Server,
    binaries: PathBuf,
    port: u16,
    folder: Folder,
    settings: Vec<String>,
    /// Its log, which outlives it.
    archive: Option<Arc<Folder>>,
}

impl Postgres {
    /// Starts one.
    ///
    /// # Panics
    /// With a sentence where that is impossible.
    #[must_use]
    pub fn start() -> Postgres {
        Postgres::try_start().unwrap_or_else(|why| panic!("PostgreSQL for the test: {why}"))
    }

    /// Starts one, or says in a sentence why not.
    ///
    /// # Errors
    /// No binary, no unprivileged account, or the server did not come up.
    pub fn try_start() -> Result<Postgres, String> {
        Postgres::try_start_with(&[])
    }

    /// Starts one with further settings, each as `name=value`, or says in a sentence why not.
    ///
    /// # Errors
    /// No binary, no unprivileged account, or the server did not come up.
    pub fn try_start_with(settings: &[&str]) -> Result<Postgres, String> {
        let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
        let binaries = binaries()?;
        let folder = Folder::new("pg")?;
        let mut initdb = unprivileged(&binaries.join("initdb"));
        initdb.arg("-D").arg(folder.path().join("d"));
        initdb.args([
            "-U",
            "postgres",
            "-A",
            "trust",
            "-N",
            "-E",
            "UTF8",
            "--locale=C",
        ]);
        run("initdb", initdb)?;
        Postgres::start_in(binaries, folder, settings)
    }

    /// Starts a server on a free port with the data that the folder has.
    fn start_in(
        binaries: PathBuf,
        folder: Folder,
        settings: Vec<String>,
    ) -> Result<Postgres, String> {
        let mut why = String::new();
        for _ in 0..START_ATTEMPTS {
            let port = crate::free_port()?;
            match launch(&binaries, &folder, port, &settings) {
                Ok(server) => {
                    return Ok(Postgres {
                        server,
                        binaries,
                        port,
                        folder,
                        settings,
                        archive: None,
                    });
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// Returns the server that all tests of this process share while at least one holds it.
    ///
    /// # Panics
    /// With a sentence where none can be started.
    #[must_use]
    pub fn shared() -> Arc<Postgres> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(server) = shared.upgrade() {
            return server;
        }
        let server = Arc::new(Postgres::start());
        *shared = Arc::downgrade(&server);
        server
    }

    /// Returns the database `postgres` over TCP.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// Returns the database `name` over TCP.
    #[must_use]
    pub fn url_of(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }

    /// Returns the database `name` over the unix socket, as key-value text.
    #[must_use]
    pub fn socket_url_of(&self, name: &str) -> String {
        let folder = self.folder.path().display();
        format!(
            "host={folder} port={} user=postgres dbname={name}",
            self.port
        )
    }

    /// Returns the TCP port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the folder of its programs, such as `pg_basebackup`.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.binaries
    }

    /// Returns the process id of the postmaster, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    /// Makes the database `name` and returns its address over TCP.
    ///
    /// # Panics
    /// When the server refuses.
    #[must_use]
    pub fn create_database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE \"{name}\""));
        self.url_of(name)
    }

    /// Runs statements in `database` with psql.
    ///
    /// # Panics
    /// When one fails.
    pub fn sql(&self, database: &str, statements: &str) {
        psql(
            &self.binaries,
            self.folder.path(),
            self.port,
            database,
            statements,
        )
        .unwrap_or_else(|why| panic!("{why}"));
    }

    /// Lets in only clients that match `rules`, lines of `pg_hba.conf`; those on the unix socket
    /// always.
    ///
    /// # Panics
    /// When the file cannot be written, or the server refuses.
    pub fn admit(&self, rules: &str) {
        let path = self.folder.path().join("d/pg_hba.conf");
        let rules = format!("local all all trust\n{rules}\n");
        fs::write(&path, rules).unwrap_or_else(|why| panic!("write {}: {why}", path.display()));
        self.sql("postgres", "SELECT pg_reload_conf()");
    }

    /// Kills the server at once, as a crash does.
    pub fn kill9(&mut self) {
        self.server.kill9();
    }

    /// Ends the server in order.
    pub fn stop(&mut self) {
        self.server.stop();
    }

    /// Returns all that the server wrote to its log so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Freezes (`STOP`) or wakes (`CONT`) the postmaster and all its sessions.
    pub fn signal_all(&self, name: &str) {
        let Some(pid) = self.pid() else {
            return;
        };
        self.server.signal(name);
        for child in children(pid) {
            signal(child, name);
        }
    }

    /// Kills one session at once, as the system's memory killer does. False: there is none.
    pub fn kill9_a_session(&self) -> bool {
        let sessions = self.pid().map(children).unwrap_or_default();
        let busy = sessions.into_iter().find(|pid| is_session(*pid));
        if let Some(pid) = busy {
            signal(pid, "KILL");
        }
        busy.is_some()
    }

    /// Freezes (`STOP`) or wakes (`CONT`) the postmaster; its sessions go on.
    pub fn signal(&self, name: &str) {
        self.server.signal(name);
    }

    /// Starts a synchronous standby of this server: from now on this server answers a commit only
    /// when the standby has it, too.
    ///
    /// # Errors
    /// The copy or the start failed, or the two do not find each other.
    pub fn standby(&self) -> Result<Postgres, String> {
        let folder = Folder::new("pg")?;
        let mut copy = unprivileged(&self.binaries.join("pg_basebackup"));
        copy.args(["-R", "-c", "fast", "-X", "stream", "-U", "postgres"]);
        copy.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        copy.arg("-D").arg(folder.path().join("d"));
        run("pg_basebackup", copy)?;
        let binaries = self.binaries.clone();
        let standby = Postgres::start_in(binaries, folder, self.settings.clone())?;
        self.waits_for("*")?;
        Ok(standby)
    }

    /// Answers a commit from now on only when the standby of this name has it, too.
    fn waits_for(&self, standby: &str) -> Result<(), String> {
        let wait = format!("ALTER SYSTEM SET synchronous_standby_names = '{standby}'");
        self.sql("postgres", &wait);
        self.sql("postgres", "SELECT pg_reload_conf()");
        let follows = "SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        let mut why = String::new();
        let found = wait_until(START_LIMIT, || {
            let asked = psql(
                &self.binaries,
                self.folder.path(),
                self.port,
                "postgres",
                follows,
            );
            asked.map_err(|error| why = error).is_ok()
        });
        if found { Ok(()) } else { Err(why) }
    }

    /// Lets a standby take over, and waits until it takes writes.
    ///
    /// # Panics
    /// When the server refuses.
    pub fn promote(&self) {
        self.sql("postgres", "SELECT pg_promote()");
    }

    /// Starts it again on the same port with the same data, after [`Postgres::kill9`] or
    /// [`Postgres::stop`].
    ///
    /// # Panics
    /// Panics if it does not come up.
    pub fn restart(&mut self) {
        self.server.stop();
        let mut why = String::new();
        // Sessions of a killed postmaster need a moment to notice.
        let up = wait_until(START_LIMIT, || {
            match launch(&self.binaries, &self.folder, self.port, &self.settings) {
                Ok(server) => {
                    self.server = server;
                    true
                }
                Err(error) => {
                    why = error;
                    false
                }
            }
        });
        assert!(up, "PostgreSQL did not come up again: {why}");
    }
}

/// Returns the processes that `pid` started.
fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

/// Returns whether the process serves a client of ours: its title names user and database.
fn is_session(pid: u32) -> bool {
    let title = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    title.starts_with("postgres: postgres ")
}

fn signal(pid: u32, name: &str) {
    let script = format!("kill -{name} {pid}");
    let _ = std::process::Command::new("sh")
        .args(["-c", &script])
        .status();
}

fn binaries() -> Result<PathBuf, String> {
    let mut versions: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    versions.sort();
    versions.reverse();
    let postgres = find("postgres", "POSTGRES_BIN", &versions)?;
    let real =
        fs::canonicalize(&postgres).map_err(|error| format!("{}: {error}", postgres.display()))?;
    let folder = real.parent().map(Path::to_path_buf).unwrap_or_default();
    for name in ["initdb", "psql"] {
        if !folder.join(name).is_file() {
            return Err(format!("{name} is missing beside {}", real.display()));
        }
    }
    Ok(folder)
}

fn launch(
    binaries: &Path,
    folder: &Folder,
    port: u16,
    settings: &[String],
) -> Result<Server, String> {
    let mut command = unprivileged(&binaries.join("postgres"));
    command.arg("-D").arg(folder.path().join("d"));
    command
        .arg("-k")
        .arg(folder.path())
        .arg("-p")
        .arg(port.to_string());
    for setting in [
        "listen_addresses=127.0.0.1",
        "fsync=off",
        "full_page_writes=off",
        "shared_buffers=32MB",
        "max_connections=200",
    ] {
        command.args(["-c", setting]);
    }
    for setting in settings {
        command.args(["-c", setting]);
    }
    let log = folder.path().join("log");
    let mut server = Server::start("postgres", command, &log)?;
    let mut ended = false;
    let up = wait_until(START_LIMIT, || {
        ended = server.ended();
        ended
            || (TcpStream::connect(("127.0.0.1", port)).is_ok()
                && psql(binaries, folder.path(), port, "postgres", "SELECT 1").is_ok())
    });
    if up && !ended {
        return Ok(server);
    }
    let said = fs::read_to_string(&log).unwrap_or_default();
    let last = said.lines().last().unwrap_or("it said nothing");
    Err(format!("postgres did not come up: {last}"))
}

fn psql(
    binaries: &Path,
    folder: &Path,
    port: u16,
    database: &str,
    statements: &str,
) -> Result<(), String> {
    let mut command = unprivileged(&binaries.join("psql"));
    command
        .arg("-h")
        .arg(folder)
        .arg("-p")
        .arg(port.to_string());
    command.args([
        "-U",
        "postgres",
        "-d",
        database,
        "-AtqX",
        "-v",
        "ON_ERROR_STOP=1",
    ]);
    command.args(["-c", statements]);
    run("psql", command)
}
