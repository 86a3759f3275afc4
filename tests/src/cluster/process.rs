//! One service as a real process: found, started with a clean environment, asked to end or
//! killed. It dies with the test process.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use tokio::time::{Instant, sleep};

/// Returns the path of a service's binary: in `TILESTEAD_BIN_DIR`, else in the folder that holds
/// the running test's.
pub fn binary(name: &str) -> Result<PathBuf> {
    let folder = match std::env::var_os("TILESTEAD_BIN_DIR") {
        Some(given) => absolute(Path::new(&given)),
        None => {
            let test = std::env::current_exe()?;
            let beside = test.parent().context("no folder")?;
            let inner = beside.ends_with("deps");
            let outer = if inner { beside.parent() } else { Some(beside) };
            outer.context("no folder")?.to_path_buf()
        }
    };
    let path = folder.join(name);
    ensure!(
        path.is_file(),
        "{} is missing: build it with `cargo build --workspace --bins` in the same profile, or \
         name its folder in TILESTEAD_BIN_DIR",
        path.display()
    );
    Ok(path)
}

/// Returns the path, taken from the workspace's folder and not from the test's current one.
fn absolute(path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.to_path_buf();
    }
    workspace().join(path)
}

/// Returns the workspace's folder.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns a free port below those that the system gives to outgoing connections, so that a service
/// may be stopped and started on it again.
pub fn free_port() -> Result<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = 20_000 + u16::try_from(std::process::id() % 97).unwrap_or(0) * 120;
    for _ in 0..2_000 {
        let port = base + NEXT.fetch_add(1, Ordering::Relaxed) % 12_000;
        let port = if port >= 32_000 { port - 12_000 } else { port };
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port between 20000 and 32000 on 127.0.0.1")
}

/// A child process that writes to a log.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `binary` with nothing in its environment but `env` and what every program needs.
    pub fn start(
        name: &str,
        binary: &Path,
        arguments: &[&str],
        env: &[(String, String)],
        log: &Path,
    ) -> Result<Self> {
        let file = fs::OpenOptions::new().create(true).append(true).open(log)?;
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            .arg(binary)
            .args(arguments);
        command.env_clear();
        for name in ["PATH", "HOME", "TMPDIR", "LOG_LEVEL"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(env.iter().map(|(k, v)| (k, v)));
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let child =
            test_servers::spawn(command).with_context(|| format!("start {}", binary.display()))?;
        Ok(Self {
            name: name.to_owned(),
            child,
            log: log.to_path_buf(),
        })
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns its exit code, if it has ended; no code: a signal ended it.
    pub fn ended(&mut self) -> Option<Option<i32>> {
        self.child
            .try_wait()
            .ok()
            .flatten()
            .map(|status| status.code())
    }

    /// Sends a signal by its name: TERM, INT, STOP, CONT.
    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        // It may have ended already; a later wait for it shows that.
        let _ = Command::new("sh")
            .args(["-c", &format!("kill -{name} {id}")])
            .status();
    }

    /// Asks it to end in order.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Kills it at once.
    pub fn kill(&mut self) {
        // Dead already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end: its exit code, none when a signal ended it.
    pub async fn wait(&mut self, time_limit: Duration) -> Result<Option<i32>> {
        let deadline = Instant::now() + time_limit;
        loop {
            if let Some(code) = self.ended() {
                return Ok(code);
            }
            if Instant::now() > deadline {
                let said = self.said();
                bail!(
                    "{} still runs after {time_limit:?}; it said last:\n{said}",
                    self.name
                );
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the last lines that it wrote.
    pub fn said(&self) -> String {
        let text = self.all_said();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// Returns all that it wrote.
    pub fn all_said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_none() {
            self.kill();
        }
    }
}

/// The outcome of a program that was run to its end.
pub struct Finished {
    /// Its exit code; none: a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a binary of ours to its end with a clean environment.
pub async fn finish(
    name: &str,
    arguments: &[&str],
    env: &[(&str, &str)],
    time_limit: Duration,
) -> Result<Finished> {
    let mut command = Command::new("timeout");
    let seconds = format!("{}", time_limit.as_secs());
    command
        .args(["-s", "KILL", &seconds])
        .arg(binary(name)?)
        .args(arguments);
    command.env_clear().envs(env.iter().copied());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    Ok(Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Keeps the logs under `tests/out/logs` when the test is failing, and removes them.
pub(crate) fn keep_logs(name: &str, logs: &Path) {
    if std::thread::panicking() || std::env::var_os("TILESTEAD_KEEP_LOGS").is_some() {
        let kept = workspace().join("tests/out/logs").join(name);
        // A failing test must still say why it fails, not that its logs were not kept.
        let _ = fs::create_dir_all(&kept);
        for entry in fs::read_dir(logs).into_iter().flatten().flatten() {
            let _ = fs::copy(entry.path(), kept.join(entry.file_name()));
            say_errors(&entry.path());
        }
        eprintln!("what the processes said is in {}", kept.display());
    }
    let _ = fs::remove_dir_all(logs);
}

/// Says the last errors of a log: where only the output of a run is kept, the log itself is lost.
fn say_errors(log: &Path) {
    const MOST: usize = 8;
    let text = fs::read_to_string(log).unwrap_or_default();
    let errors: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(" ERROR "))
        .collect();
    for line in &errors[errors.len().saturating_sub(MOST)..] {
        eprintln!("{}: {line}", log.display());
    }
}
