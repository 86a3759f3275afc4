//! What the document shows is what a real gateway answers: one story is told over HTTP, in which
//! every operation of the document that answers with JSON succeeds once. Each answer fits its
//! schema, and the document's example is that answer, with everything masked that is different
//! each time.
//!
//! With RECORD_ANSWERS=1 the story writes the examples (`gateway/src/http/openapi/answers.json`)
//! instead of comparing them; the gateway is then to be built anew.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, ensure};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::Player,
    cluster::{Cluster, Plan, process::workspace},
};

use crate::interface::{ADMIN_CODE, Caller, operator, somebody};

/// Where the gateway has its examples from.
const FILE: &str = "gateway/src/http/openapi/answers.json";
/// Both names of a family have the same answers.
const FAMILIES: [(&str, &str); 4] = [
    ("/api/agents", "/api/agent"),
    ("/api/characters", "/api/character"),
    ("/api/players", "/api/player"),
    ("/api/templates", "/api/template"),
];
/// What is answered elsewhere, with where.
const ELSEWHERE: [&str; 1] = [
    // With an identity provider nobody is anonymous: gateway/tests/clients/login.rs.
    "post /api/auth/login 200",
];
/// What the moment or the content decides more than the story: of these only the shape is
/// compared.
const OF_THE_MOMENT: [&str; 12] = [
    // What the content says; it has stories of its own.
    "get /api/v1/world/areas 200",
    "get /api/data/skill-unlocks 200",
    "post /api/agent/{agentId}/goal/stop 200",
    "get /status 200",
    "get /api/v1/world 200",
    "get /admin/stats 200",
    "get /admin/zones 200",
    "get /api/agent/{agentId}/goal 200",
    "post /api/agent/{agentId}/goal 200",
    "post /api/agent/{agentId}/goal/resume 200",
    "get /api/agent/{agentId}/quick-actions 200",
    "get /api/agent/{agentId}/activity 200",
];
/// Numbers that are different each time.
const COUNTED: [&str; 14] = [
    "uptime",
    "tick",
    "costMicros",
    "playedSeconds",
    "epoch",
    "x",
    "y",
    "z",
    "positionX",
    "positionY",
    "positionZ",
    "distance",
    "faults",
    "logins",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_examples_of_the_document_are_real_answers() {
    let plan = Plan::new("answers")
        .env("ADMIN_CODE", ADMIN_CODE)
        .env("VOICE_API_KEY", "a-key")
        .env("VOICE_API_SECRET", "a-secret-of-the-voice-server")
        .env("VOICE_URL", "wss://voice.example");
    let cluster = Cluster::start(plan).await.unwrap();
    told(&cluster).await.unwrap();
}

/// What was answered so far, masked, by method, path and status.
struct Story<'a> {
    gateway: &'a str,
    document: Value,
    answers: BTreeMap<String, Value>,
}

fn singular(path: &str) -> String {
    for (plural, one) in FAMILIES {
        if let Some(rest) = path.strip_prefix(plural)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return format!("{one}{rest}");
        }
    }
    path.to_owned()
}

impl Story<'_> {
    /// Asks; the answer must be a success, and as the document says.
    async fn ask(
        &mut self,
        who: &Caller<'_>,
        method: &str,
        (path, ids): (&str, &[&str]),
        body: Option<Value>,
    ) -> Result<Value> {
        let mut ids = ids.iter();
        let real = path.split('/').map(|part| match part.starts_with('{') {
            true => ids.next().copied().unwrap_or("?"),
            false => part,
        });
        let real = real.collect::<Vec<_>>().join("/");
        let asked = Method::from_bytes(method.to_uppercase().as_bytes())?;
        let answer = who.ask(asked, &real, body).await?;
        let status = answer.status.as_u16();
        let told = answer
            .json()
            .with_context(|| format!("{method} {real}: {status}"))?;
        ensure!(status < 300, "{method} {real}: {status} {told}");
        let key = format!("{method} {} {status}", singular(path));
        let described = &self.document["paths"][path][method]["responses"][status.to_string()];
        let schema = &described["content"]["application/json"]["schema"];
        ensure!(schema.is_object(), "{key} is not described");
        let faults = misfits(schema, &told)?;
        ensure!(faults.is_empty(), "{key}: {faults:#?} in {told}");
        let masked = masked("", &told);
        let faults = misfits(schema, &masked)?;
        ensure!(faults.is_empty(), "{key}, masked: {faults:#?} in {masked}");
        self.answers.entry(key).or_insert(masked);
        Ok(told)
    }

    async fn get(&mut self, who: &Caller<'_>, path: &str, ids: &[&str]) -> Result<Value> {
        self.ask(who, "get", (path, ids), None).await
    }

    async fn post(
        &mut self,
        who: &Caller<'_>,
        path: &str,
        ids: &[&str],
        body: Value,
    ) -> Result<Value> {
        self.ask(who, "post", (path, ids), Some(body)).await
    }
}

