//! A real gateway answers as its document says. In one story over HTTP every operation of the
//! document that answers with JSON succeeds once, and each answer fits its schema.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result, anyhow, ensure};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::Player,
    cluster::{Cluster, Plan},
};

use crate::interface::{ADMIN_CODE, Caller, operator, somebody};

/// Both names of a family have the same answers.
const FAMILIES: [(&str, &str); 4] = [
    ("/api/agents", "/api/agent"),
    ("/api/characters", "/api/character"),
    ("/api/players", "/api/player"),
    ("/api/templates", "/api/template"),
];
/// Operations that other tests ask, with the place of these tests.
const ELSEWHERE: [&str; 2] = [
    // With an identity provider nobody is anonymous: gateway/tests/clients/login.rs.
    "post /api/auth/login 200",
    // Only a launcher's world may be broken for trial: console_chaos.rs.
    "post /admin/chaos 202",
];
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_operation_answers_as_the_document_says() {
    let plan = Plan::new("answers")
        .env("ADMIN_CODE", ADMIN_CODE)
        .env("VOICE_API_KEY", "a-key")
        .env("VOICE_API_SECRET", "a-secret-of-the-voice-server")
        .env("VOICE_URL", "wss://voice.example");
    let cluster = Cluster::start(plan).await.unwrap();
    told(&cluster).await.unwrap();
}

