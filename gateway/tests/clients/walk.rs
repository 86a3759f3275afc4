//! Every route and every client event, with no token, a bad one, one that has ended, one of each
//! other scope, and somebody else's. The routes stand in `tests/routes.txt`, which the router's own
//! tests hold against the router, so that none can be forgotten.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use proto::client::{ClientMessage, Needs, Route};
use serde_json::{Value, json};
use test_servers::idp::now_s;

use crate::{
    client::Client,
    login::{Ask, post, send},
    samples,
    stage::Stage,
};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const SCOPES: [&str; 4] = ["player", "agent", "spectator", "operator"];
const SETTINGS: [(&str, &str); 3] = [
    ("JWT_SECRET", SECRET),
    ("DISABLE_RATE_LIMIT", "true"),
    ("ADMIN_CODE", "a code that is not guessed"),
];

/// One line of the list.
#[derive(Clone)]
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

/// What is somebody's: a character, the agent that it is, and a token of the agent.
struct Hers {
    token: String,
    account: String,
    character: String,
    agent: String,
    credential: String,
}

impl Hers {
    /// A new character with all that, of whoever plays there.
    async fn new(stage: &Stage, client: &mut Client, name: &str) -> Self {
        let made = client.ask("character:create", json!({"name": name})).await;
        let text = |value: &Value| {
            value
                .as_str()
                .unwrap_or_else(|| panic!("{value}"))
                .to_owned()
        };
        let account = text(&client.welcome["account"]["id"]);
        let mut hers = Self {
            token: token(&account, "player", |_| {}),
            account,
            character: text(&made["data"]["character"]["id"]),
            agent: String::new(),
            credential: String::new(),
        };
        let body = json!({"characterId": hers.character, "agentName": "Helper"});
        let made = hers.post(stage, "/api/agents", body).await;
        hers.agent = text(&made["data"]["agent"]["id"]);
        let body = json!({"agentId": hers.agent});
        let made = hers.post(stage, "/api/agents/credentials", body).await;
        hers.credential = text(&made["credentialId"]);
        hers
    }

    async fn post(&self, stage: &Stage, path: &str, body: Value) -> Value {
        let token = &self.token;
        let (status, answer) = post(stage, 0, path, &Ask { token, body }).await;
        assert!(status < 300, "{path}: {status} {answer}");
        answer
    }

    /// What stands for the parameter of a route, for this method.
    fn id(&self, path: &str, method: &str) -> &str {
        match path {
            path if path.contains("/credentials/") => &self.credential,
            path if path.contains("/mappings/") && method == "GET" => &self.account,
            path if path.starts_with("/api/agent") => &self.agent,
            path if path.starts_with("/api/character") => &self.character,
            path => panic!("what of somebody's has {path}?"),
        }
    }
}

/// What each route that changes something of somebody's is to be told, so that it is understood.
fn body(method: &str, path: &str, name: &str) -> Value {
    match (method, path) {
        ("PATCH", _) => json!({"name": name}),
        (_, path) if path.ends_with("/goal") => json!({"goalId": "rest"}),
        (_, path) if path.ends_with("/message") => json!({"content": "stop"}),
        _ => json!({}),
    }
}

/// The routes that name what is somebody's in their path, each with its whole line.
fn lines_about(hers: &Hers) -> Vec<(&'static str, String, Entry)> {
    let own = entries().into_iter().filter(|entry| entry.own);
    let lines = own.flat_map(|entry| {
        let methods = entry.methods.clone();
        methods
            .into_iter()
            .map(move |method| (method, entry.clone()))
    });
    let lines = lines.map(|(method, entry)| {
        let path = entry.at(hers.id(entry.path, method));
        (method, path, entry)
    });
    let mut lines: Vec<_> = lines.collect();
    // What ends something comes last.
    lines.sort_by_key(|(method, ..)| *method == "DELETE");
    lines
}