/// Returns all that does not fit the schema, each with its place.
fn misfits(schema: &Value, value: &Value) -> Result<Vec<String>> {
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(schema).map_err(|why| anyhow!("{why}"))?;
    let faults = validator.iter_errors(value);
    Ok(faults
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect())
}

fn is_moment(text: &str) -> bool {
    text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}

fn masked_text(name: &str, text: &str) -> String {
    let shape: String = text
        .chars()
        .map(|c| match c {
            '0'..='9' | 'a'..='f' => 'h',
            other => other,
        })
        .collect();
    let numbers: Vec<&str> = text.split('-').collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match (name, text) {
        ("deviceKey", _) => "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        ("zone" | "goesTo", _) => "1".to_owned(),
        ("detail", text) if text.contains("(until ") => {
            let (why, _) = text.split_once("(until ").unwrap_or_default();
            format!("{why}(until 1795305600000)")
        }
        ("room", _) => "region:0:0".to_owned(),
        (_, text) if text.starts_with("Wanderer-") => "Wanderer-5f3a0c1d".to_owned(),
        (_, text) if is_moment(text) => "2026-11-21T16:00:00.000Z".to_owned(),
        (_, text) if text.starts_with("ey") && text.split('.').count() == 3 => "ey….…".to_owned(),
        _ if shape == "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh" => {
            "0199c3a0-0000-7000-8000-000000000001".to_owned()
        }
        _ if shape.len() >= 32 && shape.chars().all(|c| c == 'h') => "0".repeat(shape.len()),
        _ if numbers.len() == 3 && numbers.iter().all(digits) => "7-12-1".to_owned(),
        (_, text) if text.contains("127.0.0.1:") || text.contains("localhost:") => {
            let (before, after) = text.rsplit_once(':').unwrap_or((text, ""));
            let path = after.find('/').map_or("", |at| &after[at..]);
            format!("{before}:5555{path}")
        }
        (_, text) => match text.rsplit_once(':') {
            // Who did something, by a token or an account.
            Some((kind, _)) if matches!(kind, "operator" | "account") => format!("{kind}:7"),
            _ => text.to_owned(),
        },
    }
}

/// The same with everything that is different each time made the same, and lists cut short.
fn masked(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => masked_text(name, text).into(),
        Value::Number(_) if COUNTED.contains(&name) => 0.into(),
        Value::Array(items) => items.iter().take(2).map(|item| masked("", item)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, field)| (name.clone(), masked(name, field)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Names and kinds of all that is in it; of a list, of its first entry.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), shape(field)))
            .collect(),
        Value::Array(_) => json!([]),
        Value::Null => Value::Null,
        _ => json!("…"),
    }
}

/// Whether the one could be the other at another moment: the same names, where neither is null.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Null, _) | (_, Value::Null) => true,
        (Value::Object(a), Value::Object(b)) => {
            a.keys().eq(b.keys()) && a.iter().all(|(name, field)| alike(field, &b[name]))
        }
        (a, b) => a == b,
    }
}

/// Every answer of the document with a JSON body and an example, by method, path and status, with
/// the example.
fn examples(document: &Value) -> Result<BTreeMap<String, Value>> {
    let mut all = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().context("paths")? {
        for (method, operation) in methods.as_object().context("methods")? {
            for (status, answer) in operation["responses"].as_object().context("responses")? {
                let content = &answer["content"]["application/json"];
                let any = content["schema"]
                    .as_object()
                    .is_none_or(|schema| schema.is_empty());
                if !status.starts_with('2') || any {
                    continue;
                }
                let key = format!("{method} {} {status}", singular(path));
                let example = content["example"].clone();
                if let Some(other) = all.insert(key.clone(), example.clone()) {
                    ensure!(other == example, "{key}: the two names of it differ");
                }
            }
        }
    }
    Ok(all)
}

