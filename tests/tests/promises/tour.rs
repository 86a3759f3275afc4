//! The rest of the page: wear things, bank them, pray, make friends, and ask for the list of
//! actions on a thing. It works by mouse and by finger, on a large screen and on a small one.

use anyhow::{Context, Result, ensure};
use fantoccini::Client;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    browser::{held, pack, pack_until, position, shoot, state, until},
    browser_steps::{SOON, World, act_on, choose, hidden, press, seen, showing, shown, words},
};

const POLL: std::time::Duration = std::time::Duration::from_millis(100);

/// Plays everything, on the way of two who have just come.
pub(super) async fn all(world: &World, ann: &Client, bob: &Client) -> Result<()> {
    wears(ann).await.context("something to wear")?;
    is_told_what_things_are(ann).await.context("a tip")?;
    asks_what_can_be_done(ann, bob).await.context("a menu")?;
    prays(ann).await.context("a prayer")?;
    are_friends(ann, bob).await.context("friends")?;
    uses_a_telephone(ann).await.context("a telephone")?;
    banks(world, ann).await.context("a bank")
}

/// Wields a hatchet, and takes it off again.
async fn wears(ann: &Client) -> Result<()> {
    choose(ann, "bronze_hatchet", "Wear").await?;
    let weapon = "#worn .place-weapon";
    says(ann, weapon, "hatchet").await?;
    pack_until(ann, "no hatchet in the pack", |pack| {
        !held(pack).contains_key("bronze_hatchet")
    })
    .await?;
    tab(ann, "Worn").await?;
    says(ann, "#bonuses", "+").await?;
    press(ann, weapon, "").await?;
    says(ann, weapon, "nothing").await?;
    tab(ann, "Pack").await?;
    pack_until(ann, "the hatchet in the pack", |pack| {
        held(pack).contains_key("bronze_hatchet")
    })
    .await?;
    Ok(())
}

/// Rests the pointer on something in the pack.
async fn is_told_what_things_are(ann: &Client) -> Result<()> {
    let point = "document.querySelector('#slots button:not(.empty)').dispatchEvent( \
        new PointerEvent('pointerover', { pointerType: 'mouse', bubbles: true }))";
    let deadline = Instant::now() + SOON;
    while !shown(ann, "#tip").await? {
        // What lay in the slot may just be drawn anew: the pointer moves on it.
        ensure!(Instant::now() < deadline, "no tip");
        ann.execute(point, vec![]).await?;
        sleep(POLL).await;
    }
    let said = words(ann, "#tip").await?;
    ensure!(said.contains("Bronze hatchet"), "{said}");
    press_key(ann, "Shift").await?;
    hidden(ann, "#tip", SOON).await
}

/// Presses the other button of the mouse, or rests a finger, on somebody.
async fn asks_what_can_be_done(ann: &Client, bob: &Client) -> Result<()> {
    let name = state(bob).await?["name"].clone();
    let id = state(bob).await?["characterId"].clone();
    until(ann, "the other", |state| {
        state["all"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["id"] == id))
    })
    .await?;
    let at = position(&state(bob).await?)?;
    let beside = (at.0 + 2, at.1 + 2);
    let greeting = format!("Trade with {}", name.as_str().context("no name")?);
    for how in ["contextmenu", "pointerdown"] {
        // The ground first: whoever missed asks again, without closing the menu.
        is_asked(ann, how, beside, &["Walk here"]).await?;
        is_asked(ann, how, at, &[&greeting, "Follow", "Examine"]).await?;
        shoot(ann, how).await?;
        let close = "document.getElementById('menu').dispatchEvent( \
            new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })); \
            document.getElementById('map').dispatchEvent(new PointerEvent('pointercancel', \
                { pointerId: 7, bubbles: true }))";
        ann.execute(close, vec![]).await?;
        hidden(ann, "#menu", SOON).await?;
    }
    Ok(())
}

/// Asks by an event on a tile of the map what can be done there, until the menu has all these rows.
async fn is_asked(ann: &Client, how: &str, tile: (i32, i32), wanted: &[&str]) -> Result<()> {
    let script = "const [x, z, how] = arguments; const map = document.getElementById('map'); \
        const at = window.tilestead.screen(x, z); \
        const said = { clientX: at.x, clientY: at.y, bubbles: true, cancelable: true, \
            pointerType: 'touch', pointerId: 7, isPrimary: true }; \
        if (how === 'contextmenu') map.dispatchEvent(new MouseEvent(how, said)); \
        else { map.setPointerCapture = () => {}; map.dispatchEvent(new PointerEvent(how, said)); }";
    let deadline = Instant::now() + SOON;
    loop {
        // What stands there may have been drawn elsewhere a moment ago.
        ann.execute(script, vec![json!(tile.0), json!(tile.1), json!(how)])
            .await?;
        sleep(POLL * 6).await;
        let rows = words(ann, "#menu").await?;
        if wanted.iter().all(|row| rows.contains(row)) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{how}: {rows}");
    }
}

