//! The first hour of somebody new, in a real browser: one with a mouse at a desk, one with a finger
//! on a phone. They look at everything in windows of other sizes too: at the desk with the panel at
//! the side open, on the phone mostly with it closed.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use hyper::Method;
use serde_json::{Value, json};
use tests::cluster::{Cluster, Plan};
use tokio::time::{Instant, sleep};

use super::{
    browser::{held, in_world, pack, pack_until, position, quiet, state, until},
    browser_steps::{
        SOON, TIMEOUT, World, act_on, ask, hidden, seen, showing, shown, wait_for, words,
    },
    hearing,
    interface::{ADMIN_CODE, Caller, operator},
    keys::key_for,
    person::{Person, Size},
    world_map,
};

/// The card at the door is also looked at on the smallest phones.
const DOORS: [Size; 6] = [
    (1280, 720),
    (1920, 1080),
    (844, 390),
    (390, 844),
    (360, 640),
    (320, 568),
];
/// The sword that everybody begins with has two names.
const SWORDS: [&str; 2] = ["bronze_shortsword", "bronze_sword"];
const BOW: &str = "crooked_bow";
/// The graves of these stories are further from the town than this, in tiles.
const FAR: i32 = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newcomers_find_their_way_from_the_door_to_the_grave_and_the_bank_at_every_size() {
    let plan = Plan::new("newcomer").env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    Person::at_desk_and_phone(["Ann Ashby", "Bob Brook"], async |ann, bob| {
        stories(&cluster, &plan, ann, bob).await
    })
    .await;
}

async fn stories(cluster: &Cluster, plan: &Plan, ann: &Person<'_>, bob: &Person<'_>) -> Result<()> {
    let world = World::of(cluster, plan).await?;
    let gateway = cluster.gateway(0);
    let page = format!("http://{gateway}/");
    let operator = Caller {
        gateway: &gateway,
        token: Some(operator(&gateway).await?),
    };
    tokio::try_join!(
        story(&world, &page, (&operator, ann), "thunderhonk"),
        story(&world, &page, (&operator, bob), "moss_lummox"),
    )?;
    two_look_at_a_trade(ann, bob).await.context("a trade")?;
    for one in [ann, bob] {
        let gaps = "return window.tilestead.gaps";
        let gaps = one.page.execute(gaps, vec![]).await?;
        ensure!(gaps == json!(0), "{gaps} gaps");
        quiet(&one.page).await?;
        let errors = one.errors().await?;
        ensure!(errors.is_empty(), "{}: {errors:#?}", one.name);
    }
    Ok(())
}

async fn story(
    world: &World,
    page: &str,
    (operator, one): (&Caller<'_>, &Person<'_>),
    killer: &str,
) -> Result<()> {
    let name = one.name;
    let during = |what: &'static str| move || format!("{name}: {what}");
    begins(one, page).await.with_context(during("the door"))?;
    asks_for_help(one).await.with_context(during("help"))?;
    taps_a_key(world, one)
        .await
        .with_context(during("a step"))?;
    talks_after_the_pack(one)
        .await
        .with_context(during("the chat"))?;
    wields_the_sword(one)
        .await
        .with_context(during("a sword"))?;
    looks_at_the_panels(one)
        .await
        .with_context(during("the panels"))?;
    may_operate(operator, name)
        .await
        .with_context(during("the role"))?;
    chops(world, one).await.with_context(during("a log"))?;
    world_map::reads(world, one)
        .await
        .with_context(during("the map"))?;
    hearing::listens(world, one)
        .await
        .with_context(during("sound"))?;
    sells_and_buys(world, one)
        .await
        .with_context(during("a shop"))?;
    speaks(world, one).await.with_context(during("a talk"))?;
    fights_and_dies(world, one, killer)
        .await
        .with_context(during("a fight"))?;
    banks(one).await.with_context(during("a bank"))
}

