//! Every route and every client event, with no token, a bad one, one that has ended, one of each
//! other scope, and somebody else's. The routes are those of `/openapi.json`, which is made of the
//! router's own, so that none can be forgotten.

mod events;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;
use serde_json::{Value, json};
use test_servers::idp::now_s;

use crate::{
    client::Client,
    conforms::{self, document},
    login::{Ask, post, send},
    stage::Stage,
};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const SCOPES: [&str; 3] = ["player", "agent", "spectator"];
pub(crate) const SETTINGS: [(&str, &str); 3] = [
    ("JWT_SECRET", SECRET),
    ("DISABLE_RATE_LIMIT", "true"),
    ("ADMIN_CODE", "a code that is not guessed"),
];

/// One operation of the document.
#[derive(Clone)]
struct Entry {
    method: String,
    path: String,
    /// Scopes of tokens and roles of accounts that may; empty: it needs no token.
    who: Vec<String>,
}

async fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for (path, methods) in document().await["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let who = operation.pointer("/security/0/bearer");
            let who = who.and_then(Value::as_array).into_iter().flatten();
            entries.push(Entry {
                method: method.to_uppercase(),
                path: path.clone(),
                who: who.map(|who| who.as_str().unwrap().to_owned()).collect(),
            });
        }
    }
    entries
}

impl Entry {
    fn is_open(&self) -> bool {
        self.who.is_empty()
    }

    fn lets_in(&self, who: &str) -> bool {
        self.who.iter().any(|one| one == who)
    }

    /// Returns whether the path names something that belongs to somebody. Templates and levels are
    /// for everybody, and staff alone has routes about others.
    fn is_own(&self) -> bool {
        let for_all = self.path.starts_with("/api/template") || self.path.ends_with("/skills");
        self.path.contains('{') && !self.is_open() && !self.lets_in("admin") && !for_all
    }

    /// Returns the path with this in place of its parameters.
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

/// Returns a token of ours; `change` puts a fault into its claims.
pub(crate) fn token(account: &str, scope: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut claims = json!({
        "sub": account, "iss": "tilestead", "aud": "tilestead", "iat": now_s(),
        "exp": now_s() + 600, "jti": uuid::Uuid::new_v4(), "scope": scope,
    });
    if scope == "agent" {
        claims["characterId"] = json!("character-of-the-agent");
    }
    change(&mut claims);
    signed(&json!({"alg": "HS256"}), &claims, SECRET.as_bytes())
}

/// Returns a token with a signature of HS256, made without the gateway's code.
pub(crate) fn signed(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let said = format!("{}.{}", part(header), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, said.as_bytes()));
    format!("{said}.{signature}")
}

/// Returns tokens that are no good, each with the name of its fault.
fn bad_tokens() -> Vec<(&'static str, String)> {
    let player = |change: fn(&mut Value)| token("account-0", "player", change);
    let claims = json!({
        "sub": "account-0", "iss": "tilestead", "aud": "tilestead", "iat": now_s(),
        "exp": now_s() + 600, "jti": "j", "scope": "player",
    });
    let other_secret = b"another secret of thirty-two b..";
    let forged = signed(&json!({"alg": "HS256"}), &claims, other_secret);
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
            "the scope of an earlier version",
            player(|claims| claims["scope"] = json!("operator")),
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

/// Returns the status of an answer, and the answer itself.
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
    conforms::check(method, path, &answer).await;
    (
        status.unwrap_or_else(|| panic!("{method} {path}: {answer}")),
        answer,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_of_the_right_scope_no_route_does_anything() {
    let stage = Stage::open(&SETTINGS).await;
    let bad = bad_tokens();
    for entry in entries().await {
        let (method, path) = (entry.method.as_str(), entry.at("0"));
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
        for scope in SCOPES.iter().filter(|scope| !entry.lets_in(scope)) {
            let token = token("account-0", scope, |_| {});
            let (status, answer) = ask(&stage, method, &path, Some(&token)).await;
            assert_eq!(status, 403, "{method} {path} as {scope}: {answer}");
            let staff = entry.lets_in("admin") && *scope == "player";
            let code = if staff {
                "\"role_required\""
            } else {
                "\"wrong_scope\""
            };
            assert!(answer.contains(code), "{answer}");
        }
        for who in &entry.who {
            let who = who.as_str();
            // Of a role there are players.
            let role = !SCOPES.contains(&who);
            let (account, scope) = match role {
                true => (who, "player"),
                false => ("account-0", who),
            };
            stage.store.give_roles(who, &[who]);
            // The handler may say anything about an empty body or an unknown id.
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

/// Things of one owner: a character, the agent that it is, and a token of the agent.
struct Hers {
    token: String,
    account: String,
    character: String,
    agent: String,
    credential: String,
}

impl Hers {
    /// Makes a new character of the client's account, with all these things.
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

    /// Returns the owner's id for the parameter of a route and method.
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

/// Returns a body that each changing route can read, for a thing of one owner.
fn body(method: &str, path: &str, name: &str) -> Value {
    match (method, path) {
        ("PATCH", _) => json!({"name": name}),
        (_, path) if path.ends_with("/goal") => json!({"goalId": "rest"}),
        (_, path) if path.ends_with("/message") => json!({"content": "stop"}),
        _ => json!({}),
    }
}

/// Returns the routes whose path names a thing of one owner, each with its path.
async fn routes_about(hers: &Hers) -> Vec<(String, Entry)> {
    let own = entries().await.into_iter().filter(Entry::is_own);
    let paths = own.map(|entry| (entry.at(hers.id(&entry.path, &entry.method)), entry));
    let mut paths: Vec<_> = paths.collect();
    // Routes that end something come last.
    paths.sort_by_key(|(_, entry)| entry.method == "DELETE");
    paths
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
    for (path, entry) in routes_about(&hers).await {
        let method = entry.method.as_str();
        let mut tokens = vec![&his.token];
        if entry.lets_in("agent") {
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
    // Routes that name the character beside the path.
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
        let routes = routes_about(&left).await;
        let Some((path, entry)) = routes.get(round) else {
            break;
        };
        let method = entry.method.as_str();
        let (token, body) = (&left.token, body(method, path, &format!("Ann{round}")));
        let (status, answer) = send(&stage, 0, (method, path), &Ask { token, body }).await;
        assert!(
            status < 300,
            "{method} {path} of its owner: {status} {answer}"
        );
        if method == "DELETE" {
            left = Hers::new(&stage, &mut ann, &format!("Ann{round}")).await;
        }
    }
}
