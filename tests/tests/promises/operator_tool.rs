//! `tilestead` as the operator's tool: the real program logs in at a real cluster, looks at it, freezes
//! it, drains a zone of it, and tells strangers no.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::Player,
    cluster::{
        Cluster, Plan,
        launcher::DataFolder,
        process::{binary, workspace},
    },
};

use super::interface::{ADMIN_CODE, Caller, operator, somebody};

/// Time for which a command is given again.
const PATIENCE: Duration = Duration::from_secs(60);
const NAME: &str = "the.operator";
const WORDS: &str = "seven brass lanterns";

/// The program, in a home of its own.
struct Tool<'c> {
    home: DataFolder,
    url: String,
    database: &'c str,
}

/// What the program said, and its exit code.
struct Said {
    out: String,
    wrong: String,
    code: Option<i32>,
}

impl Said {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            out: text(&output.stdout),
            wrong: text(&output.stderr),
            code: output.status.code(),
        }
    }

    fn well(self) -> Result<String> {
        ensure!(self.code == Some(0), "{:?}: {}", self.code, self.wrong);
        Ok(self.out)
    }

    fn refused(self, code: i32, why: &str) -> Result<()> {
        let right = self.code == Some(code) && self.wrong.contains(why);
        ensure!(right, "{:?}: {} {}", self.code, self.out, self.wrong);
        ensure!(self.wrong.lines().count() == 1, "{}", self.wrong);
        Ok(())
    }
}

impl Tool<'_> {
    /// Runs the program with these arguments and this on its standard input.
    async fn hears(&self, arguments: &[&str], said: &str) -> Result<Said> {
        let mut command = Command::new(binary("tilestead")?);
        command
            .args(arguments)
            .env_remove("TILESTEAD_TOKEN")
            .env("TILESTEAD_URL", &self.url)
            .env("XDG_CONFIG_HOME", self.home.path())
            .env("DATABASE_URL", self.database)
            .env("LOG_LEVEL", "error")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let said = said.to_owned();
        let ran = tokio::task::spawn_blocking(move || -> Result<Output> {
            let mut child = command.spawn()?;
            let mut stdin = child.stdin.take().context("a standard input")?;
            // Who does not read it ended before.
            let _ = stdin.write_all(said.as_bytes());
            drop(stdin);
            Ok(child.wait_with_output()?)
        });
        Ok(Said::of(&ran.await??))
    }

    /// Runs a command again while the store does not answer: a busy machine on which the functions of a
    /// profile are being named may leave it no time.
    async fn hears_in_time(&self, arguments: &[&str], said: &str) -> Result<Said> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let heard = self.hears(arguments, said).await?;
            let away = heard.wrong.contains("(storage_unavailable)");
            if !away || Instant::now() >= deadline {
                return Ok(heard);
            }
        }
    }

    async fn says(&self, arguments: &[&str]) -> Result<String> {
        let said = self.hears_in_time(arguments, "").await?.well();
        said.with_context(|| arguments.join(" "))
    }

    async fn json(&self, arguments: &[&str]) -> Result<Value> {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        Ok(serde_json::from_str(&self.says(&all).await?)?)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_looks_freezes_and_drains_from_the_command_line() {
    let plan = Plan::new("operator-tool")
        .of(1, 2, 1)
        .env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan).await.unwrap();
    story(&cluster).await.unwrap();
}

async fn story(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let tool = Tool {
        home: DataFolder::new("operator-tool")?,
        url: format!("http://{gateway}"),
        database: cluster.database_url(),
    };
    let token = operator(&gateway).await?;
    has_a_password(&gateway, token, NAME).await?;
    let ann = Player::arrive(&gateway, Format::Json, "Ann").await?;

    strangers(&tool, &gateway).await.context("strangers")?;
    let login = format!("{WORDS}\n");
    let said = tool.hears(&["login", NAME], &login).await?.well()?;
    ensure!(said.contains("the role admin"), "{said}");
    looks(&tool).await.context("looking")?;
    freezes(&tool).await.context("the freeze")?;
    records(&tool, &ann).await.context("a record")?;
    profiles(&tool).await.context("a profile")?;
    measures(&tool, &gateway).await.context("bots")?;
    pauses(&tool).await.context("a pause")?;
    drains(&tool).await.context("draining")?;
    drop(ann);

    let said = tool.says(&["check"]).await.context("check")?;
    ensure!(said.contains("coins"), "{said}");
    tool.says(&["logout"]).await?;
    let over = tool.hears(&["status"], "").await?;
    over.refused(64, "nobody is logged in")
}