/// Makes an operator of the account whose character of this name is in the world.
pub(super) async fn may_operate(operator: &Caller<'_>, name: &str) -> Result<()> {
    let open = operator.get("/admin/sessions?open=true").await?;
    let open = open["sessions"].as_array().context("sessions")?;
    let named = open.iter().find(|session| session["name"] == name);
    let account = named.context("nobody has this name")?["accountId"].clone();
    let path = format!("/admin/users/{}/roles", account.as_str().context("id")?);
    let roles = Some(json!({"roles": ["admin"]}));
    let given = operator.ask(Method::PUT, &path, roles).await?;
    ensure!(given.status == 200, "{}", given.text());
    Ok(())
}

/// Gives a name at the door.
pub(super) async fn begins(one: &Person<'_>, page: &str) -> Result<()> {
    one.page.goto(page).await?;
    let deadline = Instant::now() + SOON;
    while !words(&one.page, "#entry-word").await?.contains("name") {
        ensure!(Instant::now() < deadline, "nobody is at the door");
        sleep(Duration::from_millis(100)).await;
    }
    one.looks_in("the door", &DOORS).await?;
    one.fills("#name", one.name).await?;
    one.presses("#create button", "Begin").await?;
    let entered = until(&one.page, "the world", in_world).await?;
    ensure!(entered["name"] == json!(one.name), "{entered}");
    one.looks("the world").await
}

async fn asks_for_help(one: &Person<'_>) -> Result<()> {
    one.presses("#help", "").await?;
    showing(&one.page, "#keys", SOON).await?;
    let said = words(&one.page, "#keys").await?;
    ensure!(said.contains("walk") && !said.contains("[object"), "{said}");
    one.looks("help").await?;
    one.presses("#keys .cross", "").await?;
    hidden(&one.page, "#keys", SOON).await
}

/// Checks that a short tap is one step, each time.
async fn taps_a_key(world: &World, one: &Person<'_>) -> Result<()> {
    let (before, way) = world.at_lane(&one.page, 3).await?;
    let from = position(&before)?;
    for steps in 1..=3 {
        one.taps_key(key_for(way)?).await?;
        let goal = (from.0 + way.0 * steps, from.1 + way.1 * steps);
        until(
            &one.page,
            &format!("{steps} steps from {from:?}"),
            |state| position(state).is_ok_and(|at| at == goal),
        )
        .await?;
    }
    Ok(())
}

/// Checks that a player who has pressed something in the pack can go on to the chat, and typed text
/// goes there.
async fn talks_after_the_pack(one: &Person<'_>) -> Result<()> {
    const WORDS: &str = "Rope, quick, if you please";
    one.opens_pack().await?;
    let before = pack(&state(&one.page).await?);
    one.asks("#slots [data-item^='candle']").await?;
    showing(&one.page, "#menu", SOON).await?;
    one.looks_here("a menu").await?;
    if one.finger {
        // A tap elsewhere closes the menu.
        one.presses("#side-title", "").await?;
        hidden(&one.page, "#menu", SOON).await?;
        one.presses("#line", "").await?;
    } else {
        one.taps_enter().await?;
    }
    one.types(WORDS).await?;
    if one.finger {
        one.presses("#say button", "").await?;
    } else {
        one.taps_enter().await?;
    }
    let deadline = Instant::now() + SOON;
    loop {
        let script = "return JSON.stringify(window.tilestead.chat())";
        let heard = one.page.execute(script, vec![]).await?;
        if heard.as_str().is_some_and(|heard| heard.contains(WORDS)) {
            break;
        }
        ensure!(Instant::now() < deadline, "not heard: {heard}");
        sleep(Duration::from_millis(100)).await;
    }
    ensure!(pack(&state(&one.page).await?) == before);
    ensure!(shown(&one.page, "#pack").await?, "typing turned the panel");
    Ok(())
}

async fn wields_the_sword(one: &Person<'_>) -> Result<()> {
    let held = held(&pack(&state(&one.page).await?));
    let sword = SWORDS.into_iter().find(|sword| held.contains_key(*sword));
    wears(one, sword.context("no sword to begin with")?).await
}

