//! Answers in tables: how the cluster is, its zones, who plays, the ledger, the freeze, a drain.

use std::{io::Write, time::Duration};

use anyhow::bail;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    Page, Switch,
    cluster::{Cluster, Query},
    sight::{Sight, millis},
    table::table,
};

/// Time within which a zone gives all its regions to others.
const DRAINS: Duration = Duration::from_secs(120);
/// Time between two looks at a zone that gives its regions away.
const LOOK: Duration = Duration::from_secs(1);

/// Logins that are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Players<'o> {
    /// Also those that are over.
    pub(super) all: bool,
    /// Only those of one character.
    pub(super) player: Option<&'o str>,
}

/// Rows of the ledger that are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ledger<'o> {
    pub(super) player: Option<&'o str>,
    pub(super) item: Option<&'o str>,
}

/// Returns a value as people read it; nothing for what is not there.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn cells(row: &Value, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| cell(&row[name])).collect()
}

fn raw(answer: &Value) -> String {
    format!("{answer:#}\n")
}

/// Prints what the cluster has.
pub(super) async fn status(cluster: &Cluster, json: bool) -> anyhow::Result<String> {
    let gateway = cluster.get("/status", &[]).await?;
    let stats = cluster.get("/admin/stats", &[]).await?;
    if json {
        return Ok(raw(&json!({"gateway": gateway, "stats": stats})));
    }
    let frozen = match stats["frozen"] == json!(true) {
        true => "frozen: nothing moves items or coins",
        false => "free",
    };
    let rows = [
        ("gateway", cluster.url.to_string()),
        ("version", cell(&gateway["version"])),
        ("ready", cell(&gateway["ready"])),
        ("up for", format!("{} s", cell(&gateway["uptime"]))),
        ("players here", cell(&gateway["players"])),
        ("players in the world", cell(&stats["activeSessions"])),
        ("zones", cell(&stats["zones"])),
        ("accounts", cell(&stats["totalUsers"])),
        ("characters", cell(&stats["totalCharacters"])),
        ("banned accounts", cell(&stats["bannedUsers"])),
        ("quarantined characters", cell(&stats["quarantined"])),
        ("items and coins", frozen.to_owned()),
    ];
    let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
    Ok(table(&["what", "value"], &rows))
}

/// Prints all zones, and all regions if they are asked for.
pub(super) async fn zones(cluster: &Cluster, regions: bool, json: bool) -> anyhow::Result<String> {
    let answer = cluster.get("/admin/zones", &[]).await?;
    if json {
        return Ok(raw(&answer));
    }
    let sight = Sight::read(answer)?;
    let zones: Vec<Vec<String>> = sight
        .zones
        .iter()
        .map(|zone| {
            vec![
                zone.id.clone(),
                zone.address.clone(),
                zone.state.clone(),
                zone.regions.to_string(),
                zone.players.to_string(),
                millis(zone.cost_micros),
            ]
        })
        .collect();
    let headings = [
        ">zone",
        "address",
        "state",
        ">regions",
        ">players",
        ">ms a tick",
    ];
    let mut text = table(&headings, &zones);
    if regions {
        let rows: Vec<Vec<String>> = sight
            .regions
            .iter()
            .map(|region| {
                vec![
                    format!("{},{}", region.x, region.z),
                    region.zone.clone().unwrap_or_default(),
                    region.epoch.to_string(),
                    region.players.to_string(),
                    millis(region.cost_micros),
                    region.note(),
                ]
            })
            .collect();
        let headings = [
            ">region",
            ">zone",
            ">epoch",
            ">players",
            ">ms a tick",
            "note",
        ];
        text.push('\n');
        text.push_str(&table(&headings, &rows));
    }
    Ok(text)
}

