//! What a person sees of others on the page: what they wear, and what they do.

use anyhow::{Context, Result, ensure};
use fantoccini::Client;
use serde_json::{Value, json};
use tests::cluster::{Cluster, Plan};
use tokio::time::{Duration, Instant, sleep};

use super::{
    browser::{go, open, position, shoot, state, until, with_two},
    browser_steps::{SOON, TIMEOUT, World, act_on, choose},
    keys::eventually,
};

/// Pixels of the picture, by day or night, that change when somebody takes a hatchet into the hand.
const HATCHET_PIXELS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_entered_and_shows_what_others_wear_and_do() {
    let plan = Plan::new("seen");
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    with_two(async |ann, bob| story(&cluster, &plan, ann, bob).await).await;
}

/// One looks on in JSON, the other in the compact format.
async fn story(cluster: &Cluster, plan: &Plan, ann: &Client, bob: &Client) -> Result<()> {
    let page = format!("http://{}/", cluster.gateway(0));
    open(ann, &format!("{page}?format=json"), "Ann").await?;
    open(bob, &page, "Bob").await?;
    for browser in [ann, bob] {
        skips_the_round(browser).await?;
    }
    let script = concat!(
        include_str!("page/seen.js"),
        "; const done = arguments[0]; \
         checks().then(done, (error) => done([String(error.stack)]));"
    );
    let wrong = ann.execute_async(script, vec![]).await?;
    ensure!(wrong == json!([]), "{wrong:#}");

    let world = World::of(cluster, plan).await?;
    // Newcomers begin on tiles that may be further apart than a window is high.
    let at = position(&state(ann).await?)?;
    comes_near(&world, bob, (at.0 + 2, at.1)).await?;
    for (looks, other) in [(ann, bob), (bob, ann)] {
        looks_as_chosen(looks, other).await?;
        wears(looks, other).await?;
    }
    let tree = nearest_tree(&world, position(&state(ann).await?)?)?;
    tokio::try_join!(
        comes_near(&world, ann, (tree.0 - 4, tree.1)),
        comes_near(&world, bob, (tree.0 + 4, tree.1)),
    )?;
    works(ann, bob).await
}

/// Leaves the mayor's round: its arrow and its calls would move in the picture.
async fn skips_the_round(browser: &Client) -> Result<()> {
    let shown = "return window.tilestead.guide().quest === 'first_things_first'";
    eventually(browser, "the round", shown, "", |is| *is == json!(true)).await?;
    let script = "window.tilestead.act('quest:abandon', { questId: 'first_things_first' })";
    browser.execute(script, vec![]).await?;
    let over = "return window.tilestead.guide().quest ?? null";
    eventually(browser, "no round", over, "", Value::is_null).await
}

/// Returns the place of the tree that grows nearest to a tile.
fn nearest_tree(world: &World, (x, z): (i32, i32)) -> Result<(i32, i32)> {
    let all = world
        .areas
        .iter()
        .filter_map(|area| area["resources"].as_array());
    let trees = all
        .flatten()
        .filter(|one| one["resourceId"] == json!("tree_normal"));
    let places = trees.filter_map(|tree| position(tree).ok());
    let nearest = places.min_by_key(|tree| (tree.0 - x).abs() + (tree.1 - z).abs());
    nearest.context("no tree")
}

/// Walks to a tile, or to one a little further north where that is not to be walked on.
async fn comes_near(world: &World, browser: &Client, (x, z): (i32, i32)) -> Result<()> {
    let mut tiles = (0..6).map(|dz| (x, z + dz));
    let free = tiles.find(|tile| world.atlas.terrain.walkable(*tile));
    go(&world.atlas, browser, free.context("no ground")?).await
}

async fn id(browser: &Client) -> Result<Value> {
    Ok(state(browser).await?["characterId"].clone())
}

/// Returns a public field of somebody.
fn field<'v>(state: &'v Value, id: &Value, name: &str) -> Option<&'v Value> {
    let mut all = state["all"].as_array()?.iter();
    all.find(|one| one["id"] == *id)?.get(name)
}