async fn wears(one: &Person<'_>, item: &str) -> Result<()> {
    one.chooses(item, "W").await?;
    let deadline = Instant::now() + SOON;
    loop {
        let worn = worn(one).await?;
        let weapon = worn["weapon"]["itemId"].as_str().unwrap_or_default();
        if weapon == item || (SWORDS.contains(&item) && SWORDS.contains(&weapon)) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{item} is not in hand: {worn}");
        sleep(Duration::from_millis(100)).await;
    }
}

async fn worn(one: &Person<'_>) -> Result<Value> {
    let script = "return window.tilestead.gear().worn";
    Ok(one.page.execute(script, vec![]).await?)
}

async fn looks_at_the_panels(one: &Person<'_>) -> Result<()> {
    one.opens_pack().await?;
    for tab in [
        "gear",
        "skills-panel",
        "combat",
        "prayers",
        "quests",
        "friends",
        "emotes",
        "pack",
    ] {
        one.presses(&format!("#tab-{tab}"), "").await?;
        showing(&one.page, &format!("#{tab}"), SOON).await?;
        one.looks(tab).await?;
    }
    // As it stands in a duel: there is one more button then.
    let forfeit = "document.getElementById('forfeit').hidden = arguments[0]";
    one.page.execute(forfeit, vec![json!(false)]).await?;
    one.looks("a duel").await?;
    one.page.execute(forfeit, vec![json!(true)]).await?;
    one.closes_pack().await
}

/// Fells the tree there; if a tree is gone, it goes on to another one.
async fn chops(world: &World, one: &Person<'_>) -> Result<()> {
    let felled = |state: &Value| held(&pack(state)).contains_key("logs");
    let standing = |state: &Value, fits: &dyn Fn(&Value) -> bool| {
        let mut all = state["all"].as_array().into_iter().flatten();
        all.find(|e| {
            e["resourceId"] == json!("tree_normal") && e["depleted"] != json!(true) && fits(e)
        })
        .map(|tree| tree["id"].clone())
    };
    world.put(&one.page, world.spot("tree_normal")?).await?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let any = |state: &Value| standing(state, &|_| true);
        let seen = until(&one.page, "a tree", |state| any(state).is_some()).await?;
        let tree = any(&seen).context("gone again")?;
        act_on(&one.page, &tree, "Chop").await?;
        let over = |state: &Value| felled(state) || standing(state, &|e| e["id"] == tree).is_none();
        let now = wait_for(&one.page, "a log", over).await?;
        if felled(&now) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "no log");
    }
}

/// Sells a log and everything else that the price needs, because bows cost more once the other has
/// bought one. Then buys a bow, and wears it.
async fn sells_and_buys(world: &World, one: &Person<'_>) -> Result<()> {
    let coins = |pack: &Value| pack["coins"].as_u64().unwrap_or(0);
    world.put(&one.page, world.npc("yara_bowyer")?).await?;
    let keeper = seen(&one.page, "npcId", &json!("yara_bowyer")).await?;
    act_on(&one.page, &keeper, "Buy from").await?;
    showing(&one.page, "#shop", SOON).await?;
    one.looks("a shop").await?;
    one.opens_pack().await?;
    one.looks("a shop and the pack").await?;
    for (item, entry) in [
        ("logs", "Sell"),
        ("bronze_pickaxe", "Sell"),
        ("candle", "Sell all"),
    ] {
        let had = coins(&pack(&state(&one.page).await?));
        one.chooses(item, entry).await?;
        pack_until(&one.page, &format!("coins for {item}"), |pack| {
            coins(pack) > had && !held(pack).contains_key(item)
        })
        .await?;
    }
    if one.finger {
        one.chooses("bread", "Sell all").await?;
        pack_until(&one.page, "no bread", |pack| {
            !held(pack).contains_key("bread")
        })
        .await?;
        one.presses("#shop .goods", "Crooked bow").await?;
    } else {
        // The shop changes while the button is down, and the click counts all the same.
        let before = words(&one.page, "#notices").await?;
        one.holds("#shop .goods", "Crooked bow", async || {
            sells_bread(one).await?;
            nothing_moves(one, &before).await
        })
        .await?;
        let deadline = Instant::now() + SOON;
        while words(&one.page, "#notices").await? == before {
            ensure!(Instant::now() < deadline, "the refusal is never told");
            sleep(Duration::from_millis(100)).await;
        }
    }
    one.looks_here("what can be bought").await?;
    one.presses("#menu button", "Buy 1").await?;
    pack_until(&one.page, "a bow", |pack| held(pack).contains_key(BOW)).await?;
    one.presses("#shop .cross", "").await?;
    hidden(&one.page, "#shop", SOON).await?;
    wears(one, BOW).await?;
    one.closes_pack().await
}

