//! What a person sees of others on the page: what they wear, and what they do.

use anyhow::{Context, Result, ensure};
use fantoccini::Client;
use serde_json::{Value, json};
use tests::cluster::{Cluster, Plan};
use tokio::time::{Duration, Instant, sleep};

use super::{
    browser::{go, open, position, shoot, state, until},
    browser_steps::{SOON, TIMEOUT, World, act_on, choose, shown},
    keys::eventually,
    person::Person,
    pixels::{changed, moves, rests},
};

/// Pixels of the picture, by day or night, that change when somebody takes a hatchet into the hand.
const HATCHET_PIXELS: u64 = 20;
/// Tiles that a narrow window shows to each side at least.
const NEAR: i32 = 3;
/// A tile from which one sees somebody two tiles further east with the dancer's sign in front.
const BESIDE_THE_DANCER: (i32, i32) = (8, -12);
/// Pixels that change while somebody swings it.
const SWING_PIXELS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_entered_and_shows_what_others_wear_and_do() {
    let plan = Plan::new("seen");
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    Person::at_desk_and_phone(["Ann", "Bob"], async |ann, bob| {
        story(&cluster, &plan, ann, bob).await
    })
    .await;
}

/// One looks on in JSON, the other in the compact format.
async fn story(cluster: &Cluster, plan: &Plan, ann: &Person<'_>, bob: &Person<'_>) -> Result<()> {
    let page = format!("http://{}/", cluster.gateway(0));
    open(&ann.page, &format!("{page}?format=json"), ann.name).await?;
    open(&bob.page, &page, bob.name).await?;
    for one in [ann, bob] {
        skips_the_round(&one.page).await?;
    }
    let script = concat!(
        include_str!("page/seen.js"),
        "; const done = arguments[0]; \
         checks().then(done, (error) => done([String(error.stack)]));"
    );
    let wrong = ann.page.execute_async(script, vec![]).await?;
    ensure!(wrong == json!([]), "{wrong:#}");

    let world = World::of(cluster, plan).await?;
    // Newcomers may begin further apart than a window is high, some of them beside the dancer.
    comes_near(&world, &ann.page, BESIDE_THE_DANCER).await?;
    let at = position(&state(&ann.page).await?)?;
    comes_near(&world, &bob.page, (at.0 + 2, at.1)).await?;
    for (looks, other) in [(ann, bob), (bob, ann)] {
        looks_as_chosen(&looks.page, &other.page).await?;
        looks.wants_stillness(true).await?;
        looks
            .in_every_window(async |_| {
                sees_the_ground(looks).await?;
                wears(looks, &other.page).await
            })
            .await?;
        looks.wants_stillness(false).await?;
    }
    let tree = nearest_tree(&world, position(&state(&ann.page).await?)?)?;
    tokio::try_join!(
        comes_near(&world, &ann.page, (tree.0 - 2, tree.1)),
        comes_near(&world, &bob.page, (tree.0 + 2, tree.1)),
    )?;
    for (looks, other) in [(ann, bob), (bob, ann)] {
        looks
            .in_every_window(async |_| works(&world, looks, &other.page).await)
            .await?;
    }
    Ok(())
}

