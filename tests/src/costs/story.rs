//! Asks every route that needs no token or a new one, each as often by as many new accounts.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::Method;
use proto::client::Format;
use proto::rpc::identity::v1::{SignInSubjectRequest, identity_client::IdentityClient};
use serde_json::{Value, json};
use service_runtime::rpc::Role;
use tokio::time::{Instant, sleep};

use super::{ADMIN_CODE, Cost, Meter};
use crate::{bot::Player, cluster::Cluster, http};

/// Routes whose answer may be an error: no such file is there, and the code makes one operator.
const ABSENT: [&str; 3] = [
    "GET /manifests/{path}",
    "GET /page/{name}",
    "POST /api/auth/operator",
];
/// Longest time until an agent is in the world.
const ARRIVES: Duration = Duration::from_secs(60);

/// A new account and its things.
#[derive(Debug, Default)]
struct Sample {
    token: String,
    account: String,
    plays: String,
    rests: String,
    agent: String,
    credential: String,
}

/// Parts of a request beside its route.
#[derive(Default)]
struct Ask {
    ids: Vec<String>,
    query: String,
    body: Option<Value>,
}

fn plain() -> Ask {
    Ask::default()
}

fn body(body: Value) -> Ask {
    Ask {
        body: Some(body),
        ..Ask::default()
    }
}

fn of(id: &str) -> Ask {
    Ask {
        ids: vec![id.to_owned()],
        ..Ask::default()
    }
}

struct Story<'a> {
    gateway: String,
    meter: &'a mut Meter,
    samples: Vec<Sample>,
    costs: BTreeMap<String, Cost>,
}

/// Tells the whole story; the cost of each route, by method and path.
pub(super) async fn told(
    cluster: &Cluster,
    meter: &mut Meter,
    requests: u32,
) -> Result<BTreeMap<String, Cost>> {
    let mut story = Story {
        gateway: cluster.gateway(0),
        meter,
        samples: (0..requests).map(|_| Sample::default()).collect(),
        costs: BTreeMap::new(),
    };
    everybody(&mut story, cluster).await?;
    accounts(&mut story).await?;
    own(&mut story).await?;
    let players = play(&mut story).await?;
    agents(&mut story).await?;
    drop(players);
    ends(&mut story).await?;
    Ok(story.costs)
}

impl Story<'_> {
    /// Asks a route once for each account; the answers.
    async fn ask(
        &mut self,
        route: &str,
        request: impl Fn(usize, &Sample) -> Ask,
    ) -> Result<Vec<Value>> {
        let (method, path) = route.split_once(' ').context("method and path")?;
        let method = Method::from_bytes(method.as_bytes())?;
        let mut answers = Vec::new();
        let (samples, gateway) = (&self.samples, self.gateway.as_str());
        let asking = async {
            for (number, sample) in samples.iter().enumerate() {
                let ask = request(number, sample);
                let mut ids = ask.ids.iter();
                let parts = path.split('/').map(|part| match part.starts_with('{') {
                    true => ids.next().map_or("0", String::as_str),
                    false => part,
                });
                let path = format!("{}{}", parts.collect::<Vec<_>>().join("/"), ask.query);
                let bearer = format!("Bearer {}", sample.token);
                let mut headers = vec![("content-type", "application/json")];
                if !sample.token.is_empty() {
                    headers.push(("authorization", bearer.as_str()));
                }
                let body = ask.body.map(|body| body.to_string()).unwrap_or_default();
                let method = method.clone();
                let answer =
                    http::send(gateway, method, &path, &headers, Bytes::from(body)).await?;
                let fine = answer.status.as_u16() < 400 || ABSENT.contains(&route);
                ensure!(fine, "{route}: {} {}", answer.status, answer.text());
                answers.push(answer.json().unwrap_or_default());
            }
            Ok(())
        };
        let cost = self.meter.of(self.samples.len() as u32, asking).await?;
        eprintln!("{route}: {:.2} ms", cost.milliseconds);
        // A route that the story asks again keeps its first cost.
        self.costs.entry(route.to_owned()).or_insert(cost);
        Ok(answers)
    }

    async fn get(&mut self, route: &str, id: impl Fn(&Sample) -> &str) -> Result<Vec<Value>> {
        self.ask(&format!("GET {route}"), |_, sample| of(id(sample)))
            .await
    }
}

