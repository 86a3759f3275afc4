//! The local launcher as a real process: one world with SQLite under a data folder.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use futures::future::BoxFuture;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

use super::process::{Process, binary, free_port, keep_logs};
use crate::http;

/// Longest time until a launcher is ready.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// A running launcher.
pub struct Launcher {
    name: &'static str,
    port: u16,
    process: Process,
    logs: PathBuf,
    _place: Option<OwnedSemaphorePermit>,
}

/// A data folder of its own, removed when dropped.
pub struct DataFolder(PathBuf);

impl DataFolder {
    /// Makes one.
    pub fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("ts-data-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        // Nothing depends on it any more.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Launcher {
    /// Starts one with further arguments and waits until it is ready.
    pub fn start<'a>(
        name: &'static str,
        data: &'a Path,
        arguments: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Self>> {
        Self::start_with(name, data, arguments, &[])
    }

    /// Starts one with further arguments and settings, and waits until it is ready.
    pub fn start_with<'a>(
        name: &'static str,
        data: &'a Path,
        arguments: &'a [&'a str],
        settings: &'a [(&'a str, &'a str)],
    ) -> BoxFuture<'a, Result<Self>> {
        Box::pin(async move {
            let place = super::place(false).await?;
            let port = free_port()?;
            let mut launcher = Self::launch(name, data, port, arguments, settings)?;
            launcher._place = Some(place);
            launcher.ready().await?;
            Ok(launcher)
        })
    }

    fn launch(
        name: &'static str,
        data: &Path,
        port: u16,
        arguments: &[&str],
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        let logs = std::env::temp_dir().join(format!("ts-logs-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&logs)?;
        let data = data.to_str().context("the folder's name")?;
        let port_text = port.to_string();
        let mut all = vec!["--data", data, "--port", &port_text];
        all.extend(arguments);
        let settings = settings.iter().chain(&[("DISABLE_RATE_LIMIT", "true")]);
        let env: Vec<(String, String)> = settings
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let log = logs.join("tilestead.log");
        let process = Process::start("tilestead", &binary("tilestead")?, &all, &env, &log)?;
        Ok(Self {
            name,
            port,
            process,
            logs,
            _place: None,
        })
    }

    async fn ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if let Some(code) = self.process.ended() {
                bail!("tilestead ended with {code:?}: {}", self.process.said());
            }
            if let Ok(answer) = http::get(&self.gateway(), "/readyz").await
                && answer.status == 200
            {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("tilestead is not ready: {}", self.process.said());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns host:port of its gateway.
    pub fn gateway(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Sends Ctrl-C; returns its exit code.
    pub async fn interrupt(mut self) -> Result<Option<i32>> {
        self.process.signal("INT");
        self.process.wait(Duration::from_secs(20)).await
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        if self.process.ended().is_none() {
            self.process.kill();
        }
        keep_logs(self.name, &self.logs);
    }
}