async fn has_a_password(gateway: &str, token: String, name: &str) -> Result<()> {
    let caller = Caller {
        gateway,
        token: Some(token),
    };
    let body = json!({"name": name, "password": WORDS});
    let made = caller
        .ask(Method::POST, "/api/account/password", Some(body))
        .await?;
    ensure!(made.status == 200, "{}", made.text());
    Ok(())
}

/// Nobody comes in without a login, with a wrong password, or without a role.
async fn strangers(tool: &Tool<'_>, gateway: &str) -> Result<()> {
    let status = tool.hears(&["status"], "").await?;
    status.refused(64, "tilestead login")?;
    let wrong = tool
        .hears(&["login", NAME], "eleven brass lanterns\n")
        .await?;
    wrong.refused(1, "Nobody has this name with this password")?;
    has_a_password(gateway, somebody(gateway).await?, "a.player").await?;
    let login = format!("{WORDS}\n");
    let player = tool.hears(&["login", "a.player"], &login).await?.well()?;
    ensure!(player.contains("no role"), "{player}");
    for asked in [
        &["zones"][..],
        &["freeze", "on"],
        &["drain", "1"],
        &["pause", "0,0"],
    ] {
        tool.hears(asked, "").await?.refused(1, "(role_required)")?;
    }
    let nowhere = ["status", "--url", "http://127.0.0.1:1"];
    let nowhere = tool.hears(&nowhere, "").await?;
    nowhere.refused(64, "nobody is logged in")?;
    let top = tool.hears(&["top"], "").await?;
    top.refused(64, "top needs a terminal")
}

async fn looks(tool: &Tool<'_>) -> Result<()> {
    let status = tool.says(&["status"]).await?;
    ensure!(status.contains("players in the world"), "{status}");
    let zones = tool.json(&["zones"]).await?;
    ensure!(
        zones["zones"].as_array().map(Vec::len) == Some(2),
        "{zones}"
    );
    let regions = tool.says(&["zones", "--regions"]).await?;
    let known = zones["regions"].as_array().context("regions")?.len();
    // Headings, the zones, a gap, headings, the regions.
    ensure!(regions.lines().count() == known + 5, "{regions}");
    let players = tool.says(&["players"]).await?;
    ensure!(
        players.contains("Ann") && players.contains("1 in all"),
        "{players}"
    );
    let ledger = tool
        .json(&["ledger", "--item", "coins", "--limit", "5"])
        .await?;
    let entries = ledger["entries"].as_array().context("entries")?;
    ensure!(
        entries.iter().any(|row| row["cause"] == json!("starter")),
        "{ledger}"
    );
    let text = tool.says(&["ledger"]).await?;
    ensure!(
        text.contains("starter") && text.contains("page 1 of"),
        "{text}"
    );
    let completions = tool.says(&["completions", "bash"]).await?;
    ensure!(completions.contains("drain"), "{completions}");
    let pages = tool.home.path().join("man");
    tool.says(&["man", &pages.to_string_lossy()]).await?;
    ensure!(
        pages.join("tilestead-drain.1").is_file(),
        "no page of drain"
    );
    Ok(())
}

async fn freezes(tool: &Tool<'_>) -> Result<()> {
    for (asked, frozen, changed) in [
        ("on", true, true),
        ("on", true, false),
        ("off", false, true),
    ] {
        let answer = tool.json(&["freeze", asked]).await?;
        let expected = json!({"frozen": frozen, "changed": changed});
        ensure!(answer == expected, "{asked}: {answer}");
        let now = tool.says(&["freeze"]).await?;
        ensure!(now.contains("are frozen") == frozen, "{now}");
    }
    Ok(())
}

