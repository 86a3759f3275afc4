//! Faults for trial: an operator kills, freezes and cuts off zone servers in the console, and sees how
//! the world recovers, while somebody walks about.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::Player,
    cluster::{Launcher, launcher::DataFolder, process::finish},
};
use tokio::time::{Instant, sleep};

use super::{
    browser::shoot,
    browser_steps::{SOON, showing},
    console::{OWNED, logs_in, named, rows, says},
    driver::Driver,
    habits::until_true,
    interface::{ADMIN_CODE, Caller, operator},
    launcher::stroll,
    person::Person,
};

/// Longest time until a zone has the player whom the store counts there.
const COUNTED: Duration = Duration::from_secs(30);
/// Longest time for which a region may have no owner that lives.
const UNOWNED_MS_MAX: u64 = 15_000;
const FAULTS: [(&str, &str); 3] = [("kill", "3"), ("freeze", "8"), ("cut_off", "8")];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_break_zone_servers_for_trial_and_see_the_world_recover() {
    let data = DataFolder::new("console-chaos").unwrap();
    let (words, code) = (["--zones", "3", "--chaos"], [("ADMIN_CODE", ADMIN_CODE)]);
    let launcher = Launcher::start_with("console_chaos", data.path(), &words, &code);
    let launcher = launcher.await.unwrap();
    let driver = Driver::start().await.unwrap();
    let one = Person::with_mouse(&driver, "Operator", (1280, 720));
    let one = one.await.unwrap();
    let told = story(&launcher.gateway(), &one).await;
    if told.is_err() {
        shoot(&one.page, "failed-console-chaos").await.unwrap();
    }
    one.page.close().await.unwrap();
    told.unwrap();
    assert_eq!(launcher.interrupt().await.unwrap(), Some(0));
    let folder = [("DATA_DIR", data.path().to_str().unwrap())];
    let checked = finish("persistence-svc", &["check"], &folder, COUNTED).await;
    let checked = checked.unwrap();
    assert_eq!(
        checked.code,
        Some(0),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
}

async fn story(gateway: &str, one: &Person<'_>) -> Result<()> {
    let op = Caller {
        gateway,
        token: Some(operator(gateway).await?),
    };
    named(&op, "warden").await?;
    let ann = Player::arrive(gateway, Format::Json, "Ann").await?;
    one.page.goto(&format!("http://{gateway}/console")).await?;
    logs_in(one, "warden").await?;
    showing(&one.page, "#figures", SOON).await?;
    one.presses("#nav a", "Chaos").await?;
    rows(one, "#processes tr[data-mark='up']", 3).await?;
    one.looks("chaos").await?;
    tokio::select! {
        broken = breaks_all(&op, one) => broken?,
        walked = walks(&ann) => walked?,
    }
    ann.check().context("Ann")?;
    one.presses("#nav a", "Acts").await?;
    says(one, "acts", "cut off zone-server").await?;
    let errors = one.errors().await?;
    ensure!(errors.is_empty(), "{errors:#?}");
    Ok(())
}

/// Walks to and fro for ever, on one socket; each request has an answer, whatever it says.
async fn walks(ann: &Player) -> Result<()> {
    let from = ann.position()?;
    let there = stroll(&ann.authority(), from).await?;
    for (x, z) in [there, from].into_iter().cycle() {
        let to = json!({ "target": { "x": x, "z": z } });
        ann.ask("player:move", &to).await.context("Ann walks")?;
        sleep(Duration::from_millis(500)).await;
    }
    Ok(())
}

async fn breaks_all(op: &Caller<'_>, one: &Person<'_>) -> Result<()> {
    let unknown = json!({ "process": "zone-server 4", "fault": "kill", "seconds": 3 });
    let refusal = (404, "not_found");
    let path = "/admin/chaos";
    op.refused(Method::POST, path, Some(unknown), refusal)
        .await?;
    for (number, (fault, seconds)) in (1..).zip(FAULTS) {
        let process = host(op).await?;
        breaks(one, &process, fault, seconds).await.context(fault)?;
        let over = format!("#recovery li[data-fault='{number}'][data-over='true']");
        rows(one, &over, 1).await?;
        rows(one, "#processes tr[data-mark='up']", 3).await?;
        let seen = op.get(path).await?;
        recovered(&seen["faults"][0], &process).with_context(|| format!("{fault}: {seen}"))?;
        if number == 1 {
            one.looks("a recovery").await?;
            shoot(&one.page, "console-chaos").await?;
        }
        one.presses("#nav a", "Map").await?;
        says(one, "news", "without an owner for").await?;
        until_true(one, "regions without a zone", OWNED).await?;
        one.presses("#nav a", "Chaos").await?;
    }
    Ok(())
}

/// Returns the process that plays the one player, once the world is at rest.
async fn host(op: &Caller<'_>) -> Result<String> {
    let deadline = Instant::now() + COUNTED;
    loop {
        let (world, chaos) = (op.get("/admin/zones").await?, op.get("/admin/chaos").await?);
        let regions = world["regions"].as_array().context("regions")?;
        let hers = regions.iter().find(|region| region["players"] == 1);
        let processes = chaos["processes"].as_array().context("processes")?;
        let whole = processes.iter().all(|process| process["condition"] == "up");
        let plays = |process: &&Value| {
            let zone = &process["zone"];
            hers.is_some_and(|region| region["zone"] == *zone && !zone.is_null())
        };
        if let Some(process) = processes.iter().find(plays).filter(|_| whole) {
            return Ok(process["name"].as_str().context("a name")?.to_owned());
        }
        if Instant::now() > deadline {
            bail!("nobody plays Ann: {world} {chaos}");
        }
        sleep(Duration::from_millis(200)).await;
    }
}

async fn breaks(one: &Person<'_>, process: &str, fault: &str, seconds: &str) -> Result<()> {
    let act = format!("#processes [data-key='{fault} {process}']");
    showing(&one.page, &act, SOON).await?;
    one.presses(&act, "").await?;
    one.fills("#seconds", seconds).await?;
    one.presses("dialog button.danger", "").await?;
    rows(one, "#processes tr:not([data-mark='up'])[data-mark]", 1).await
}

/// Others took all regions of the process soon, and it plays again.
fn recovered(fault: &Value, process: &str) -> Result<()> {
    ensure!(fault["process"] == process, "another process");
    ensure!(fault["regions"].as_u64() > Some(0), "it had no region");
    ensure!(fault["unowned"] == 0, "regions without an owner");
    let time = fault["unownedMs"].as_u64().context("no time")?;
    ensure!(time < UNOWNED_MS_MAX, "without an owner for {time} ms");
    let taken = fault["taken"].as_array().context("taken")?;
    let others = taken.iter().all(|taken| taken["zone"] != fault["zone"]);
    ensure!(others && !taken.is_empty(), "who took them?");
    let next = &fault["replacedBy"];
    ensure!(!next.is_null() && *next != fault["zone"], "no new run");
    Ok(())
}