async fn told(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let nobody = Caller {
        gateway: &gateway,
        token: None,
    };
    let mut story = Story {
        gateway: &gateway,
        document: nobody.get("/openapi.json").await?,
        answers: BTreeMap::new(),
    };
    everybody(&mut story, &nobody).await?;
    let token = somebody(&gateway).await?;
    let ann = story.gateway;
    let ann = Caller {
        gateway: ann,
        token: Some(token.clone()),
    };
    let anna = characters(&mut story, &ann).await?;
    let player = Player::connect(&gateway, Format::Json).await?;
    player.authenticate(json!({ "token": token })).await?;
    player.enter(&anna).await?;
    own(&mut story, &ann, &anna).await?;
    agents(&mut story, &ann).await?;
    operators(&mut story, cluster, &anna).await?;
    drop(player);
    same_as_shown(&story)
}

async fn everybody(story: &mut Story<'_>, nobody: &Caller<'_>) -> Result<()> {
    for path in ["/health", "/status", "/hiscores", "/api/data/skill-unlocks"] {
        story.get(nobody, path, &[]).await?;
    }
    story.get(nobody, "/hiscores/{skill}", &["cooking"]).await?;
    story
        .post(nobody, "/api/auth/anonymous", &[], json!({}))
        .await?;
    let code = json!({"adminCode": ADMIN_CODE});
    story.post(nobody, "/api/auth/operator", &[], code).await?;
    Ok(())
}

fn id_of(value: &Value) -> Result<String> {
    let id = value
        .as_str()
        .with_context(|| format!("{value} is no id"))?;
    Ok(id.to_owned())
}

/// Makes, renames and deletes; the id of the one that plays.
async fn characters(story: &mut Story<'_>, ann: &Caller<'_>) -> Result<String> {
    let made = story
        .post(ann, "/api/v1/player", &[], json!({"name": "Ann"}))
        .await?;
    let anna = id_of(&made["character"]["id"])?;
    let wish = json!({"characterId": anna, "name": "Anna"});
    story.post(ann, "/api/v1/player", &[], wish).await?;
    let made = story
        .post(ann, "/api/character", &[], json!({"name": "Bea"}))
        .await?;
    let bea = id_of(&made["character"]["id"])?;
    for family in ["/api/character", "/api/characters"] {
        story.get(ann, family, &[]).await?;
        for rest in ["/{id}", "/{id}/skills", "/{id}/position"] {
            story.get(ann, &format!("{family}{rest}"), &[&bea]).await?;
        }
    }
    let one = ("/api/character/{id}", [bea.as_str()]);
    let wish = Some(json!({"name": "Beatrice"}));
    story.ask(ann, "patch", (one.0, &one.1), wish).await?;
    story.ask(ann, "delete", (one.0, &one.1), None).await?;
    Ok(anna)
}

async fn own(story: &mut Story<'_>, ann: &Caller<'_>, anna: &str) -> Result<()> {
    for path in ["/api/v1/player", "/api/v1/world", "/api/v1/world/areas"] {
        story.get(ann, path, &[]).await?;
    }
    for family in ["/api/player", "/api/players"] {
        let parts = [
            "",
            "/inventory",
            "/equipment",
            "/bank",
            "/statistics",
            "/sessions",
        ];
        for part in parts {
            story.get(ann, &format!("{family}{part}"), &[]).await?;
        }
    }
    for family in ["/api/template", "/api/templates"] {
        let all = story.get(ann, family, &[]).await?;
        let id = id_of(&all["templates"][0]["id"])?;
        for rest in ["/{id}", "/{id}/config"] {
            story.get(ann, &format!("{family}{rest}"), &[&id]).await?;
        }
    }
    for path in ["/api/auth/refresh", "/api/auth/spectator"] {
        story.ask(ann, "post", (path, &[]), None).await?;
    }
    let voice = story
        .ask(ann, "post", ("/api/voice/token", &[]), None)
        .await?;
    ensure!(voice["identity"] == anna, "{voice}");
    Ok(())
}

