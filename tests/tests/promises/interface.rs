//! The HTTP interface keeps to its own document, with a real database and a real Redis behind it.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::{Method, StatusCode};
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::Player,
    cluster::{Cluster, Plan},
    http::{self, Answer},
};

/// The operators' code.
pub(crate) const ADMIN_CODE: &str = "a-code-for-operators-0123456789";
/// Longest time for each run of schemathesis, in seconds.
const LOOK_S: u64 = 25;

/// Somebody with a token, or without.
pub(crate) struct Caller<'a> {
    pub(crate) gateway: &'a str,
    pub(crate) token: Option<String>,
}

impl Caller<'_> {
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answer> {
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut headers = Vec::new();
        if let Some(bearer) = &bearer {
            headers.push(("authorization", bearer.as_str()));
        }
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        http::send(self.gateway, method, path, &headers, Bytes::from(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        let answer = self.ask(Method::GET, path, None).await?;
        ensure!(
            answer.status == 200,
            "{path}: {} {}",
            answer.status,
            answer.text()
        );
        answer.json()
    }

    /// Checks that the gateway refuses a request, with this status, by a problem document.
    pub(crate) async fn refused(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        (status, code): (u16, &str),
    ) -> Result<()> {
        let answer = self.ask(method, path, body).await?;
        let kind = answer.headers.get("content-type").cloned();
        let said = answer.text();
        ensure!(answer.status == status, "{path}: {} {said}", answer.status);
        ensure!(
            kind.as_ref()
                .is_some_and(|kind| kind == "application/problem+json"),
            "{path}: {kind:?}"
        );
        let document = answer.json()?;
        ensure!(
            document["code"] == code && document["instance"] == path,
            "{path}: {said}"
        );
        Ok(())
    }
}

/// Returns a new anonymous account's token.
pub(crate) async fn somebody(gateway: &str) -> Result<String> {
    let nobody = Caller {
        gateway,
        token: None,
    };
    let made = nobody
        .ask(Method::POST, "/api/auth/anonymous", Some(json!({})))
        .await?;
    let token = made.json()?["token"].as_str().map(str::to_owned);
    token.with_context(|| made.text())
}

/// Makes a new account the first operator, and returns its token.
pub(crate) async fn operator(gateway: &str) -> Result<String> {
    let token = somebody(gateway).await?;
    let first = Caller {
        gateway,
        token: Some(token.clone()),
    };
    let asked = json!({"adminCode": ADMIN_CODE});
    let made = first
        .ask(Method::POST, "/api/auth/operator", Some(asked))
        .await?;
    ensure!(made.json()?["roles"] == json!(["admin"]), "{}", made.text());
    Ok(token)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schemathesis_finds_nothing_wrong() {
    let plan = Plan::new("schemathesis").env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan).await.unwrap();
    looked_at(&cluster).await.unwrap();
}

async fn looked_at(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    methods_are_those_of_the_document(&gateway).await?;
    let owner = Owner::new(&gateway).await?;
    // Neither operations that would end the token, nor those that are no request and an answer.
    let rest = "^/admin/|^/api/auth/(logout|operator)$|^/ws$";
    let rest = (&["--exclude-path-regex", rest][..], 60);
    look(&gateway, &owner.token, rest, &owner.known()).await?;
    // Records and profiles take as long as they are asked to, and it waits ten seconds. The operator's
    // tool asks for them, well and badly.
    let slow = ["--exclude-path-regex", "/(record|profile)$"];
    let admin = ["--include-path-regex", "^/admin/", slow[0], slow[1]];
    let admin = (&admin[..], 10);
    look(&gateway, &operator(&gateway).await?, admin, &owner.known()).await?;
    let last = ["--include-path-regex", "^/api/auth/(logout|operator)$"];
    let last = (&last[..], 2);
    look(&gateway, &somebody(&gateway).await?, last, &owner.known()).await
}

/// An account that has something of everything, so that its ids mean something.
struct Owner {
    token: String,
    account: String,
    character: String,
    agent: String,
    credential: String,
}

impl Owner {
    async fn new(gateway: &str) -> Result<Self> {
        let token = somebody(gateway).await?;
        let caller = Caller {
            gateway,
            token: Some(token.clone()),
        };
        let made = async |path: &str, body: Value, at: &str| {
            let made = caller.ask(Method::POST, path, Some(body)).await?;
            let told = made.json()?;
            let id = told.pointer(at).and_then(Value::as_str).map(str::to_owned);
            id.with_context(|| format!("{path}: {told}"))
        };
        let name = json!({"name": "Schema"});
        let character = made("/api/character", name, "/character/id").await?;
        let body = json!({"characterId": character, "agentName": "Schema"});
        let agent = made("/api/agent", body, "/data/agent/id").await?;
        let body = json!({"agentId": agent});
        let credential = made("/api/agent/credentials", body, "/credentialId").await?;
        let whole = caller.get("/api/v1/player").await?;
        Ok(Self {
            account: whole["account"]["id"]
                .as_str()
                .context("account")?
                .to_owned(),
            token,
            character,
            agent,
            credential,
        })
    }

    /// Returns values for the parameters of paths: mostly ids of things that exist. For an
    /// operation that would end such a thing for all later ones, the values are others' ids.
    fn known(&self) -> String {
        let mut text = "[dictionaries]\n".to_owned();
        for (name, id) in [
            ("accounts", &self.account),
            ("characters", &self.character),
            ("agents", &self.agent),
            ("credentials", &self.credential),
        ] {
            text += &format!("{name} = {{ values = [\"{id}\"] }}\n");
        }
        for (path, methods, parameter, name) in [
            (
                "^/api/characters?/\\\\{id\\\\}",
                "GET\", \"PATCH",
                "id",
                "characters",
            ),
            (
                "^/api/agents?/.*\\\\{agentId\\\\}",
                "GET\", \"POST",
                "agentId",
                "agents",
            ),
            ("^/api/agents?/mappings/", "GET", "id", "accounts"),
            ("^/api/agents?/credentials/", "DELETE", "id", "credentials"),
            ("^/admin/users/", "GET\", \"PUT", "id", "accounts"),
            (
                "^/admin/(players|quarantine)/",
                "GET\", \"DELETE",
                "id",
                "characters",
            ),
        ] {
            text += &format!(
                "[[operations]]\ninclude-path-regex = \"{path}\"\n\
                 include-method = [\"{methods}\"]\n\
                 parameters = {{ \"path.{parameter}\" = \
                 {{ dictionary = \"{name}\", probability = 0.6 }} }}\n"
            );
        }
        text
    }
}

/// Runs schemathesis over the chosen part of a running gateway's document, with this configuration.
/// It must try so many operations at least, and goes on for longer on a slow machine.
async fn look(
    gateway: &str,
    token: &str,
    (which, least): (&[&str], usize),
    known: &str,
) -> Result<()> {
    let said = look_for(LOOK_S, gateway, token, which, known).await?;
    if all_looked_at(&said, least).is_ok() {
        return Ok(());
    }
    let said = look_for(LOOK_S * 4, gateway, token, which, known).await?;
    all_looked_at(&said, least)
}

/// Runs it for so many seconds at most; returns its output. An error, if it found anything.
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn look_for(
    seconds: u64,
    gateway: &str,
    token: &str,
    which: &[&str],
    known: &str,
) -> Result<String> {
    let program = std::env::var_os("SCHEMATHESIS").map(PathBuf::from);
    let program = program.context(
        "SCHEMATHESIS does not name the program; tests/run installs it, or do: \
         python3 -m venv V && V/bin/pip install schemathesis, SCHEMATHESIS=V/bin/schemathesis",
    )?;
    let folder = std::env::temp_dir().join(format!("schemathesis-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("schemathesis.toml"), known)?;
    let mut command = Command::new("timeout");
    command
        .args(["-s", "KILL", &(seconds * 4).to_string()])
        .arg(program);
    command
        .args(["run", &format!("http://{gateway}/openapi.json")])
        .args(["--header", &format!("Authorization: Bearer {token}")])
        .args([
            "--phases",
            "examples,coverage,fuzzing",
            "--max-examples",
            "12",
        ])
        .args([
            "--max-time",
            &seconds.to_string(),
            "--workers",
            "1",
            "--no-color",
        ])
        .args([
            "--continue-on-failure",
            "--max-failures",
            "20",
            "--no-shrink",
        ])
        .args([
            "--seed",
            "7",
            "--generation-database",
            "none",
            "--warnings",
            "off",
        ])
        .args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,\
             response_schema_conformance,response_headers_conformance,\
             negative_data_rejection,unsupported_method,allow_header_conformance",
        ])
        .args(which)
        .current_dir(&folder)
        .stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output()).await??;
    // Nobody needs the files that it leaves there.
    let _ = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{:?}\n{said}\n{complaint}",
        output.status
    );
    Ok(said.into_owned())
}

