//! A person who listens: steps, a level, the lute; and who sets how loud they are.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use super::{
    browser::{state, walk},
    browser_steps::{SOON, World, hidden, showing},
    person::Person,
};

/// Sounds of steps, by the ground.
const STEPS: [&str; 6] = ["grass", "stone", "wood", "sand", "snow", "wet"];
const WALK: u16 = 4;

/// Walks, rises a level, and turns the sound off and on again.
pub(super) async fn listens(world: &World, one: &Person<'_>) -> Result<()> {
    // The person has touched the page long ago.
    sound_until(one, "sound", |sound| sound["state"] == json!("running")).await?;
    steps(world, one).await.context("steps")?;
    let lute = |sound: &Value| sound["notes"].as_u64() > Some(0) && sound["tune"].is_string();
    sound_until(one, "the lute", lute).await?;
    let before = played(&sound(one).await?, &["level"]);
    let level = "window.tilestead.hear('skill:xp', \
        { skill: 'prayer', gained: 0, xp: 0, level: 1, leveledUp: true })";
    one.page.execute(level, vec![]).await?;
    sound_until(one, "a level", |sound| played(sound, &["level"]) > before).await?;
    for size in one.windows {
        one.page.execute(level, vec![]).await?;
        one.looks_in("a level", &[*size]).await?;
    }
    sets_volumes(one).await.context("volumes")
}

async fn steps(world: &World, one: &Person<'_>) -> Result<()> {
    let before = played(&sound(one).await?, &STEPS);
    let goal = world.free_tile(&state(&one.page).await?, WALK)?;
    walk(&one.page, goal).await?;
    let heard = |sound: &Value| played(sound, &STEPS) >= before + 2;
    sound_until(one, "steps", heard).await?;
    Ok(())
}

async fn sets_volumes(one: &Person<'_>) -> Result<()> {
    one.presses("#sound-open", "").await?;
    showing(&one.page, "#sound", SOON).await?;
    one.looks("sound").await?;
    let quieter = "const field = document.getElementById('sound-music'); \
        field.value = '20'; field.dispatchEvent(new Event('input'))";
    one.page.execute(quieter, vec![]).await?;
    one.presses("#sound footer button", "Sound is on").await?;
    let off = |sound: &Value| sound["state"] == json!("suspended");
    sound_until(one, "silence", off).await?;
    let kept = "return JSON.parse(localStorage.getItem('tilestead.sound'))";
    let kept = one.page.execute(kept, vec![]).await?;
    ensure!(
        kept["muted"] == json!(true) && kept["music"] == json!(0.2),
        "{kept}"
    );
    one.presses("#sound footer button", "Sound is off").await?;
    let on = |sound: &Value| sound["state"] == json!("running");
    sound_until(one, "sound again", on).await?;
    one.presses("#sound .cross", "").await?;
    hidden(&one.page, "#sound", SOON).await
}

async fn sound(one: &Person<'_>) -> Result<Value> {
    let script = "return window.tilestead.sound()";
    Ok(one.page.execute(script, vec![]).await?)
}

/// Returns how often sounds of these names were played.
fn played(sound: &Value, names: &[&str]) -> u64 {
    let counts = names.iter().map(|name| sound["played"][name].as_u64());
    counts.map(|count| count.unwrap_or(0)).sum()
}

async fn sound_until(one: &Person<'_>, what: &str, test: impl Fn(&Value) -> bool) -> Result<Value> {
    let deadline = Instant::now() + SOON;
    loop {
        let sound = sound(one).await?;
        if test(&sound) {
            return Ok(sound);
        }
        ensure!(Instant::now() < deadline, "waiting for {what}: {sound}");
        sleep(Duration::from_millis(100)).await;
    }
}