fn text(value: &Value) -> Result<String> {
    let text = value.as_str();
    Ok(text
        .with_context(|| format!("{value} is no text"))?
        .to_owned())
}

/// Returns a name that no other looks like.
fn name(first: &str, number: usize) -> String {
    const CONSONANTS: [&str; 8] = ["b", "d", "f", "g", "h", "k", "p", "t"];
    const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
    let (consonant, vowel) = (CONSONANTS[number / 5 % 8], VOWELS[number % 5]);
    format!("{first} {consonant}{vowel}{}", CONSONANTS[number / 40 % 8])
}

async fn everybody(story: &mut Story<'_>, cluster: &Cluster) -> Result<()> {
    for route in [
        "/health",
        "/status",
        "/livez",
        "/readyz",
        "/env.js",
        "/manifests/{path}",
        "/world/terrain.json",
        "/world/map",
        "/world/terrain/{x}/{z}",
        "/",
        "/page/{name}",
        "/console",
        "/metrics",
        "/openapi.json",
        "/asyncapi.json",
        "/docs",
        "/docs/docs.css",
        "/docs/docs.js",
        "/docs/events.js",
        "/api/data/skill-unlocks",
    ] {
        story.ask(&format!("GET {route}"), |_, _| plain()).await?;
    }
    // Each request asks for another page, down to the last, because a gateway keeps the pages that
    // it has fetched.
    let every = 4_000 / story.samples.len();
    let page = |number: usize| format!("?page={}", (number + 1) * every);
    story
        .ask("GET /hiscores", |number, _| Ask {
            query: page(number),
            ..plain()
        })
        .await?;
    story
        .ask("GET /hiscores/{skill}", |number, _| Ask {
            query: page(number),
            ..of("mining")
        })
        .await?;
    // Without an identity provider a gateway has no such login; the story asks the store as a
    // gateway would.
    let channel = cluster
        .trust(Role::Gateway, "story")?
        .channel(Role::Persistence, &cluster.persistence(0))?;
    let mut identity = IdentityClient::new(channel);
    let count = story.samples.len();
    let asking = async {
        for number in 0..count {
            let ask = SignInSubjectRequest {
                subject: format!("did:cost:{number}"),
                device_key_hash: Bytes::new(),
            };
            identity.sign_in_subject(ask).await?;
        }
        Ok(())
    };
    let cost = story.meter.of(count as u32, asking).await?;
    story.costs.insert("POST /api/auth/login".to_owned(), cost);
    Ok(())
}

/// Gives each account a password, logs in with it, changes it, and recovers by a code.
async fn passwords(story: &mut Story<'_>) -> Result<()> {
    const WORDS: &str = "correct horse battery";
    const NEW: &str = "another horse battery";
    let credentials =
        |number, password: &str| json!({"name": format!("cost.{number}"), "password": password});
    story
        .ask("POST /api/account/password", |number, _| {
            body(credentials(number, WORDS))
        })
        .await?;
    story
        .ask("POST /api/auth/password", |number, _| {
            body(credentials(number, WORDS))
        })
        .await?;
    let changed = story
        .ask("PUT /api/account/password", |_, _| {
            body(json!({"password": WORDS, "newPassword": NEW}))
        })
        .await?;
    let made = story
        .ask("POST /api/auth/recover", |number, _| {
            let mut asked = credentials(number, WORDS);
            asked["recoveryCode"] = changed[number]["recoveryCodes"][0].clone();
            body(asked)
        })
        .await?;
    let made = story
        .ask("POST /api/auth/renew", |number, _| {
            body(json!({"refreshToken": made[number]["refreshToken"]}))
        })
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.token = text(&made["token"])?;
    }
    Ok(())
}

