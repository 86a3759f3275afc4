//! The picture around somebody, held against the picture of a moment ago.

use anyhow::{Context, Result, ensure};
use fantoccini::Client;
use serde_json::Value;
use tokio::time::{Duration, Instant, sleep};

use super::browser_steps::SOON;

/// Counts the pixels around somebody, of 80 × 80, that differ from those of the last picture that
/// was kept; see [`keep`]. An expression of the page, for a script whose first argument is an id.
pub(super) const CHANGED: &str = "(() => { \
        const one = window.tilestead.entities().find((e) => e.id === arguments[0]); \
        const at = window.tilestead.screen(one.x, one.z); \
        const c = document.getElementById('map').getContext('2d'); \
        const now = c.getImageData(at.x - 40, at.y - 50, 80, 80).data; \
        const before = window.before ?? now; window.seen = now; let sum = 0; \
        for (let n = 0; n < now.length; n += 4) { \
            const far = [0, 1, 2].reduce((far, k) => far + Math.abs(now[n + k] - before[n + k]), 0); \
            if (far > 30) sum += 1; } \
        return sum; })()";

/// Counts them now.
pub(super) async fn changed(browser: &Client, who: &Value) -> Result<u64> {
    let script = format!("return {CHANGED}");
    let sum = browser.execute(&script, vec![who.clone()]).await?.as_u64();
    sum.context("a number")
}

/// Keeps the picture that was last looked at.
async fn keep(browser: &Client) -> Result<()> {
    browser
        .execute("window.before = window.seen", vec![])
        .await?;
    Ok(())
}

/// Waits until so few pixels change from one picture to the next, and keeps the last.
pub(super) async fn rests(browser: &Client, who: &Value, pixels: u64) -> Result<()> {
    let deadline = Instant::now() + SOON;
    changed(browser, who).await?;
    keep(browser).await?;
    loop {
        sleep(Duration::from_millis(300)).await;
        let changed = changed(browser, who).await?;
        keep(browser).await?;
        if changed <= pixels {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "the picture is never at rest: {changed} pixels"
        );
    }
}

/// Waits until so many pixels change from one picture to the next.
pub(super) async fn moves(browser: &Client, who: &Value, pixels: u64) -> Result<()> {
    let deadline = Instant::now() + SOON;
    changed(browser, who).await?;
    keep(browser).await?;
    while changed(browser, who).await? < pixels {
        keep(browser).await?;
        ensure!(Instant::now() < deadline, "the picture does not move");
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
