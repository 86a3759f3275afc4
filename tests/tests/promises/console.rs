//! The operators' console in a real browser: a login by role, the map, people, the ledger, the
//! switches; a zone server that dies and one that is drained, as the console shows them.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::Player,
    cluster::{Cluster, Kind, Plan},
};
use tokio::time::{Instant, sleep};

use super::{
    browser::shoot,
    browser_steps::{SOON, showing},
    driver::Driver,
    habits::{true_within, until_true},
    interface::{ADMIN_CODE, Caller, operator, somebody},
    person::Person,
};

const PASSWORD: &str = "seven lanterns by the mill";
/// The keys that go back, up and down.
const ESCAPE: char = '\u{E00C}';
const UP: char = '\u{E013}';
const DOWN: char = '\u{E015}';
/// Longest time for a record of 50 ticks, for a profile and the names in it, or for half of the
/// world to leave a zone: four regions at a time do.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_see_the_cluster_and_act_in_the_console() {
    let plan = Plan::new("console").of(1, 3, 1);
    let plan = plan.env("ADMIN_CODE", ADMIN_CODE);
    let mut cluster = Cluster::start(plan).await.unwrap();
    let driver = Driver::start().await.unwrap();
    let one = Person::with_mouse(&driver, "Operator", (1280, 720));
    let one = one.await.unwrap();
    let told = story(&mut cluster, &one).await;
    if told.is_err() {
        shoot(&one.page, "failed-console").await.unwrap();
    }
    one.page.close().await.unwrap();
    told.unwrap();
}

async fn story(cluster: &mut Cluster, one: &Person<'_>) -> Result<()> {
    let gateway = cluster.gateway(0);
    let op = Caller {
        gateway: &gateway,
        token: Some(operator(&gateway).await?),
    };
    named(&op, "warden").await?;
    looks_on(&op).await.context("a viewer over HTTP")?;
    let _ann = Player::arrive(&gateway, Format::Json, "Ann").await?;
    let door = format!("http://{gateway}/console");
    one.page.goto(&door).await?;
    one.looks("the login").await?;
    logs_in(one, "passerby").await?;
    until_true(one, "a player is let in", REFUSED).await?;
    logs_in(one, "warden").await?;
    showing(&one.page, "#figures", SOON).await?;
    rows(one, "#zones tbody tr[data-mark='live']", 3).await?;
    one.looks("the overview").await?;
    sees_the_times(one).await.context("times")?;
    profiles(&op, one).await.context("a profile")?;
    records(one).await.context("a record")?;
    mutes_and_teleports(one).await.context("Ann")?;
    reads_the_ledger(one).await.context("the ledger")?;
    freezes(one).await.context("the freeze")?;
    pauses(one).await.context("a paused region")?;
    has_the_record(one).await.context("a record")?;
    loses_a_zone(cluster, one).await.context("a dead zone")?;
    drains(one).await.context("a drain")?;
    reads_the_acts(one).await.context("the acts")?;
    let errors = one.errors().await?;
    ensure!(errors.is_empty(), "{errors:#?}");
    only_reads(one).await.context("a viewer")
}

const REFUSED: &str = "return document.getElementById('login-word').innerText.includes('no role')";

/// Gives the caller's account a name and the password.
pub(super) async fn named(who: &Caller<'_>, name: &str) -> Result<()> {
    let asked = Some(json!({ "name": name, "password": PASSWORD }));
    let path = "/api/account/password";
    let made = who.ask(Method::POST, path, asked).await?;
    ensure!(made.status == 200, "{}", made.text());
    Ok(())
}

/// A viewer reads all and changes nothing; a player without a role reads nothing either.
async fn looks_on(op: &Caller<'_>) -> Result<()> {
    let account = async |name| {
        let token = Some(somebody(op.gateway).await?);
        let who = Caller {
            gateway: op.gateway,
            token,
        };
        named(&who, name).await?;
        anyhow::Ok(who)
    };
    let (viewer, player) = (account("onlooker").await?, account("passerby").await?);
    let own = viewer.get("/api/v1/player").await?["account"]["id"].clone();
    let path = format!("/admin/users/{}/roles", own.as_str().context("id")?);
    let roles = Some(json!({ "roles": ["viewer"] }));
    let given = op.ask(Method::PUT, &path, roles).await?;
    ensure!(given.status == 200, "{}", given.text());
    let refusal = (403, "role_required");
    for path in ["/admin/zones", "/admin/users", "/admin/moderation/log"] {
        viewer.get(path).await?;
        player.refused(Method::GET, path, None, refusal).await?;
    }
    let kick = json!({ "action": "kick", "name": "Ann" });
    for (path, body) in [("/admin/freeze", None), ("/admin/moderation", Some(kick))] {
        viewer.refused(Method::POST, path, body, refusal).await?;
    }
    Ok(())
}