/// The next ticks of the zone that plays Ann, played again on this machine.
async fn records(tool: &Tool<'_>, ann: &Player) -> Result<()> {
    let zones = tool.json(&["zones"]).await?;
    let regions = zones["regions"].as_array().context("regions")?;
    let hers = regions.iter().find(|region| region["players"] == json!(1));
    let zone = hers.context("nobody is seen")?["zone"].as_str();
    let zone = zone.context("nobody plays Ann's region")?;
    let out = tool.home.path().join("zone.record");
    let out = out.to_string_lossy();
    let asked = ["record", zone, "--ticks", "10", "--out", &*out];
    let walks = async { ann.ask("player:move", &json!({ "stop": true })).await };
    let (said, _) = tokio::try_join!(tool.says(&asked), walks)?;
    ensure!(said.contains("zone-server replay --step"), "{said}");
    let played = Command::new(binary("zone-server")?)
        .args(["replay", "--step", &*out])
        .current_dir(workspace())
        .output()?;
    let played = Said::of(&played).well()?;
    ensure!(played.contains("phase inputs"), "{played}");
    ensure!(played.matches("\ntick ").count() >= 9, "{played}");
    ensure!(played.contains("runs through"), "{played}");
    let none = tool.hears(&["record", "4711", "--out", &*out], "").await?;
    ensure!(
        none.code == Some(1) && none.wrong.contains("No such zone lives"),
        "{}",
        none.wrong
    );
    Ok(())
}

/// Where a zone and the gateway spend their time, as a picture and as text.
async fn profiles(tool: &Tool<'_>) -> Result<()> {
    let zones = tool.json(&["zones"]).await?;
    let zone = zones["zones"][0]["id"].as_str().context("a zone")?;
    let file = |name: &str| tool.home.path().join(name).to_string_lossy().into_owned();
    let (first, second) = (file("first.svg"), file("second.svg"));
    let of = |out| ["profile", zone, "--seconds", "3", "--out", out];
    let (one, other) = (of(&first), of(&second));
    let (one, other) = tokio::try_join!(tool.hears(&one, ""), tool.hears(&other, ""))?;
    // One at a time: whoever comes second is told so, and gets no file.
    let (taken, out, refused, none) = match one.code {
        Some(0) => (one, first, other, second),
        _ => (other, second, one, first),
    };
    ensure!(taken.well()?.contains(&format!("samples of zone {zone}")));
    ensure!(
        refused.wrong.contains("Another profile"),
        "{}",
        refused.wrong
    );
    ensure!(std::fs::read_to_string(&out)?.starts_with("<svg "), "{out}");
    ensure!(!std::path::Path::new(&none).exists(), "{none}");

    let out = file("gateway.txt");
    let asked = ["profile", "--seconds", "3", "--out", &*out];
    // The gateway works until the profile ends, whenever that begins.
    let busy = async {
        loop {
            if let Err(failed) = tool.json(&["status"]).await {
                break failed;
            }
        }
    };
    tokio::select! {
        profiled = tool.says(&asked) => profiled.map(drop)?,
        failed = busy => return Err(failed),
    }
    let stacks = std::fs::read_to_string(&out)?;
    ensure!(stacks.contains("gateway::http"), "{stacks}");
    let none = tool.hears(&["profile", "4711", "--out", &*out], "").await?;
    ensure!(none.wrong.contains("No such zone lives"), "{}", none.wrong);
    profiles_a_store(tool).await
}

