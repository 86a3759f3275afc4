//! Every client event, likewise.

use std::collections::BTreeSet;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use proto::client::{ClientMessage, Format, Message, Needs, decode};
use serde_json::{Value, json};
use test_servers::idp::now_s;

use super::{Hers, SETTINGS, bad_tokens, token};
use crate::{
    client::Client,
    samples::{CLIENT_MESSAGES, Sample},
    stage::Stage,
};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_somebody_elses_is_nobodys_by_the_websocket() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.player("Ann").await;
    let mut cid = stage.player("Cid").await;
    ann.ask("friends:request", json!({"name": "Cid"})).await;
    let request = format!("{}>{}", ann.character_id, cid.character_id);
    let hers = json!({"characterId": ann.character_id});
    let mut bob = stage.connect().await;
    bob.log_in().await;
    for event in ["world:enter", "character:delete"] {
        let refused = bob.ask(event, hers.clone()).await;
        assert_eq!(refused["data"]["code"], "not_your_character", "{event}");
    }
    let account = bob.welcome["account"]["id"].as_str().unwrap().to_owned();
    let mut looks = stage.connect().await;
    let spectator = token(&account, "spectator", |_| {});
    looks.ask("authenticate", json!({"token": spectator})).await;
    let refused = looks.ask("world:watch", hers).await;
    assert_eq!(refused["data"]["code"], "not_your_character", "world:watch");
    // Neither a request to somebody else nor one from somebody else is anybody's to take.
    bob.enter("Bob").await;
    for event in ["friends:accept", "friends:decline"] {
        let refused = bob.ask(event, json!({"requestId": request})).await;
        assert_eq!(refused["event"], "error", "{event}: {refused}");
        let refused = bob.ask(event, json!({"requestId": "nobodys"})).await;
        assert_eq!(refused["event"], "error", "{event}: {refused}");
    }
    let refused = ann
        .ask("friends:accept", json!({"requestId": request}))
        .await;
    assert_eq!(refused["event"], "error", "{refused}");
    let accepted = cid
        .ask("friends:accept", json!({"requestId": request}))
        .await;
    assert_ne!(accepted["event"], "error", "{accepted}");
}

/// Number of events that one connection says before it authenticates: unauthenticated sockets may
/// not say more at once.
const AT_ONCE: usize = 30;

