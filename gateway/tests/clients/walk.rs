//! Every route and every client event, with no token, a bad one, one that has ended, one of each
//! other scope, and somebody else's. The routes stand in `tests/routes.txt`, which the router's own
//! tests hold against the router, so that none can be forgotten.

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use proto::client::{ClientMessage, Needs, Route};
use serde_json::{Value, json};
use test_servers::idp::now_s;

use crate::{
    client::Client,
    login::{Ask, post},
    stage::Stage,
};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// Asked of a real store by `a_player_sees_and_changes_what_is_its_own` of the promises: the small
/// one of this program keeps no records.
const OF_A_REAL_STORE: [&str; 2] = ["/api/character/{id}", "/api/characters/{id}"];
const SCOPES: [&str; 4] = ["player", "agent", "spectator", "operator"];
const SETTINGS: [(&str, &str); 3] = [
    ("JWT_SECRET", SECRET),
    ("DISABLE_RATE_LIMIT", "true"),
    ("ADMIN_CODE", "a code that is not guessed"),
];

/// One line of the list.
struct Entry {
    methods: Vec<&'static str>,
    path: &'static str,
    who: Vec<&'static str>,
    own: bool,
}

fn entries() -> Vec<Entry> {
    let lines = include_str!("../routes.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
    let entries = lines.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        Entry {
            methods: words[0].split(',').collect(),
            path: words[1],
            who: words[2].split('+').collect(),
            own: words.get(3) == Some(&"own"),
        }
    });
    entries.collect()
}

impl Entry {
    fn is_open(&self) -> bool {
        matches!(self.who[0], "public" | "session")
    }

    /// The path with this in place of its parameters.
    fn at(&self, id: &str) -> String {
        let segments = self.path.split('/');
        let filled = segments.map(|segment| {
            if segment.starts_with('{') {
                id
            } else {
                segment
            }
        });
        filled.collect::<Vec<_>>().join("/")
    }
}

/// A token of ours; `change` makes it what it should not be.
fn token(account: &str, scope: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut claims = json!({
        "sub": account, "iss": "tilestead", "aud": "tilestead", "iat": now_s(),
        "exp": now_s() + 600, "jti": uuid::Uuid::new_v4(), "scope": scope,
    });
    if scope == "agent" {
        claims["characterId"] = json!("character-of-the-agent");
    }
    change(&mut claims);
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key).unwrap()
}

/// Tokens that are no good, each with what is wrong with it.
fn bad_tokens() -> Vec<(&'static str, String)> {
    let player = |change: fn(&mut Value)| token("account-0", "player", change);
    let other_key = EncodingKey::from_secret(b"another secret of thirty-two b..");
    let claims = json!({
        "sub": "account-0", "iss": "tilestead", "aud": "tilestead", "iat": now_s(),
        "exp": now_s() + 600, "jti": "j", "scope": "operator",
    });
    let forged = jsonwebtoken::encode(&Header::default(), &claims, &other_key).unwrap();
    vec![
        ("rubbish", "rubbish".to_owned()),
        ("another key", forged),
        (
            "ended",
            player(|claims| {
                claims["iat"] = json!(now_s() - 700);
                claims["exp"] = json!(now_s() - 6);
            }),
        ),
        (
            "not good yet",
            player(|claims| claims["nbf"] = json!(now_s() + 60)),
        ),
        (
            "another audience",
            player(|claims| claims["aud"] = json!("tilestead-resume")),
        ),
        (
            "another issuer",
            player(|claims| claims["iss"] = json!("other")),
        ),
        (
            "an unknown scope",
            player(|claims| claims["scope"] = json!("god")),
        ),
        (
            "an agent of nobody",
            player(|claims| claims["scope"] = json!("agent")),
        ),
        (
            "without an end",
            player(|claims| {
                claims.as_object_mut().unwrap().remove("exp");
            }),
        ),
    ]
}

