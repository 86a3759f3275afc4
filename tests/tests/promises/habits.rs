//! What players of such games have in their hands: one click, dragging, the action bar, keys, a log,
//! settings, hiscores. And what a program that looks for barriers finds on the page: nothing.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Plan};
use tokio::time::{Instant, sleep};

use super::{
    browser::{held, pack, pack_until, quiet, state},
    browser_steps::{SOON, World, act_on, hidden, seen, showing, words},
    interface::{ADMIN_CODE, Caller, operator},
    newcomer::{begins, may_operate},
    person::Person,
};

/// F4 of WebDriver.
const F4: char = '\u{E034}';

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_clicks_drags_sets_and_reads_and_no_barrier_is_found() {
    let plan = Plan::new("habits").env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    Person::at_desk_and_phone(["Ivy Inkwell", "Jo Juniper"], async |desk, phone| {
        stories(&cluster, &plan, desk, phone).await
    })
    .await;
}

async fn stories(
    cluster: &Cluster,
    plan: &Plan,
    desk: &Person<'_>,
    phone: &Person<'_>,
) -> Result<()> {
    let world = World::of(cluster, plan).await?;
    let gateway = cluster.gateway(0);
    let page = format!("http://{gateway}/");
    let operator = Caller {
        gateway: &gateway,
        token: Some(operator(&gateway).await?),
    };
    tokio::try_join!(
        finds_everything(desk, &page),
        finds_everything(phone, &page)
    )?;
    may_operate(&operator, desk.name).await?;
    clicks_once(desk).await.context("one click")?;
    drags(desk).await.context("dragging in the pack")?;
    presses_f_keys(desk).await.context("F keys")?;
    banks(&world, desk).await.context("the bank")?;
    for one in [desk, phone] {
        quiet(&one.page).await?;
        let errors = one.errors().await?;
        ensure!(errors.is_empty(), "{}: {errors:#?}", one.name);
    }
    Ok(())
}

/// What a player sets and reads before anything else.
async fn finds_everything(one: &Person<'_>, page: &str) -> Result<()> {
    let during = |what: &'static str| move || format!("{}: {what}", one.name);
    begins(one, page).await.with_context(during("the door"))?;
    sets(one).await.with_context(during("settings"))?;
    reads_hiscores(one).await.with_context(during("hiscores"))?;
    puts_on_the_bar(one)
        .await
        .with_context(during("the action bar"))?;
    reads_the_log(one).await.with_context(during("the log"))?;
    one.looks("the log").await
}

pub(super) async fn until_true(one: &Person<'_>, what: &str, script: &str) -> Result<()> {
    true_within(one, SOON, what, script).await
}