/// Sells all bread without a press.
async fn sells_bread(one: &Person<'_>) -> Result<()> {
    let pack = pack(&state(&one.page).await?);
    let mut slots = pack["slots"].as_array().context("slots")?.iter();
    let slot = slots.position(|slot| slot["itemId"] == json!("bread"));
    let sale = json!({ "slot": slot.context("no bread")?, "quantity": held(&pack)["bread"] });
    ask(&one.page, "shop:sell", &sale).await?;
    let sold = |pack: &Value| !held(pack).contains_key("bread");
    pack_until(&one.page, "no bread", sold).await.map(drop)
}

/// Checks that notices, which take room, wait until the button is let go.
async fn nothing_moves(one: &Person<'_>, notices: &str) -> Result<()> {
    let wish = json!({ "itemId": "thin_air", "quantity": 1 });
    ensure!(ask(&one.page, "shop:buy", &wish).await.is_err());
    let now = words(&one.page, "#notices").await?;
    ensure!(
        now == notices,
        "{notices:?} became {now:?} under the button"
    );
    Ok(())
}

async fn speaks(world: &World, one: &Person<'_>) -> Result<()> {
    world.put(&one.page, world.npc("elder_moss")?).await?;
    let elder = seen(&one.page, "npcId", &json!("elder_moss")).await?;
    act_on(&one.page, &elder, "Talk to").await?;
    showing(&one.page, "#dialogue", SOON).await?;
    one.looks("a talk").await?;
    one.presses("#dialogue .cross", "").await?;
    hidden(&one.page, "#dialogue", SOON).await
}

/// Takes the sword again, meets an NPC that is too strong, wakes up, and fetches the things from
/// the grave.
async fn fights_and_dies(world: &World, one: &Person<'_>, killer: &str) -> Result<()> {
    wields_the_sword(one).await?;
    one.closes_pack().await?;
    let before = belongings(one).await?;
    world.put(&one.page, world.mob(killer)?).await?;
    let foe = seen(&one.page, "npcId", &json!(killer)).await?;
    act_on(&one.page, &foe, "Attack").await?;
    let deadline = Instant::now() + TIMEOUT;
    while !shown(&one.page, "#foe").await? && !shown(&one.page, "#death").await? {
        ensure!(Instant::now() < deadline, "no fight");
        sleep(Duration::from_millis(100)).await;
    }
    // It may fall before it was looked at everywhere, and then stands up again by itself.
    for size in one.windows {
        if !shown(&one.page, "#death").await? {
            one.looks_in("a fight", &[*size]).await?;
        }
    }
    showing(&one.page, "#death", TIMEOUT).await?;
    one.looks("death").await?;
    if let Err(why) = one.presses("#death footer button", "Wake up").await {
        let lies = shown(&one.page, "#death").await?;
        ensure!(!lies, "it did not stand up by itself either: {why:#}");
    }
    hidden(&one.page, "#death", SOON).await?;
    let left = until(&one.page, "a grave", |state| {
        state["graves"].as_array().is_some_and(|all| all.len() == 1)
    })
    .await?;
    ensure!(belongings(one).await? != before, "nothing was lost");
    let grave = &left["graves"][0];
    let axis = |name: &str| i32::try_from(grave[name].as_i64().unwrap_or(0));
    let at = (axis("x")?, axis("z")?);
    // The page hears that one has woken up before it hears where.
    until(&one.page, "standing far from the grave", |state| {
        position(state).is_ok_and(|(x, z)| (x - at.0).abs().max((z - at.1).abs()) > FAR)
    })
    .await?;
    one.looks("a grave").await?;
    world.put(&one.page, at).await?;
    let id = seen(&one.page, "id", &grave["id"]).await?;
    act_on(&one.page, &id, "Take").await?;
    let none = |state: &Value| state["graves"] == json!([]);
    until(&one.page, "an empty grave", none).await?;
    // Away from the strong one, to the bank.
    world.put(&one.page, world.npc("bark_the_banker")?).await?;
    let after = belongings(one).await?;
    ensure!(after == before, "{before:?} became {after:?}");
    Ok(())
}

