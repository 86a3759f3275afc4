//! Play on the page, in a real browser, by a person's clicks: a trade, a shop, a fish caught and
//! cooked, a death and a grave, a quest to its end. One cluster for all of it.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use fantoccini::{Client, Locator};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Plan};
use tokio::time::{Instant, sleep};

use super::{
    browser::{held, in_world, open, pack, pack_until, quiet, shoot, state, until, walk, with_two},
    browser_steps::{
        SOON, TIMEOUT, World, act_on, ask, choose, entity, hidden, press, pressed, right_clicks,
        seen, showing, shown, wait_for, words,
    },
    keys::{self, eventually},
    tour,
};

const ADMIN_CODE: &str = "a-code-for-operators-0123456789";
/// So many are caught before they are cooked: about every other one burns.
const CATCH: u64 = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_trades_buys_fishes_cooks_dies_finds_its_grave_and_ends_a_quest() {
    let plan = Plan::new("play").env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    with_two(async |ann, bob| stories(&cluster, &plan, ann, bob).await).await;
}

async fn stories(cluster: &Cluster, plan: &Plan, ann: &Client, bob: &Client) -> Result<()> {
    let gateway = cluster.gateway(0);
    let world = World::of(cluster, plan).await?;
    let page = format!("http://{gateway}/");
    open(ann, &page, "Ann").await?;
    open(bob, &page, "Bob").await?;
    let code = json!({ "code": ADMIN_CODE });
    ask(ann, "admin:elevate", &code).await?;
    keys::all(&world, ann).await.context("keys")?;
    tour::all(&world, ann, bob).await.context("a tour")?;
    two_trade(ann, bob).await.context("a trade")?;
    one_buys(&world, ann).await.context("a bucket")?;
    one_cooks(&world, ann).await.context("a fish")?;
    one_dies(&world, ann).await.context("a grave")?;
    one_ends_a_quest(&world, ann).await.context("a quest")?;
    for browser in [ann, bob] {
        let gaps = browser
            .execute("return window.tilestead.gaps", vec![])
            .await?;
        ensure!(gaps == json!(0), "{gaps} gaps");
        quiet(browser).await?;
    }
    Ok(())
}

// --- the stories ---

/// Candles for coins, after one candle was taken back before the eyes of the other.
async fn two_trade(ann: &Client, bob: &Client) -> Result<()> {
    let bob_id = state(bob).await?["characterId"].clone();
    until(ann, "Bob", |state| entity(state, "id", &bob_id).is_some()).await?;
    let before = (
        held(&pack(&state(ann).await?)),
        held(&pack(&state(bob).await?)),
    );
    ask(bob, "coins:withdraw", &json!({ "amount": 10 })).await?;
    pack_until(bob, "coins in the pack", |pack| {
        held(pack).get("coins") == Some(&10)
    })
    .await?;

    act_on(ann, &bob_id, "Trade with").await?;
    press(bob, "#asking button", "Trade").await?;
    choose(ann, "candle", "Offer all").await?;
    choose(bob, "coins", "Offer all").await?;
    let offered = |side: &'static str, item: &'static str, many: u64| {
        move |state: &Value| {
            let items = state["trade"][side]["items"].as_array();
            items.is_some_and(|items| {
                items
                    .iter()
                    .any(|i| i["itemId"] == json!(item) && i["quantity"] == json!(many))
            })
        }
    };
    until(bob, "five candles", offered("theirs", "candle", 5)).await?;
    until(ann, "ten coins", offered("theirs", "coins", 10)).await?;
    shoot(ann, "trade").await?;

    // An item that is taken back goes visibly.
    press(ann, "#trade section:first-child .goods[aria-label]", "").await?;
    press(ann, "#menu button", "Take back 1").await?;
    until(bob, "four candles", offered("theirs", "candle", 4)).await?;
    let warned = words(bob, "#trade .word").await?;
    ensure!(warned.contains("took back"), "{warned}");
    shoot(bob, "trade-changed").await?;

    for browser in [ann, bob] {
        press(browser, "#trade footer button", "Agree").await?;
    }
    for browser in [ann, bob] {
        press(browser, "#trade.confirming footer button", "Yes, swap").await?;
    }
    kept(ann, "coins", 10).await?;
    kept(bob, "candle", 9).await?;
    let after = (
        held(&pack(&state(ann).await?)),
        held(&pack(&state(bob).await?)),
    );
    ensure!(
        after.0.get("candle") == Some(&1),
        "{before:?} became {after:?}"
    );
    ensure!(
        after.1.get("in the pouch").copied().unwrap_or(0) + 10 == before.1["in the pouch"],
        "{before:?} became {after:?}"
    );
    Ok(())
}