/// Asks for a page of a list, and prints it.
async fn list(
    cluster: &Cluster,
    (path, query): (&str, Query<'_>),
    (of, columns): (&str, &[(&str, &str)]),
    page: Page,
    json: bool,
) -> anyhow::Result<String> {
    let mut asked = query.to_vec();
    asked.push(("page", Some(page.page.to_string())));
    asked.push(("limit", Some(page.limit.to_string())));
    let answer = cluster.get(path, &asked).await?;
    if json {
        return Ok(raw(&answer));
    }
    let rows = answer[of].as_array();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let rows = rows.into_iter().flatten().map(|row| cells(row, &names));
    let headings: Vec<&str> = columns.iter().map(|(_, heading)| *heading).collect();
    let mut text = table(&headings, &rows.collect::<Vec<_>>());
    let pages = &answer["pagination"];
    text.push_str(&format!(
        "page {} of {}, {} in all\n",
        cell(&pages["page"]),
        cell(&pages["totalPages"]),
        cell(&pages["total"])
    ));
    Ok(text)
}

/// Prints logins.
pub(super) async fn players(
    cluster: &Cluster,
    asked: Players<'_>,
    page: Page,
    json: bool,
) -> anyhow::Result<String> {
    let query = [
        ("open", Some((!asked.all).to_string())),
        ("playerId", asked.player.map(str::to_owned)),
    ];
    let columns = [
        ("name", "name"),
        ("characterId", "character"),
        ("loginAt", "since"),
        ("logoutAt", "until"),
        ("reason", "reason"),
        ("gateway", "gateway"),
    ];
    let of = ("sessions", &columns[..]);
    list(cluster, ("/admin/sessions", &query), of, page, json).await
}

/// Prints rows of the ledger.
pub(super) async fn ledger(
    cluster: &Cluster,
    asked: Ledger<'_>,
    page: Page,
    json: bool,
) -> anyhow::Result<String> {
    let query = [
        ("playerId", asked.player.map(str::to_owned)),
        ("itemId", asked.item.map(str::to_owned)),
    ];
    let columns = [
        ("at", "at"),
        ("itemId", "item"),
        ("delta", ">change"),
        ("cause", "cause"),
        ("playerId", "character"),
        ("id", "row"),
    ];
    let of = ("entries", &columns[..]);
    list(cluster, ("/admin/audit", &query), of, page, json).await
}

/// Asks for the freeze, or sets it; prints which holds.
pub(super) async fn freeze(
    cluster: &Cluster,
    switch: Option<Switch>,
    json: bool,
) -> anyhow::Result<String> {
    let path = "/admin/freeze";
    let answer = match switch {
        None => cluster.get(path, &[]).await?,
        Some(Switch::On) => cluster.act(Method::POST, path, None).await?,
        Some(Switch::Off) => cluster.act(Method::DELETE, path, None).await?,
    };
    if json {
        return Ok(raw(&answer));
    }
    let text = match answer["frozen"] == json!(true) {
        true => "Items and coins are frozen: nothing moves them.\n",
        false => "Items and coins move.\n",
    };
    Ok(text.to_owned())
}

/// Has a zone give its regions to others, and waits until it has none.
///
/// # Errors
/// If there is no such zone, or it still has regions after two minutes.
pub(super) async fn drain(cluster: &Cluster, zone: u64) -> anyhow::Result<String> {
    let id = zone.to_string();
    let path = format!("/admin/zones/{id}/drain");
    cluster.act(Method::POST, &path, None).await?;
    let deadline = Instant::now() + DRAINS;
    let mut left = None;
    loop {
        let sight = Sight::of(cluster).await?;
        let has = sight.zones.iter().find(|known| known.id == id);
        let has = has.map_or(0, |zone| zone.regions);
        if has == 0 {
            return Ok(format!("Zone {id} has no region any more.\n"));
        }
        if left != Some(has) {
            left = Some(has);
            // Who closes stderr does not want to hear of it.
            let _ = writeln!(std::io::stderr(), "zone {id} still has {has} regions");
        }
        if Instant::now() > deadline {
            bail!(
                "zone {id} still has {has} regions after {} s",
                DRAINS.as_secs()
            );
        }
        sleep(LOOK).await;
    }
}