/// Closes the panel where it lies over the ground.
async fn sees_the_ground(one: &Person<'_>) -> Result<()> {
    let script =
        "return document.getElementById('side').getBoundingClientRect().width > innerWidth / 2";
    let wide = one.page.execute(script, vec![]).await? == json!(true);
    if wide && shown(&one.page, "#side").await? {
        one.presses("#side-close", "").await?;
    }
    Ok(())
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

/// Lets `other` take a hatchet into the hand. `looks` hears of it, and the picture changes. Then the
/// hatchet goes back into the pack.
async fn wears(looks: &Person<'_>, other: &Client) -> Result<()> {
    let who = id(other).await?;
    let worn = async |what: &str, item: Option<Value>| {
        let told = until(&looks.page, what, |state| {
            field(state, &who, "name").is_some() && field(state, &who, "worn") == item.as_ref()
        });
        told.await
    };
    worn("empty hands", None).await?;
    rests(&looks.page, &who, HATCHET_PIXELS / 2).await?;
    choose(other, "bronze_hatchet", "Wear").await?;
    worn("the hatchet", Some(json!("bronze_hatchet"))).await?;
    let deadline = Instant::now() + SOON;
    while changed(&looks.page, &who).await? < HATCHET_PIXELS {
        ensure!(Instant::now() < deadline, "nobody sees the hatchet");
        sleep(Duration::from_millis(100)).await;
    }
    is_seen(looks, &who).await?;
    shoot(&looks.page, "a-hatchet-in-the-hand").await?;
    looks.looks_here("a hatchet in the hand").await?;
    let script = "window.tilestead.act('equipment:remove', { slot: 'weapon' })";
    other.execute(script, vec![]).await?;
    worn("empty hands again", None).await.map(drop)
}

/// Nothing of the page lies over somebody.
async fn is_seen(looks: &Person<'_>, who: &Value) -> Result<()> {
    let script = "const one = window.tilestead.entities().find((e) => e.id === arguments[0]); \
        const at = window.tilestead.screen(one.x, one.z); \
        return document.elementFromPoint(at.x, at.y)?.id ?? null;";
    let over = looks.page.execute(script, vec![who.clone()]).await?;
    ensure!(over == json!("map"), "{over} lies over the other");
    Ok(())
}

/// Lets `other` chop a tree near the town; `looks` sees that, and sees it end.
async fn works(world: &World, looks: &Person<'_>, other: &Client) -> Result<()> {
    let who = id(other).await?;
    let chops = json!("chop");
    let deadline = Instant::now() + TIMEOUT;
    let mut tried = 0;
    loop {
        let seen = state(other).await?;
        let all = seen["all"].as_array().context("entities")?;
        let trees = all
            .iter()
            .filter(|e| e["resourceId"] == json!("tree_normal") && e["depleted"] != json!(true));
        let trees: Vec<&Value> = trees.collect();
        ensure!(!trees.is_empty(), "no tree in sight");
        act_on(other, &trees[tried % trees.len()]["id"], "Chop").await?;
        tried += 1;
        let attempt = Instant::now() + SOON;
        while Instant::now() < attempt {
            if field(&state(&looks.page).await?, &who, "doing") == Some(&chops)
                && !goes_after(world, looks, &who).await?
            {
                swings(looks, &who).await?;
                return stops(looks, other, &who).await;
            }
            sleep(Duration::from_millis(100)).await;
        }
        ensure!(Instant::now() < deadline, "nobody chops");
    }
}

/// Goes near somebody who is further away than a narrow window shows; whether that was so.
async fn goes_after(world: &World, looks: &Person<'_>, who: &Value) -> Result<bool> {
    let state = state(&looks.page).await?;
    let all = state["all"].as_array().context("entities")?;
    let other = all.iter().find(|one| one["id"] == *who).context("gone")?;
    let axis = |name: &str| i32::try_from(other[name].as_i64().unwrap_or(0));
    let (at, here) = ((axis("x")?, axis("z")?), position(&state)?);
    if (at.0 - here.0).abs() <= NEAR && (at.1 - here.1).abs() <= NEAR {
        return Ok(false);
    }
    comes_near(world, &looks.page, (at.0 + 2, at.1)).await?;
    Ok(true)
}

/// The picture of somebody who works moves.
async fn swings(looks: &Person<'_>, who: &Value) -> Result<()> {
    moves(&looks.page, who, SWING_PIXELS).await?;
    is_seen(looks, who).await?;
    shoot(&looks.page, "somebody-chops").await?;
    looks.looks_here("somebody chops").await
}

async fn stops(looks: &Person<'_>, other: &Client, who: &Value) -> Result<()> {
    let script = "window.tilestead.act('player:emote', { emote: 'wave' })";
    other.execute(script, vec![]).await?;
    until(&looks.page, "an end of it", |state| {
        field(state, who, "doing").is_none() && field(state, who, "name").is_some()
    })
    .await?;
    Ok(())
}
