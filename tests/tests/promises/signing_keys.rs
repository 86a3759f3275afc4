//! The keys that sign tokens are rotated under players, with real gateways.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::{Payload, Player},
    cluster::{Cluster, Plan},
};
use tokio::time::{sleep, timeout};

use crate::interface::{Caller, somebody};

const OLD: &str = "2026-11 a-first-secret-0123456789abcdef-0123456789";
const NEW: &str = "2026-12 a-newer-secret-0123456789abcdef-0123456789";
const SOON: Duration = Duration::from_secs(10);

/// The file of keys, which is gone at the end.
struct KeyFile(PathBuf);

impl KeyFile {
    fn write(&self, lines: &[&str]) -> Result<()> {
        let next = self.0.with_extension("next");
        fs::write(&next, lines.join("\n"))?;
        fs::rename(&next, &self.0).context("the file of keys")
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_keys_log_nobody_out_and_old_ones_end() {
    let file = format!("signing-keys-{}", std::process::id());
    let file = KeyFile(std::env::temp_dir().join(file));
    file.write(&[OLD]).unwrap();
    let plan = Plan::new("signing_keys")
        .of(2, 1, 1)
        .env("JWT_KEYS_FILE", &file.0.display().to_string());
    let cluster = Cluster::start(plan).await.unwrap();
    rotated(&cluster, &file).await.unwrap();
}

async fn rotated(cluster: &Cluster, file: &KeyFile) -> Result<()> {
    let gateways = [cluster.gateway(0), cluster.gateway(1)];
    let mut ann = Player::arrive(&gateways[0], Format::Json, "Ann").await?;
    let mut bob = Player::arrive(&gateways[0], Format::Json, "Bob").await?;
    let old = token(&ann)?;
    ensure!(kid(&old)? == "2026-11", "{}", kid(&old)?);

    file.write(&[NEW, OLD])?;
    for gateway in &gateways {
        signs_with(gateway, "2026-12").await?;
        ensure!(status(gateway, &old).await?.0 == 200, "the old token");
    }
    // The open session goes on, and by its old token at the other gateway.
    let pong = ann.ask("ping", &json!({"t": 1})).await?;
    ensure!(matches!(pong, Payload::Pong(_)), "{pong:?}");
    ann.cut().await;
    ann.resume(&gateways[1]).await?;
    ann.check()?;

    file.write(&[NEW])?;
    for gateway in &gateways {
        let gone = async {
            while status(gateway, &old).await?.0 == 200 {
                sleep(Duration::from_millis(100)).await;
            }
            anyhow::Ok(())
        };
        timeout(SOON, gone).await.context("it never ends")??;
        let (status, said) = status(gateway, &old).await?;
        ensure!(status == 401 && said["code"] == "invalid_token", "{said}");
        ensure!(kid(&somebody(gateway).await?)? == "2026-12");
    }
    bob.cut().await;
    let refused = bob.resume(&gateways[1]).await;
    let Err(refused) = refused else {
        bail!("a resume token outlived its key");
    };
    ensure!(
        refused.to_string().contains("authenticate anew"),
        "{refused}"
    );
    Ok(())
}

fn token(player: &Player) -> Result<String> {
    player
        .look(|view| view.welcome.as_ref().map(|told| told.auth_token.clone()))
        .context("never welcomed")
}

/// Returns the key that a token names.
fn kid(token: &str) -> Result<String> {
    let head = token.split('.').next().context("no token")?;
    let head: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(head)?)?;
    Ok(head["kid"].as_str().context("no kid")?.to_owned())
}

async fn signs_with(gateway: &str, id: &str) -> Result<()> {
    let signs = async {
        while kid(&somebody(gateway).await?)? != id {
            sleep(Duration::from_millis(100)).await;
        }
        anyhow::Ok(())
    };
    timeout(SOON, signs).await.context("it never signs")?
}

async fn status(gateway: &str, token: &str) -> Result<(u16, Value)> {
    let caller = Caller {
        gateway,
        token: Some(token.to_owned()),
    };
    let answer = caller.ask(Method::GET, "/api/v1/player", None).await?;
    Ok((answer.status.as_u16(), answer.json()?))
}