/// Where a persistence service spends its time: the first one, and one by its address.
async fn profiles_a_store(tool: &Tool<'_>) -> Result<()> {
    let out = tool.home.path().join("store.txt");
    let out = out.to_string_lossy();
    let first = ["profile", "store", "--seconds", "3", "--out", &*out];
    let said = tool.says(&first).await?;
    let address = said.split(" of store ").nth(1);
    let address = address.and_then(|rest| rest.split(' ').next());
    let address = address.with_context(|| said.clone())?;
    ensure!(std::path::Path::new(&*out).exists(), "{out}");
    let picture = tool.home.path().join("store.svg");
    let picture = picture.to_string_lossy();
    let by = [
        "profile",
        "store",
        address,
        "--seconds",
        "1",
        "--out",
        &*picture,
    ];
    ensure!(tool.says(&by).await?.contains(address));
    ensure!(std::fs::read_to_string(&*picture)?.starts_with("<svg "));
    for (asked, code, why) in [
        (
            &["profile", "store", "127.0.0.1:1"][..],
            1,
            "No such persistence service is known",
        ),
        (
            &["profile", "7", "127.0.0.1:1"],
            64,
            "only a store is named by an address",
        ),
    ] {
        let refused = tool.hears(asked, "").await?;
        let right = refused.code == Some(code) && refused.wrong.contains(why);
        ensure!(right, "{:?}: {}", refused.code, refused.wrong);
    }
    Ok(())
}

/// Bots play, and the exit code says whether that went as it should.
async fn measures(tool: &Tool<'_>, gateway: &str) -> Result<()> {
    let at = format!("ws://{gateway}/ws");
    let file = tool.home.path().join("bots.json");
    let file = file.to_string_lossy();
    let bench = |slo| {
        let asked = "bench --players 2 --ramp 1s --for 5s --scenario steps --gateways";
        let words = asked
            .split(' ')
            .chain([&*at, "--slo", slo, "--summary", &*file]);
        words.collect::<Vec<_>>()
    };
    let good = tool
        .says(&bench("connected>=2,failed=0,gaps=0,moves>0"))
        .await?;
    ensure!(!good.contains("missed"), "{good}");
    let summary: Value = serde_json::from_slice(&std::fs::read(&*file)?)?;
    ensure!(summary["players"] == json!(2), "{summary}");
    let bad = tool.hears(&bench("connected>2"), "").await?;
    ensure!(
        bad.code == Some(1) && bad.out.contains("missed"),
        "{}",
        bad.out
    );
    let none = tool
        .hears(&["bench", "--gateways", "ws://127.0.0.1:1/ws"], "")
        .await?;
    ensure!(none.code == Some(3), "{:?}: {}", none.code, none.wrong);
    Ok(())
}

/// A region is let go by its zone, and played again.
async fn pauses(tool: &Tool<'_>) -> Result<()> {
    let of = async |what: &str| {
        let zones = tool.json(&["zones"]).await?;
        let all = zones["regions"].as_array().context("regions")?;
        anyhow::Ok(all.first().context(what.to_owned())?.clone())
    };
    let first = of("a region").await?;
    let place = format!("{},{}", first["x"], first["z"]);
    for before in ["is paused:", "is paused (as before):"] {
        let said = tool.says(&["pause", &place]).await?;
        ensure!(said.contains(before), "{said}");
    }
    let now = of("the region").await?;
    ensure!(now["paused"] == true && now["zone"].is_null(), "{now}");
    let listed = tool.says(&["zones", "--regions"]).await?;
    ensure!(listed.contains("paused, nobody plays it"), "{listed}");
    for word in ["may be played again", "was not paused"] {
        let said = tool.says(&["resume", &place]).await?;
        ensure!(said.contains(word), "{said}");
    }
    let none = tool.hears(&["pause", "4000,4000"], "").await?;
    none.refused(1, "The world has no such region")
}

/// One of the two zones gives all that it has to the other one.
async fn drains(tool: &Tool<'_>) -> Result<()> {
    let zones = tool.json(&["zones"]).await?;
    let id = zones["zones"][0]["id"]
        .as_str()
        .context("a zone")?
        .to_owned();
    let said = tool.says(&["drain", &id]).await?;
    ensure!(said.contains("has no region any more"), "{said}");
    let after = tool.json(&["zones"]).await?;
    let regions = after["regions"].as_array().context("regions")?;
    ensure!(!regions.is_empty(), "{after}");
    ensure!(
        regions.iter().all(|region| region["zone"] != json!(id)),
        "{after}"
    );
    let none = tool.hears(&["drain", "4711"], "").await?;
    none.refused(1, "No such zone lives")
}
