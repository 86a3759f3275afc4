//! A child process that dies with the test process.
//!
//! The kernel's parent-death signal follows the *thread* that started the child, and each test is a
//! thread of its own. So one thread that never ends starts every child.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::folder::{ACCOUNT, am_root};

type Order = (Command, SyncSender<std::io::Result<Child>>);

/// Starts `command` from the thread that never ends. A parent-death signal of `setpriv --pdeathsig`
/// then comes when the process dies, not when the calling test ends.
///
/// # Errors
/// The system's error.
pub fn spawn(command: Command) -> std::io::Result<Child> {
    static STARTER: OnceLock<Sender<Order>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (orders, inbox) = channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in inbox {
                let _ = answer.send(command.spawn());
            }
        });
        orders
    });
    let (answer, result) = sync_channel(1);
    let gone = || std::io::Error::other("the thread that starts servers is gone");
    starter.send((command, answer)).map_err(|_| gone())?;
    result.recv().map_err(|_| gone())?
}

/// Returns a command that runs `program` with an empty environment, as an unprivileged account when
/// this process is root. It gets `INT` when this process dies.
pub(crate) fn unprivileged(program: &Path) -> Command {
    let account = ["--reuid", ACCOUNT, "--regid", "nogroup", "--clear-groups"];
    dies_with_us(if am_root() { &account } else { &[] }, program)
}

/// Returns a command that runs `program` with an empty environment. It gets `INT` when this process dies.
/// `options` are further ones of setpriv.
pub(crate) fn dies_with_us(options: &[&str], program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(options);
    command.args(["--pdeathsig", "INT", "--"]).arg(program);
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// Runs `command` to its end; its standard error in the sentence when it fails.
pub(crate) fn run(what: &str, mut command: Command) -> Result<(), String> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = spawn(command).map_err(|error| format!("{what} did not start: {error}"))?;
    let output = child
        .wait_with_output()
        .map_err(|error| format!("{what} was lost: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{what} failed: {}", said.trim()))
}

/// A running server.
pub(crate) struct Server(Option<Child>);

impl Server {
    /// Starts it; its output goes to `log`.
    pub(crate) fn start(what: &str, mut command: Command, log: &Path) -> Result<Server, String> {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        command.stdout(Stdio::null()).stderr(file);
        spawn(command)
            .map(|child| Server(Some(child)))
            .map_err(|error| format!("{what} did not start: {error}"))
    }

    /// Returns the process id, while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.0.as_ref().map(Child::id)
    }

    /// Returns whether it has ended by itself.
    pub(crate) fn ended(&mut self) -> bool {
        match &mut self.0 {
            Some(child) => !matches!(child.try_wait(), Ok(None)),
            None => true,
        }
    }

    /// Sends a signal by its name, such as `STOP` and `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        if let Some(pid) = self.pid() {
            let script = format!("kill -{name} {pid}");
            let _ = Command::new("sh").args(["-c", &script]).status();
        }
    }

    /// Kills it at once.
    pub(crate) fn kill9(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Asks it to end, waits up to 3 s, then kills it.
    pub(crate) fn stop(&mut self) {
        self.signal("CONT");
        self.signal("INT");
        let _ = wait_until(Duration::from_secs(3), || self.ended());
        self.kill9();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Asks every 10 ms until `done` says yes or the time is over.
pub(crate) fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the binary `name`: by the variable, then PATH, then the folders given.
pub(crate) fn find(name: &str, variable: &str, folders: &[PathBuf]) -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os(variable) {
        let path = PathBuf::from(given);
        if path.is_file() {
            return Ok(path);
        }
        return Err(format!("{variable} names no file: {}", path.display()));
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&search)
        .chain(folders.iter().cloned())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            format!("{name} was not found: install its package or name the binary in {variable}")
        })
}
