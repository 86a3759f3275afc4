//! A private PgBouncer in transaction mode.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use crate::certificates::Certified;
use crate::folder::{Folder, protect};
use crate::postgres::Postgres;
use crate::process::{Server, find, unprivileged, wait_until};

const START_LIMIT: Duration = Duration::from_secs(10);
const START_ATTEMPTS: u32 = 5;

/// A running pooler before all databases of one PostgreSQL. Each transaction gets another
/// connection where it can, so that state that outlives a transaction is lost at once.
pub struct PgBouncer {
    // Before its PostgreSQL, so that it ends first.
    _server: Server,
    port: u16,
    folder: Folder,
    postgres: Option<Arc<Postgres>>,
}

/// TLS of a pooler, both to its clients and to PostgreSQL.
struct Tls<'a> {
    own: &'a Certified,
    ca: &'a Path,
}

impl PgBouncer {
    /// Starts one, and keeps `postgres` up for as long as it runs.
    ///
    /// # Panics
    /// With a sentence where that is impossible.
    #[must_use]
    pub fn start(postgres: Arc<Postgres>) -> PgBouncer {
        let behind = postgres.port();
        let pooler = PgBouncer::try_start(behind, None);
        let mut pooler = pooler.unwrap_or_else(|why| panic!("PgBouncer for the test: {why}"));
        pooler.postgres = Some(postgres);
        pooler
    }

    /// Starts one that is reached only by TLS, and reaches the PostgreSQL behind the port `behind`
    /// only by TLS and with a certificate of `ca`. It lets that server come and go.
    ///
    /// # Panics
    /// With a sentence where that is impossible.
    #[must_use]
    pub fn start_secured(behind: u16, own: &Certified, ca: &Path) -> PgBouncer {
        PgBouncer::try_start(behind, Some(&Tls { own, ca }))
            .unwrap_or_else(|why| panic!("PgBouncer for the test: {why}"))
    }

    fn try_start(behind: u16, tls: Option<&Tls<'_>>) -> Result<PgBouncer, String> {
        let folders = [PathBuf::from("/usr/sbin")];
        let binary = find("pgbouncer", "PGBOUNCER_BIN", &folders)?;
        let folder = Folder::new("bouncer")?;
        let mut why = String::new();
        for _ in 0..START_ATTEMPTS {
            let port = crate::free_port()?;
            match launch(&binary, &folder, port, (behind, tls)) {
                Ok(server) => {
                    return Ok(PgBouncer {
                        _server: server,
                        port,
                        folder,
                        postgres: None,
                    });
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// Returns the pooler before [`Postgres::shared`] that all tests of this process share while at
    /// least one holds it. It holds that server itself: otherwise a test could get this pooler while
    /// the server behind it ends, and a new server that this pooler does not know.
    ///
    /// # Panics
    /// With a sentence where none can be started.
    #[must_use]
    pub fn shared() -> Arc<PgBouncer> {
        static SHARED: Mutex<Weak<PgBouncer>> = Mutex::new(Weak::new());
        let mut shared = SHARED
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(pooler) = shared.upgrade() {
            return pooler;
        }
        let pooler = Arc::new(PgBouncer::start(Postgres::shared()));
        *shared = Arc::downgrade(&pooler);
        pooler
    }

    /// Returns the server behind it, if it holds one.
    #[must_use]
    pub fn postgres(&self) -> Option<Arc<Postgres>> {
        self.postgres.clone()
    }

    /// Returns the TCP port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the database `name` through the pooler.
    #[must_use]
    pub fn url_of(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }

    /// Returns all that the pooler wrote to its log so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

fn launch(
    binary: &Path,
    folder: &Folder,
    port: u16,
    (behind, tls): (u16, Option<&Tls<'_>>),
) -> Result<Server, String> {
    let mut settings = format!(
        "[databases]
* = host=127.0.0.1 port={behind} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 1000
server_round_robin = 1
server_idle_timeout = 2
logfile =
pidfile =
"
    );
    if let Some(Tls { own, ca }) = tls {
        settings.push_str(&format!(
            "client_tls_sslmode = require
client_tls_cert_file = {}
client_tls_key_file = {}
server_tls_sslmode = verify-ca
server_tls_ca_file = {}
server_login_retry = 1
",
            own.cert.display(),
            own.key.display(),
            ca.display()
        ));
    }
    let path = folder.path().join("pgbouncer.ini");
    fs::write(&path, settings).map_err(|error| format!("write {}: {error}", path.display()))?;
    protect(&path)?;
    let mut command = unprivileged(binary);
    command.arg(&path);
    let mut server = Server::start("pgbouncer", command, &folder.path().join("log"))?;
    let mut ended = false;
    let up = wait_until(START_LIMIT, || {
        ended = server.ended();
        ended || TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    if up && !ended {
        return Ok(server);
    }
    let said = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    let last = said.lines().last().unwrap_or("it said nothing");
    Err(format!("pgbouncer did not come up on port {port}: {last}"))
}
