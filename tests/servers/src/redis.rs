//! A private Redis server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::certificates::Certified;
use crate::folder::Folder;
use crate::process::{Server, find, unprivileged, wait_until};

const START_LIMIT: Duration = Duration::from_secs(10);
const START_ATTEMPTS: u32 = 5;

/// A running server that keeps nothing on disk.
pub struct Redis {
    server: Server,
    binary: PathBuf,
    port: u16,
    folder: Folder,
    way: Way,
}

/// How clients reach the server.
#[derive(Clone)]
pub(crate) enum Way {
    /// Anybody, without TLS.
    Plain,
    /// Only by TLS, and only as a user with a password.
    Tls(Vec<String>),
    /// As a node of a cluster, with further arguments. With TLS, clients come to the port here.
    Node(Vec<String>, Option<u16>),
}

impl Redis {
    /// Password of the user `game` of a server that is reached by TLS.
    pub const PASSWORD: &str = "b7f1c2-only-for-tests-93ad";

    /// Starts one.
    ///
    /// # Panics
    /// With a sentence where that is impossible.
    #[must_use]
    pub fn start() -> Redis {
        Redis::try_start().unwrap_or_else(|why| panic!("Redis for the test: {why}"))
    }

    /// Starts one that is reached only by TLS, and only by the user `game` with
    /// [`Redis::PASSWORD`]. With `clients`, a client also needs a certificate of that CA.
    ///
    /// # Panics
    /// With a sentence where that is impossible.
    #[must_use]
    pub fn start_secured(own: &Certified, ca: &Path, clients: bool) -> Redis {
        Redis::try_start_by(Way::Tls(secured(own, ca, clients)))
            .unwrap_or_else(|why| panic!("Redis for the test: {why}"))
    }

    /// Starts one, or says in a sentence why not.
    ///
    /// # Errors
    /// No binary, no unprivileged account, or the server did not come up.
    pub fn try_start() -> Result<Redis, String> {
        Redis::try_start_by(Way::Plain)
    }

    pub(crate) fn try_start_by(way: Way) -> Result<Redis, String> {
        let binary = find("redis-server", "REDIS_SERVER_BIN", &[])?;
        let folder = Folder::new("redis")?;
        let mut why = String::new();
        for _ in 0..START_ATTEMPTS {
            let port = crate::free_port()?;
            match launch(&binary, &folder, port, &way) {
                Ok(server) => {
                    return Ok(Redis {
                        server,
                        binary,
                        port,
                        folder,
                        way,
                    });
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// Returns the address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the TCP port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server at once; all that it knew is gone.
    pub fn kill9(&mut self) {
        self.server.kill9();
    }

    /// Ends the server in order.
    pub fn stop(&mut self) {
        self.server.stop();
    }

    /// Freezes (`STOP`) or wakes (`CONT`) the server.
    pub fn signal(&self, name: &str) {
        self.server.signal(name);
    }

    /// Starts it again, empty, on the same port.
    ///
    /// # Panics
    /// Panics if it does not come up.
    pub fn restart(&mut self) {
        self.server.stop();
        self.server = launch(&self.binary, &self.folder, self.port, &self.way)
            .unwrap_or_else(|why| panic!("Redis did not come up again: {why}"));
    }
}

/// Returns the arguments of a server that is reached only by TLS.
pub(crate) fn secured(own: &Certified, ca: &Path, clients: bool) -> Vec<String> {
    let mut arguments = Vec::new();
    for (name, path) in [
        ("--tls-cert-file", &*own.cert),
        ("--tls-key-file", &*own.key),
        ("--tls-ca-cert-file", ca),
    ] {
        arguments.extend([name.to_owned(), path.display().to_string()]);
    }
    let asked = if clients { "yes" } else { "no" };
    arguments.extend(["--tls-auth-clients".to_owned(), asked.to_owned()]);
    let game = format!("game on >{} ~* &* +@all", Redis::PASSWORD);
    for user in ["default off", &game] {
        let words = ["--user"].into_iter().chain(user.split(' '));
        arguments.extend(words.map(str::to_owned));
    }
    arguments
}

fn launch(binary: &Path, folder: &Folder, port: u16, way: &Way) -> Result<Server, String> {
    let mut command = unprivileged(binary);
    let number = port.to_string();
    match way {
        Way::Plain => command.args(["--port", &number]),
        Way::Tls(arguments) => {
            let both = ["--port", "0", "--tls-port", &number];
            command.args(both).args(arguments)
        }
        Way::Node(arguments, _) => command.args(["--port", &number]).args(arguments),
    };
    command.args(["--bind", "127.0.0.1"]);
    command.args([
        "--save",
        "",
        "--appendonly",
        "no",
        "--daemonize",
        "no",
        "--dir",
    ]);
    command.arg(folder.path());
    let log = folder.path().join("log");
    let mut server = Server::start("redis-server", command, &log)?;
    let mut ended = false;
    let up = wait_until(START_LIMIT, || {
        ended = server.ended();
        ended
            || match way {
                Way::Plain | Way::Node(_, None) => answers(port),
                Way::Tls(_) => TcpStream::connect(("127.0.0.1", port)).is_ok(),
                Way::Node(_, Some(port)) => TcpStream::connect(("127.0.0.1", *port)).is_ok(),
            }
    });
    if up && !ended {
        return Ok(server);
    }
    Err(format!("redis-server did not come up on port {port}"))
}

/// Returns whether a `PING` is answered.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let mut answer = [0; 5];
    stream.write_all(b"PING\r\n").is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && &answer == b"+PONG"
}
