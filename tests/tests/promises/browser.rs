//! The page in a real browser. Screenshots are kept under `tests/out`.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use fantoccini::{Client, Locator, key::Key};
use serde_json::{Value, json};
use tests::{
    cluster::{Cluster, Plan, process::workspace},
    journey::Atlas,
    terrain::Crossing,
};
use tokio::time::{Instant, sleep};

use super::driver::Driver;

const SOON: Duration = Duration::from_secs(20);
/// Time within which a dropped item is everybody's: it is so after 100 ticks.
const FREE_WITHIN: Duration = Duration::from_secs(75);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_entered_walked_over_a_border_talked_on_and_found_again_after_a_reload() {
    let plan = Plan::new("browser").env("GROUND_OWN_TICKS", "15");
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    with_two(async |ann, bob| story(&cluster, &plan, ann, bob).await).await;
}

/// Plays a story on two pages. If it fails, it keeps a picture of both.
#[allow(clippy::unwrap_used, reason = "a test may")]
pub(super) async fn with_two(story: impl AsyncFnOnce(&Client, &Client) -> Result<()>) {
    let driver = Driver::start().await.unwrap();
    let ann = driver.calm_browser().await.unwrap();
    let bob = driver.calm_browser().await.unwrap();
    let told = story(&ann, &bob).await;
    if told.is_err() {
        shoot(&ann, "failed-ann").await.unwrap();
        shoot(&bob, "failed-bob").await.unwrap();
    }
    ann.close().await.unwrap();
    bob.close().await.unwrap();
    told.unwrap();
}

async fn story(cluster: &Cluster, plan: &Plan, ann: &Client, bob: &Client) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let crossing = atlas.crossings[0];
    let page = format!("http://{}/", cluster.gateway(0));
    open(ann, &page, "Ann").await?;
    open(bob, &page, "Bob").await?;
    shoot(ann, "entered").await?;

    until(ann, "Bob among the entities", |state| {
        names(state).contains(&"Bob".to_owned())
    })
    .await?;
    walk(bob, beside(&atlas, position(&state(bob).await?)?)?).await?;
    say(bob, "Hello from the other window!").await?;
    heard(ann, "Hello from the other window!").await?;
    say(ann, "Good to see you.").await?;
    heard(bob, "Good to see you.").await?;
    shoot(ann, "talking").await?;

    parts(ann).await?;
    let dropped = drops(bob, ann).await?;
    shoot(ann, "something-on-the-ground").await?;
    picks_up(bob, &dropped, "its own").await?;
    let dropped = drops(bob, ann).await?;

    over_the_border(&atlas, ann, crossing, cluster).await?;
    shoot(ann, "over-the-border").await?;

    let before = state(ann).await?;
    ann.refresh().await?;
    // A player who was in the world is there again without a question.
    let after = until(ann, "the world after a reload", in_world).await?;
    ensure!(
        after["characterId"] == before["characterId"],
        "{before} became {after}"
    );
    ensure!(
        after["position"] == before["position"],
        "{before} became {after}"
    );
    shoot(ann, "reloaded").await?;
    let kept = pack_until(ann, "the pack after a reload", |_| true).await?;
    ensure!(kept == pack(&before), "{before} became {kept}");
    takes_what_another_dropped(&atlas, ann, bob, &dropped).await?;
    is_cut_and_resumes(ann).await?;

    ann.set_window_size(390, 844).await?;
    let deadline = Instant::now() + SOON;
    while ann.execute("return innerWidth", vec![]).await?.as_u64() > Some(600) {
        ensure!(Instant::now() < deadline, "the window keeps its width");
        sleep(Duration::from_millis(50)).await;
    }
    shoot(ann, "telephone").await?;
    for browser in [ann, bob] {
        let gaps = browser
            .execute("return window.tilestead.gaps", vec![])
            .await?;
        ensure!(gaps == json!(0), "{gaps} gaps");
        quiet(browser).await?;
    }
    Ok(())
}

/// Opens the page, gives a name where it asks for one, and waits for the world.
pub(super) async fn open(browser: &Client, page: &str, name: &str) -> Result<()> {
    browser.goto(page).await?;
    let field = browser
        .wait()
        .at_most(SOON)
        .for_element(Locator::Css(
            "form input[type=text], form input:not([type])",
        ))
        .await
        .context("a field for the name")?;
    field.clear().await?;
    field.send_keys(name).await?;
    field.send_keys(&Key::Enter.to_string()).await?;
    let entered = until(browser, "the world", in_world).await?;
    ensure!(entered["name"] == json!(name), "{entered}");
    Ok(())
}