/// Waits until a script is true, and not for longer than this.
pub(super) async fn true_within(
    one: &Person<'_>,
    longest: Duration,
    what: &str,
    script: &str,
) -> Result<()> {
    let deadline = Instant::now() + longest;
    while one.page.execute(script, vec![]).await? != json!(true) {
        ensure!(Instant::now() < deadline, "{what}");
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Chooses an entry of a list as a person would, by its value.
async fn chooses(one: &Person<'_>, id: &str, value: &str) -> Result<()> {
    let script = "const field = document.getElementById(arguments[0]); \
        field.value = arguments[1]; field.dispatchEvent(new Event('change')); return field.value;";
    let args = vec![json!(id), json!(value)];
    let chosen = one.page.execute(script, args).await?;
    ensure!(chosen == json!(value), "{id}: {chosen}");
    Ok(())
}

async fn sets(one: &Person<'_>) -> Result<()> {
    one.presses("#help", "").await?;
    one.presses("#keys button", "Settings").await?;
    showing(&one.page, "#settings", SOON).await?;
    one.looks("settings").await?;
    chooses(one, "set-figures", "on").await?;
    let shown = "return / ms, \\d+ pictures/.test(document.getElementById('gauge').innerText)";
    until_true(one, "no ping", shown).await?;
    chooses(one, "set-scale", "1.15").await?;
    one.looks_here("larger").await?;
    chooses(one, "set-scale", "1").await?;
    chooses(one, "set-figures", "off").await?;
    chooses(one, "set-colours", "safe").await?;
    until_true(
        one,
        "other colours",
        "return document.body.classList.contains('safe')",
    )
    .await?;
    one.presses("#settings .cross", "").await?;
    hidden(&one.page, "#settings", SOON).await?;
    let closed = "return document.getElementById('keys').hidden";
    if one.page.execute(closed, vec![]).await? == json!(false) {
        one.presses("#keys .cross", "").await?;
    }
    Ok(())
}

async fn reads_hiscores(one: &Person<'_>) -> Result<()> {
    one.opens_pack().await?;
    one.presses("#tab-skills-panel", "").await?;
    one.presses("#hiscores-open", "").await?;
    showing(&one.page, "#hiscores", SOON).await?;
    let rows = "return document.querySelectorAll('#hiscores tbody tr').length > 0";
    until_true(one, "no rows", rows).await?;
    one.looks("hiscores").await?;
    one.presses("#hiscores .cross", "").await?;
    one.presses("#tab-pack", "").await?;
    one.closes_pack().await
}

/// Puts bread on the action bar by the menu, and eats it by its key or a tap.
async fn puts_on_the_bar(one: &Person<'_>) -> Result<()> {
    one.chooses("bread", "On the action bar").await?;
    one.closes_pack().await?;
    one.looks("the action bar").await?;
    let bread = |pack: &Value| held(pack).get("bread").copied().unwrap_or(0);
    let before = bread(&pack(&state(&one.page).await?));
    if one.finger {
        one.presses("#quick button", "Action 1").await?;
    } else {
        one.page
            .execute("document.getElementById('map').focus()", vec![])
            .await?;
        one.taps_key('1').await?;
    }
    pack_until(&one.page, "a bread less", |pack| bread(pack) + 1 == before).await?;
    Ok(())
}

async fn reads_the_log(one: &Person<'_>) -> Result<()> {
    one.presses("#tabs button", "Game").await?;
    until_true(
        one,
        "nothing is logged",
        "return document.querySelector('#log').innerText.length > 0",
    )
    .await?;
    one.presses("#tabs button", "All").await
}

/// A click on the sword wields it.
async fn clicks_once(one: &Person<'_>) -> Result<()> {
    one.presses("#slots [data-item^='bronze_s']", "").await?;
    let gone = |pack: &Value| !held(pack).keys().any(|item| item.starts_with("bronze_s"));
    pack_until(&one.page, "the sword in the hand", gone).await?;
    Ok(())
}

/// Drags the first thing to the last slot.
async fn drags(one: &Person<'_>) -> Result<()> {
    let slots = |pack: &Value| pack["slots"].clone();
    let before = slots(&pack(&state(&one.page).await?));
    ensure!(before[27].is_null(), "the last slot is full");
    one.drags("#slots button:first-child", "#slots button:last-child")
        .await?;
    let moved = |pack: &Value| slots(pack)[27] == before[0] && slots(pack)[0].is_null();
    pack_until(&one.page, "the first thing in the last slot", moved).await?;
    Ok(())
}

async fn presses_f_keys(one: &Person<'_>) -> Result<()> {
    one.page
        .execute("document.getElementById('map').focus()", vec![])
        .await?;
    one.taps_key(F4).await?;
    let deadline = Instant::now() + SOON;
    while words(&one.page, "#side-title").await? != "Combat" {
        ensure!(Instant::now() < deadline, "F4 shows no combat");
        sleep(Duration::from_millis(100)).await;
    }
    one.presses("#tab-pack", "").await
}

/// Puts all candles into the bank by one click, and drags them back.
async fn banks(world: &World, one: &Person<'_>) -> Result<()> {
    world.put(&one.page, world.npc("bark_the_banker")?).await?;
    let banker = seen(&one.page, "npcId", &json!("bark_the_banker")).await?;
    act_on(&one.page, &banker, "Bank with").await?;
    showing(&one.page, "#bank", SOON).await?;
    one.looks("amounts").await?;
    one.presses("#bank .amounts button", "All").await?;
    one.presses("#slots [data-item^='candle']", "").await?;
    let candles = |pack: &Value| held(pack).contains_key("candle");
    pack_until(&one.page, "no candles", |pack| !candles(pack)).await?;
    one.drags(
        "#bank .goods[aria-label^='Candle'], #bank .goods[aria-label*='andle']",
        "#slots button:last-child",
    )
    .await?;
    pack_until(&one.page, "candles", candles).await?;
    Ok(())
}
