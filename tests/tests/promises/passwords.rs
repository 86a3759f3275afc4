//! A guest gives its character a name and a password, and finds it from another browser; a recovery
//! code opens the door once, and shuts it for all others.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hyper::Method;
use serde_json::json;
use tests::cluster::{Cluster, Plan};
use tokio::time::{Instant, sleep};

use super::{
    browser::{in_world, pack_until, quiet, until},
    browser_steps::{SOON, hidden, showing, words},
    interface::Caller,
    newcomer::begins,
    person::Person,
};

const NAME: &str = "gil.gard";
const FIRST: &str = "seven brass lanterns";
const SECOND: &str = "eleven brass lanterns";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_character_is_kept_by_a_name_and_a_password_and_found_from_another_browser() {
    let cluster = Cluster::start(Plan::new("passwords")).await.unwrap();
    Person::at_desk_and_phone(["Gil Gard", "Hedy Hale"], async |desk, phone| {
        story(&cluster.gateway(0), desk, phone).await
    })
    .await;
}

async fn story(gateway: &str, desk: &Person<'_>, phone: &Person<'_>) -> Result<()> {
    let page = format!("http://{gateway}/");
    begins(desk, &page).await.context("the door")?;
    let codes = keeps(desk).await.context("keeping the character")?;
    let before = pack_until(&desk.page, "a pack", |_| true).await?;
    desk.presses("#leave", "").await?;
    showing(&desk.page, "#entry", SOON).await?;

    phone.page.goto(&page).await?;
    logs_in(phone).await.context("logging in")?;
    let after = pack_until(&phone.page, "the pack elsewhere", |_| true).await?;
    ensure!(after == before, "{before} became {after}");
    phone.presses("#leave", "").await?;
    showing(&phone.page, "#entry", SOON).await?;

    forgets(phone, &codes[0]).await.context("a recovery code")?;
    stays(phone).await.context("a login that lasts")?;
    let nobody = Caller {
        gateway,
        token: None,
    };
    let again = json!({"name": NAME, "recoveryCode": codes[0], "password": FIRST});
    let path = "/api/auth/recover";
    let refused = (401, "invalid_credentials");
    nobody
        .refused(Method::POST, path, Some(again), refused)
        .await?;
    let old = json!({"name": NAME, "password": FIRST});
    let path = "/api/auth/password";
    nobody
        .refused(Method::POST, path, Some(old), refused)
        .await?;

    // The other browser is out: its login has ended, and so has the key of its guest.
    desk.page.refresh().await?;
    showing(&desk.page, "#login", SOON).await?;
    let word = words(&desk.page, "#login-word").await?;
    ensure!(word.contains("has ended"), "{word:?}");
    quiet(&desk.page).await?;
    quiet(&phone.page).await
}

/// Gives the guest's character a name and a password. Returns its recovery codes.
async fn keeps(one: &Person<'_>) -> Result<Vec<String>> {
    one.presses("#keep", "Keep").await?;
    showing(&one.page, "#account", SOON).await?;
    one.looks("keeping a character").await?;
    one.fills("#keep-name", NAME).await?;
    one.fills("#keep-password", "password123").await?;
    one.presses("#account button", "Keep it").await?;
    says(one, "#keep-form .word", "many people").await?;
    one.fills("#keep-password", FIRST).await?;
    one.presses("#account button", "Keep it").await?;
    let deadline = Instant::now() + SOON;
    let script = "return [...document.querySelectorAll('#codes li')].map((e) => e.textContent)";
    loop {
        let codes = one.page.execute(script, vec![]).await?;
        let codes: Vec<String> = serde_json::from_value(codes)?;
        if codes.len() == 10 {
            one.looks("recovery codes").await?;
            one.presses("#account button", "I have them").await?;
            hidden(&one.page, "#account", SOON).await?;
            return Ok(codes);
        }
        ensure!(Instant::now() < deadline, "the codes are {codes:?}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Logs in at the door, once with a wrong password, and enters with the character.
async fn logs_in(one: &Person<'_>) -> Result<()> {
    one.presses("#login-open", "").await?;
    showing(&one.page, "#login", SOON).await?;
    one.looks("the login").await?;
    one.fills("#login-name", NAME).await?;
    one.fills("#login-password", SECOND).await?;
    one.presses("#login-go", "").await?;
    says(one, "#login-word", "Nobody has").await?;
    one.fills("#login-password", FIRST).await?;
    one.presses("#login-go", "").await?;
    enters(one).await
}

/// Logs out, and in again by a code that sets a new password.
async fn forgets(one: &Person<'_>, code: &str) -> Result<()> {
    one.presses("#logout", "").await?;
    one.presses("#login-open", "").await?;
    one.presses("#login-forgot", "I forgot").await?;
    one.looks("a forgotten password").await?;
    one.fills("#login-name", NAME).await?;
    one.fills("#login-code", &code.to_lowercase()).await?;
    one.fills("#login-password", SECOND).await?;
    one.presses("#login-go", "").await?;
    enters(one).await
}

/// Comes back when the token has ended, and is known without the password.
async fn stays(one: &Person<'_>) -> Result<()> {
    let over = "localStorage.setItem('tilestead.token', 'a.b.c')";
    one.page.execute(over, vec![]).await?;
    one.page.refresh().await?;
    let again = until(&one.page, "the world again", in_world).await?;
    ensure!(again["name"] == json!("Gil Gard"), "{again}");
    let renewed = "return localStorage.getItem('tilestead.token') !== 'a.b.c'";
    let renewed = one.page.execute(renewed, vec![]).await?;
    ensure!(renewed == json!(true), "the token was not renewed");
    Ok(())
}

async fn enters(one: &Person<'_>) -> Result<()> {
    one.presses("#characters button", "Gil Gard").await?;
    let entered = until(&one.page, "the world", in_world).await?;
    ensure!(entered["name"] == json!("Gil Gard"), "{entered}");
    Ok(())
}

async fn says(one: &Person<'_>, css: &str, part: &str) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let said = words(&one.page, css).await?;
        if said.contains(part) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{css} says {said:?}");
        sleep(Duration::from_millis(100)).await;
    }
}