/// Checks that the run tried every chosen operation: one that it left out proves nothing.
fn all_looked_at(said: &str, least: usize) -> Result<()> {
    let number = |name: &str| {
        let line = said.lines().find_map(|line| line.trim().strip_prefix(name));
        let word = line.and_then(|line| line.trim().split('/').next());
        word.and_then(|word| word.parse::<usize>().ok())
    };
    let (selected, tested) = (number("Selected:"), number("Tested:"));
    ensure!(
        selected.is_some_and(|all| all >= least),
        "it chose {selected:?}: {said}"
    );
    ensure!(
        selected == tested,
        "of {selected:?} it tried {tested:?}: {said}"
    );
    Ok(())
}

/// Checks that each path answers just the methods of the document: it refuses others, and names the
/// possible ones in `Allow`.
async fn methods_are_those_of_the_document(gateway: &str) -> Result<()> {
    let nobody = Caller {
        gateway,
        token: None,
    };
    let document = nobody.get("/openapi.json").await?;
    let paths = document["paths"].as_object().context("no paths")?;
    ensure!(paths.len() > 40, "only {} paths", paths.len());
    for (path, methods) in paths {
        let real = path.replace("{x}", "0").replace("{z}", "0");
        let real = real.replace(['{', '}'], "");
        let answer = nobody.ask(Method::OPTIONS, &real, None).await?;
        ensure!(
            answer.status == StatusCode::NO_CONTENT,
            "OPTIONS {path}: {}",
            answer.status
        );
        let allow = answer
            .headers
            .get("allow")
            .and_then(|allow| allow.to_str().ok());
        let mut allowed: Vec<String> = allow
            .with_context(|| format!("{path} says nothing of methods"))?
            .split(',')
            .map(|method| method.trim().to_lowercase())
            .filter(|method| method != "head")
            .collect();
        allowed.sort_unstable();
        let mut described: Vec<&String> = methods.as_object().context("methods")?.keys().collect();
        described.sort_unstable();
        ensure!(
            allowed.iter().eq(described),
            "{path}: {allowed:?} are answered"
        );
        let trace = Method::from_bytes(b"PURGE")?;
        nobody
            .refused(trace, &real, None, (405, "method_not_allowed"))
            .await?;
    }
    nobody
        .refused(Method::GET, "/nowhere", None, (404, "not_found"))
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_sees_and_changes_what_is_its_own() {
    let plan = Plan::new("own_data").env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan).await.unwrap();
    own_data(&cluster).await.unwrap();
    somebody_elses(&cluster).await.unwrap();
}

