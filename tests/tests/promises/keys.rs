//! Keys on the page: a tap is a step, and Enter is the chat. The tests also check the view of
//! things from which a player turns away.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fantoccini::{
    Client, Locator,
    actions::{InputSource as _, KeyAction, KeyActions},
    key::Key,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    browser::{position, state, until},
    browser_steps::{SOON, World, choose, hidden, press, right_clicks, showing, words},
};

/// Times for which people hold a key that they tap.
const TAPS_MS: [u64; 4] = [40, 60, 80, 120];
const POLL: Duration = Duration::from_millis(100);

/// Plays everything of one who has just come.
pub(super) async fn all(world: &World, ann: &Client) -> Result<()> {
    calls_nothing_that_does_not_exist(ann).await?;
    is_helped(ann).await.context("the help")?;
    wears_the_sword(ann).await.context("the first sword")?;
    for ms in TAPS_MS {
        taps(world, ann, ms).await.context("a tap")?;
    }
    holds(world, ann).await.context("a key that is held")?;
    talks_after_a_click(ann).await.context("the chat")?;
    goes_home(world, ann).await.context("the way home")
}

/// Checks that every method exists that a part of the page calls on itself or on its own parts.
async fn calls_nothing_that_does_not_exist(ann: &Client) -> Result<()> {
    let script = "const wrong = []; \
        const look = (part, name, code) => { \
            for (const [call, one, other] of code.matchAll(/\\bthis\\.(\\w+)(?:\\.(\\w+))?\\(/g)) { \
                const found = other ? part[one]?.[other] : part[one]; \
                const unset = other && (part[one] ?? undefined) === undefined; \
                if (typeof found !== 'function' && !unset) \
                    wrong.push(`${part.constructor.name}.${name}: ${call}`); } }; \
        const parts = window.tilestead.objects(); \
        for (const part of parts) { \
            const kind = Object.getPrototypeOf(part); \
            if (kind === Object.prototype) continue; \
            const all = Object.entries(Object.getOwnPropertyDescriptors(kind)); \
            for (const [name, { value, get }] of all) \
                if (typeof (value ?? get) === 'function') look(part, name, String(value ?? get)); } \
        return parts.length < 20 ? ['too few parts'] : wrong;";
    let wrong = ann.execute(script, vec![]).await?;
    ensure!(
        wrong == json!([]),
        "the page calls what is not there: {wrong}"
    );
    Ok(())
}

/// Checks that the help is made of words.
async fn is_helped(ann: &Client) -> Result<()> {
    ann.find(Locator::Css("#help")).await?.click().await?;
    showing(ann, "#keys", SOON).await?;
    let said = words(ann, "#keys").await?;
    ensure!(!said.contains("[object"), "{said}");
    ensure!(
        said.contains("run or walk") && said.contains("talk"),
        "{said}"
    );
    press(ann, "#keys .cross", "").await?;
    hidden(ann, "#keys", SOON).await
}

/// Checks that the first sword has a name and can be worn.
async fn wears_the_sword(ann: &Client) -> Result<()> {
    let slots = state(ann).await?["pack"]["slots"].clone();
    let mut ids = slots.as_array().context("slots")?.iter();
    let sword = ids.find_map(|slot| {
        let id = slot["itemId"].as_str()?;
        id.ends_with("sword").then(|| id.to_owned())
    });
    choose(ann, &sword.context("no sword")?, "Wear").await?;
    let label = "#worn .place-weapon";
    let script = "return document.querySelector(arguments[0]).getAttribute('aria-label')";
    eventually(ann, "the sword in hand", script, label, |said| {
        said.as_str()
            .is_some_and(|said| said.contains("shortsword"))
    })
    .await?;
    press(ann, "#side-tabs button", "Worn").await?;
    press(ann, label, "Weapon").await?;
    eventually(ann, "an empty hand", script, label, |said| {
        said.as_str().is_some_and(|said| said.contains("nothing"))
    })
    .await?;
    press(ann, "#side-tabs button", "Pack").await
}

/// Checks that a key that goes down and up again makes a step of one tile, for any time that it was
/// down.
async fn taps(world: &World, ann: &Client, ms: u64) -> Result<()> {
    let before = state(ann).await?;
    let (x, z) = position(&before)?;
    let to = world.step(&before)?;
    let key = key_for((to.0 - x, to.1 - z))?;
    keys(ann, &[Press::Down(key), Press::Wait(ms), Press::Up(key)]).await?;
    let what = format!("a step from {x},{z} to {to:?} by {key} for {ms} ms");
    let there = until(ann, &what, |state| position(state).is_ok_and(|at| at == to)).await?;
    stays(ann, &there, to).await
}

/// Checks that a held key leads on; when it is up again, the player stands.
async fn holds(world: &World, ann: &Client) -> Result<()> {
    let (before, (dx, dz)) = world.at_lane(ann, 8).await?;
    let from = position(&before)?;
    let key = key_for((dx, dz))?;
    keys(ann, &[Press::Down(key)]).await?;
    until(ann, "several steps by one key", |state| {
        position(state).is_ok_and(|(x, z)| (x - from.0).abs().max((z - from.1).abs()) >= 3)
    })
    .await?;
    keys(ann, &[Press::Up(key)]).await?;
    // The steps under way when the key goes up are those of one tick.
    let up = state(ann).await?;
    let rests = until(ann, "a tick after the key is up", |now| {
        now["tick"].as_u64() > up["tick"].as_u64().map(|tick| tick + 1)
    })
    .await?;
    let at = position(&rests)?;
    stays(ann, &rests, at).await
}