/// Checks that the trade is over, and has brought so many of something, which are there after a
/// reload as well.
async fn kept(browser: &Client, item: &'static str, many: u64) -> Result<()> {
    until(browser, "what was traded", |state| {
        state["trade"].is_null() && held(&pack(state)).get(item) == Some(&many)
    })
    .await?;
    browser.refresh().await?;
    until(browser, "the world after a reload", in_world).await?;
    pack_until(browser, "what was traded, after a reload", |pack| {
        held(pack).get(item) == Some(&many)
    })
    .await?;
    Ok(())
}

/// Buys a bucket, and sells a hammer by clicks of the mouse.
async fn one_buys(world: &World, ann: &Client) -> Result<()> {
    world.put(ann, world.npc("mina_sundry")?).await?;
    let keeper = seen(ann, "npcId", &json!("mina_sundry")).await?;
    act_on(ann, &keeper, "Buy from").await?;
    press(ann, "#shop .goods", "Bucket").await?;
    press(ann, "#menu button", "Buy 1").await?;
    pack_until(ann, "a bucket", |pack| held(pack).contains_key("bucket")).await?;
    shoot(ann, "shop").await?;
    let before = pack(&state(ann).await?);
    let slots = before["slots"].as_array().context("slots")?;
    let slot = slots
        .iter()
        .position(|slot| slot["itemId"] == json!("hammer"));
    let slot = slot.context("no hammer")?;
    let buttons = ann.find_all(Locator::Css("#slots button")).await?;
    right_clicks(ann, buttons.get(slot).context("no slot")?).await?;
    let row = "//*[@id='menu']//button[starts-with(., 'Sell')]";
    ann.find(Locator::XPath(row)).await?.click().await?;
    let had = before["coins"].as_u64().context("coins")?;
    pack_until(ann, "coins for the hammer", |pack| {
        pack["coins"].as_u64() > Some(had) && !held(pack).contains_key("hammer")
    })
    .await?;
    press(ann, "#shop .cross", "").await
}

/// Catches something, and cooks it until it is not burnt.
async fn one_cooks(world: &World, ann: &Client) -> Result<()> {
    let (spot, range) = (world.spot("spot_shore_net")?, world.station("range")?);
    let deadline = Instant::now() + TIMEOUT;
    loop {
        world.put(ann, spot).await?;
        catches(ann, "spot_shore_net", "raw_sprat").await?;
        world.put(ann, range).await?;
        let id = seen(ann, "stationType", &json!("range")).await?;
        act_on(ann, &id, "Cook at").await?;
        press(ann, "#make .goods", "Sprat").await?;
        shoot(ann, "cooking").await?;
        press(ann, "#menu button", "Cook all").await?;
        let cooked = wait_for(ann, "nothing raw", |state| {
            !held(&pack(state)).contains_key("raw_sprat")
        })
        .await?;
        if held(&pack(&cooked)).contains_key("sprat") {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "burns everything: {cooked:.400}");
    }
}

/// Fishes until there is enough; where the fish have swum elsewhere, one begins again there.
async fn catches(browser: &Client, spot: &str, fish: &str) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let id = seen(browser, "resourceId", &json!(spot)).await?;
        act_on(browser, &id, "Fish").await?;
        for _ in 0..40 {
            let had = held(&pack(&state(browser).await?));
            if had.get(fish) >= Some(&CATCH) {
                return Ok(());
            }
            sleep(Duration::from_millis(300)).await;
        }
        ensure!(Instant::now() < deadline, "no {CATCH} {fish} at {spot}");
    }
}

/// Attacks a beast that is too strong, wakes up in town, and takes back the things from the grave.
async fn one_dies(world: &World, ann: &Client) -> Result<()> {
    let before = owned(&state(ann).await?);
    world.put(ann, world.mob("brown_bear")?).await?;
    let bear = seen(ann, "npcId", &json!("brown_bear")).await?;
    act_on(ann, &bear, "Attack").await?;
    showing(ann, "#death", TIMEOUT).await?;
    shoot(ann, "dead").await?;
    counts_down(ann).await?;
    hidden(ann, "#death", SOON).await?;
    let left = until(ann, "a grave", |state| {
        state["graves"]
            .as_array()
            .is_some_and(|graves| graves.len() == 1)
    })
    .await?;
    let lost = owned(&left);
    ensure!(
        !lost.contains_key("bronze_hatchet"),
        "{before:?} and {lost:?}"
    );
    let grave = left["graves"][0].clone();
    let axis = |name: &str| i32::try_from(grave[name].as_i64().unwrap_or(0));
    world.put(ann, (axis("x")?, axis("z")?)).await?;
    let id = seen(ann, "id", &grave["id"]).await?;
    act_on(ann, &id, "Take").await?;
    let back = until(ann, "everything back", |state| owned(state) == before).await?;
    ensure!(back["graves"] == json!([]), "{}", back["graves"]);
    let spawn = world.atlas.terrain.spawn();
    world.put(ann, spawn).await
}