#[allow(clippy::too_many_lines, reason = "a list of operations")]
async fn agents(story: &mut Story<'_>, ann: &Caller<'_>) -> Result<()> {
    let made = ann
        .ask(
            Method::POST,
            "/api/character",
            Some(json!({"name": "Wren"})),
        )
        .await?;
    let wren = id_of(&made.json()?["character"]["id"])?;
    let wish = json!({"characterId": wren, "agentName": "Wren"});
    let made = story.post(ann, "/api/agent", &[], wish.clone()).await?;
    let agent = id_of(&made["data"]["agent"]["id"])?;
    let account = id_of(&made["data"]["agent"]["character"]["settings"]["accountId"])?;
    // It comes into the world by itself, and hears what it is told there.
    let seen = format!("/api/agent/{agent}/quick-actions");
    let begun = tokio::time::Instant::now();
    while ann.get(&seen).await?["playerPosition"].is_null() {
        ensure!(
            begun.elapsed() < Duration::from_secs(20),
            "it is not in the world"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let again = json!({"characterId": wren, "agentName": "Wren", "agentId": agent});
    let of = "/api/agent/{agentId}";
    story
        .post(ann, &format!("{of}/goal/stop"), &[&agent], json!({}))
        .await?;
    story.post(ann, "/api/agent/mappings", &[], again).await?;
    let made = story
        .post(
            ann,
            "/api/agent/credentials",
            &[],
            json!({"agentId": agent}),
        )
        .await?;
    let credential = id_of(&made["credentialId"])?;
    for family in ["/api/agent", "/api/agents"] {
        for rest in ["", "/credentials"] {
            story.get(ann, &format!("{family}{rest}"), &[]).await?;
        }
        story
            .get(ann, &format!("{family}/mappings/{{id}}"), &[&account])
            .await?;
        story
            .get(ann, &format!("{family}/mapping/{{agentId}}"), &[&agent])
            .await?;
        for rest in ["", "/goal", "/quick-actions", "/activity"] {
            story
                .get(ann, &format!("{family}/{{agentId}}{rest}"), &[&agent])
                .await?;
        }
    }
    let words = json!({"content": "stop"});
    story
        .post(ann, &format!("{of}/message"), &[&agent], words)
        .await?;
    let goal = json!({"goalId": "rest"});
    story
        .post(ann, &format!("{of}/goal"), &[&agent], goal)
        .await?;
    story
        .post(ann, &format!("{of}/goal/resume"), &[&agent], json!({}))
        .await?;
    for rest in ["stop", "start"] {
        story
            .post(ann, &format!("{of}/{rest}"), &[&agent], json!({}))
            .await?;
    }
    let path = "/api/agent/credentials/{id}";
    story
        .ask(ann, "delete", (path, &[&credential]), None)
        .await?;
    story
        .ask(ann, "delete", ("/api/agent/mappings/{id}", &[&agent]), None)
        .await?;
    let made = story.post(ann, "/api/agent", &[], wish).await?;
    let agent = id_of(&made["data"]["agent"]["id"])?;
    story.ask(ann, "delete", (of, &[&agent]), None).await?;
    Ok(())
}

async fn operators(story: &mut Story<'_>, cluster: &Cluster, anna: &str) -> Result<()> {
    let token = operator(story.gateway).await?;
    let gateway = story.gateway.to_owned();
    let op = Caller {
        gateway: &gateway,
        token: Some(token),
    };
    let player = story.get(&op, "/admin/players/{id}", &[anna]).await?;
    let account = id_of(&player["account"]["id"])?;
    let roles = Some(json!({"roles": ["moderator"]}));
    let path = ("/admin/users/{id}/roles", [account.as_str()]);
    story.ask(&op, "put", (path.0, &path.1), roles).await?;
    story.get(&op, "/admin/users/{id}", &[&account]).await?;
    // Of somebody else: who is muted is told so.
    let other = somebody(&gateway).await?;
    let other = Caller {
        gateway: &gateway,
        token: Some(other),
    };
    let other = id_of(&other.get("/api/v1/player").await?["account"]["id"])?;
    let mute = json!({"action": "mute", "accountId": other, "reason": "shouting", "minutes": 60});
    story.post(&op, "/admin/moderation", &[], mute).await?;
    for path in [
        "/admin/stats",
        "/admin/users",
        "/admin/sessions",
        "/admin/audit",
        "/admin/moderation",
        "/admin/moderation/log",
    ] {
        story.get(&op, path, &[]).await?;
    }
    frozen_and_thawed(story, &op).await?;
    held(story, &op, cluster).await?;
    let place = json!({"x": 0, "z": 0});
    story.post(&op, "/admin/regions/resume", &[], place).await?;
    drained(story, &op).await
}

async fn frozen_and_thawed(story: &mut Story<'_>, op: &Caller<'_>) -> Result<()> {
    let path = "/admin/freeze";
    let seen = story.get(op, path, &[]).await?;
    ensure!(seen == json!({"frozen": false}), "{seen}");
    for (method, frozen) in [("post", true), ("delete", false)] {
        for changed in [true, false] {
            let done = story.ask(op, method, (path, &[]), None).await?;
            let said = json!({"frozen": frozen, "changed": changed});
            ensure!(done == said, "{method}: {done}");
        }
        let seen = op.get(path).await?;
        ensure!(seen["frozen"] == frozen, "{method}: {seen}");
    }
    Ok(())
}

/// A character that is kept out, as the store does it where its data are broken.
async fn held(story: &mut Story<'_>, op: &Caller<'_>, cluster: &Cluster) -> Result<()> {
    let token = somebody(op.gateway).await?;
    let cid = Caller {
        gateway: op.gateway,
        token: Some(token),
    };
    let made = cid
        .ask(Method::POST, "/api/character", Some(json!({"name": "Cid"})))
        .await?;
    let id = id_of(&made.json()?["character"]["id"])?;
    cluster.store().await?.hold(&id).await?;
    story.get(op, "/admin/quarantine", &[]).await?;
    let path = ("/admin/quarantine/{id}", [id.as_str()]);
    story.ask(op, "delete", (path.0, &path.1), None).await?;
    op.refused(
        Method::DELETE,
        &format!("/admin/quarantine/{id}"),
        None,
        (404, "not_found"),
    )
    .await
}

/// One of two zones gives all its regions to the other.
async fn drained(story: &mut Story<'_>, op: &Caller<'_>) -> Result<()> {
    let seen = story.get(op, "/admin/zones", &[]).await?;
    let zone = id_of(&seen["zones"][0]["id"])?;
    let ids = [zone.as_str()];
    let done = story
        .ask(op, "post", ("/admin/zones/{id}/drain", &ids), None)
        .await?;
    ensure!(done["zone"] == zone.as_str(), "{done}");
    let given = async {
        loop {
            let seen = op.get("/admin/zones").await?;
            let regions = seen["regions"].as_array().context("regions")?;
            let with =
                |region: &&Value| region["zone"] == zone.as_str() || region["zone"].is_null();
            if regions.iter().filter(with).count() == 0 {
                return anyhow::Ok(());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let given = tokio::time::timeout(Duration::from_secs(30), given);
    given
        .await
        .context("the zone never gave its regions to the other")?
}

fn same_as_shown(story: &Story<'_>) -> Result<()> {
    let shown = examples(&story.document)?;
    let keys: BTreeSet<&str> = shown.keys().map(String::as_str).collect();
    let mut told: BTreeSet<&str> = story.answers.keys().map(String::as_str).collect();
    told.extend(ELSEWHERE);
    let untold: Vec<_> = keys.difference(&told).collect();
    ensure!(untold.is_empty(), "no story tells these: {untold:#?}");
    if std::env::var_os("RECORD_ANSWERS").is_some() {
        let file: PathBuf = workspace().join(FILE);
        let text = serde_json::to_string_pretty(&story.answers)?;
        return Ok(std::fs::write(file, format!("{text}\n"))?);
    }
    let mut differ = Vec::new();
    for (key, told) in &story.answers {
        let Some(shown) = shown.get(key) else {
            continue;
        };
        let same = match OF_THE_MOMENT.contains(&key.as_str()) {
            true => alike(&shape(told), &shape(shown)),
            false => told == shown,
        };
        if !same {
            differ.push(format!("{key}: shown {shown}, told {told}"));
        }
    }
    ensure!(
        differ.is_empty(),
        "RECORD_ANSWERS=1 records these: {differ:#?}"
    );
    Ok(())
}