/// Returns a tile two steps away, so that two who have just come do not hide each other.
fn beside(atlas: &Atlas, at: (i32, i32)) -> Result<(i32, i32)> {
    let ways = atlas.terrain.ways_to(at);
    let around = [(2, 0), (-2, 0), (0, 2), (0, -2)];
    let tiles = around.map(|(dx, dz)| (at.0 + dx, at.1 + dz));
    tiles
        .into_iter()
        .find(|tile| ways.far(*tile) == Some(2))
        .context("walled in")
}

/// Runs the page's own decisions and counts in the browser.
async fn parts(browser: &Client) -> Result<()> {
    let golden = include_str!("../../../proto/tests/golden/compact.json");
    let compact = include_str!("page/compact.js");
    for checks in [
        include_str!("page/reconnect.js").to_owned(),
        include_str!("page/parts.js").to_owned(),
        include_str!("page/map.js").to_owned(),
        include_str!("page/hearing.js").to_owned(),
        format!("const GOLDEN = {golden};\n{compact}"),
    ] {
        let script = format!(
            "{checks}; const done = arguments[0]; \
             checks().then(done, (error) => done([String(error.stack)]));"
        );
        let wrong = browser.execute_async(&script, vec![]).await?;
        ensure!(wrong == json!([]), "{wrong:#}");
    }
    Ok(())
}

/// Cuts the socket: it is gone at once, and the session goes on over another one.
async fn is_cut_and_resumes(browser: &Client) -> Result<()> {
    let before = state(browser).await?;
    browser.execute("window.tilestead.cut()", vec![]).await?;
    let resumed = |state: &Value| in_world(state) && state["resumes"] != before["resumes"];
    let after = until(browser, "a resumed session", resumed).await?;
    ensure!(after["characterId"] == before["characterId"]);
    ensure!(pack(&after) == pack(&before), "{before} became {after}");
    Ok(())
}

/// A dropped item, its place, and the quantity that its dropper has left.
#[derive(Debug)]
struct Dropped {
    entity: String,
    item: String,
    tile: (i32, i32),
    left: u64,
}

/// Lets one drop one of something; the other sees it lie there, and may not have it yet.
async fn drops(who: &Client, other: &Client) -> Result<Dropped> {
    let full = |pack: &Value| !held(pack).is_empty();
    let before = pack_until(who, "something in the pack", full).await?;
    let slots = before["slots"].as_array().context("slots")?;
    let slot = slots.iter().position(|slot| !slot.is_null());
    let slot = slot.context("nothing to drop")?;
    let item = slots[slot]["itemId"].as_str().context("item")?.to_owned();
    let known: Vec<String> = lying(&state(other).await?, &item);
    let had = held(&before)[&item];
    // As a person does it: by the menu of the slot.
    let script = "document.querySelectorAll('#slots button')[arguments[0]].click(); \
        const rows = [...document.querySelectorAll('#menu button')]; \
        rows.find((row) => /^Drop( one)?$/.test(row.textContent)).click();";
    let args = vec![json!(slot)];
    who.execute(script, args).await.context("the menu")?;
    pack_until(who, "one less", |pack| {
        held(pack).get(&item).copied().unwrap_or(0) + 1 == had
    })
    .await?;
    let seen = until(other, "something on the ground", |state| {
        lying(state, &item).iter().any(|id| !known.contains(id))
    })
    .await?;
    let mut fresh = lying(&seen, &item);
    fresh.retain(|id| !known.contains(id));
    let entity = fresh.pop().context("gone again")?;
    tries_in_vain(other, &entity).await?;
    Ok(Dropped {
        tile: position(&state(who).await?)?,
        left: had - 1,
        entity,
        item,
    })
}

async fn tries_in_vain(browser: &Client, entity: &str) -> Result<()> {
    pick_up(browser, entity).await?;
    let deadline = Instant::now() + SOON;
    loop {
        let script = "return document.querySelector('#notices').innerText";
        let shown = browser.execute(script, vec![]).await?;
        if shown.as_str().is_some_and(|t| t.contains("somebody else")) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "no word of whose it is: {shown}");
        sleep(Duration::from_millis(100)).await;
    }
}

