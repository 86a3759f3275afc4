//! The mayor's round in a real browser: somebody with a mouse at a desk and somebody with a finger
//! on a phone do what the tracker says, go where the arrow points, and press what is marked. They
//! know nothing else of the world.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Plan};
use tokio::time::{Instant, sleep};

use super::{
    browser::{quiet, state, until},
    browser_steps::{SOON, TIMEOUT, ask, hidden, showing, shown, words},
    moment,
    newcomer::begins,
    person::Person,
};

const ROUND: &str = "first_things_first";
/// Time from one click on the way to the next, and after a click on the goal.
const WALKS: Duration = Duration::from_millis(900);
const WORKS: Duration = Duration::from_millis(2500);
/// Looks at something that is being done until one presses again.
const PATIENCE: u32 = 20;

/// What a person sees of the guide: the task, the arrow's end, and the nearest thing that is
/// marked. Places are points of the window; nobody walks by a click on somebody else. The outermost
/// pixels do not count: the driver points at none that lies half outside.
const SIGHT: &str = "const t = window.tilestead, g = t.guide(), here = t.state().position; \
    const far = (a) => Math.hypot(a.x - here.x, a.z - here.z); \
    const inside = (at, size) => at >= 1 && at <= size - 1; \
    const map = (p) => inside(p.x, innerWidth) && inside(p.y, innerHeight) \
        && document.elementFromPoint(p.x, p.y)?.id === 'map'; \
    const ahead = (a) => far(a) > 1.5 && map(t.screen(a.x, a.z)); \
    const tiles = g.tiles.filter(ahead).reverse(); \
    const on = g.tiles.length > 2 ? (tiles.find((a) => t.bare(a.x, a.z)) ?? tiles[0]) : undefined; \
    const near = [...(g.at ?? [])].sort((a, b) => far(a) - far(b))[0]; \
    return { step: g.step ?? null, goals: g.at?.length ?? 0, ways: t.aims().ways.length, \
        on: on ? t.screen(on.x, on.z) : null, near: near && map(t.screen(near.x, near.z)) ? t.screen(near.x, near.z) : null, \
        task: document.querySelector('#tracker .task')?.innerText ?? '', \
        shown: document.querySelector('#tracker').hidden === false };";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tracker_and_the_arrow_lead_newcomers_through_the_first_hour() {
    let plan = Plan::new("first-hour");
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    let page = format!("http://{}/", cluster.gateway(0));
    Person::at_desk_and_phone(["Cat Cobb", "Dot Dale"], async |cat, dot| {
        tokio::try_join!(story(cat, &page), story(dot, &page)).map(drop)
    })
    .await;
}

async fn story(one: &Person<'_>, page: &str) -> Result<()> {
    let name = one.name;
    begins(one, page).await.context("the door")?;
    let began = Instant::now();
    greeted(one).await.context(name).context("the greeting")?;
    if !one.finger {
        skips_and_comes_back(one).await.context("skipping")?;
    }
    for step in [
        "chop", "light", "fish", "cook", "wield", "spar", "sell", "bank", "pray",
    ] {
        let during = || format!("{name}: {step}");
        does(one, step).await.with_context(during)?;
    }
    ends(one)
        .await
        .with_context(|| format!("{name}: the end"))?;
    moment::rises(one)
        .await
        .with_context(|| format!("{name}: a level"))?;
    eprintln!("{name}: the round took {:?}", began.elapsed());
    quiet(&one.page).await?;
    let errors = one.errors().await?;
    ensure!(errors.is_empty(), "{name}: {errors:#?}");
    Ok(())
}

async fn sight(one: &Person<'_>) -> Result<Value> {
    Ok(one.page.execute(SIGHT, vec![]).await?)
}