/// Checks that the player stands there two ticks later as well.
async fn stays(ann: &Client, since: &Value, at: (i32, i32)) -> Result<()> {
    let tick = since["tick"].as_u64().context("no tick")?;
    let later = until(ann, "two ticks later", |now| {
        now["tick"].as_u64() >= Some(tick + 2)
    })
    .await?;
    let now = position(&later)?;
    ensure!(now == at, "it went on from {at:?} to {now:?}");
    Ok(())
}

/// Checks the keys after a click into the pack: Enter leads to the chat, and letters are letters.
/// On a button that the keys reached, Enter presses it.
async fn talks_after_a_click(ann: &Client) -> Result<()> {
    let slot = ann.find(Locator::Css("#slots button")).await?;
    right_clicks(ann, &slot).await?;
    showing(ann, "#menu", SOON).await?;
    let (enter, escape) = (char::from(Key::Enter), char::from(Key::Escape));
    keys(ann, &[Press::Tap(escape)]).await?;
    hidden(ann, "#menu", SOON).await?;
    let mut typed = vec![Press::Tap(enter)];
    typed.extend("pike".chars().map(Press::Tap));
    keys(ann, &typed).await?;
    let line = "return document.querySelector(arguments[0]).value";
    eventually(ann, "the words in the line", line, "#line", |said| {
        said == "pike"
    })
    .await?;
    keys(ann, &[Press::Tap(enter)]).await?;
    let log = "return document.querySelector(arguments[0]).innerText";
    eventually(ann, "the words in the chat", log, "#log", |said| {
        said.as_str().is_some_and(|said| said.contains("pike"))
    })
    .await?;
    let tab = words(ann, "#side-title").await?;
    ensure!(tab == "Pack", "letters turned to {tab}");
    ann.execute("document.querySelector('#slots button').focus()", vec![])
        .await?;
    keys(ann, &[Press::Tap(enter)]).await?;
    showing(ann, "#menu", SOON).await?;
    keys(ann, &[Press::Tap(escape)]).await?;
    hidden(ann, "#menu", SOON).await?;
    ann.execute("document.getElementById('map').focus()", vec![])
        .await?;
    Ok(())
}

/// Goes home: the magic shows the time that it takes, and a step ends it without a word. Then the
/// player is at home, and sees when it may go again.
async fn goes_home(world: &World, ann: &Client) -> Result<()> {
    ann.execute(
        "document.getElementById('notices').replaceChildren()",
        vec![],
    )
    .await?;
    press(ann, "#home", "Go home").await?;
    showing(ann, "#doing", SOON).await?;
    let bar = "return document.querySelector(arguments[0])?.value ?? 0";
    eventually(ann, "a bar that grows", bar, "#doing progress", |value| {
        value.as_f64().is_some_and(|ms| ms >= 1_200.0)
    })
    .await?;
    taps(world, ann, 80).await?;
    hidden(ann, "#doing", SOON).await?;
    let said = words(ann, "#notices").await?;
    ensure!(said.is_empty(), "one's own step is told as {said:?}");
    press(ann, "#home", "Go home").await?;
    let label = "return document.querySelector(arguments[0]).innerText";
    eventually(
        ann,
        "the time until the next way home",
        label,
        "#home",
        |said| {
            said.as_str()
                .is_some_and(|said| said.starts_with("Home in 14:"))
        },
    )
    .await?;
    press(ann, "#home", "Home in").await?;
    let said = words(ann, "#notices").await?;
    ensure!(said.contains("You may go home again in 14:"), "{said:?}");
    Ok(())
}

/// Waits until a script says of an element what fits.
pub(super) async fn eventually(
    browser: &Client,
    what: &str,
    script: &str,
    css: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let said = browser.execute(script, vec![json!(css)]).await?;
        if fits(&said) {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "waiting for {what}: {css}: {said}"
        );
        sleep(POLL).await;
    }
}

#[derive(Clone, Copy)]
enum Press {
    Down(char),
    Up(char),
    Tap(char),
    Wait(u64),
}

/// Does it with a keyboard, as a person does.
async fn keys(browser: &Client, presses: &[Press]) -> Result<()> {
    let mut actions = KeyActions::new("keyboard".to_owned());
    for press in presses {
        actions = match *press {
            Press::Down(value) => actions.then(KeyAction::Down { value }),
            Press::Up(value) => actions.then(KeyAction::Up { value }),
            Press::Wait(ms) => actions.then(KeyAction::Pause {
                duration: Duration::from_millis(ms),
            }),
            Press::Tap(value) => actions
                .then(KeyAction::Down { value })
                .then(KeyAction::Up { value }),
        };
    }
    browser.perform_actions(actions).await?;
    Ok(())
}

/// Returns the letter that leads there.
pub(super) fn key_for(way: (i32, i32)) -> Result<char> {
    Ok(match way {
        (0, 1) => 'w',
        (0, -1) => 's',
        (-1, 0) => 'a',
        (1, 0) => 'd',
        other => anyhow::bail!("no letter leads {other:?}"),
    })
}
