//! A person's acts on the page, and their places in the world that ships.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use fantoccini::{
    Client,
    actions::{InputSource as _, MOUSE_BUTTON_RIGHT, MouseActions, PointerAction},
    elements::Element,
};
use serde_json::{Value, json};
use tests::{
    areas::{areas, manifest},
    cluster::{Cluster, Plan},
    journey::Atlas,
};
use tokio::time::{Instant, sleep};

use super::browser::{pack, position, state, until, walk};

pub(super) const SOON: Duration = Duration::from_secs(20);
/// Fish bite when they like, fights take their time.
pub(super) const TIMEOUT: Duration = Duration::from_secs(180);
/// Greatest distance from a thing at which a person is put down.
const NEAR: i32 = 6;

/// The stories' knowledge of the world.
pub(super) struct World {
    pub(super) atlas: Atlas,
    pub(super) areas: Vec<Value>,
    pub(super) quests: Value,
}

// --- where things are ---

impl World {
    pub(super) async fn of(cluster: &Cluster, plan: &Plan) -> Result<Self> {
        let gateway = cluster.gateway(0);
        Ok(Self {
            atlas: Atlas::of(cluster, plan).await?,
            areas: areas(&gateway).await?,
            quests: manifest(&gateway, "quests").await?,
        })
    }

    fn find(&self, list: &str, field: &str, value: &str, safe: bool) -> Result<(i32, i32)> {
        let areas = self.areas.iter();
        let areas = areas.filter(|area| !safe || area["pvpEnabled"] != json!(true));
        let mut all = areas.flat_map(|area| area[list].as_array().into_iter().flatten());
        let found = all.find(|one| one[field] == json!(value));
        let at = &found.with_context(|| format!("{list}: no {value}"))?["position"];
        let axis = |name: &str| i32::try_from(at[name].as_i64().unwrap_or(0));
        Ok((axis("x")?, axis("z")?))
    }

    pub(super) fn npc(&self, id: &str) -> Result<(i32, i32)> {
        self.find("npcs", "id", id, false)
    }

    pub(super) fn mob(&self, id: &str) -> Result<(i32, i32)> {
        self.find("mobSpawns", "mobId", id, true)
    }

    pub(super) fn spot(&self, id: &str) -> Result<(i32, i32)> {
        self.find("resources", "resourceId", id, true)
    }

    pub(super) fn station(&self, sort: &str) -> Result<(i32, i32)> {
        self.find("stations", "type", sort, true)
    }

    /// Returns the place to which a quest sends a player.
    pub(super) fn goal(&self, quest: &str) -> Result<(i32, i32)> {
        let stages = self.quests[quest]["stages"].as_array();
        let mut stages = stages.into_iter().flatten();
        let travel = stages.find(|stage| stage["type"] == json!("travel"));
        let at = &travel.with_context(|| format!("{quest} sends nowhere"))?["location"];
        let axis = |name: &str| i32::try_from(at[name].as_i64().unwrap_or(0));
        Ok((axis("x")?, axis("z")?))
    }

    /// Returns a tile beside one's own on which nothing stands.
    pub(super) fn step(&self, state: &Value) -> Result<(i32, i32)> {
        let from = position(state)?;
        let ways = self.atlas.terrain.ways_to(from);
        let around = [(1, 0), (-1, 0), (0, 1), (0, -1)];
        let mut tiles = around
            .map(|(dx, dz)| (from.0 + dx, from.1 + dz))
            .into_iter();
        let free = tiles.find(|tile| ways.far(*tile) == Some(1) && bare(state, *tile));
        free.with_context(|| format!("walled in at {from:?}"))
    }

    /// Returns a free tile to which one comes with so many steps, whatever lies between.
    pub(super) fn free_tile(&self, state: &Value, steps: u16) -> Result<(i32, i32)> {
        let (x, z) = position(state)?;
        let ways = self.atlas.terrain.ways_to((x, z));
        let far = i32::from(steps);
        let around = (-far..=far).flat_map(|dx| (-far..=far).map(move |dz| (dx, dz)));
        let mut tiles = around.map(|(dx, dz)| (x + dx, z + dz));
        let free = tiles.find(|tile| ways.far(*tile) == Some(steps) && bare(state, *tile));
        free.with_context(|| format!("walled in at {x}, {z}"))
    }