pub(super) async fn logs_in(one: &Person<'_>, name: &str) -> Result<()> {
    one.fills("#login-name", name).await?;
    one.fills("#login-password", PASSWORD).await?;
    one.presses("#login button", "Log in").await
}

/// Waits until just so many things are there.
pub(super) async fn rows(one: &Person<'_>, css: &str, number: usize) -> Result<()> {
    let script = format!(r#"return document.querySelectorAll("{css}").length === {number}"#);
    until_true(one, &format!("{css}: not {number}"), &script).await
}

pub(super) async fn says(one: &Person<'_>, id: &str, words: &str) -> Result<()> {
    let script = format!("return document.getElementById('{id}')?.innerText.includes('{words}')");
    let what = format!("#{id} does not say {words:?}");
    until_true(one, &what, &script).await
}

/// Every process has the times of its work in its table.
async fn sees_the_times(one: &Person<'_>) -> Result<()> {
    for (table, column, rows) in [
        ("zones", "Tick", 3),
        ("zones", "Commit", 1),
        ("gateways", "Fan-out", 1),
        ("gateways", "Players", 1),
        ("stores", "Commit", 1),
        ("stores", "Connections", 1),
    ] {
        let script = format!(
            "const cells = [...document.querySelectorAll(\"#{table} td[data-name='{column}']\")]; \
             return cells.filter((cell) => /^[0-9]/.test(cell.innerText)).length >= {rows}"
        );
        until_true(one, &format!("no number in {column} of {table}"), &script).await?;
    }
    says(one, "gateways", "answers").await?;
    says(one, "stores", "PostgreSQL").await
}

/// The functions of the gateway, of a store and of a zone, as a flame graph: closer, back, and as text.
async fn profiles(op: &Caller<'_>, one: &Person<'_>) -> Result<()> {
    let checks = include_str!("page/console.js");
    let script = format!(
        "{checks}; const done = arguments[0]; \
         checks().then(done, (error) => done([String(error.stack)]));"
    );
    let wrong = one.page.execute_async(&script, vec![]).await?;
    ensure!(wrong == json!([]), "{wrong:#}");
    profiled(one, "#gateways", "the gateway").await?;
    profiled(one, "#stores", "store ").await?;
    let zone = "return document.querySelector('#zones button[data-zone]').dataset.zone";
    let zone = one.page.execute(zone, vec![]).await?;
    let zone = zone.as_str().context("a zone")?;
    let whose = format!("zone {zone}");
    tokio::select! {
        drawn = profiled(one, "#zones", &whose) => drawn?,
        busy = works(op, zone) => busy?,
    }
    let boxes = "return document.querySelectorAll('#flame-sheet g').length > 3";
    until_true(one, "no boxes of the zone", boxes).await?;
    looks_closer(one).await?;
    one.looks("a profile").await?;
    shoot(&one.page, "console-profile").await?;
    let saved = "window.saved = []; const make = URL.createObjectURL; \
        URL.createObjectURL = (blob) => { URL.createObjectURL = make; \
            blob.text().then((text) => window.saved.push(text)); return make(blob); };";
    one.page.execute(saved, vec![]).await?;
    one.presses("#flame button", "Save the stacks").await?;
    let folded = "return window.saved.length === 1 && /^[^;]+;.* [0-9]+$/m.test(window.saved[0])";
    until_true(one, "the stacks are not saved", folded).await
}

/// Takes a profile and sees it drawn.
async fn profiled(one: &Person<'_>, table: &str, whose: &str) -> Result<()> {
    let act = format!("{table} button[data-key^='profile {whose}']");
    one.presses(&act, "Profile 10 s").await?;
    rows(one, &format!("{act}:disabled"), 1).await?;
    let title = format!(
        "return document.getElementById('flame-title').innerText.startsWith('Profile of {whose}')"
    );
    in_the_end(one, &format!("no profile of {whose}"), &title).await?;
    rows(one, &format!("{act}:disabled"), 0).await
}

/// Gives a zone more to do than to rest, for ever: one record after the other.
async fn works(op: &Caller<'_>, zone: &str) -> Result<()> {
    let path = format!("/admin/zones/{zone}/record");
    loop {
        let asked = Some(json!({ "ticks": 1 }));
        let made = op.ask(Method::POST, &path, asked).await?;
        ensure!(made.status == 200, "{}", made.text());
    }
}

/// A click and Enter look closer; Escape and the button go back to the whole.
async fn looks_closer(one: &Person<'_>) -> Result<()> {
    let widest = "const second = [...document.querySelectorAll('#flame-sheet g')].filter((g) => \
            g.querySelector('rect').getAttribute('y') === '19'); \
        const width = (g) => Number(g.querySelector('rect').getAttribute('width')); \
        const best = second.sort((a, b) => width(b) - width(a))[0];";
    let place = format!("{widest} return best.dataset.place");
    let closer = format!(
        "{widest} const back = document.querySelector('#flame .row button'); \
         return !back.disabled && second.length === 1 && \
             width(best) > document.getElementById('flame-sheet').clientWidth - 2"
    );
    let whole = "return document.querySelector('#flame .row button').disabled";
    let place = one.page.execute(&place, vec![]).await?;
    let place = place.as_str().context("a box below the first")?.to_owned();
    one.presses(&format!("#flame-sheet g[data-place='{place}'] rect"), "")
        .await?;
    until_true(one, "a click looks no closer", &closer).await?;
    says(one, "flame-at", "%").await?;
    one.taps_key(ESCAPE).await?;
    until_true(one, "Escape does not go back", whole).await?;
    // Back at the whole, the keys are at the box that was looked at.
    one.taps_key(UP).await?;
    says(one, "flame-at", "all: ").await?;
    one.taps_key(DOWN).await?;
    one.taps_enter().await?;
    until_true(one, "Enter looks no closer", &closer).await?;
    one.presses("#flame .row button", "Back").await?;
    until_true(one, "the button does not go back", whole).await
}

/// The next ticks of a zone, as a file. Nobody has to wait for the half minute that they take.
async fn records(one: &Person<'_>) -> Result<()> {
    let saved = "window.saved = []; const make = URL.createObjectURL; \
        URL.createObjectURL = (blob) => (window.saved.push(blob.size), make(blob));";
    one.page.execute(saved, vec![]).await?;
    one.presses("#zones button[data-key^='record']", "Record 50 ticks")
        .await?;
    let busy = "return document.querySelectorAll('#zones button:disabled').length === 1";
    until_true(one, "no record is being made", busy).await
}

/// The record came, in whichever view the operator is by now.
async fn has_the_record(one: &Person<'_>) -> Result<()> {
    let script = "return window.saved?.length === 1 && window.saved[0] > 100";
    in_the_end(one, "no file", script).await
}

/// Waits for something that takes as long as it was asked to.
async fn in_the_end(one: &Person<'_>, what: &str, script: &str) -> Result<()> {
    let deadline = Instant::now() + LONG;
    while one.page.execute(script, vec![]).await? != json!(true) {
        ensure!(Instant::now() < deadline, "{what}");
        sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

async fn mutes_and_teleports(one: &Person<'_>) -> Result<()> {
    one.presses("#nav a", "People").await?;
    rows(one, "#online tbody tr", 1).await?;
    one.fills("#people-name", "Ann").await?;
    one.presses("#people-form button", "Search").await?;
    rows(one, "#characters-found a", 1).await?;
    one.looks("people").await?;
    one.presses("#characters-found a", "Ann").await?;
    says(one, "character-state", "in the world").await?;
    one.looks("a character").await?;
    one.presses("#character-acts button", "Mute").await?;
    one.fills("#reason", "shouting").await?;
    one.looks("a question").await?;
    one.presses("dialog button", "Mute now").await?;
    says(one, "character-state", "muted").await?;
    one.presses("#character-acts button", "Teleport").await?;
    one.fills("#to-x", "8").await?;
    one.fills("#to-z", "-7").await?;
    one.presses("dialog button", "Teleport now").await?;
    one.presses("#character-acts button", "Follow").await?;
    says(one, "following", "Ann is at 8, -7.").await?;
    one.looks("the map").await?;
    shoot(&one.page, "console-map").await
}

/// The books of a character add up.
async fn reads_the_ledger(one: &Person<'_>) -> Result<()> {
    one.presses("#nav a", "Ledger").await?;
    one.fills("#ledger-who", "Ann").await?;
    one.presses("#ledger-form button", "Read").await?;
    says(one, "verdict", "nobody sold anything twice").await?;
    let differ = "return document.querySelectorAll('#ledger-result tr[data-mark]').length === 0 \
        && document.querySelectorAll('#ledger-result table').length === 3";
    until_true(one, "the books differ from the pack", differ).await?;
    one.looks("the ledger").await?;
    shoot(&one.page, "console-ledger").await
}

async fn freezes(one: &Person<'_>) -> Result<()> {
    one.presses("#nav a", "Switches").await?;
    one.presses("#freeze button", "Freeze").await?;
    one.presses("dialog button", "Freeze them").await?;
    says(one, "freeze", "frozen").await?;
    one.looks("the switches").await?;
    one.presses("#freeze button", "Lift").await?;
    one.presses("dialog button", "Lift it").await?;
    says(one, "freeze", "open").await
}

/// The busiest region is paused on the map, and resumed among the switches.
async fn pauses(one: &Person<'_>) -> Result<()> {
    one.presses("#nav a", "Map").await?;
    let drawn = "return document.querySelector('#busiest button[data-key]') !== null";
    until_true(one, "no region on the map", drawn).await?;
    let first = "return document.querySelector('#busiest button[data-key]').dataset.key";
    let key = one.page.execute(first, vec![]).await?;
    let key = key.as_str().context("a region")?.to_owned();
    let busy = format!("#busiest button[data-key='{key}']");
    one.presses(&busy, "Pause region").await?;
    one.looks("the question about a pause").await?;
    one.presses("dialog button", "Pause it").await?;
    let nobodys = format!(
        "const act = document.querySelector(\"{busy}\"); \
         return act?.innerText === 'Resume region' && act.closest('tr').innerText.includes('nobody')"
    );
    until_true(one, "a zone still plays it", &nobodys).await?;
    one.looks("a paused region").await?;
    shoot(&one.page, "console-paused").await?;
    one.presses("#nav a", "Switches").await?;
    let place = key.strip_prefix("pause ").context("a place")?;
    says(one, "paused", place).await?;
    one.presses("#paused button", "Resume").await?;
    one.presses("dialog button", "Resume it").await?;
    says(one, "paused", "No region is paused.").await?;
    one.presses("#nav a", "Map").await?;
    until_true(one, "regions without a zone", OWNED).await
}

pub(super) const OWNED: &str = "const map = document.getElementById('regions'); \
    return map?.dataset.orphans === '0'";

/// A zone server dies; the map shows it, and how others take its regions.
async fn loses_a_zone(cluster: &mut Cluster, one: &Person<'_>) -> Result<()> {
    one.presses("#nav a", "Map").await?;
    rows(one, "#legend li[data-state='live']", 3).await?;
    until_true(one, "regions without a zone", OWNED).await?;
    cluster.kill((Kind::Zone, 2))?;
    rows(one, "#legend li[data-state='gone']", 1).await?;
    says(one, "news", "is gone").await?;
    until_true(one, "regions without a zone", OWNED).await?;
    shoot(&one.page, "console-recovery").await?;
    one.looks("a dead zone").await
}

/// A zone server gives its regions to the last one.
async fn drains(one: &Person<'_>) -> Result<()> {
    one.presses("#nav a", "Overview").await?;
    rows(one, "#zones button[data-zone]", 2).await?;
    let first = "return document.querySelector('#zones button[data-zone]').dataset.zone";
    let zone = one.page.execute(first, vec![]).await?;
    let zone = zone.as_str().context("a zone")?.to_owned();
    one.presses(&format!("#zones [data-zone='{zone}']"), "Drain")
        .await?;
    one.presses("dialog button", "Drain it").await?;
    rows(one, "#zones button[data-zone]", 1).await?;
    one.presses("#nav a", "Map").await?;
    let empty = format!(
        "return document.querySelector(\"#legend li[data-zone='{zone}']\")?.innerText.includes(' 0 regions')"
    );
    true_within(one, LONG, "the drained zone keeps regions", &empty).await?;
    until_true(one, "regions without a zone", OWNED).await
}

async fn reads_the_acts(one: &Person<'_>) -> Result<()> {
    one.presses("#nav a", "Acts").await?;
    for act in [
        "mute",
        "freeze",
        "unfreeze",
        "pause region",
        "resume region",
        "drain",
        "record",
        "profile",
    ] {
        says(one, "acts", act).await?;
    }
    one.looks("the acts").await?;
    one.presses("#nav a", "Content").await?;
    says(one, "content", "Zones play").await?;
    says(one, "settings", "GATEWAY_ID").await?;
    says(one, "settings", "[redacted]").await?;
    let told = "const all = document.body.innerText; return !all.includes('{code}')";
    let told = told.replace("{code}", ADMIN_CODE);
    until_true(one, "a secret is shown", &told).await?;
    let chaos = "return !document.querySelector('#nav a[data-view=chaos]')";
    until_true(one, "chaos in a world that is not for trial", chaos).await?;
    one.looks("the content").await
}

/// A viewer sees the same, and nothing to act with.
async fn only_reads(one: &Person<'_>) -> Result<()> {
    one.presses("#logout", "").await?;
    showing(&one.page, "#entry", SOON).await?;
    logs_in(one, "onlooker").await?;
    one.presses("#nav a", "Overview").await?;
    rows(one, "#zones table", 1).await?;
    one.presses("#nav a", "Switches").await?;
    says(one, "freeze", "open").await?;
    let found = one.page.execute(
        "return document.querySelectorAll('#view button').length",
        vec![],
    );
    let found: Value = found.await?;
    ensure!(found == json!(0), "{found} buttons for a viewer");
    Ok(())
}