/// Checks that the seconds until one wakes up become less.
async fn counts_down(ann: &Client) -> Result<()> {
    let timer = "#death [role=timer]";
    let seconds = |said: &str| {
        let digits = said.chars().filter(char::is_ascii_digit);
        digits.collect::<String>().parse::<u32>().ok()
    };
    let first = seconds(&words(ann, timer).await?).context("no countdown")?;
    let script = "return document.querySelector(arguments[0]).textContent";
    eventually(ann, "fewer seconds", script, timer, |said| {
        let said = said.as_str().unwrap_or_default();
        said.is_empty() || seconds(said).is_some_and(|left| left < first)
    })
    .await
}

/// Brings a letter where nobody has asked for it.
async fn one_ends_a_quest(world: &World, ann: &Client) -> Result<()> {
    let quest = "second_class_post";
    let is = |status: &'static str| {
        move |state: &Value| {
            let quests = state["quests"].as_array().into_iter().flatten();
            let mut quests = quests.filter(|q| q["id"] == json!(quest));
            quests.any(|q| q["status"] == json!(status))
        }
    };
    talk_to(world, ann, "lost_postman").await?;
    until_said(ann, "#quest footer button", "I'll do it").await?;
    shoot(ann, "quest").await?;
    until(ann, "a quest begun", is("in_progress")).await?;
    let letter = |pack: &Value| held(pack).contains_key("lost_letter");
    pack_until(ann, "the letter", letter).await?;
    world.put(ann, world.npc("elder_moss")?).await?;
    let moss = seen(ann, "npcId", &json!("elder_moss")).await?;
    is_marked(ann, Some(&moss)).await?;
    talk_to(world, ann, "elder_moss").await?;
    says_yes(ann).await?;
    is_marked(ann, None).await?;
    // The player must walk there: being put there does not count.
    let goal = world.goal(quest)?;
    world.put(ann, goal).await?;
    walk(ann, world.step(&state(ann).await?)?).await?;
    let ready = until(ann, "all done", is("ready_to_complete")).await?;
    let mut quests = ready["quests"].as_array().into_iter().flatten();
    let told = quests.find(|q| q["id"] == json!(quest)).context("it")?["now"].clone();
    ensure!(
        told == json!("Tell The Postman that it is done."),
        "its end says {told}"
    );
    talk_to(world, ann, "lost_postman").await?;
    says_yes(ann).await?;
    let over = until(ann, "a quest that is over", is("completed")).await?;
    ensure!(
        held(&pack(&over)).contains_key("leather_boots"),
        "{over:.600}"
    );
    shoot(ann, "quest-over").await
}

/// Checks that the step under way has a mark on the small map, and so has the person of that step.
async fn is_marked(ann: &Client, whom: Option<&Value>) -> Result<()> {
    let script = "const { seen, ways } = window.tilestead.aims(); \
        const map = document.querySelector(arguments[0]); \
        const { data } = map.getContext('2d').getImageData(0, 0, map.width, map.height); \
        let blue = 0; \
        for (let at = 0; at < data.length; at += 4) \
            if (data[at] < 160 && data[at + 1] > 190 && data[at + 2] > 235) blue += 1; \
        return { seen, ways: ways.length, blue };";
    eventually(ann, "a mark of the step", script, "#minimap", |marks| {
        let seen = marks["seen"].as_array().into_iter().flatten();
        let on_map = marks["blue"].as_u64() > Some(2) && marks["ways"].as_u64() >= Some(1);
        on_map && whom.is_none_or(|whom| seen.into_iter().any(|id| id == whom))
    })
    .await
}

/// Returns a player's possessions; coins that it picks up come into the pouch.
fn owned(state: &Value) -> BTreeMap<String, u64> {
    let mut owned = held(&pack(state));
    let loose = owned.remove("coins").unwrap_or(0);
    *owned.entry("in the pouch".to_owned()).or_default() += loose;
    owned
}

async fn talk_to(world: &World, browser: &Client, npc: &str) -> Result<()> {
    world.put(browser, world.npc(npc)?).await?;
    let id = seen(browser, "npcId", &json!(npc)).await?;
    act_on(browser, &id, "Talk to").await?;
    let talk = showing(browser, "#dialogue", SOON).await;
    if talk.is_err() {
        shoot(browser, "no-talk").await?;
    }
    talk.with_context(|| format!("a talk with {npc}, {id}"))
}

/// Goes through a talk by its first answers to its end.
async fn says_yes(browser: &Client) -> Result<()> {
    let deadline = Instant::now() + SOON;
    while shown(browser, "#dialogue").await? {
        pressed(browser, "#dialogue .answers button", "").await?;
        ensure!(Instant::now() < deadline, "the talk has no end");
        sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

/// Goes through a talk by its first answers until a button of that name is there, and presses it.
async fn until_said(browser: &Client, css: &str, name: &str) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        if pressed(browser, css, name).await? {
            return Ok(());
        }
        pressed(browser, "#dialogue .answers button", "").await?;
        ensure!(Instant::now() < deadline, "{css} {name} never came");
        sleep(Duration::from_millis(300)).await;
    }
}