async fn accounts(story: &mut Story<'_>) -> Result<()> {
    let made = story
        .ask("POST /api/auth/anonymous", |_, _| body(json!({})))
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.token = text(&made["token"])?;
    }
    passwords(story).await?;
    let code = json!({"adminCode": ADMIN_CODE});
    story
        .ask("POST /api/auth/operator", |_, _| body(code.clone()))
        .await?;
    let made = story
        .ask("POST /api/character", |number, _| {
            body(json!({"name": name("Tavish", number)}))
        })
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.plays = text(&made["character"]["id"])?;
    }
    let made = story
        .ask("POST /api/v1/player", |number, _| {
            body(json!({"name": name("Kestrel", number)}))
        })
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.rests = text(&made["character"]["id"])?;
    }
    let whole = story.get("/api/v1/player", |_| "").await?;
    for (sample, whole) in story.samples.iter_mut().zip(whole) {
        sample.account = text(&whole["account"]["id"])?;
    }
    Ok(())
}

async fn own(story: &mut Story<'_>) -> Result<()> {
    for route in [
        "/api/v1/world",
        "/api/v1/world/areas",
        "/api/character",
        "/api/player",
    ] {
        story.get(route, |_| "").await?;
    }
    for rest in ["", "/skills", "/position"] {
        let route = format!("/api/character/{{id}}{rest}");
        story.get(&route, |sample| &sample.plays).await?;
    }
    for part in ["inventory", "equipment", "bank", "statistics", "sessions"] {
        let route = format!("GET /api/player/{part}");
        story
            .ask(&route, |_, sample| Ask {
                query: format!("?characterId={}", sample.plays),
                ..plain()
            })
            .await?;
    }
    let all = story.get("/api/template", |_| "").await?;
    let template = text(&all[0]["templates"][0]["id"])?;
    for rest in ["", "/config"] {
        let route = format!("GET /api/template/{{id}}{rest}");
        story.ask(&route, |_, _| of(&template)).await?;
    }
    story
        .ask("PATCH /api/character/{id}", |number, sample| Ask {
            ids: vec![sample.rests.clone()],
            ..body(json!({"name": name("Corvid", number)}))
        })
        .await?;
    for route in ["POST /api/auth/refresh", "POST /api/auth/spectator"] {
        story.ask(route, |_, _| plain()).await?;
    }
    Ok(())
}

/// Brings everybody into the world.
async fn play(story: &mut Story<'_>) -> Result<Vec<Player>> {
    let mut players = Vec::new();
    let (samples, gateway) = (&story.samples, story.gateway.as_str());
    let entering = async {
        for sample in samples {
            let player = Player::connect(gateway, Format::Json).await?;
            player.authenticate(json!({"token": sample.token})).await?;
            player.enter(&sample.plays).await?;
            players.push(player);
        }
        Ok(())
    };
    let cost = story.meter.of(samples.len() as u32, entering).await?;
    eprintln!("/ws: {:.2} ms", cost.milliseconds);
    story.costs.insert("GET /ws".to_owned(), cost);
    // Zones save players again and again, with or without requests.
    story.meter.watch().await?;
    story.ask("POST /api/voice/token", |_, _| plain()).await?;
    Ok(players)
}

async fn agents(story: &mut Story<'_>) -> Result<()> {
    let fields = |number: usize, sample: &Sample| {
        let name = name("Wren", number);
        json!({"characterId": sample.rests, "agentName": name})
    };
    let made = story
        .ask("POST /api/agent", |number, sample| {
            body(fields(number, sample))
        })
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.agent = text(&made["data"]["agent"]["id"])?;
    }
    arrived(story).await?;
    story.meter.watch().await?;
    story
        .ask("POST /api/agent/mappings", |number, sample| {
            let mut fields = fields(number, sample);
            fields["agentId"] = sample.agent.clone().into();
            body(fields)
        })
        .await?;
    let made = story
        .ask("POST /api/agent/credentials", |_, sample| {
            body(json!({"agentId": sample.agent}))
        })
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.credential = text(&made["credentialId"])?;
    }
    ordered(story).await?;
    story
        .ask("DELETE /api/agent/credentials/{id}", |_, sample| {
            of(&sample.credential)
        })
        .await?;
    Ok(())
}

