//! The wait of a newcomer on a slow line.

use std::time::Duration;

use anyhow::{Result, ensure};
use fantoccini::Client;
use serde_json::json;
use tests::cluster::{Cluster, Plan};
use tokio::time::{Instant, sleep};

use crate::driver::Driver;

/// From the navigation to the first picture of the world.
const WAIT_MAX_MS: f64 = 3000.0;
/// The test's machine does other things as well: one of so many newcomers waits no longer.
const TRIES: usize = 10;
const SOON: Duration = Duration::from_secs(30);

/// Runs in the page from its beginning. It presses "Begin" as soon as it can, and notes the time at
/// which the own character stands on known land that the page has drawn.
const NEWCOMER: &str = r#"
    const look = () => {
        const state = window.tilestead?.state();
        const begin = document.querySelector("form#create");
        if (state?.phase === "lobby" && !window.begun) {
            window.begun = performance.now();
            begin.querySelector("input").value = "Slow" + [...String(Date.now() % 1e8)].map((n) => "abcdefghij"[n]).join("");
            begin.requestSubmit();
        }
        const { x, z } = state?.position ?? {};
        const land = `/world/terrain/${x >> 6}/${z >> 6}`;
        const known = performance.getEntriesByType("resource")
            .some((one) => one.name.endsWith(land) && one.responseEnd > 0);
        const here = window.tilestead?.entities().some((one) => one.id === state.characterId);
        if (state?.phase === "world" && known && here)
            return requestAnimationFrame(() => requestAnimationFrame(() => {
                window.entered = performance.now();
            }));
        return setTimeout(look, 5);
    };
    look();
"#;

/// Returns milliseconds from the navigation to "Begin", and to the first picture of the world.
async fn enters(driver: &Driver, browser: &Client, page: &str) -> Result<(f64, f64)> {
    let line = json!({
        "offline": false,
        "latency": 150,
        "downloadThroughput": 1_600_000 / 8,
        "uploadThroughput": 1_600_000 / 8,
    });
    driver
        .devtools(browser, "Network.enable", json!({}))
        .await?;
    driver
        .devtools(browser, "Network.emulateNetworkConditions", line)
        .await?;
    let newcomer = json!({ "source": NEWCOMER });
    let add = "Page.addScriptToEvaluateOnNewDocument";
    driver.devtools(browser, add, newcomer).await?;
    browser.goto(page).await?;
    let deadline = Instant::now() + SOON;
    loop {
        let script = "return [window.begun, window.entered]";
        let times = browser.execute(script, vec![]).await?;
        if let (Some(begun), Some(entered)) = (times[0].as_f64(), times[1].as_f64()) {
            return Ok((begun, entered));
        }
        ensure!(Instant::now() < deadline, "never in the world: {times}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Returns the requests of the page, with their times in the browser.
async fn timeline(browser: &Client) -> Result<String> {
    let script = "return performance.getEntriesByType('resource').map((one) => \
        `${Math.round(one.startTime)}-${Math.round(one.responseEnd)} ms \
        ${one.transferSize} B ${new URL(one.name).pathname}`).join('\\n')";
    let told = browser.execute(script, vec![]).await?;
    Ok(told.as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newcomer_on_a_slow_line_is_in_the_world_within_three_seconds() {
    let mut plan = Plan::new("slow-line");
    plan.alone = true;
    let cluster = Cluster::start(plan).await.unwrap();
    let page = format!("http://{}/", cluster.gateway(0));
    let driver = Driver::start().await.unwrap();
    let mut waits = Vec::new();
    for _ in 0..TRIES {
        // A browser that has never been here has nothing of the page.
        let browser = driver.browser().await.unwrap();
        let entered = enters(&driver, &browser, &page).await;
        let timeline = timeline(&browser).await.unwrap();
        browser.close().await.unwrap();
        let (begun, entered) = entered.unwrap();
        println!("begun after {begun:.0} ms, in the world after {entered:.0} ms\n{timeline}");
        waits.push(entered);
        if entered <= WAIT_MAX_MS {
            return;
        }
    }
    panic!("a newcomer waits {waits:?} ms");
}
