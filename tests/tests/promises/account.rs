//! A player takes its data away, and then its account: nothing of it stays but the books.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::{Action, Payload, Player},
    cluster::{Cluster, Kind, Plan, metrics},
    http,
};
use tokio::time::{Instant, sleep};

use crate::interface::Caller;

/// Time within which all gateways have heard.
const SOON: Duration = Duration::from_secs(10);
const CHECK: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_plays_may_take_everything_away_and_be_forgotten() {
    let cluster = Cluster::start(Plan::new("account").of(2, 1, 1))
        .await
        .unwrap();
    story(&cluster).await.unwrap();
}

/// Drops the first thing of the pack. Returns its item.
async fn drop_one(player: &Player) -> Result<String> {
    let held = player.look(|view| {
        let mut slots = view.possessions.slots().iter().enumerate();
        slots.find_map(|(slot, stack)| Some((slot, stack.as_ref()?.item_id.to_string())))
    });
    let (slot, item) = held.context("nothing to drop")?;
    let action = Action::Drop {
        slot: u8::try_from(slot)?,
        item: item.clone(),
        quantity: None,
    };
    match player.act(action).await? {
        Payload::Ack(_) => Ok(item),
        other => bail!("inventory:drop: {other:?}"),
    }
}

async fn conserved(cluster: &Cluster) -> Result<()> {
    let checked = cluster.command(&["check"], CHECK).await?;
    ensure!(
        checked.code == Some(0),
        "{} {}",
        checked.stdout,
        checked.stderr
    );
    Ok(())
}

async fn befriends(one: &Player, other: &str) -> Result<()> {
    let asked = one
        .ask("friends:request", &json!({ "name": other }))
        .await?;
    ensure!(!matches!(asked, Payload::Error(_)), "{asked:?}");
    Ok(())
}

/// What went with the account is in the measures of the economy.
async fn counted(cluster: &Cluster) -> Result<()> {
    let store = cluster.probes((Kind::Persistence, 0))?;
    let measured = http::get(&store, "/metrics").await?.text();
    for what in ["coins", "items"] {
        let name = format!("persistence_{what}_written_off_total");
        let gone = metrics::sum(&measured, &name, "");
        ensure!(gone > 0.0, "no {what} were written off");
    }
    Ok(())
}

async fn story(cluster: &Cluster) -> Result<()> {
    let (near, far) = (cluster.gateway(0), cluster.gateway(1));
    let ann = Player::arrive(&near, Format::Json, "Ann").await?;
    let bob = Player::arrive(&far, Format::Json, "Bob").await?;
    let key = ann.device_key()?;
    befriends(&ann, "Bob").await?;
    befriends(&bob, "Ann").await?;
    let dropped = drop_one(&ann).await?;
    let caller = |gateway| {
        let token = ann.look(|view| view.welcome.as_ref().map(|w| w.auth_token.clone()));
        Caller { gateway, token }
    };
    let here = caller(near.as_str());
    let name = here.get("/api/player").await?["account"]["name"].clone();
    let confirm = Some(json!({ "confirm": name }));
    let path = "/api/account";
    let remove = (Method::DELETE, path);
    here.refused(remove.0.clone(), path, confirm.clone(), (409, "in_world"))
        .await?;
    let left = ann.ask("world:leave", &json!({})).await?;
    ensure!(matches!(left, Payload::WorldLeft(_)), "{left:?}");

    let wrong = Some(json!({ "confirm": "Ann" }));
    let refused = here.ask(remove.0.clone(), path, wrong).await?;
    ensure!(refused.status == 400, "{}", refused.text());
    ensure!(refused.json()?["errors"][0]["pointer"] == "/confirm");
    exported(&here, &name, &dropped).await?;
    conserved(cluster).await?;

    let gone = here.ask(remove.0.clone(), path, confirm.clone()).await?;
    ensure!(gone.status == 204, "{} {}", gone.status, gone.text());
    let closed = ann.closed(SOON).await?;
    ensure!(closed.code == Some(4004), "{closed:?}");
    here.refused(remove.0, path, confirm, (401, "invalid_token"))
        .await?;
    let there = caller(far.as_str());
    let begun = Instant::now();
    loop {
        let asked = there.ask(Method::GET, "/api/player", None).await?;
        if asked.status == 401 {
            break;
        }
        ensure!(begun.elapsed() < SOON, "{} {}", asked.status, asked.text());
        sleep(Duration::from_millis(50)).await;
    }
    // Nobody has the key any more, and it does not bring the account back.
    let again = Player::connect(&far, Format::Json).await?;
    let asked = again
        .ask("authenticate", &json!({ "deviceKey": key }))
        .await?;
    ensure!(matches!(asked, Payload::Error(_)), "{asked:?}");
    let welcome = again.sign_in(None).await?;
    ensure!(welcome.characters.is_empty() && json!(welcome.account.name) != name);
    // The name is free, and the friend has lost a friend.
    again.create("Ann").await?;
    counted(cluster).await?;
    let rows = cluster.store().await?.characters().await?;
    let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
    ensure!(names.len() == 2, "{names:?}");
    conserved(cluster).await
}

/// Checks that the export has what the player has.
async fn exported(here: &Caller<'_>, name: &Value, dropped: &str) -> Result<()> {
    let answer = here.ask(Method::GET, "/api/account/export", None).await?;
    ensure!(answer.status == 200, "{}", answer.text());
    let header = |name: &str| answer.headers.get(name).cloned();
    let kept = header("cache-control").context("cache-control")?;
    ensure!(kept == "no-store", "{kept:?}");
    let shown = header("content-disposition").context("content-disposition")?;
    ensure!(shown.to_str()?.starts_with("attachment"), "{shown:?}");
    let document = answer.json()?;
    ensure!(document["account"]["name"] == *name, "{document}");
    let ann = &document["characters"][0];
    ensure!(ann["character"]["name"] == "Ann", "{ann}");
    ensure!(ann["friends"] == json!([{"name": "Bob"}]), "{ann}");
    ensure!(ann["saved"]["state"]["quests"].is_object() || ann["saved"]["state"].is_object());
    let ledger = &ann["ledger"];
    ensure!(ledger["complete"] == json!(true), "{ledger}");
    let rows = ledger["rows"].as_array().context("rows")?;
    let row = rows.iter().find(|row| row["cause"] == "drop");
    ensure!(row.context("no drop")?["itemId"] == dropped, "{rows:?}");
    let inventory = here.get("/api/player/inventory").await?;
    ensure!(ann["inventory"] == inventory["inventory"], "{ann}");
    let id = ann["character"]["id"].as_str().context("id")?;
    let path = format!("/api/account/ledger?characterId={id}");
    let page = here.get(&path).await?;
    ensure!(page["rows"] == ledger["rows"], "{page}");
    Ok(())
}