/// The document, and which of its answers were given so far: by method, path and status.
struct Story<'a> {
    gateway: &'a str,
    document: Value,
    answers: BTreeSet<String>,
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
    /// Asks; checks that the answer is a success, and as the document says.
    async fn ask(
        &mut self,
        who: &Caller<'_>,
        method: &str,
        (path, ids): (&str, &[&str]),
        body: Option<Value>,
    ) -> Result<Value> {
        self.asked(who, method, (path, ""), ids, body).await
    }

    /// Asks as [`Story::ask`] does, with a query.
    async fn asked(
        &mut self,
        who: &Caller<'_>,
        method: &str,
        (path, query): (&str, &str),
        ids: &[&str],
        body: Option<Value>,
    ) -> Result<Value> {
        let mut ids = ids.iter();
        let real = path.split('/').map(|part| match part.starts_with('{') {
            true => ids.next().copied().unwrap_or("?"),
            false => part,
        });
        let real = real.collect::<Vec<_>>().join("/") + query;
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
        let faults = misfits(&self.document, schema, &told)?;
        ensure!(faults.is_empty(), "{key}: {faults:#?} in {told}");
        self.answers.insert(key);
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
fn misfits(document: &Value, schema: &Value, value: &Value) -> Result<Vec<String>> {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(&schema).map_err(|why| anyhow!("{why}"))?;
    let faults = validator.iter_errors(value);
    Ok(faults
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect())
}

/// Returns every answer of the document with a JSON body that it describes, by method, path and
/// status.
fn described(document: &Value) -> Result<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().context("paths")? {
        for (method, operation) in methods.as_object().context("methods")? {
            for (status, answer) in operation["responses"].as_object().context("responses")? {
                let schema = answer.pointer("/content/application~1json/schema");
                let any = schema
                    .and_then(Value::as_object)
                    .is_none_or(|schema| schema.is_empty());
                if !any {
                    all.insert(format!("{method} {} {status}", singular(path)));
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
        answers: BTreeSet::new(),
    };
    everybody(&mut story, &nobody).await?;
    passwords(&mut story, &nobody).await?;
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
    story.get(&ann, "/api/account/export", &[]).await?;
    let page = format!("?characterId={anna}");
    let asked = ("/api/account/ledger", page.as_str());
    story.asked(&ann, "get", asked, &[], None).await?;
    agents(&mut story, &ann).await?;
    operators(&mut story, cluster, &anna).await?;
    drop(player);
    nothing_is_left_out(&story)
}

async fn everybody(story: &mut Story<'_>, nobody: &Caller<'_>) -> Result<()> {
    for path in [
        "/health",
        "/status",
        "/hiscores",
        "/api/data/skill-unlocks",
        "/world/terrain.json",
    ] {
        story.get(nobody, path, &[]).await?;
    }
    story.get(nobody, "/hiscores/{skill}", &["cooking"]).await?;
    story
        .post(nobody, "/api/auth/anonymous", &[], json!({}))
        .await?;
    Ok(())
}

/// Gives an account a password, logs in with it, changes it, and recovers by a code.
async fn passwords(story: &mut Story<'_>, nobody: &Caller<'_>) -> Result<()> {
    let (first, second) = ("correct horse battery", "another horse battery");
    let cat = Caller {
        gateway: story.gateway,
        token: Some(somebody(story.gateway).await?),
    };
    let credentials = json!({"name": "cat", "password": first});
    let path = "/api/account/password";
    story.post(&cat, path, &[], credentials.clone()).await?;
    story
        .post(nobody, "/api/auth/password", &[], credentials)
        .await?;
    let change = json!({"password": first, "newPassword": second});
    let changed = story.ask(&cat, "put", (path, &[]), Some(change)).await?;
    let recovery = json!({
        "name": "cat",
        "recoveryCode": changed["recoveryCodes"][0],
        "password": first,
    });
    let recovered = story
        .post(nobody, "/api/auth/recover", &[], recovery)
        .await?;
    let renewal = json!({"refreshToken": recovered["refreshToken"]});
    story.post(nobody, "/api/auth/renew", &[], renewal).await?;
    Ok(())
}

fn id_of(value: &Value) -> Result<String> {
    let id = value
        .as_str()
        .with_context(|| format!("{value} is no id"))?;
    Ok(id.to_owned())
}

/// Makes, renames and deletes characters; returns the id of the one that plays.
async fn characters(story: &mut Story<'_>, ann: &Caller<'_>) -> Result<String> {
    let made = story
        .post(ann, "/api/v1/player", &[], json!({"name": "Ann"}))
        .await?;
    let anna = id_of(&made["character"]["id"])?;
    let body = json!({"characterId": anna, "name": "Anna"});
    story.post(ann, "/api/v1/player", &[], body).await?;
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
    let body = Some(json!({"name": "Beatrice"}));
    story.ask(ann, "patch", (one.0, &one.1), body).await?;
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
    let body = json!({"characterId": wren, "agentName": "Wren"});
    let made = story.post(ann, "/api/agent", &[], body.clone()).await?;
    let agent = id_of(&made["data"]["agent"]["id"])?;
    let account = id_of(&made["data"]["agent"]["character"]["settings"]["accountId"])?;
    // It comes into the world by itself, and hears the messages to it there.
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
    let made = story.post(ann, "/api/agent", &[], body).await?;
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
    let code = json!({"adminCode": ADMIN_CODE});
    story.post(&op, "/api/auth/operator", &[], code).await?;
    let player = story.get(&op, "/admin/players/{id}", &[anna]).await?;
    let account = id_of(&player["account"]["id"])?;
    let name = format!("?name={}", id_of(&player["player"]["name"])?);
    story
        .asked(&op, "get", ("/admin/players", &name), &[], None)
        .await?;
    let roles = Some(json!({"roles": ["moderator"]}));
    let path = ("/admin/users/{id}/roles", [account.as_str()]);
    story.ask(&op, "put", (path.0, &path.1), roles).await?;
    story.get(&op, "/admin/users/{id}", &[&account]).await?;
    // The mute names somebody else, because a muted player gets a notice of it.
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
        "/admin/settings",
        "/admin/chaos",
        "/admin/gateways",
        "/admin/stores",
    ] {
        story.get(&op, path, &[]).await?;
    }
    let kill = json!({"process": "zone-server 1", "fault": "kill", "seconds": 3});
    let refusal = (404, "not_found");
    let path = "/admin/chaos";
    op.refused(Method::POST, path, Some(kill), refusal).await?;
    let there = json!({"x": 3, "z": -4, "reason": "stuck"});
    let path = "/admin/players/{id}/teleport";
    story.post(&op, path, &[anna], there).await?;
    frozen_and_thawed(story, &op).await?;
    held(story, &op, cluster).await?;
    paused_and_resumed(story, &op).await?;
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

async fn paused_and_resumed(story: &mut Story<'_>, op: &Caller<'_>) -> Result<()> {
    let place = json!({"x": 0, "z": 0});
    for act in ["pause", "resume"] {
        for changed in [true, false] {
            let path = format!("/admin/regions/{act}");
            let done = story.post(op, &path, &[], place.clone()).await?;
            let said = json!({"x": 0, "z": 0, "changed": changed});
            ensure!(done == said, "{act}: {done}");
        }
    }
    let nowhere = Some(json!({"x": 4000, "z": 4000}));
    let refusal = (404, "not_found");
    let path = "/admin/regions/pause";
    op.refused(Method::POST, path, nowhere, refusal).await
}

/// Keeps a character out, as the store does if its data are broken.
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

/// Lets one of two zones give all its regions to the other.
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

fn nothing_is_left_out(story: &Story<'_>) -> Result<()> {
    let described = described(&story.document)?;
    let mut told = story.answers.clone();
    told.extend(ELSEWHERE.map(str::to_owned));
    let unseen: Vec<_> = described.difference(&told).collect();
    ensure!(unseen.is_empty(), "no story tells these: {unseen:#?}");
    Ok(())
}