    /// Goes to the nearest tile from which one can go straight on for so many tiles. Returns what the
    /// page sees there, and the way.
    pub(super) async fn at_lane(
        &self,
        browser: &Client,
        tiles: i32,
    ) -> Result<(Value, (i32, i32))> {
        let deadline = Instant::now() + SOON;
        loop {
            let state = state(browser).await?;
            let from = position(&state)?;
            if let Some(way) = self.lane(&state, from, tiles) {
                return Ok((state, way));
            }
            // Somebody may have come there meanwhile.
            ensure!(Instant::now() < deadline, "no room around {from:?}");
            walk(browser, self.before_lane(&state, tiles)?).await?;
        }
    }

    /// Returns a way in which one can go straight on for so many tiles from a tile.
    fn lane(&self, state: &Value, (x, z): (i32, i32), tiles: i32) -> Option<(i32, i32)> {
        let open = |tile| self.atlas.terrain.walkable(tile) && bare(state, tile);
        let ways = [(1, 0), (-1, 0), (0, 1), (0, -1)];
        let free = |(dx, dz): &(i32, i32)| (1..=tiles).all(|n| open((x + dx * n, z + dz * n)));
        ways.into_iter().find(free)
    }

    /// Returns the nearest free tile from which one can go straight on for so many tiles.
    fn before_lane(&self, state: &Value, tiles: i32) -> Result<(i32, i32)> {
        let (x, z) = position(state)?;
        let ways = self.atlas.terrain.ways_to((x, z));
        let around = (-NEAR..=NEAR).flat_map(|dx| (-NEAR..=NEAR).map(move |dz| (dx, dz)));
        let around = around.map(|(dx, dz)| (x + dx, z + dz));
        let fit =
            around.filter(|tile| bare(state, *tile) && self.lane(state, *tile, tiles).is_some());
        let far = fit.filter_map(|tile| Some((ways.far(tile)?, tile)));
        let (_, tile) = far
            .min()
            .with_context(|| format!("no room near {x}, {z}"))?;
        Ok(tile)
    }

    /// Puts the operator down at a place, or on the free ground nearest to it.
    pub(super) async fn put(&self, browser: &Client, at: (i32, i32)) -> Result<()> {
        let around = (-NEAR..=NEAR).flat_map(|dx| (-NEAR..=NEAR).map(move |dz| (dx, dz)));
        let free = around.filter(|(dx, dz)| {
            let tile = (at.0 + dx, at.1 + dz);
            self.atlas.terrain.walkable(tile)
        });
        let (dx, dz) = free
            .min_by_key(|(dx, dz)| dx * dx + dz * dz)
            .with_context(|| format!("no ground near {at:?}"))?;
        let to = (at.0 + dx, at.1 + dz);
        // The page knows its place before it sees what stands around it.
        let there = |state: &Value| {
            let own = entity(state, "id", &state["characterId"]);
            let seen = own.is_some_and(|own| {
                own["x"] == state["position"]["x"] && own["z"] == state["position"]["z"]
            });
            let at = position(state);
            seen && at.is_ok_and(|(x, z)| (x - to.0).abs().max((z - to.1).abs()) <= NEAR)
        };
        // The answer to the command comes before the command takes effect. A player who already
        // seems to stand there could then move in the middle of its next act, which the zone would
        // refuse.
        if there(&state(browser).await?) {
            return Ok(());
        }
        let args = json!({ "command": "teleport", "args": { "x": to.0, "z": to.1 } });
        ask(browser, "admin:command", &args).await?;
        until(browser, &format!("standing near {to:?}"), there).await?;
        Ok(())
    }
}

/// Tells whether the page sees nothing on a tile.
fn bare(state: &Value, (x, z): (i32, i32)) -> bool {
    let mut all = state["all"].as_array().into_iter().flatten();
    !all.any(|one| one["x"] == json!(x) && one["z"] == json!(z))
}

pub(super) fn entity<'v>(state: &'v Value, field: &str, value: &Value) -> Option<&'v Value> {
    let all = state["all"].as_array()?;
    all.iter().find(|entity| entity[field] == *value)
}

/// Returns the id of something that is in sight.
pub(super) async fn seen(browser: &Client, field: &str, value: &Value) -> Result<Value> {
    let what = format!("something whose {field} is {value}");
    let state = until(browser, &what, |state| {
        entity(state, field, value).is_some()
    })
    .await?;
    let found = entity(&state, field, value).context("gone again")?;
    Ok(found["id"].clone())
}

// --- acts of a person ---

/// Chooses what begins with `words` of what can be done with something in the world.
pub(super) async fn act_on(browser: &Client, id: &Value, words: &str) -> Result<()> {
    let script = "return window.tilestead.actOn(arguments[0], arguments[1])";
    let done = browser
        .execute(script, vec![id.clone(), json!(words)])
        .await?;
    ensure!(done == json!(true), "nothing of {id} is called {words}");
    Ok(())
}