/// Waits until `looks` is told of `other` the look that it chose at the door.
async fn looks_as_chosen(looks: &Client, other: &Client) -> Result<()> {
    let who = id(other).await?;
    let script = "return document.getElementById('look').dataset.look";
    let look = other.execute(script, vec![]).await?;
    ensure!(look.as_str().is_some_and(|look| look.len() == 5), "{look}");
    until(looks, "the other's look", |state| {
        field(state, &who, "look") == Some(&look)
    })
    .await?;
    Ok(())
}

/// Lets `other` take a hatchet into the hand. `looks` hears of it, and its picture changes there.
async fn wears(looks: &Client, other: &Client) -> Result<()> {
    let who = id(other).await?;
    until(looks, "the other", |state| {
        field(state, &who, "name").is_some()
    })
    .await?;
    let calm = Instant::now() + SOON;
    changes(looks, &who).await?;
    while changes(looks, &who).await? > HATCHET_PIXELS / 2 {
        ensure!(Instant::now() < calm, "the picture is never at rest");
        sleep(Duration::from_millis(300)).await;
    }
    choose(other, "bronze_hatchet", "Wear").await?;
    let hatchet = json!("bronze_hatchet");
    until(looks, "the hatchet", |state| {
        field(state, &who, "worn") == Some(&hatchet)
    })
    .await?;
    sleep(Duration::from_millis(200)).await;
    let changed = changes(looks, &who).await?;
    ensure!(
        changed >= HATCHET_PIXELS,
        "the hatchet changed {changed} pixels"
    );
    shoot(looks, "a-hatchet-in-the-hand").await
}

/// Counts the pixels around somebody in the picture that differ from those of the last time.
async fn changes(looks: &Client, who: &Value) -> Result<u64> {
    let script = "const one = window.tilestead.entities().find((e) => e.id === arguments[0]); \
        const at = window.tilestead.screen(one.x, one.z); \
        const c = document.getElementById('map').getContext('2d'); \
        const now = c.getImageData(at.x - 40, at.y - 50, 80, 80).data; \
        const before = window.before ?? now; window.before = now; let sum = 0; \
        for (let n = 0; n < now.length; n += 4) { \
            const far = [0, 1, 2].reduce((far, k) => far + Math.abs(now[n + k] - before[n + k]), 0); \
            if (far > 30) sum += 1; } \
        return sum;";
    let sum = looks.execute(script, vec![who.clone()]).await?.as_u64();
    sum.context("a number")
}

/// Lets `bob` chop a tree near the town; `ann` sees that, and sees it end.
async fn works(ann: &Client, bob: &Client) -> Result<()> {
    let who = id(bob).await?;
    let chops = json!("chop");
    let deadline = Instant::now() + TIMEOUT;
    let mut tried = 0;
    loop {
        let seen = state(bob).await?;
        let all = seen["all"].as_array().context("entities")?;
        let trees = all
            .iter()
            .filter(|e| e["resourceId"] == json!("tree_normal") && e["depleted"] != json!(true));
        let trees: Vec<&Value> = trees.collect();
        ensure!(!trees.is_empty(), "no tree in sight");
        act_on(bob, &trees[tried % trees.len()]["id"], "Chop").await?;
        tried += 1;
        let attempt = Instant::now() + SOON;
        while Instant::now() < attempt {
            if field(&state(ann).await?, &who, "doing") == Some(&chops) {
                shoot(ann, "somebody-chops").await?;
                return stops(ann, bob, &who).await;
            }
            sleep(Duration::from_millis(100)).await;
        }
        ensure!(Instant::now() < deadline, "nobody chops");
    }
}

async fn stops(ann: &Client, bob: &Client, who: &Value) -> Result<()> {
    let script = "window.tilestead.act('player:emote', { emote: 'wave' })";
    bob.execute(script, vec![]).await?;
    until(ann, "an end of it", |state| {
        field(state, who, "doing").is_none() && field(state, who, "name").is_some()
    })
    .await?;
    Ok(())
}