async fn pick_up(browser: &Client, entity: &str) -> Result<()> {
    browser
        .execute("window.tilestead.pickUp(arguments[0])", vec![json!(entity)])
        .await?;
    Ok(())
}

/// Waits until it may be had by this one, and takes it.
async fn picks_up(browser: &Client, dropped: &Dropped, what: &str) -> Result<()> {
    let before = held(&pack(&state(browser).await?));
    let more = before.get(&dropped.item).copied().unwrap_or(0) + 1;
    let deadline = Instant::now() + FREE_WITHIN;
    loop {
        let state = state(browser).await?;
        let all = state["all"].as_array().context("entities")?;
        let item = all.iter().find(|e| e["id"] == json!(dropped.entity));
        let item = item.with_context(|| format!("{what}: {dropped:?} is gone"))?;
        if item["owner"].is_null() || item["owner"] == state["characterId"] {
            break;
        }
        ensure!(Instant::now() < deadline, "{what}: still protected: {item}");
        sleep(Duration::from_millis(200)).await;
    }
    pick_up(browser, &dropped.entity).await?;
    pack_until(browser, what, |pack| {
        held(pack).get(&dropped.item) == Some(&more)
    })
    .await?;
    until(browser, "nothing on the ground", |state| {
        !lying(state, &dropped.item).contains(&dropped.entity)
    })
    .await?;
    Ok(())
}

/// Goes there and takes it; both packs are right, also after a reload.
async fn takes_what_another_dropped(
    atlas: &Atlas,
    ann: &Client,
    bob: &Client,
    dropped: &Dropped,
) -> Result<()> {
    let before = held(&pack(&state(ann).await?));
    go(atlas, ann, dropped.tile).await?;
    picks_up(ann, dropped, "what another has dropped").await?;
    let own = held(&pack(&state(bob).await?));
    let item = &dropped.item;
    let now = held(&pack(&state(ann).await?));
    ensure!(now.get(item) == Some(&(before.get(item).unwrap_or(&0) + 1)));
    let left = own.get(item).copied().unwrap_or(0);
    ensure!(left == dropped.left, "{own:?} {dropped:?}");
    ann.refresh().await?;
    until(ann, "the world after another reload", in_world).await?;
    let again = pack_until(ann, "the pack", |pack| held(pack) == now).await?;
    ensure!(held(&again) == now);
    Ok(())
}

/// Returns ids of the ground items of a kind.
fn lying(state: &Value, item: &str) -> Vec<String> {
    let all = state["all"].as_array().cloned().unwrap_or_default();
    all.iter()
        .filter(|e| e["type"] == json!("item") && e["itemId"] == json!(item))
        .filter_map(|e| e["id"].as_str().map(str::to_owned))
        .collect()
}

pub(super) fn pack(state: &Value) -> Value {
    state["pack"].clone()
}

/// Returns the quantities by item id, and those of the pouch.
pub(super) fn held(pack: &Value) -> BTreeMap<String, u64> {
    let mut held = BTreeMap::new();
    for slot in pack["slots"].as_array().into_iter().flatten() {
        if let (Some(id), Some(n)) = (slot["itemId"].as_str(), slot["quantity"].as_u64()) {
            *held.entry(id.to_owned()).or_default() += n;
        }
    }
    if let Some(coins) = pack["coins"].as_u64() {
        held.insert("in the pouch".to_owned(), coins);
    }
    held
}

pub(super) async fn pack_until(
    browser: &Client,
    what: &str,
    test: impl Fn(&Value) -> bool,
) -> Result<Value> {
    let fits = |state: &Value| state["pack"]["coins"].is_u64() && test(&state["pack"]);
    Ok(pack(&until(browser, what, fits).await?))
}

pub(super) async fn go(atlas: &Atlas, browser: &Client, to: (i32, i32)) -> Result<()> {
    let ways = atlas.terrain.ways_to(to);
    loop {
        let at = position(&state(browser).await?)?;
        if at == to {
            return Ok(());
        }
        let next = ways
            .toward(at, 20)
            .with_context(|| format!("no way from {at:?}"))?;
        walk(browser, next).await?;
    }
}