/// Switches the first prayer on and off.
async fn prays(ann: &Client) -> Result<()> {
    tab(ann, "Prayers").await?;
    let first = "#prayer-list li:first-child button";
    for on in ["true", "false"] {
        press(ann, first, "").await?;
        let script = "return document.querySelector(arguments[0]).getAttribute('aria-pressed')";
        wait(ann, script, first, &json!(on)).await?;
    }
    tab(ann, "Pack").await
}

/// Lets one ask and the other say yes; both see that the other is here.
async fn are_friends(ann: &Client, bob: &Client) -> Result<()> {
    tab(ann, "Friends").await?;
    let name = "document.getElementById('friend-name').value = arguments[0]";
    ann.execute(name, vec![json!("Bob")]).await?;
    press(ann, "#friend-add button", "Befriend").await?;
    tab(bob, "Friends").await?;
    press(bob, "#friend-list button", "Yes").await?;
    says(ann, "#friend-list", "Bob").await?;
    says(bob, "#friend-list", "Ann").await?;
    let here = "return document.querySelectorAll(arguments[0]).length";
    for browser in [ann, bob] {
        wait(browser, here, "#friend-list button.online", &json!(1)).await?;
    }
    shoot(ann, "friends").await?;
    for browser in [ann, bob] {
        tab(browser, "Pack").await?;
    }
    Ok(())
}

/// Checks that on a small screen the button opens the pack, the pack fits, and things in it can be
/// used.
async fn uses_a_telephone(ann: &Client) -> Result<()> {
    let size = ann.get_window_size().await?;
    ann.set_window_size(390, 844).await?;
    let narrow = "return innerWidth <= 600";
    wait(ann, narrow, "", &json!(true)).await?;
    let shown = "return !document.getElementById('side').hidden";
    if ann.execute(shown, vec![]).await? == json!(false) {
        press(ann, "#side-toggle", "").await?;
        wait(ann, shown, "", &json!(true)).await?;
    }
    let fits = "const all = [...document.querySelectorAll('#slots button')]; \
        return all.length === 28 && all.every((b) => { const at = b.getBoundingClientRect(); \
        return at.left >= 0 && at.right <= innerWidth && at.width >= 32; }) && \
        document.documentElement.scrollWidth <= innerWidth";
    wait(ann, fits, "", &json!(true)).await?;
    choose(ann, "bronze_hatchet", "Wear").await?;
    shoot(ann, "telephone-pack").await?;
    pack_until(ann, "the hatchet in hand", |pack| {
        !held(pack).contains_key("bronze_hatchet")
    })
    .await?;
    tab(ann, "Worn").await?;
    press(ann, "#worn .place-weapon", "Weapon").await?;
    says(ann, "#worn .place-weapon", "nothing").await?;
    tab(ann, "Pack").await?;
    ann.set_window_size(u32::try_from(size.0)?, u32::try_from(size.1)?)
        .await?;
    wait(ann, narrow, "", &json!(false)).await
}

/// Brings candles to a bank, takes one back, and puts it in again.
async fn banks(world: &World, ann: &Client) -> Result<()> {
    let before = held(&pack(&state(ann).await?));
    world.put(ann, world.npc("bark_the_banker")?).await?;
    let banker = seen(ann, "npcId", &json!("bark_the_banker")).await?;
    act_on(ann, &banker, "Bank with").await?;
    showing(ann, "#bank", SOON).await?;
    choose(ann, "candle", "Bank all").await?;
    let candles = |many: u64| move |pack: &Value| held(pack).get("candle").copied() == Some(many);
    pack_until(ann, "no candles", |pack| !held(pack).contains_key("candle")).await?;
    says(ann, "#bank .goods", "andle").await?;
    shoot(ann, "bank").await?;
    press(ann, "#bank .goods", "").await?;
    press(ann, "#menu button", "Take 1").await?;
    pack_until(ann, "one candle", candles(1)).await?;
    press(ann, "#bank .goods", "").await?;
    press(ann, "#menu button", "Take all").await?;
    pack_until(ann, "all candles", candles(5)).await?;
    press(ann, "#bank .cross", "").await?;
    hidden(ann, "#bank", SOON).await?;
    ensure!(held(&pack(&state(ann).await?)) == before);
    world.put(ann, world.atlas.terrain.spawn()).await
}

/// Looks at one of the panels at the side.
async fn tab(browser: &Client, name: &str) -> Result<()> {
    press(browser, "#side-tabs button", name).await
}

async fn press_key(browser: &Client, key: &str) -> Result<()> {
    let script = "document.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0] }))";
    browser.execute(script, vec![json!(key)]).await?;
    Ok(())
}

/// Waits until a script returns the wanted value for an element.
async fn wait(browser: &Client, script: &str, css: &str, wanted: &Value) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let is = browser.execute(script, vec![json!(css)]).await?;
        if is == *wanted {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{css}: {is}, not {wanted}");
        sleep(POLL).await;
    }
}

/// Waits until an element, or its label, has these words in it.
async fn says(browser: &Client, css: &str, part: &str) -> Result<()> {
    let script = format!(
        "const b = document.querySelector(arguments[0]); \
         return `${{b?.textContent}} ${{b?.getAttribute('aria-label')}}`.includes({})",
        json!(part)
    );
    wait(browser, &script, css, &json!(true)).await
}
