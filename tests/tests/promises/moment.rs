//! The moment of a level-up: large words over the page, and gold around whoever has risen.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Plan};
use tokio::time::{Duration, Instant, sleep};

use super::{
    browser::{shoot, state},
    browser_steps::SOON,
    newcomer::begins,
    person::Person,
    pixels::{CHANGED, rests},
};

/// Pixels around somebody, of 80 × 80, that the rays, rings and stars of a level-up change at least.
const GOLD_PIXELS: u64 = 600;
/// What moves in a picture in which nobody has risen: grass, water, others who pass by.
const CALM_PIXELS: u64 = 200;
/// The time for which a moment lasts.
const MOMENT: Duration = Duration::from_millis(4200);
/// What the lamp makes of a first level.
const PRAYER: &str = "Prayer 3";

/// The words of the banner, what is wrong with its place, and the gold in the same moment.
const BANNER: &str = "; const banner = document.getElementById('banner'); \
    const at = banner.getBoundingClientRect(); \
    const over = [...document.querySelectorAll(PARTS)].filter(shown) \
        .filter((part) => overlap(part.getBoundingClientRect(), at)).map(called); \
    return { words: banner.innerText, strength: Number(getComputedStyle(banner).opacity), \
        inside: within(at, around()), over, gold };";

/// Rubs the lamp that the mayor has given, rises in prayer by it, and sees that.
pub(super) async fn rises(one: &Person<'_>) -> Result<()> {
    rests(&one.page, &own(one).await?, CALM_PIXELS).await?;
    one.chooses("patient_lamp", "Rub").await?;
    one.presses("#menu button", "Prayer").await?;
    one.closes_pack().await?;
    sees(one, Instant::now() + SOON).await?;
    let name = format!("a-level-{}", one.name.replace(' ', "-"));
    shoot(&one.page, &name).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_entered_and_a_level_is_a_moment_at_every_size() {
    let cluster = Cluster::start(Plan::new("moment")).await.unwrap();
    let page = format!("http://{}/", cluster.gateway(0));
    Person::at_desk_and_phone(["Max Moor", "Nan Nettle"], async |desk, phone| {
        tokio::try_join!(story(desk, &page), story(phone, &page)).map(drop)
    })
    .await;
}

/// The page hears of a level as it does from the server, in windows of all sizes.
async fn story(one: &Person<'_>, page: &str) -> Result<()> {
    begins(one, page).await?;
    one.in_every_window(async |_| {
        let deadline = Instant::now() + SOON;
        while let Err(error) = sees_again(one).await {
            // A page that stood still for the length of a moment has not drawn it.
            ensure!(Instant::now() < deadline, "{error:#}");
        }
        one.looks_here("a level").await
    })
    .await
    .context(one.name)
}

async fn sees_again(one: &Person<'_>) -> Result<()> {
    over(one).await?;
    rests(&one.page, &own(one).await?, CALM_PIXELS).await?;
    let script = "window.tilestead.hear('skill:xp', \
        { skill: 'prayer', gained: 0, xp: 250, level: 3, leveledUp: true })";
    one.page.execute(script, vec![]).await?;
    sees(one, Instant::now() + MOMENT).await
}

async fn own(one: &Person<'_>) -> Result<Value> {
    Ok(state(&one.page).await?["characterId"].clone())
}

async fn banner(one: &Person<'_>) -> Result<Value> {
    let geometry = include_str!("page/geometry.js");
    let script = format!("const gold = {CHANGED}; {geometry}{BANNER}");
    Ok(one.page.execute(&script, vec![own(one).await?]).await?)
}

/// Waits until the last moment is over.
async fn over(one: &Person<'_>) -> Result<()> {
    let deadline = Instant::now() + SOON;
    while banner(one).await?["strength"] != json!(0) {
        ensure!(Instant::now() < deadline, "the moment never ends");
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// The words stand where nothing else does, and the picture around the own character is full of gold.
async fn sees(one: &Person<'_>, deadline: Instant) -> Result<()> {
    let mut most = (0.0_f64, 0);
    loop {
        let banner = banner(one).await?;
        let said = banner["words"].as_str().unwrap_or_default();
        let strength = banner["strength"].as_f64().unwrap_or(0.0);
        let gold = banner["gold"].as_u64().context("a number")?;
        if said.starts_with(PRAYER) && strength > 0.5 && gold >= GOLD_PIXELS {
            let apart = banner["inside"] == json!(true) && banner["over"] == json!([]);
            ensure!(apart, "the words stand badly: {banner}");
            return Ok(());
        }
        most = (most.0.max(strength), most.1.max(gold));
        ensure!(
            Instant::now() < deadline,
            "no moment: {banner}, at most {most:?}"
        );
        sleep(Duration::from_millis(100)).await;
    }
}
