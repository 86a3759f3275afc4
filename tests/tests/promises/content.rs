//! The content of a world on several processes. All play and show one version while the content
//! server changes, and a server without content says so and ends.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use proto::client::Format;
use serde_json::json;
use test_servers::Cdn;
use tests::{
    bot::{Payload, Player},
    cluster::{Cluster, Kind, Plan, process::finish},
    http,
};
use tokio::time::{Instant, sleep};
use world::Content;

/// Time within which a gateway shows the content that the zones play.
const SOON: Duration = Duration::from_secs(20);
const OLD: &str = r#"[{"id": "song", "name": "An old song"}]"#;
const NEW: &str = r#"[{"id": "song", "name": "A new song"}]"#;

fn cdn() -> Cdn {
    let files = Content::embedded_files().iter().copied();
    let cdn = Cdn::start(files);
    cdn.put("music.json", OLD);
    cdn
}

/// Returns the version with this music.
fn version(music: &str) -> String {
    let texts = Content::embedded_files().iter();
    let mut files: BTreeMap<String, String> = texts
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    files.insert("music.json".to_owned(), music.to_owned());
    let loaded = Content::load(&files).expect("it can be played");
    loaded.content.hash().to_owned()
}

/// Waits until the gateway shows this version and every zone plays it.
async fn shows(cluster: &Cluster, gateway: usize, version: &str, music: &str) -> Result<()> {
    let authority = cluster.gateway(gateway);
    let until = Instant::now() + SOON;
    loop {
        let status = http::get(&authority, "/status").await?.json()?;
        let content = &status["content"];
        if content["version"] == version && content["zones"] == json!([version]) {
            break;
        }
        let late = Instant::now() > until;
        ensure!(!late, "gateway {gateway} shows {content}, not {version}");
        sleep(Duration::from_millis(100)).await;
    }
    let served = http::get(&authority, "/manifests/music.json").await?;
    ensure!(served.text() == music, "{}", served.text());
    let land = http::get(&authority, "/world/terrain.json").await?.json()?;
    ensure!(land["contentHash"] == version);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_play_and_show_one_version() {
    let cdn = cdn();
    let plan = Plan::new("one_version").of(2, 2, 1);
    let plan = plan.env("PUBLIC_CDN_URL", &cdn.url());
    let plan = plan.env("WORLD", "/nonexistent");
    let plan = plan.env("SKIP_MANIFESTS", "false");
    let mut cluster = Cluster::prepare(plan).await.unwrap();
    agree(&mut cluster, &cdn).await.unwrap();
}

async fn agree(cluster: &mut Cluster, cdn: &Cdn) -> Result<()> {
    let (old, new) = (version(OLD), version(NEW));
    for first in [(Kind::Persistence, 0), (Kind::Zone, 0), (Kind::Gateway, 0)] {
        cluster.launch(first)?;
    }
    cluster.ready().await?;
    shows(cluster, 0, &old, OLD).await?;

    // A process that starts later finds other content, and follows the older ones.
    cdn.put("music.json", NEW);
    for later in [(Kind::Zone, 1), (Kind::Gateway, 1)] {
        cluster.launch(later)?;
    }
    cluster.ready().await?;
    for gateway in [0, 1] {
        shows(cluster, gateway, &old, OLD).await?;
    }

    // When no zone plays the old one any more, all go on with the new one.
    for zone in [0, 1] {
        cluster.stop((Kind::Zone, zone)).await?;
    }
    cluster.launch((Kind::Zone, 0))?;
    cluster.ready().await.context("the new zone")?;
    for gateway in [0, 1] {
        shows(cluster, gateway, &new, NEW).await?;
    }
    Ok(())
}

#[tokio::test]
async fn production_without_content_ends_with_a_sentence() {
    let (cdn, away) = (cdn(), cdn());
    away.breaks_after(Some(0));
    cdn.put("biomes.json", "<<<<<<< HEAD\n[]\n");
    for (service, port) in [("gateway", "PORT"), ("zone-server", "METRICS_PORT")] {
        for (cdn, names) in [(&away, "no manifests"), (&cdn, "biomes.json")] {
            let url = cdn.url();
            let env = [
                ("NODE_ENV", "production"),
                ("INTERNAL_TLS", "off"),
                ("PUBLIC_CDN_URL", url.as_str()),
                ("WORLD", "/nonexistent"),
                (
                    "JWT_SECRET",
                    "a-long-secret-that-nobody-would-guess-0123456789",
                ),
                ("ADMIN_CODE", "another-long-secret-0123456789"),
                ("LOG_LEVEL", "off"),
                (port, "0"),
            ];
            let finished = finish(service, &[], &env, SOON).await.unwrap();
            let said = finished.stderr;
            assert_eq!(finished.code, Some(65), "{service}: {said}");
            assert!(said.contains(names), "{service}: {said}");
            assert_eq!(said.trim().lines().count(), 1, "{service}: {said}");
        }
    }
}

/// Nobody describes it any more.
const RELIC: &str = "relic_of_old";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thing_that_nothing_describes_is_kept_and_good_for_nothing() {
    let cluster = Cluster::start(Plan::new("relics")).await.unwrap();
    kept(&cluster).await.unwrap();
}

async fn kept(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let ann = Player::arrive(&gateway, Format::Json, "Ann").await?;
    let (id, key) = (ann.id()?, ann.device_key()?);
    let left = ann.ask("world:leave", &json!({})).await?;
    ensure!(matches!(left, Payload::WorldLeft(_)), "{left:?}");
    drop(ann);
    cluster.store().await?.pack(&id, 27, RELIC).await?;

    let ann = Player::come_back(&gateway, Format::Json, &key).await?;
    let bob = Player::arrive(&gateway, Format::Json, "Bob").await?;
    bob.walk(ann.position()?, true, SOON).await?;
    let has = |player: &Player| player.look(|view| view.possessions.slots()[27].clone());
    let there = has(&ann).context("it was not loaded")?;
    ensure!(*there.item_id == *RELIC && there.quantity == 1, "{there:?}");
    let mark = bob.mark();
    ann.ask("tradeRequest", &json!({"targetPlayerId": bob.id()?}))
        .await?;
    let trade = bob
        .heard("tradeIncoming", mark, SOON, |message| {
            match &message.payload {
                Payload::TradeIncoming(incoming) => Some(incoming.trade_id.to_string()),
                _ => None,
            }
        })
        .await?;
    bob.ask(
        "tradeRequestRespond",
        &json!({"tradeId": trade, "accept": true}),
    )
    .await?;
    for (event, data) in [
        (
            "tradeAddItem",
            json!({"tradeId": trade, "inventorySlot": 27, "quantity": 1}),
        ),
        ("tradeCancel", json!({"tradeId": trade})),
        ("inventory:use", json!({"slot": 27})),
        ("inventory:equip", json!({"slot": 27})),
    ] {
        let told = ann.ask(event, &data).await?;
        let refused = matches!(told, Payload::Error(_) | Payload::TradeError(_));
        ensure!(refused == (event != "tradeCancel"), "{event}: {told:?}");
    }
    ensure!(has(&ann) == Some(there), "it is not what it was");
    ann.ask("world:leave", &json!({})).await?;
    let held = cluster.store().await?.held().await?;
    let relics = held
        .get(&id)
        .and_then(|held| held.items.get(RELIC))
        .copied();
    ensure!(relics == Some(1), "in the store there are {relics:?}");
    Ok(())
}
