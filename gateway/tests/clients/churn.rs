//! Clients that come and go all the time: they win neither places nor limits by it. A client that
//! comes back to stay finds its session as it was.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    client::{Client, Lost},
    stage::Stage,
};

const UNLIMITED: (&str, &str) = ("DISABLE_RATE_LIMIT", "true");

fn bearer(client: &Client) -> String {
    let token = client.welcome["authToken"].as_str().unwrap();
    format!("authorization: Bearer {token}\r\n")
}

/// Opens a further connection of an account, by the header of its upgrade.
async fn again(stage: &Stage, bearer: &str) -> Client {
    let mut client = Client::connect(stage.address(0), bearer).await;
    client.welcome = client.event("session:welcome").await["data"].clone();
    client
}

/// Waits until the gateway counts just so many sessions in each of these states.
async fn sessions(stage: &Stage, states: &[(&str, u32)]) {
    let count = |state: &str| stage.metric("gateway_sessions", &format!("state=\"{state}\""));
    let all = || states.iter().map(|(state, _)| count(state));
    let right = || {
        let wanted = states.iter().map(|(_, wanted)| f64::from(*wanted));
        all().eq(wanted)
    };
    let counted = async {
        while !right() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let counted = timeout(Duration::from_secs(10), counted).await;
    counted.unwrap_or_else(|_| panic!("not {states:?} but {:?}", all().collect::<Vec<_>>()));
}

fn code(answer: &Value) -> &str {
    answer["data"]["code"].as_str().unwrap_or_default()
}

/// Checks the refusal of a login or resume above the limit: its words, the time to wait, and the
/// close.
async fn refused(client: &mut Client, answer: &Value, most: &str) {
    assert_eq!(code(answer), "rate_limited", "{answer}");
    let words = answer["data"]["message"].as_str().unwrap();
    assert!(words.contains(most), "{words}");
    let wait = answer["data"]["retryAfterMs"].as_u64().unwrap();
    assert!((1..=60_001).contains(&wait), "{wait}");
    assert_eq!(client.closed().await.0, 4008);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_logs_in_and_is_gone_again_and_again_takes_nobodys_place() {
    let stage = Stage::open(&[("CONNECTIONS_MAX", "40"), UNLIMITED]).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let bearer = bearer(&ann);
    for _ in 0..400 {
        again(&stage, &bearer).await.reset();
    }
    // Another player comes in and plays, the first one stays, and of all lost sessions one waits.
    let mut bob = stage.player("Bob").await;
    bob.alive().await;
    ann.alive().await;
    sessions(&stage, &[("lingering", 1), ("lobby", 1), ("world", 1)]).await;
    let open = stage.metric("gateway_connections", "");
    assert!((open - 2.0).abs() < 0.1, "{open} sockets are open");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_an_accounts_lost_sessions_the_newest_waits_and_an_older_one_begins_anew() {
    let stage = Stage::open(&[UNLIMITED]).await;
    let mut first = stage.connect().await;
    first.log_in().await;
    let bearer = bearer(&first);
    let mut second = again(&stage, &bearer).await;
    for client in [&mut first, &mut second] {
        client.alive().await;
    }
    let first = first.reset();
    sessions(&stage, &[("lingering", 1), ("lobby", 1)]).await;
    let second = second.reset();
    sessions(&stage, &[("lingering", 1), ("lobby", 0)]).await;
    let anew = async |lost: &Lost| {
        let (mut client, resumed) = lost.resume(stage.address(0), lost.seq).await;
        assert_eq!(resumed["event"], "session:resumed", "{resumed}");
        client.alive().await;
        (client, resumed["data"]["resync"].clone())
    };
    let (second, resync) = anew(&second).await;
    assert_eq!(resync, false, "the newest one goes on as it was");
    let (_first, resync) = anew(&first).await;
    assert_eq!(resync, true, "of the older one nothing is kept");
    // A login ends the one that waits as well.
    second.reset();
    sessions(&stage, &[("lingering", 1), ("lobby", 1)]).await;
    let _third = again(&stage, &bearer).await;
    sessions(&stage, &[("lingering", 0), ("lobby", 2)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_player_is_resumed_whoever_of_the_account_comes_and_goes_meanwhile() {
    let stage = Stage::open(&[UNLIMITED]).await;
    let mut ann = stage.player("Ann").await;
    ann.alive().await;
    let bearer = bearer(&ann);
    let lost = ann.reset();
    sessions(&stage, &[("lingering", 1)]).await;
    for _ in 0..10 {
        again(&stage, &bearer).await.reset();
    }
    sessions(&stage, &[("lingering", 2), ("lobby", 0)]).await;
    let (mut ann, resumed) = lost.resume(stage.address(0), lost.seq).await;
    assert_eq!(resumed["data"]["resync"], false, "{resumed}");
    ann.event("player:sync").await;
    let moved = ann.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_logs_in_sixty_times_a_minute_and_others_of_its_address_do_not_suffer() {
    let stage = Stage::open(&[]).await;
    let (mut ann, mut bob) = (stage.connect().await, stage.connect().await);
    ann.log_in().await;
    bob.log_in().await;
    let (hers, his) = (bearer(&ann), bearer(&bob));
    for _ in 0..60 {
        again(&stage, &hers).await.goodbye().await;
    }
    // In the header of the upgrade, and as a message.
    let mut late = Client::connect(stage.address(0), &hers).await;
    let answer = late.event("error").await;
    refused(&mut late, &answer, "at most 60").await;
    let mut late = stage.connect().await;
    let token = json!({"token": ann.welcome["authToken"]});
    let answer = late.ask("authenticate", token).await;
    refused(&mut late, &answer, "at most 60").await;
    // The player who was there plays on, and resumes have a limit of their own.
    ann.alive().await;
    let lost = ann.reset();
    let (mut ann, resumed) = lost.resume(stage.address(0), lost.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    ann.alive().await;
    again(&stage, &his).await.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_resumes_two_hundred_and_forty_times_a_minute() {
    let stage = Stage::open(&[]).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let bearer = bearer(&ann);
    for _ in 0..240 {
        let lost = ann.reset();
        let (client, resumed) = lost.resume(stage.address(0), lost.seq).await;
        assert_eq!(resumed["event"], "session:resumed", "{resumed}");
        ann = client;
    }
    let lost = ann.reset();
    let (mut late, answer) = lost.resume(stage.address(0), lost.seq).await;
    refused(&mut late, &answer, "at most 240").await;
    again(&stage, &bearer).await.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_logs_in_six_hundred_times_a_minute_with_all_its_accounts() {
    let stage = Stage::open(&[("TRUSTED_PROXIES", "127.0.0.1")]).await;
    let from = |address: &str| format!("x-forwarded-for: {address}\r\n");
    let mut accounts = Vec::new();
    for n in 0..11 {
        let mut client = Client::connect(stage.address(0), &from(&format!("10.0.0.{n}"))).await;
        client.log_in().await;
        accounts.push(bearer(&client));
        client.goodbye().await;
    }
    let there = |bearer: &str| format!("{bearer}{}", from("203.0.113.7"));
    for n in 0..600 {
        again(&stage, &there(&accounts[n % 10]))
            .await
            .goodbye()
            .await;
    }
    let mut late = Client::connect(stage.address(0), &there(&accounts[10])).await;
    let answer = late.event("error").await;
    refused(&mut late, &answer, "at most 600").await;
    // The same account comes in from another address.
    let elsewhere = format!("{}{}", accounts[10], from("203.0.113.8"));
    again(&stage, &elsewhere).await.alive().await;
}

/// Says something to everybody; the code of a refusal.
async fn shout(client: &mut Client, text: &str) -> String {
    let said = json!({"channel": "global", "message": text});
    code(&client.ask("player:chat", said).await).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_has_said_what_was_said_before() {
    let stage = Stage::open(&[]).await;
    let mut ann = stage.player("Ann").await;
    let (bearer, id) = (bearer(&ann), ann.character_id.clone());
    for round in 0..8 {
        let began = Instant::now();
        for n in 0..5 {
            assert_eq!(shout(&mut ann, &format!("{round} {n}")).await, "");
        }
        ann.goodbye().await;
        ann = again(&stage, &bearer).await;
        ann.enter_as(&id).await;
        let sixth = shout(&mut ann, "once more").await;
        // On a machine that is busy with other tests five seconds may be over: then once more.
        if began.elapsed() < Duration::from_secs(5) {
            assert_eq!(sixth, "rate_limited");
            return;
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    panic!("nobody came back within five seconds");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_has_asked_for_the_lists_what_was_asked_before() {
    let stage = Stage::open(&[]).await;
    let mut ann = stage.player("Ann").await;
    let (bearer, id) = (bearer(&ann), ann.character_id.clone());
    for _ in 0..3 {
        for _ in 0..10 {
            let listed = ann.ask("friends:list", json!({})).await;
            assert_eq!(listed["event"], "friends:list", "{listed}");
        }
        ann.goodbye().await;
        ann = again(&stage, &bearer).await;
        ann.enter_as(&id).await;
    }
    let refused = ann.ask("friends:list", json!({})).await;
    assert_eq!(code(&refused), "rate_limited", "{refused}");
    assert!(refused["data"]["retryAfterMs"].as_u64().unwrap() > 1000);
}