async fn refused(stage: &Stage, (method, path): (&str, &str), asked: &Ask<'_>) {
    let (status, answer) = send(stage, 0, (method, path), asked).await;
    let code = answer["code"].as_str().unwrap_or_default();
    assert!(
        matches!(
            (status, code),
            (403, "not_your_character") | (404, "not_found")
        ),
        "{method} {path}: {status} {answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::too_many_lines, reason = "a list of routes")]
async fn what_is_somebody_elses_is_nobodys_to_others() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let hers = Hers::new(&stage, &mut ann, "Ann").await;
    let mut bob = stage.connect().await;
    bob.log_in().await;
    let his = Hers::new(&stage, &mut bob, "Bob").await;
    assert_ne!(hers.account, his.account);
    let (account, other) = (hers.account.clone(), json!(his.character));
    let for_another = token(&account, "agent", |_| {});
    let of_bob = token(&his.account, "agent", move |claims| {
        claims["characterId"] = other
    });
    for (method, path, entry) in lines_about(&hers) {
        let mut tokens = vec![&his.token];
        if entry.who.contains(&"agent") {
            tokens.push(&of_bob);
            // Of the same account, but for another character; the account's list is empty for it.
            if !path.contains("/mappings/") {
                tokens.push(&for_another);
            }
        }
        for token in tokens {
            let body = body(method, &path, "Mine");
            refused(&stage, (method, &path), &Ask { token, body }).await;
        }
    }
    // What is named beside the path.
    let token = &his.token;
    for part in ["inventory", "equipment", "bank", "statistics", "sessions"] {
        for family in ["/api/player", "/api/players"] {
            let path = format!("{family}/{part}?characterId={}", hers.character);
            let body = Value::Null;
            refused(&stage, ("GET", &path), &Ask { token, body }).await;
        }
    }
    for (path, body) in [
        (
            "/api/v1/player",
            json!({"characterId": hers.character, "name": "Mine"}),
        ),
        (
            "/api/agents",
            json!({"characterId": his.character, "accountId": hers.account}),
        ),
        (
            "/api/agents/mappings",
            json!({"characterId": his.character, "accountId": hers.account}),
        ),
        ("/api/agents/credentials", json!({"agentId": hers.agent})),
        (
            "/api/agents/credentials",
            json!({"characterId": hers.character}),
        ),
    ] {
        refused(&stage, ("POST", path), &Ask { token, body }).await;
    }
    assert!(
        stage.zone.minds().state().said.is_empty(),
        "an agent was told something"
    );
    // Nothing came of it, and the owner may all that.
    let mut left = hers;
    for round in 0.. {
        let lines = lines_about(&left);
        let Some((method, path, _)) = lines.get(round) else {
            break;
        };
        let (token, body) = (&left.token, body(method, path, &format!("Ann{round}")));
        let (status, answer) = send(&stage, 0, (method, path), &Ask { token, body }).await;
        assert!(
            status < 300,
            "{method} {path} of its owner: {status} {answer}"
        );
        if *method == "DELETE" {
            left = Hers::new(&stage, &mut ann, &format!("Ann{round}")).await;
        }
    }
}

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

/// How many events one connection says before it is somebody: strangers may not say more at once.
const AT_ONCE: usize = 30;

/// Says a message just as it is.
async fn say(client: &mut Client, message: &ClientMessage) -> Value {
    client
        .ask(message.name(), serde_json::to_value(message).unwrap())
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_no_event_does_anything() {
    let stage = Stage::open(&SETTINGS).await;
    let events = samples::client_messages();
    let refused = async |client: &mut Client, event: &ClientMessage, who: &str| {
        let answer = say(client, event).await;
        match event.name() {
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
    for event in &events {
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
                .filter(|event| !matches!(event.name(), "authenticate" | "session:resume"));
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

/// What an agent's token is refused, and where: before it plays, and while it does.
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
        for event in samples::client_messages() {
            let name = event.name();
            if name == "world:leave" && plays {
                continue;
            }
            let answer = say(&mut client, &event).await;
            let code = answer["data"]["code"].as_str();
            match for_agents(name, plays) {
                Some(refused) => assert_eq!(code, Some(refused), "{name}, {plays}: {answer}"),
                None => {
                    // What it is about may not be there; nobody says that it may not.
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
    let events = samples::client_messages();
    let mut names: Vec<&str> = events.iter().map(ClientMessage::name).collect();
    names.dedup();
    assert_eq!(names, ClientMessage::NAMES, "each is said");
    let free = events
        .iter()
        .filter(|event| matches!(event.needs(), Needs::Nothing | Needs::NoAccount));
    let free: Vec<&str> = free.map(ClientMessage::name).collect();
    assert_eq!(free, ["authenticate", "session:resume", "ping"]);
    // Zones answer for characters alone.
    let in_world = |event: &&ClientMessage| event.route() == Route::Zone;
    assert!(
        events
            .iter()
            .filter(in_world)
            .all(|event| event.needs() == Needs::World)
    );
}
