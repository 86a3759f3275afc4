//! A person at the map of the world: it opens, names things, finds them, and a click on it walks.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use super::{
    browser::{position, state, until},
    browser_steps::{SOON, World, hidden, showing, words},
    person::Person,
};

/// The key that closes things.
const ESCAPE: char = '\u{E00C}';
/// Kinds of signs that stand in every town.
const IN_TOWNS: [&str; 3] = ["bank", "shop", "quest"];
/// Times that a person comes nearer before they click on a tile.
const NEARER: usize = 6;
/// A town to which no single order leads: it is too far away.
const FAR_TOWN: &str = "Candlefrost";

/// Opens the map, looks at it, finds a bank, walks by it, and closes it.
pub(super) async fn reads(world: &World, one: &Person<'_>) -> Result<()> {
    world.put(&one.page, world.npc("yara_bowyer")?).await?;
    opens(one).await?;
    let map = map_until(one, "the land and its signs", |map| {
        IN_TOWNS.iter().all(|kind| signs(map, kind) > 0) && map["drawn"] == json!(true)
    })
    .await?;
    ensure!(map["names"].as_u64() > Some(300), "{map:.300}");
    one.looks("the map").await?;
    finds(one).await.context("a search")?;
    walks(world, one).await.context("a click")?;
    goes_far(one).await.context("a long way")?;
    closes(one).await.context("the way out")
}

async fn opens(one: &Person<'_>) -> Result<()> {
    if one.finger {
        one.presses("#atlas-open", "").await?;
    } else {
        one.taps_key('m').await?;
    }
    showing(&one.page, "#atlas", SOON).await
}

async fn finds(one: &Person<'_>) -> Result<()> {
    let before = map(one).await?["center"].clone();
    one.fills("#atlas-search", "bank").await?;
    showing(&one.page, "#atlas-found", SOON).await?;
    one.looks("what the map finds").await?;
    one.presses("#atlas-found button", "").await?;
    let found = map_until(one, "a bank", |map| map["marked"].is_string()).await?;
    ensure!(found["center"] != before, "the map stayed: {found:.300}");
    let says = found["says"].as_str().unwrap_or_default();
    ensure!(says.contains("bank"), "{says}");
    one.fills("#atlas-search", "zzz").await?;
    let said = words(&one.page, "#atlas-found").await?;
    ensure!(said.contains("Nothing"), "{said}");
    one.fills("#atlas-search", "").await
}

/// Clicks on a tile near the own one on which there is no sign.
async fn walks(world: &World, one: &Person<'_>) -> Result<()> {
    one.presses("#atlas footer button", "Me").await?;
    for _ in 0..NEARER {
        one.presses("#atlas footer button", "Nearer").await?;
    }
    let before = state(&one.page).await?;
    let from = position(&before)?;
    let goal = world.free_tile(&before, 3)?;
    let script = "const map = window.tilestead.map(); const [dx, dz] = arguments; \
        const box = document.querySelector('#atlas canvas').getBoundingClientRect(); \
        const x = map.point.x + dx * map.scale, y = map.point.y - dz * map.scale; \
        const near = map.signs.find((s) => Math.hypot(s.x - x, s.y - y) < 16); \
        return { x: box.left + x, y: box.top + y, near: near?.name };";
    let args = vec![json!(goal.0 - from.0), json!(goal.1 - from.1)];
    let at = one.page.execute(script, args).await?;
    let axis = |name: &str| at[name].as_f64().context("a point");
    one.points(axis("x")?, axis("y")?).await?;
    let walked = |state: &Value| match at["near"].is_null() {
        true => position(state).is_ok_and(|at| at == goal),
        // The click means the sign there.
        false => position(state).is_ok_and(|at| at != from),
    };
    until(&one.page, &format!("a walk to {goal:?}"), walked).await?;
    Ok(())
}

/// Sets out for a town that is farther than the server leads anybody, and turns back.
async fn goes_far(one: &Person<'_>) -> Result<()> {
    let from = position(&state(&one.page).await?)?;
    one.fills("#atlas-search", FAR_TOWN).await?;
    one.presses("#atlas-found button", FAR_TOWN).await?;
    one.presses("#atlas footer button", "Walk to the middle")
        .await?;
    let way = map_until(one, "a long way", |map| map["way"].as_u64() > Some(200)).await?;
    let says = way["says"].as_str().unwrap_or_default();
    ensure!(says.contains(FAR_TOWN), "{says}");
    let left = |state: &Value| position(state).is_ok_and(|at| at != from);
    until(&one.page, "the first steps", left).await?;
    one.looks("a long way on the map").await?;
    let stop = "window.tilestead.walkTo(arguments[0], arguments[1])";
    let args = vec![json!(from.0), json!(from.1)];
    one.page.execute(stop, args).await?;
    map_until(one, "no way", |map| map["way"] == json!(0)).await?;
    one.fills("#atlas-search", "").await
}

/// Closes it by every means that there is.
async fn closes(one: &Person<'_>) -> Result<()> {
    one.presses("#atlas .cross", "").await?;
    hidden(&one.page, "#atlas", SOON).await?;
    if one.finger {
        return Ok(());
    }
    for key in [ESCAPE, 'm'] {
        one.presses("#atlas-open", "").await?;
        showing(&one.page, "#atlas", SOON).await?;
        one.taps_key(key).await?;
        hidden(&one.page, "#atlas", SOON).await?;
    }
    Ok(())
}

async fn map(one: &Person<'_>) -> Result<Value> {
    let script = "return window.tilestead.map()";
    Ok(one.page.execute(script, vec![]).await?)
}

/// Returns how many signs of a kind are seen.
fn signs(map: &Value, kind: &str) -> usize {
    let all = map["signs"].as_array().into_iter().flatten();
    all.filter(|sign| sign["kind"] == json!(kind)).count()
}

async fn map_until(one: &Person<'_>, what: &str, test: impl Fn(&Value) -> bool) -> Result<Value> {
    let deadline = Instant::now() + SOON;
    loop {
        let map = map(one).await?;
        if test(&map) {
            return Ok(map);
        }
        ensure!(Instant::now() < deadline, "waiting for {what}: {map:.600}");
        sleep(Duration::from_millis(100)).await;
    }
}