/// Returns the things that a player wears and carries; coins that it picks up come into the pouch.
async fn belongings(one: &Person<'_>) -> Result<BTreeMap<String, u64>> {
    let mut all = held(&pack(&state(&one.page).await?));
    let loose = all.remove("coins").unwrap_or(0);
    *all.entry("in the pouch".to_owned()).or_default() += loose;
    for item in worn(one).await?.as_object().context("gear")?.values() {
        let id = item["itemId"].as_str().context("an item")?.to_owned();
        *all.entry(id).or_default() += item["quantity"].as_u64().unwrap_or(1);
    }
    Ok(all)
}

/// Brings a hatchet to the bank, before which it stands already, and takes it out again.
async fn banks(one: &Person<'_>) -> Result<()> {
    let hatchet = |pack: &Value| held(pack).contains_key("bronze_hatchet");
    let banker = seen(&one.page, "npcId", &json!("bark_the_banker")).await?;
    act_on(&one.page, &banker, "Bank with").await?;
    showing(&one.page, "#bank", SOON).await?;
    one.looks("a bank").await?;
    one.chooses("bronze_hatchet", "Bank 1").await?;
    pack_until(&one.page, "no hatchet", |pack| !hatchet(pack)).await?;
    one.looks("a bank and the pack").await?;
    one.asks("#bank .goods[aria-label^='Bronze hatchet']")
        .await?;
    one.presses("#menu button", "Take").await?;
    pack_until(&one.page, "the hatchet", hatchet).await?;
    one.presses("#bank .cross", "").await?;
    hidden(&one.page, "#bank", SOON).await?;
    one.closes_pack().await
}

/// Asks until the question is there. The page hides a bank at once, but the server closes it in the
/// next tick. Until then the server refuses such questions to or from the player with the bank.
async fn asks_for_a_trade(ann: &Person<'_>, bob: &Person<'_>, id: &Value) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        act_on(&ann.page, id, "Trade with").await?;
        for _ in 0..30 {
            if words(&bob.page, "#asking").await?.contains("Ann") {
                return Ok(());
            }
            sleep(Duration::from_millis(100)).await;
        }
        let refused = words(&ann.page, "#notices").await?;
        ensure!(Instant::now() < deadline, "no question comes: {refused:?}");
    }
}

/// Lets one ask and the other say yes; both look at the trade, and cancel it.
async fn two_look_at_a_trade(ann: &Person<'_>, bob: &Person<'_>) -> Result<()> {
    let id = state(&bob.page).await?["characterId"].clone();
    seen(&ann.page, "id", &id).await?;
    asks_for_a_trade(ann, bob, &id).await?;
    bob.presses("#asking p", "Ann").await?;
    bob.looks("a question").await?;
    bob.presses("#asking button", "Trade").await?;
    for one in [ann, bob] {
        showing(&one.page, "#trade", SOON).await?;
        one.opens_pack().await?;
        one.looks("a trade").await?;
    }
    ann.presses("#trade .cross", "").await?;
    for one in [ann, bob] {
        hidden(&one.page, "#trade", SOON).await?;
    }
    Ok(())
}
