//! Chromium, headless, driven through chromedriver.

use std::{path::PathBuf, process::Command, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use fantoccini::{Client, ClientBuilder};
use hyper::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tests::{
    cluster::{Process, free_port},
    http,
};
use tokio::time::{Instant, sleep};

const SOON: Duration = Duration::from_secs(20);
/// Sets the setting of a player who spares the battery, unless the page has set others. An empty page
/// has no memory.
const CALM: &str =
    "try { localStorage['tilestead.settings'] ??= '{\"pictures\":\"15\"}'; } catch {}";

/// Milliseconds for a script of a test, such as one that compares all pictures: a busy machine takes
/// longer than the half minute of WebDriver.
const SCRIPT_MS: u64 = 180_000;

pub(super) struct Driver {
    port: u16,
    _process: Process,
    _log: LogFolder,
}

/// A folder for the driver's log, removed afterwards.
struct LogFolder(PathBuf);

impl Drop for LogFolder {
    fn drop(&mut self) {
        // Nothing depends on it any more.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn program(names: &[&str]) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file())
        .with_context(|| format!("none of {names:?} is installed: run ./tests/run once"))
}

impl Driver {
    pub(super) async fn start() -> Result<Self> {
        let port = free_port()?;
        let folder = std::env::temp_dir().join(format!("ts-driver-{port}"));
        std::fs::create_dir_all(&folder)?;
        let log = folder.join("chromedriver.log");
        let argument = format!("--port={port}");
        let driver = program(&["chromedriver"])?;
        let process = Process::start("chromedriver", &driver, &[&argument], &[], &log)?;
        let driver = Self {
            port,
            _process: process,
            _log: LogFolder(folder),
        };
        let deadline = Instant::now() + SOON;
        while http::get(&format!("127.0.0.1:{port}"), "/status")
            .await
            .is_err()
        {
            ensure!(Instant::now() < deadline, "chromedriver does not answer");
            sleep(Duration::from_millis(50)).await;
        }
        Ok(driver)
    }

    pub(super) async fn browser(&self) -> Result<Client> {
        let chromium = program(&["chromium", "chromium-browser", "google-chrome"])?;
        let mut arguments = vec![
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1280,800",
            "--force-device-scale-factor=1",
        ];
        if root() {
            arguments.push("--no-sandbox");
        }
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments, "binary": chromium },
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": SCRIPT_MS },
        });
        let Value::Object(wanted) = wanted else {
            bail!("capabilities");
        };
        ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{}", self.port))
            .await
            .context("open a browser")
    }

    /// Opens a browser whose pages draw 15 pictures a second, as a player can set it: a machine that
    /// draws without a graphics card has more to do.
    pub(super) async fn calm_browser(&self) -> Result<Client> {
        let browser = self.browser().await?;
        let add = "Page.addScriptToEvaluateOnNewDocument";
        self.devtools(&browser, add, json!({ "source": CALM }))
            .await?;
        Ok(browser)
    }

    /// Sends a browser's driver a command that WebDriver does not have; returns the answer.
    pub(super) async fn order(&self, browser: &Client, path: &str, body: &Value) -> Result<Value> {
        let session = browser.session_id().await?.context("no session")?;
        let path = format!("/session/{session}/{path}");
        let authority = format!("127.0.0.1:{}", self.port);
        let kind = [("content-type", "application/json")];
        let body = body.to_string().into();
        let answer = http::send(&authority, Method::POST, &path, &kind, body).await?;
        ensure!(answer.status == 200, "{path}: {}", answer.text());
        Ok(answer.json()?["value"].take())
    }

    /// Tells a browser something by the DevTools protocol.
    pub(super) async fn devtools(
        &self,
        browser: &Client,
        command: &str,
        params: Value,
    ) -> Result<()> {
        let body = json!({ "cmd": command, "params": params });
        self.order(browser, "goog/cdp/execute", &body).await?;
        Ok(())
    }
}

fn root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}