/// Says a message just as it is.
async fn say(client: &mut Client, message: &Sample) -> Value {
    let data = serde_json::from_str(message.data).unwrap();
    client.ask(message.event, data).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_no_event_does_anything() {
    let stage = Stage::open(&SETTINGS).await;
    let events = CLIENT_MESSAGES;
    let refused = async |client: &mut Client, event: &Sample, who: &str| {
        let answer = say(client, event).await;
        match event.event {
            // They say who one is, or nothing. Nobody has this device's key.
            "authenticate" => {
                let code = &answer["data"]["code"];
                assert_eq!(code, "invalid_credentials", "{who}: {answer}");
            }
            "ping" => assert_eq!(answer["event"], "pong", "{who}: {answer}"),
            "session:resume" => assert_eq!(answer["event"], "session:invalid", "{who}: {answer}"),
            name => {
                let code = &answer["data"]["code"];
                assert_eq!(code, "not_authenticated", "{name} with {who}: {answer}");
            }
        }
    };
    for event in events {
        let mut nobody = stage.connect().await;
        refused(&mut nobody, event, "nothing").await;
    }
    for (what, token) in bad_tokens() {
        for some in events.chunks(AT_ONCE) {
            let mut client = stage.connect().await;
            let answer = client.ask("authenticate", json!({"token": token})).await;
            assert_eq!(answer["data"]["code"], "invalid_credentials", "{what}");
            // They would make it somebody.
            let rest = some
                .iter()
                .filter(|event| !matches!(event.event, "authenticate" | "session:resume"));
            for event in rest {
                refused(&mut client, event, what).await;
            }
        }
        let header = format!("authorization: Bearer {token}\r\n");
        let mut client = Client::connect(stage.address(0), &header).await;
        assert_eq!(client.closed().await.0, 4004, "{what} in the header");
    }
    assert!(stage.zone.inputs().is_empty(), "something reached the zone");
}

/// Returns the refusal that an agent's token gets, before it plays or while it plays.
fn for_agents(event: &str, plays: bool) -> Option<&'static str> {
    match event {
        "authenticate" | "session:resume" => Some("already_authenticated"),
        "character:create" | "character:delete" | "admin:elevate" | "world:watch" => {
            Some("wrong_scope")
        }
        "admin:command" => Some("not_elevated"),
        "world:enter" if plays => Some("already_in_world"),
        "world:enter" => Some("wrong_scope"),
        "ping" | "character:list" => None,
        _ if plays => None,
        _ => Some("not_in_world"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_says_what_players_say_in_the_world_and_nothing_of_accounts() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let hers = Hers::new(&stage, &mut ann, "Ann").await;
    let bob = stage.player("Bob").await;
    let only = json!(hers.character);
    let agent = token(&hers.account, "agent", move |claims| {
        claims["characterId"] = only
    });
    for plays in [false, true] {
        let mut client = stage.connect().await;
        let welcome = client.ask("authenticate", json!({"token": agent})).await;
        assert_eq!(welcome["event"], "session:welcome", "{welcome}");
        if plays {
            client.enter_as(&hers.character).await;
        }
        for event in CLIENT_MESSAGES {
            let name = event.event;
            if name == "world:leave" && plays {
                continue;
            }
            let answer = say(&mut client, event).await;
            let code = answer["data"]["code"].as_str();
            match for_agents(name, plays) {
                Some(refused) => assert_eq!(code, Some(refused), "{name}, {plays}: {answer}"),
                None => {
                    // The thing in question may not be there, but no refusal is for want of rights.
                    let scope = [
                        "wrong_scope",
                        "not_elevated",
                        "not_authenticated",
                        "not_in_world",
                        "invalid_data",
                        "unknown_event",
                    ];
                    let may = code.is_none_or(|code| !scope.contains(&code));
                    assert!(may, "{name}, {plays}: {answer}");
                }
            }
        }
        if plays {
            let left = client.ask("world:leave", json!({})).await;
            assert_eq!(left["event"], "world:left", "{left}");
        }
    }
    assert_eq!(bob.welcome["characters"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_another_scope_does_only_what_it_names() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.player("Ann").await;
    let account = ann.welcome["account"]["id"].as_str().unwrap().to_owned();
    let made = ann.ask("character:create", json!({"name": "Second"})).await;
    let second = made["data"]["character"]["id"].as_str().unwrap().to_owned();
    let only = second.clone();
    let agent = token(&account, "agent", move |claims| {
        claims["characterId"] = json!(only)
    });
    let mut agent_client = stage.connect().await;
    let welcome = agent_client
        .ask("authenticate", json!({"token": agent}))
        .await;
    let characters = welcome["data"]["characters"].as_array().unwrap();
    assert_eq!(characters.len(), 1, "{welcome}");
    assert_eq!(characters[0]["id"], second.as_str());
    for (event, data) in [
        ("world:enter", json!({"characterId": ann.character_id})),
        ("character:delete", json!({"characterId": ann.character_id})),
        ("character:delete", json!({"characterId": second})),
        ("character:create", json!({"name": "Third"})),
        (
            "admin:elevate",
            json!({"code": "a code that is not guessed"}),
        ),
    ] {
        let refused = agent_client.ask(event, data).await;
        assert_eq!(refused["data"]["code"], "wrong_scope", "{event}");
    }
    // Its new token is good for no more than the one it showed.
    let renewed = welcome["data"]["authToken"].clone();
    let mut again = stage.connect().await;
    let welcome = again.ask("authenticate", json!({"token": renewed})).await;
    assert_eq!(welcome["data"]["characters"].as_array().unwrap().len(), 1);
    agent_client.enter_as(&second).await;
    // Nor for longer: its owner gives out another one, or does not.
    let soon = now_s() + 60;
    let agent = token(&account, "agent", move |claims| {
        claims["characterId"] = json!(second);
        claims["exp"] = json!(soon);
    });
    let mut short = stage.connect().await;
    let welcome = short.ask("authenticate", json!({"token": agent})).await;
    for made in ["authToken", "resumeToken"] {
        let said = welcome["data"][made].as_str().unwrap().split('.').nth(1);
        let said = URL_SAFE_NO_PAD.decode(said.unwrap()).unwrap();
        let said: Value = serde_json::from_slice(&said).unwrap();
        assert_eq!(said["exp"], soon, "{made}");
    }
}

#[test]
fn each_event_of_the_gateway_says_what_it_needs() {
    let understood = |sample: &Sample| {
        let data = serde_json::from_str::<Value>(sample.data).unwrap();
        let message = json!({"event": sample.event, "data": data});
        let bytes = serde_json::to_vec(&message).unwrap().into();
        decode(Format::Json, &bytes).unwrap().message
    };
    let messages: Vec<Message> = CLIENT_MESSAGES.iter().map(understood).collect();
    let said: BTreeSet<&str> = messages.iter().map(Message::name).collect();
    let zones = world::Intent::events().into_iter();
    let known: BTreeSet<&str> = ClientMessage::NAMES.iter().copied().chain(zones).collect();
    assert_eq!(said, known, "each is said");
    let free = messages
        .iter()
        .filter(|event| matches!(event.needs(), Needs::Nothing | Needs::NoAccount));
    let free: Vec<&str> = free.map(Message::name).collect();
    assert_eq!(free, ["authenticate", "session:resume", "ping"]);
}