async fn own_data(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let ann = Caller {
        token: Some(somebody(&gateway).await?),
        gateway: &gateway,
    };
    let made = ann
        .ask(Method::POST, "/api/v1/player", Some(json!({"name": "Ann"})))
        .await?;
    ensure!(made.status == 201, "{}", made.text());
    let id = made.json()?["character"]["id"]
        .as_str()
        .context("id")?
        .to_owned();
    for path in ["/api/character", "/api/characters"] {
        ensure!(ann.get(path).await?["characters"][0]["id"] == id.as_str());
    }
    let one = format!("/api/characters/{id}");
    let record = ann.get(&one).await?;
    ensure!(record["character"]["constitutionLevel"] == 10, "{record}");
    let skills = ann.get(&format!("{one}/skills")).await?;
    ensure!(
        skills["skills"]["constitution"] == json!({"level": 10, "xp": 1154.0}),
        "{skills}"
    );
    let nowhere = ann.get(&format!("{one}/position")).await?;
    ensure!(
        nowhere == json!({"success": true, "online": false, "position": null}),
        "{nowhere}"
    );
    let renamed = ann
        .ask(Method::PATCH, &one, Some(json!({"name": "Anna"})))
        .await?;
    ensure!(
        renamed.json()?["character"]["name"] == "Anna",
        "{}",
        renamed.text()
    );
    for what in ["inventory", "equipment", "bank", "statistics", "sessions"] {
        let answer = ann.get(&format!("/api/player/{what}")).await?;
        ensure!(answer["characterId"] == id.as_str(), "{what}: {answer}");
    }
    let wrong = Some(json!({"name": 7}));
    ann.refused(
        Method::POST,
        "/api/character",
        wrong,
        (400, "invalid_request"),
    )
    .await?;
    let other = Some(json!({"name": "ANNA"}));
    ann.refused(Method::POST, "/api/character", other, (409, "name_taken"))
        .await?;
    let gone = ann.ask(Method::DELETE, &one, None).await?;
    ensure!(gone.status == 200, "{}", gone.text());
    ann.refused(Method::GET, &one, None, (404, "not_found"))
        .await
}