/// Asks the server; that it was refused is an error.
pub(super) async fn ask(browser: &Client, event: &str, data: &Value) -> Result<()> {
    let script = "const done = arguments[2]; \
        window.tilestead.act(arguments[0], arguments[1]).then(done, () => done(false));";
    let done = browser
        .execute_async(script, vec![json!(event), data.clone()])
        .await?;
    if done == json!(true) {
        return Ok(());
    }
    let said = words(browser, "#notices").await?;
    anyhow::bail!("{event} was refused: {said}")
}

/// Clicks a slot of the pack that holds `item`, and an entry of its menu.
pub(super) async fn choose(browser: &Client, item: &str, entry: &str) -> Result<()> {
    let slots = pack(&state(browser).await?)["slots"].clone();
    let slots = slots.as_array().context("slots")?;
    let slot = slots.iter().position(|slot| slot["itemId"] == json!(item));
    let slot = slot.with_context(|| format!("no {item}"))?;
    let script = "document.querySelectorAll('#slots button')[arguments[0]].click()";
    // The effect of a click depends on the open screen, which may still be opening.
    let deadline = Instant::now() + SOON;
    loop {
        browser.execute(script, vec![json!(slot)]).await?;
        if pressed(browser, "#menu button", entry).await? {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{item}: nothing called {entry}");
        sleep(Duration::from_millis(200)).await;
    }
}

/// Clicks the first button that is shown, enabled, and whose words begin so.
pub(super) async fn press(browser: &Client, css: &str, words: &str) -> Result<()> {
    let deadline = Instant::now() + SOON;
    while !pressed(browser, css, words).await? {
        ensure!(
            Instant::now() < deadline,
            "no button {css} called {words:?}"
        );
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

pub(super) async fn pressed(browser: &Client, css: &str, words: &str) -> Result<bool> {
    let script = "const fits = (b) => b.offsetParent !== null && !b.disabled && \
        (b.getAttribute('aria-label') ?? b.textContent).startsWith(arguments[1]); \
        const found = [...document.querySelectorAll(arguments[0])].find(fits); \
        found?.click(); return found !== undefined;";
    let done = browser
        .execute(script, vec![json!(css), json!(words)])
        .await?;
    Ok(done == json!(true))
}

pub(super) async fn words(browser: &Client, css: &str) -> Result<String> {
    let script = "return document.querySelector(arguments[0])?.innerText ?? ''";
    let words = browser.execute(script, vec![json!(css)]).await?;
    Ok(words.as_str().unwrap_or_default().to_owned())
}

pub(super) async fn shown(browser: &Client, css: &str) -> Result<bool> {
    let script = "return document.querySelector(arguments[0])?.hidden === false";
    Ok(browser.execute(script, vec![json!(css)]).await? == json!(true))
}

pub(super) async fn showing(browser: &Client, css: &str, within: Duration) -> Result<()> {
    shows(browser, css, true, within).await
}

pub(super) async fn hidden(browser: &Client, css: &str, within: Duration) -> Result<()> {
    shows(browser, css, false, within).await
}

pub(super) async fn shows(
    browser: &Client,
    css: &str,
    wanted: bool,
    within: Duration,
) -> Result<()> {
    let deadline = Instant::now() + within;
    while shown(browser, css).await? != wanted {
        if Instant::now() >= deadline {
            let notices = words(browser, "#notices").await?;
            anyhow::bail!("{css} shown: not {wanted}; the notices say {notices:?}");
        }
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Presses the other button of the mouse on a thing.
pub(super) async fn right_clicks(browser: &Client, thing: &Element) -> Result<()> {
    let (x, y, width, height) = thing.rectangle().await?;
    let button = MOUSE_BUTTON_RIGHT;
    let mouse = MouseActions::new("mouse".to_owned())
        .then(PointerAction::MoveTo {
            duration: None,
            x: x + width / 2.0,
            y: y + height / 2.0,
        })
        .then(PointerAction::Down { button })
        .then(PointerAction::Up { button });
    Ok(browser.perform_actions(mouse).await?)
}

/// Waits like [`until`], for things that take their time.
pub(super) async fn wait_for(
    browser: &Client,
    what: &str,
    test: impl Fn(&Value) -> bool,
) -> Result<Value> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let state = state(browser).await?;
        if test(&state) {
            return Ok(state);
        }
        ensure!(
            Instant::now() < deadline,
            "waiting for {what}: {}",
            state["pack"]
        );
        sleep(Duration::from_millis(300)).await;
    }
}