/// The status of an answer, and the answer itself.
async fn ask(stage: &Stage, method: &str, path: &str, token: Option<&str>) -> (u16, String) {
    let bearer = token.map_or_else(String::new, |token| {
        format!("authorization: Bearer {token}\r\n")
    });
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{bearer}\
         content-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
    );
    let answer = stage.ask(0, &request).await;
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (
        status.unwrap_or_else(|| panic!("{method} {path}: {answer}")),
        answer,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_of_the_right_scope_no_route_does_anything() {
    let stage = Stage::open(&SETTINGS).await;
    let bad = bad_tokens();
    for entry in entries() {
        let path = entry.at("0");
        for method in &entry.methods {
            let (status, answer) = ask(&stage, method, &path, None).await;
            if entry.is_open() {
                assert!(status != 401 && status != 405, "{method} {path}: {answer}");
                continue;
            }
            assert_eq!(status, 401, "{method} {path} without a token: {answer}");
            assert!(answer.contains("www-authenticate: Bearer"), "{answer}");
            for (what, token) in &bad {
                let (status, answer) = ask(&stage, method, &path, Some(token)).await;
                assert_eq!(status, 401, "{method} {path}, {what}: {answer}");
            }
            for scope in SCOPES.iter().filter(|scope| !entry.who.contains(scope)) {
                let token = token("account-0", scope, |_| {});
                let (status, answer) = ask(&stage, method, &path, Some(&token)).await;
                assert_eq!(status, 403, "{method} {path} as {scope}: {answer}");
                let staff = entry.who.contains(&"admin") && *scope == "player";
                let code = if staff {
                    "\"role_required\""
                } else {
                    "\"wrong_scope\""
                };
                assert!(answer.contains(code), "{answer}");
            }
            for who in &entry.who {
                // Of a role there are players.
                let role = SCOPES.iter().all(|scope| scope != who);
                let (account, scope) = match role {
                    true => (*who, &"player"),
                    false => ("account-0", who),
                };
                stage.store.give_roles(who, &[who]);
                // What the handler says of an empty body or an id that is none is its own affair.
                let token = token(account, scope, |_| {});
                let (status, answer) = ask(&stage, method, &path, Some(&token)).await;
                assert!(
                    status != 401 && status != 405,
                    "{method} {path} as {scope}: {answer}"
                );
                for refused in ["\"wrong_scope\"", "\"role_required\""] {
                    assert!(!answer.contains(refused), "{method} {path}: {answer}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_somebody_elses_is_nobodys_to_others() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.player("Ann").await;
    let theirs = ann.welcome["account"]["id"].as_str().unwrap().to_owned();
    let mut bob = stage.connect().await;
    bob.log_in().await;
    let other = bob.welcome["account"]["id"].as_str().unwrap().to_owned();
    assert_ne!(theirs, other);
    // What is hers: a character, and the agent that it is.
    let id = ann.character_id.clone();
    let own = token(&theirs, "player", |_| {});
    let asked = Ask {
        token: &own,
        body: json!({"characterId": id, "agentName": "Helper"}),
    };
    let (status, made) = post(&stage, 0, "/api/agents", &asked).await;
    assert!(status < 300, "{status} {made}");
    let agent = made["data"]["agent"]["id"].as_str().unwrap().to_owned();
    let others = token(&other, "player", |_| {});
    let for_others = token(&theirs, "agent", |_| {});
    for entry in entries().into_iter().filter(|entry| entry.own) {
        if OF_A_REAL_STORE.contains(&entry.path) {
            continue;
        }
        let path = entry.at(&agent);
        for method in &entry.methods {
            let mut tokens = vec![("somebody else", &others)];
            if entry.who.contains(&"agent") {
                // Of the same account, but for another character.
                tokens.push(("another agent", &for_others));
            }
            for (who, token) in tokens {
                let (status, answer) = ask(&stage, method, &path, Some(token)).await;
                // 400: nothing was looked at yet.
                let refused = matches!(status, 400 | 403 | 404);
                assert!(refused, "{method} {path} as {who}: {answer}");
            }
        }
    }
    // By the WebSocket.
    for event in ["world:enter", "character:delete"] {
        let refused = bob.ask(event, json!({"characterId": id})).await;
        assert_eq!(refused["data"]["code"], "not_your_character", "{event}");
    }
    ann.alive().await;
}

/// What an event says at least, where it says anything.
fn data(event: &str) -> Value {
    match event {
        "session:resume" => json!({"resumeToken": "rubbish", "lastSeq": 0}),
        "character:create" => json!({"name": "Somebody"}),
        "character:delete" | "world:enter" => json!({"characterId": "c"}),
        "admin:elevate" => json!({"code": "wrong"}),
        "admin:command" => json!({"command": "freeze"}),
        "world:watch" => json!({"characterId": "c"}),
        "player:chat" => json!({"message": "hello"}),
        _ => json!({}),
    }
}

/// The events that the gateway itself answers, with what they need; zones answer the others, and
/// those all need a character in the world.
fn answered_here() -> Vec<(&'static str, Needs)> {
    let read = |name: &&'static str| {
        let text = data(name).to_string();
        let mut data = serde_json::Deserializer::from_str(&text);
        let read = ClientMessage::from_data(name, &mut data).expect("a known event");
        let message = read.ok()?;
        (message.route() == Route::Gateway).then(|| (*name, message.needs()))
    };
    ClientMessage::NAMES.iter().filter_map(read).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_no_event_does_anything() {
    let stage = Stage::open(&SETTINGS).await;
    for event in ClientMessage::NAMES {
        // Each on its own connection: too much that does not fit would end it.
        let mut nobody = stage.connect().await;
        let answer = nobody.ask(event, data(event)).await;
        match *event {
            // They say who one is, or nothing.
            "authenticate" => assert_eq!(answer["event"], "session:welcome"),
            "ping" => assert_eq!(answer["event"], "pong"),
            "session:resume" => assert_eq!(answer["event"], "session:invalid", "{answer}"),
            _ => {
                assert_eq!(answer["event"], "error", "{event}: {answer}");
                let code = answer["data"]["code"].as_str().unwrap();
                // Data are looked at first; then it is asked who says so.
                assert!(
                    matches!(code, "not_authenticated" | "invalid_data"),
                    "{event}: {code}"
                );
            }
        }
    }
    for (what, token) in bad_tokens() {
        let mut client = stage.connect().await;
        let refused = client.ask("authenticate", json!({"token": token})).await;
        assert_eq!(refused["data"]["code"], "invalid_credentials", "{what}");
        let refused = client.ask("character:list", json!({})).await;
        assert_eq!(refused["data"]["code"], "not_authenticated", "{what}");
        let header = format!("authorization: Bearer {token}\r\n");
        let mut client = Client::connect(stage.address(0), &header).await;
        assert_eq!(client.closed().await.0, 4004, "{what} in the header");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_another_scope_does_only_what_it_names() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.player("Ann").await;
    let account = ann.welcome["account"]["id"].as_str().unwrap().to_owned();
    let made = ann.ask("character:create", json!({"name": "Second"})).await;
    let second = made["data"]["character"]["id"].as_str().unwrap().to_owned();
    let operator = token(&account, "operator", |_| {});
    let mut client = stage.connect().await;
    let refused = client.ask("authenticate", json!({"token": operator})).await;
    assert_eq!(refused["data"]["code"], "wrong_scope", "operator");
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
    let token = welcome["data"]["authToken"].clone();
    let mut again = stage.connect().await;
    let welcome = again.ask("authenticate", json!({"token": token})).await;
    assert_eq!(welcome["data"]["characters"].as_array().unwrap().len(), 1);
    agent_client.enter_as(&second).await;
}

#[test]
fn each_event_of_the_gateway_says_what_it_needs() {
    let free: Vec<&str> = answered_here()
        .into_iter()
        .filter(|(_, needs)| matches!(needs, Needs::Nothing | Needs::NoAccount))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(free, ["authenticate", "session:resume", "ping"]);
}