async fn over_the_border(
    atlas: &Atlas,
    browser: &Client,
    crossing: Crossing,
    cluster: &Cluster,
) -> Result<()> {
    let id = state(browser).await?["characterId"]
        .as_str()
        .context("no id")?
        .to_owned();
    go(atlas, browser, crossing.low).await?;
    walk(browser, crossing.high).await?;
    let deadline = Instant::now() + SOON;
    loop {
        let rows = cluster.store().await?.characters().await?;
        if rows
            .iter()
            .any(|row| row.id == id && row.ownership_sequence >= 2)
        {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "not handed over: {rows:?}");
        sleep(Duration::from_millis(100)).await;
    }
}

pub(super) async fn walk(browser: &Client, to: (i32, i32)) -> Result<()> {
    browser
        .execute(
            "window.tilestead.walkTo(arguments[0], arguments[1])",
            vec![json!(to.0), json!(to.1)],
        )
        .await?;
    let what = format!("standing at {to:?}");
    until(browser, &what, |state| {
        position(state).is_ok_and(|at| at == to)
    })
    .await?;
    Ok(())
}

async fn say(browser: &Client, text: &str) -> Result<()> {
    browser
        .execute("window.tilestead.say(arguments[0])", vec![json!(text)])
        .await?;
    Ok(())
}

async fn heard(browser: &Client, text: &str) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let chat = browser
            .execute("return window.tilestead.chat()", vec![])
            .await?;
        // Heard, and shown to whoever looks at the page.
        let shown = browser
            .execute("return document.body.innerText", vec![])
            .await?;
        let shown = shown.as_str().is_some_and(|shown| shown.contains(text));
        if chat.to_string().contains(text) && shown {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "not heard: {text}; {chat}");
        sleep(Duration::from_millis(100)).await;
    }
}

pub(super) async fn state(browser: &Client) -> Result<Value> {
    let script = "if (!window.tilestead) return null; \
        const s = window.tilestead.state(); \
        s.all = [...window.tilestead.entities()]; s.pack = window.tilestead.pack(); \
        s.resumes = window.tilestead.resumes(); s.trade = window.tilestead.trade() ?? null; \
        s.graves = window.tilestead.graves(); s.quests = window.tilestead.quests(); return s;";
    Ok(browser.execute(script, vec![]).await?)
}

pub(super) async fn until(
    browser: &Client,
    what: &str,
    test: impl Fn(&Value) -> bool,
) -> Result<Value> {
    let deadline = Instant::now() + SOON;
    loop {
        let state = state(browser).await?;
        if test(&state) {
            return Ok(state);
        }
        ensure!(
            Instant::now() < deadline,
            "waiting for {what}: {state:.600}"
        );
        sleep(Duration::from_millis(100)).await;
    }
}

pub(super) fn in_world(state: &Value) -> bool {
    state["phase"] == json!("world") && position(state).is_ok()
}

pub(super) fn position(state: &Value) -> Result<(i32, i32)> {
    let axis = |name: &str| {
        let value = state["position"][name].as_i64().context("no position")?;
        Ok::<_, anyhow::Error>(i32::try_from(value)?)
    };
    Ok((axis("x")?, axis("z")?))
}

fn names(state: &Value) -> Vec<String> {
    let all = state["all"].as_array().cloned().unwrap_or_default();
    all.iter()
        .filter_map(|e| e["name"].as_str().map(str::to_owned))
        .collect()
}

/// Checks that the browser has no complaint.
pub(super) async fn quiet(browser: &Client) -> Result<()> {
    let script = "return performance.getEntriesByType('resource').map(e => e.name)";
    let loaded = browser.execute(script, vec![]).await?;
    let here = browser.current_url().await?;
    for url in loaded.as_array().context("resources")? {
        let url = url.as_str().unwrap_or_default();
        let own = url.starts_with(here.as_str()) || url.starts_with("data:");
        ensure!(
            own || url.starts_with("blob:"),
            "the page asked elsewhere: {url}"
        );
    }
    Ok(())
}

pub(super) async fn shoot(browser: &Client, name: &str) -> Result<()> {
    let folder = workspace().join("tests/out");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(
        folder.join(format!("{name}.png")),
        browser.screenshot().await?,
    )?;
    Ok(())
}