/// Checks the answers about Bob, who plays, to others, to operators and to himself.
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn somebody_elses(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let bob = Player::arrive(&gateway, Format::Json, "Bob").await?;
    let (id, (x, z)) = (bob.id()?, bob.position()?);
    let other = Caller {
        token: Some(somebody(&gateway).await?),
        gateway: &gateway,
    };
    let one = format!("/api/character/{id}");
    for (method, path) in [
        (Method::GET, one.clone()),
        (Method::DELETE, one.clone()),
        (Method::GET, format!("{one}/position")),
        (Method::GET, format!("/api/characters/{id}")),
        (Method::GET, "/api/player/inventory".to_owned()),
        (Method::GET, "/api/player/equipment".to_owned()),
        (Method::GET, "/api/player/bank".to_owned()),
        (Method::GET, "/api/player/statistics".to_owned()),
        (Method::GET, "/api/player/sessions".to_owned()),
        (Method::PATCH, one.clone()),
        (Method::POST, "/api/v1/player".to_owned()),
    ] {
        let own = path.starts_with("/api/player");
        let asked = if own {
            format!("{path}?characterId={id}")
        } else {
            path.clone()
        };
        let body = match method {
            Method::PATCH => Some(json!({"name": "Mine"})),
            Method::POST => Some(json!({"name": "Mine", "characterId": id})),
            _ => None,
        };
        let answer = other.ask(method, &asked, body).await?;
        ensure!(answer.status == 403, "{path}: {}", answer.text());
        ensure!(
            answer.json()?["code"] == "not_your_character",
            "{}",
            answer.text()
        );
    }
    let operator = Caller {
        token: Some(operator(&gateway).await?),
        gateway: &gateway,
    };
    let seen = operator.get(&format!("{one}/position")).await?;
    ensure!(seen["online"] == true, "{seen}");
    ensure!(
        seen["position"]["x"] == x && seen["position"]["z"] == z,
        "{seen}"
    );
    let whole = operator.get(&format!("/admin/players/{id}")).await?;
    ensure!(whole["sessions"][0]["logoutAt"].is_null() && whole["player"]["name"] == "Bob");
    let account = whole["account"]["id"]
        .as_str()
        .context("account")?
        .to_owned();
    let found = operator
        .get(&format!("/admin/users?search={account}"))
        .await?;
    ensure!(found["pagination"]["total"] == 1, "{found}");
    other
        .refused(Method::GET, "/admin/stats", None, (403, "role_required"))
        .await?;
    let nobody = Caller {
        token: None,
        gateway: &gateway,
    };
    nobody
        .refused(Method::GET, "/admin/stats", None, (401, "token_required"))
        .await?;
    tokio::time::timeout(Duration::from_secs(20), async {
        // Zones are asked at most once a second.
        loop {
            let world = other.get("/api/v1/world").await?;
            let regions = world["regions"].as_array().context("regions")?;
            let npcs = regions.iter().filter_map(|region| region["npcs"].as_u64());
            if world["players"] == 1 && npcs.sum::<u64>() > 0 {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    })
    .await
    .context("the world never showed Bob")?
}