/// Waits until the tracker asks for a step.
async fn asked(one: &Person<'_>, step: &str) -> Result<Value> {
    let deadline = Instant::now() + SOON;
    loop {
        let sight = sight(one).await?;
        if sight["step"] == json!(step) && sight["shown"] == json!(true) {
            return Ok(sight);
        }
        ensure!(Instant::now() < deadline, "not asked for {step}: {sight}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Follows the arrow and presses what is marked at its end, until the window `pane` opens or, without
/// one, until another step is asked for.
async fn follows(one: &Person<'_>, step: &str, pane: Option<&str>) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    let (mut begun, mut waited, mut in_the_way) = (false, 0, false);
    loop {
        let sight = sight(one).await?;
        if sight["step"] != json!(step) {
            return Ok(());
        }
        if let Some(pane) = pane
            && shown(&one.page, pane).await?
        {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "not done: {sight}");
        in_the_way |= closes_others(one, pane).await?;
        // Nobody presses again what is being done; what the step before began may go on still. But a
        // click that somebody walked into began nothing.
        if begun && waited < PATIENCE && shown(&one.page, "#doing").await? {
            waited += 1;
            sleep(WALKS).await;
            continue;
        }
        waited = 0;
        let (on, near) = (&sight["on"], &sight["near"]);
        // Somebody who stands on the way is left aside for what is at its end.
        let beside = std::mem::take(&mut in_the_way) && !near.is_null();
        let (to, rests) = if on.is_null() || beside {
            (near, WORKS)
        } else {
            (on, WALKS)
        };
        // Right after a step, the arrow still looks for its way.
        if let (Some(x), Some(y)) = (to["x"].as_f64(), to["y"].as_f64()) {
            one.points(x, y).await?;
            begun = true;
        }
        sleep(rests).await;
    }
}

/// Closes what a click has opened that hit somebody or something else. Returns whether there was any.
async fn closes_others(one: &Person<'_>, wanted: Option<&str>) -> Result<bool> {
    let mut any = false;
    for pane in ["#dialogue", "#make", "#shop", "#bank"] {
        if wanted != Some(pane) && shown(&one.page, pane).await? {
            one.presses(&format!("{pane} .cross"), "").await?;
            hidden(&one.page, pane, SOON).await?;
            any = true;
        }
    }
    Ok(any)
}

/// Goes where the arrow points until the mayor talks. Somebody else who walks into a click talks
/// first, and is left.
async fn meets_the_mayor(one: &Person<'_>, step: &str) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        follows(one, step, Some("#dialogue")).await?;
        showing(&one.page, "#dialogue", SOON).await?;
        let who = words(&one.page, "#dialogue header").await?;
        if who.contains("Mayor Grout") {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "only {who} talks");
        one.presses("#dialogue .cross", "").await?;
        hidden(&one.page, "#dialogue", SOON).await?;
    }
}

/// The first screen says what to do, and the mayor is on it.
async fn greeted(one: &Person<'_>) -> Result<()> {
    let sight = asked(one, "greet").await?;
    ensure!(
        sight["task"]
            .as_str()
            .is_some_and(|task| task.contains("Mayor Grout")),
        "{sight}"
    );
    let mayor = |state: &Value| {
        let all = state["all"].as_array();
        all.is_some_and(|all| all.iter().any(|e| e["npcId"] == json!("mayor_grout")))
    };
    until(&one.page, "the mayor", mayor).await?;
    one.looks("the first screen").await
}

/// Leaves the round, and takes it up again with the mayor.
async fn skips_and_comes_back(one: &Person<'_>) -> Result<()> {
    one.presses("#tracker .skip", "Skip").await?;
    hidden(&one.page, "#tracker", SOON).await?;
    let script = "const t = window.tilestead; \
        const mayor = t.entities().find((e) => e.npcId === 'mayor_grout'); \
        return t.screen(mayor.x, mayor.z);";
    let at = one.page.execute(script, vec![]).await?;
    let axis = |name: &str| at[name].as_f64().context("a place");
    one.points(axis("x")?, axis("y")?).await?;
    showing(&one.page, "#dialogue", SOON).await?;
    answers_stay(one).await?;
    one.presses("#dialogue .answers button", "2Would you show me round?")
        .await?;
    one.presses("#dialogue .answers button", "1Go on").await?;
    showing(&one.page, "#quest", SOON).await?;
    one.presses("#quest footer button", "I'll do it").await?;
    hidden(&one.page, "#quest", SOON).await?;
    // To be met again is to be met.
    asked(one, "chop").await.map(drop)
}

/// Checks that the answers stay where they are while a notice comes and goes.
async fn answers_stay(one: &Person<'_>) -> Result<()> {
    let script = "const answers = document.querySelector('#dialogue .answers'); \
        return [answers.getBoundingClientRect().top, document.querySelector('#notices').innerText];";
    let look = async || one.page.execute(script, vec![]).await;
    let first = look().await?;
    let wish = json!({ "itemId": "thin_air", "quantity": 1 });
    ensure!(ask(&one.page, "shop:buy", &wish).await.is_err());
    let told = look().await?;
    ensure!(told[1] != first[1], "the refusal is not told: {told}");
    let deadline = Instant::now() + SOON;
    loop {
        let now = look().await?;
        ensure!(
            now[0] == first[0],
            "the answers moved: {first} became {now}"
        );
        if now[1] == json!("") {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "the notices stay");
        sleep(Duration::from_millis(100)).await;
    }
}

async fn does(one: &Person<'_>, step: &str) -> Result<()> {
    if step == "chop" && sight(one).await?["step"] == json!("greet") {
        meets_the_mayor(one, "greet").await?;
        one.looks("the mayor").await?;
        one.presses("#dialogue .answers button", "1I am on my way.")
            .await?;
        hidden(&one.page, "#dialogue", SOON).await?;
    }
    let sight = asked(one, step).await?;
    ensure!(sight["task"] != json!(""), "the tracker is mute: {sight}");
    let in_pack = ["light", "wield"].contains(&step);
    ensure!(
        in_pack || (sight["goals"] != json!(0) && sight["ways"] != json!(0)),
        "nothing is marked: {sight}"
    );
    match step {
        "light" => with_the_pack(one, "Light").await,
        "wield" => {
            one.opens_pack().await?;
            one.looks("a marked slot").await?;
            with_the_pack(one, "W").await
        }
        "cook" => cooks(one).await,
        "sell" => deals(one, step, "#shop", ("candle", "Sell")).await,
        "bank" => deals(one, step, "#bank", ("bread", "Bank 1")).await,
        _ => follows(one, step, None).await,
    }
}

/// Presses the slot that is marked, and the entry of its menu. Who chops goes on meanwhile, and does
/// not wait until the pack is full.
async fn with_the_pack(one: &Person<'_>, entry: &str) -> Result<()> {
    one.opens_pack().await?;
    let before = sight(one).await?["step"].clone();
    let deadline = Instant::now() + TIMEOUT;
    while sight(one).await?["step"] == before {
        ensure!(Instant::now() < deadline, "{entry}: nothing comes of it");
        let script = "return document.querySelector('#slots .aim') !== null";
        // Logs that burn are no longer in the pack.
        if one.page.execute(script, vec![]).await? == json!(true) {
            let pressed = async {
                one.asks("#slots .aim").await?;
                one.presses("#menu button", entry).await
            };
            // Logs that catch fire just now close the menu.
            if let Err(error) = pressed.await
                && sight(one).await?["step"] == before
            {
                return Err(error);
            }
        }
        sleep(WORKS * 2).await;
    }
    one.closes_pack().await
}

async fn cooks(one: &Person<'_>) -> Result<()> {
    follows(one, "cook", Some("#make")).await?;
    one.presses("#make .goods", "Sprat").await?;
    one.presses("#menu button", "Cook").await?;
    asked(one, "wield").await.map(drop)
}

/// Opens a counter, and gives something from the pack.
async fn deals(one: &Person<'_>, step: &str, pane: &str, what: (&str, &str)) -> Result<()> {
    follows(one, step, Some(pane)).await?;
    one.chooses(what.0, what.1).await?;
    let deadline = Instant::now() + SOON;
    while sight(one).await?["step"] == json!(step) {
        ensure!(Instant::now() < deadline, "the deal does not count");
        sleep(Duration::from_millis(100)).await;
    }
    one.looks("a counter and the next step").await?;
    one.presses(&format!("{pane} .cross"), "").await?;
    hidden(&one.page, pane, SOON).await?;
    one.closes_pack().await
}

/// Returns to the mayor, unhurt, for the purse.
async fn ends(one: &Person<'_>) -> Result<()> {
    asked(one, "back").await?;
    meets_the_mayor(one, "back").await?;
    one.presses("#dialogue .answers button", "1Go on").await?;
    hidden(&one.page, "#tracker", SOON).await?;
    let after = state(&one.page).await?;
    let all = after["quests"].as_array().context("quests")?.iter();
    let mut round = all.filter(|quest| quest["id"] == json!(ROUND));
    let status = round.next().context("the round")?["status"].clone();
    ensure!(status == json!("completed"), "{status}");
    let health = &after["health"];
    ensure!(health["current"] == health["max"], "hurt: {health}");
    let said = words(&one.page, "#banner").await?;
    ensure!(
        said.contains("First Things First"),
        "nobody is glad: {said}"
    );
    Ok(())
}
