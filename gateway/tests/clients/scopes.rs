//! Rights of each kind of token over tokens. Only its owner's own token makes one that outlives it,
//! and no token ends a login that is not its own.

use serde_json::{Value, json};
use test_servers::idp::now_s;

use crate::{
    client::Client,
    login::{Ask, post, send},
    stage::Stage,
    walk::{SCOPES, SETTINGS, token},
};

const ABOUT_TOKENS: [&str; 3] = [
    "/api/auth/refresh",
    "/api/auth/spectator",
    "/api/auth/logout",
];

async fn asked(stage: &Stage, path: &str, token: &str) -> (u16, Value) {
    let body = Value::Null;
    post(stage, 0, path, &Ask { token, body }).await
}

/// Returns the status of a read of its owner's profile, which shows whether a token is still good.
async fn good(stage: &Stage, token: &str) -> u16 {
    let body = Value::Null;
    let asked = Ask { token, body };
    send(stage, 0, ("GET", "/api/v1/player"), &asked).await.0
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_players_token_makes_others_and_a_spectators_ends_none() {
    let stage = Stage::open(&SETTINGS).await;
    for scope in SCOPES {
        for path in ABOUT_TOKENS {
            let expected = match (scope, path) {
                ("player", "/api/auth/refresh" | "/api/auth/spectator") => 200,
                ("player" | "agent", "/api/auth/logout") => 204,
                _ => 403,
            };
            let mut client = stage.connect().await;
            client.log_in().await;
            let account = client.welcome["account"]["id"].as_str().unwrap();
            let its = token(account, scope, |_| {});
            let (status, answer) = asked(&stage, path, &its).await;
            assert_eq!(status, expected, "{path} as {scope}: {answer}");
            if status == 403 {
                assert_eq!(answer["code"], "wrong_scope", "{path} as {scope}: {answer}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_look_on_ends_with_the_login_and_never_ends_it() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.player("Ann").await;
    let own = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let (_, link) = asked(&stage, "/api/auth/spectator", &own).await;
    let link = link["token"].as_str().unwrap();
    assert_eq!(good(&stage, link).await, 200);
    for path in ABOUT_TOKENS {
        assert_eq!(asked(&stage, path, link).await.0, 403, "{path}");
    }
    assert_eq!(good(&stage, &own).await, 200);
    ann.alive().await;
    assert_eq!(asked(&stage, "/api/auth/logout", &own).await.0, 204);
    assert_eq!(good(&stage, link).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_logout_ends_its_own_token_and_not_its_owners() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.player("Ann").await;
    let own = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let made = async |path: &str, body: Value| {
        let (status, answer) = post(&stage, 0, path, &Ask { token: &own, body }).await;
        assert!(status < 300, "{path}: {status} {answer}");
        answer
    };
    let body = json!({"characterId": ann.character_id, "agentName": "Helper"});
    let agent = made("/api/agents", body).await;
    let body = json!({"agentId": agent["data"]["agent"]["id"]});
    let credential = made("/api/agents/credentials", body).await;
    let its = credential["authToken"].as_str().unwrap();
    assert_eq!(good(&stage, its).await, 200);
    assert_eq!(asked(&stage, "/api/auth/logout", its).await.0, 204);
    assert_eq!(good(&stage, its).await, 401);
    assert_eq!(good(&stage, &own).await, 200);
    ann.alive().await;
}

/// The socket's answer to a client with a token of ten minutes.
#[tokio::test(flavor = "multi_thread")]
async fn a_login_by_a_token_that_only_looks_on_or_is_an_agents_gives_none_that_lasts_longer() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let account = ann.welcome["account"]["id"].as_str().unwrap();
    for (scope, longer) in [("player", true), ("agent", false), ("spectator", false)] {
        let ends = now_s() + 600;
        let its = token(account, scope, |claims| claims["exp"] = json!(ends));
        let header = format!("authorization: Bearer {its}\r\n");
        let mut client = Client::connect(stage.address(0), &header).await;
        let welcome = client.event("session:welcome").await;
        let given = welcome["data"]["expiresAt"].as_str().unwrap();
        let its_end = service_runtime::clock::iso(ends * 1000);
        assert_eq!(
            given > its_end.as_str(),
            longer,
            "{scope}: {given} {its_end}"
        );
    }
}