/// Looks at the agents and tells them what to do.
async fn ordered(story: &mut Story<'_>) -> Result<()> {
    for route in ["/api/agent", "/api/agent/credentials"] {
        story.get(route, |_| "").await?;
    }
    story
        .get("/api/agent/mappings/{id}", |sample| &sample.account)
        .await?;
    story
        .get("/api/agent/mapping/{agentId}", |sample| &sample.agent)
        .await?;
    for rest in ["", "/goal", "/quick-actions", "/activity"] {
        let route = format!("/api/agent/{{agentId}}{rest}");
        story.get(&route, |sample| &sample.agent).await?;
    }
    for (rest, told) in [
        ("message", json!({"content": "stop"})),
        ("goal", json!({"goalId": "rest"})),
        ("goal/stop", json!({})),
        ("goal/resume", json!({})),
        ("stop", json!({})),
        ("start", json!({})),
    ] {
        let route = format!("POST /api/agent/{{agentId}}/{rest}");
        story
            .ask(&route, |_, sample| Ask {
                ids: vec![sample.agent.clone()],
                ..body(told.clone())
            })
            .await?;
    }
    Ok(())
}

/// Waits until all agents are in the world.
async fn arrived(story: &Story<'_>) -> Result<()> {
    let deadline = Instant::now() + ARRIVES;
    for sample in &story.samples {
        let path = format!("/api/agent/{}/quick-actions", sample.agent);
        let bearer = format!("Bearer {}", sample.token);
        let headers = [("authorization", bearer.as_str())];
        loop {
            let (gateway, empty) = (story.gateway.as_str(), Bytes::new());
            let seen = http::send(gateway, Method::GET, &path, &headers, empty).await?;
            if !seen.json()?["playerPosition"].is_null() {
                break;
            }
            ensure!(Instant::now() < deadline, "an agent is not in the world");
            sleep(Duration::from_millis(200)).await;
        }
    }
    Ok(())
}

/// Takes everything away again.
async fn ends(story: &mut Story<'_>) -> Result<()> {
    story
        .ask("DELETE /api/agent/mappings/{id}", |_, sample| {
            of(&sample.agent)
        })
        .await?;
    let made = story
        .ask("POST /api/agent", |number, sample| {
            body(json!({"characterId": sample.rests, "agentName": name("Wren", number)}))
        })
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.agent = text(&made["data"]["agent"]["id"])?;
    }
    story
        .ask("DELETE /api/agent/{agentId}", |_, sample| of(&sample.agent))
        .await?;
    let code = json!({"adminCode": ADMIN_CODE});
    story
        .ask("POST /api/auth/operator", |_, _| body(code.clone()))
        .await?;
    let made = story
        .ask("POST /api/character", |number, _| {
            body(json!({"name": name("Osprey", number)}))
        })
        .await?;
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.rests = text(&made["character"]["id"])?;
    }
    story
        .ask("DELETE /api/character/{id}", |_, sample| of(&sample.rests))
        .await?;
    for route in ["GET /api/account/export", "GET /api/account/ledger"] {
        let ledger = route.ends_with("ledger");
        let of = |sample: &Sample| format!("?characterId={}", sample.plays);
        story
            .ask(route, |_, sample| Ask {
                query: if ledger { of(sample) } else { String::new() },
                ..plain()
            })
            .await?;
    }
    story.ask("POST /api/auth/logout", |_, _| plain()).await?;
    deletes(story).await
}

/// Removes as many new accounts, each with a character.
async fn deletes(story: &mut Story<'_>) -> Result<()> {
    for sample in &mut story.samples {
        sample.token = String::new();
    }
    let made = story
        .ask("POST /api/auth/anonymous", |_, _| body(json!({})))
        .await?;
    let mut names = Vec::new();
    for (sample, made) in story.samples.iter_mut().zip(made) {
        sample.token = text(&made["token"])?;
        names.push(text(&made["account"]["name"])?);
    }
    story
        .ask("POST /api/character", |number, _| {
            body(json!({"name": name("Raven", number)}))
        })
        .await?;
    story
        .ask("DELETE /api/account", |number, _| {
            body(json!({"confirm": names[number]}))
        })
        .await?;
    Ok(())
}
