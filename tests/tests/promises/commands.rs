//! The commands that documents show. A program of ours takes the words and options that they name; a command
//! that only looks is run against a cluster, and the walks with curl are played from their first line to the last.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use proto::client::Format;
use tests::{
    bot::Player,
    cluster::{
        Cluster, Plan,
        launcher::DataFolder,
        process::{binary, workspace},
    },
};

use crate::{
    documents::{documents, settings},
    interface::{ADMIN_CODE, operator},
    shell::{self, Shown},
};

/// No command that is run here takes longer.
const DEADLINE_S: &str = "120";

/// Programs of ours that say by `--help` what they take.
const PROGRAMS: [&str; 8] = [
    "tilestead",
    "gateway",
    "zone-server",
    "persistence-svc",
    "bench",
    "chaos",
    "route-costs",
    "scale",
];

/// Scripts of ours. Those with a program behind them give it their words.
const SCRIPTS: [(&str, Option<&str>); 8] = [
    ("tests/run", None),
    ("tests/fuzz", None),
    ("tests/supply", None),
    ("tests/page", None),
    ("tests/scale/shards", None),
    ("tests/chaos", Some("chaos")),
    ("tests/bench", Some("bench")),
    ("deploy/tool", None),
];

/// Programs of others, and why no test runs them as documents show them.
const FOREIGN: [(&str, &str); 28] = [
    (
        "kubectl",
        "no test has a cluster; tests/run kubernetes renders what it would apply",
    ),
    (
        "helm",
        "no test has a cluster; tests/run kubernetes lints and renders the chart",
    ),
    ("docker", "the build server has no engine of containers"),
    ("systemctl", "the build server has no systemd"),
    ("journalctl", "the build server has no systemd"),
    (
        "psql",
        "the runbook's server is not there; `tests/chaos restore` takes the same steps",
    ),
    ("pg_basebackup", "as psql"),
    ("pg_verifybackup", "as psql"),
    ("pg_archivecleanup", "as psql"),
    ("pg_receivewal", "as psql"),
    ("pg_ctl", "as psql"),
    ("curl", "is run with the whole walk of its page"),
    ("jq", "is run with the whole walk of its page"),
    ("openssl", "makes a secret"),
    (
        "cargo",
        "the words for our programs are checked; the rest builds",
    ),
    ("cat", "is part of every system"),
    ("cd", "is part of the shell"),
    ("chmod", "is part of every system"),
    ("cp", "is part of every system"),
    ("date", "is part of every system"),
    ("echo", "is part of the shell"),
    ("export", "is part of the shell; what it sets is checked"),
    ("install", "is part of every system"),
    ("mkdir", "is part of every system"),
    ("mv", "is part of every system"),
    ("sed", "is part of every system"),
    ("sleep", "is part of every system"),
    ("touch", "is part of every system"),
];

/// Commands that only look, or change nothing that lasts: they are run.
const RUN: [(&str, &str); 20] = [
    ("tilestead", "status"),
    ("tilestead", "zones"),
    ("tilestead", "players"),
    ("tilestead", "ledger"),
    ("tilestead", "freeze"),
    ("tilestead", "check"),
    ("tilestead", "completions"),
    ("tilestead", "man"),
    ("tilestead", "--print-config"),
    ("gateway", "--print-config"),
    ("zone-server", "--print-config"),
    ("zone-server", "check-content"),
    ("persistence-svc", "--print-config"),
    ("persistence-svc", "migrate"),
    ("persistence-svc", "check"),
    ("persistence-svc", "regions"),
    ("persistence-svc", "quarantine"),
    ("persistence-svc", "freeze"),
    ("persistence-svc", "certs"),
    ("persistence-svc", "backup verify"),
];

/// Pages that are played whole, with a real cluster behind their `url`.
const WALKS: [&str; 2] = ["docs/agents.md", "docs/protocol.md"];
/// The address that they name.
const NAMED: &str = "http://localhost:5555";

/// Returns the text of a document's blocks of commands.
fn blocks(text: &str) -> String {
    let (mut shown, mut inside, mut indent) = (String::new(), false, 0);
    for line in text.lines() {
        let word = line.trim_start();
        if word.starts_with("```") {
            inside = word == "```sh";
            indent = line.len() - word.len();
        } else if inside {
            shown.push_str(line.get(indent..).unwrap_or_default());
            shown.push('\n');
        }
    }
    shown
}

/// A command of a document.
struct Found {
    document: PathBuf,
    shown: Shown,
}

/// Returns the commands of all documents, without those that their texts define themselves.
fn found() -> Vec<Found> {
    let mut found = Vec::new();
    for (document, text) in documents() {
        let script = shell::read(&blocks(&text));
        for shown in script.commands {
            let first = shown.words.first();
            if !first.is_some_and(|word| script.functions.contains(word)) {
                let document = document.clone();
                found.push(Found { document, shown });
            }
        }
    }
    assert!(found.len() > 100, "only {} commands", found.len());
    found
}

/// A command by what stands behind its first word.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    /// A program of ours, with its arguments.
    Program(String, Vec<String>),
    /// A script of ours, with its arguments.
    Script(&'static str, Vec<String>),
    Foreign(&'static str),
    /// It only sets variables.
    Nothing,
}

fn owned<'w>(words: impl IntoIterator<Item = &'w String>) -> Vec<String> {
    words.into_iter().cloned().collect()
}

/// Finds the program of a command.
fn meant(words: &[String]) -> Result<Meant> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(Meant::Nothing);
    };
    if first.starts_with('$') {
        // A program that the text itself has found.
        return Ok(Meant::Nothing);
    }
    let first = first.trim_start_matches("./");
    let name = first.rsplit('/').next().unwrap_or(first);
    if first == "cargo" && rest.first().is_some_and(|verb| verb == "run") {
        return Ok(run_by_cargo(rest));
    }
    if let Some((script, program)) = SCRIPTS.iter().find(|(script, _)| *script == first) {
        let exercise = rest.first().is_some_and(|word| !word.starts_with('-'));
        return Ok(match program {
            None => Meant::Script(script, rest.to_vec()),
            Some("chaos") if !exercise => {
                let run = "run".to_owned();
                Meant::Program("chaos".to_owned(), owned(std::iter::once(&run).chain(rest)))
            }
            Some(program) => Meant::Program((*program).to_owned(), rest.to_vec()),
        });
    }
    if PROGRAMS.contains(&name) {
        return Ok(Meant::Program(name.to_owned(), rest.to_vec()));
    }
    let foreign = FOREIGN.iter().find(|(program, _)| *program == first);
    let foreign = foreign.map(|(program, _)| Meant::Foreign(program));
    foreign.with_context(|| format!("{first} is in no table of tests/tests/promises/commands.rs"))
}

/// Finds the program that `cargo run` starts, and the words for it.
fn run_by_cargo(words: &[String]) -> Meant {
    let mut parts = words.splitn(2, |word| word == "--");
    let own = parts.next().unwrap_or_default();
    let passed = parts.next().unwrap_or_default();
    let after = |option: &str| {
        own.windows(2)
            .find(|pair| pair[0] == option)
            .map(|pair| &pair[1])
    };
    let program = after("--bin").or_else(|| after("-p"));
    let program = program.map_or("tilestead", String::as_str);
    Meant::Program(program.to_owned(), passed.to_vec())
}

fn words(command: &str) -> Vec<String> {
    let read = shell::read(command).commands;
    read.into_iter().next().unwrap_or_default().words
}

#[test]
fn a_command_is_known_by_its_program() {
    for (command, program, passed) in [
        ("cargo run --release", "tilestead", &[][..]),
        (
            "cargo run -p zone-server -- check-content x",
            "zone-server",
            &["check-content", "x"],
        ),
        (
            "cargo run -p tests --bin route-costs -- --rows 9",
            "route-costs",
            &["--rows", "9"],
        ),
        ("target/release/gateway &", "gateway", &[]),
        ("./tests/chaos --seed 7", "chaos", &["run", "--seed", "7"]),
        ("tests/chaos kills", "chaos", &["kills"]),
    ] {
        let passed = passed.iter().map(|word| (*word).to_owned()).collect();
        let expected = Meant::Program(program.to_owned(), passed);
        assert_eq!(meant(&words(command)).unwrap(), expected, "{command}");
    }
    assert!(meant(&words("unheard-of --now")).is_err());
}

/// Asks a program whether it takes these words: it reads them before it comes to `--help`.
fn takes(program: &str, arguments: &[String]) -> Result<()> {
    ensure!(
        PROGRAMS.contains(&program),
        "{program} is no program of ours"
    );
    let ask = |words: &[String], last: &str| {
        let mut command = Command::new(binary(program)?);
        anyhow::Ok(
            command
                .args(words)
                .arg(last)
                .stdin(Stdio::null())
                .output()?,
        )
    };
    let told = ask(arguments, "--help")?;
    let said = String::from_utf8_lossy(&told.stderr);
    ensure!(told.status.success(), "{program} refuses it: {said}");
    // It looks for its scenes only after `--help`.
    if program == "bench" {
        let listed = ask(arguments, "--list")?;
        let said = String::from_utf8_lossy(&listed.stderr);
        ensure!(listed.status.success(), "{said}");
    }
    Ok(())
}

/// Looks whether a script knows the options and the first word that it is given.
fn script_takes(script: &str, arguments: &[String]) -> Result<()> {
    let text = std::fs::read_to_string(workspace().join(script)).context(script.to_owned())?;
    let options = arguments.iter().filter(|word| word.starts_with('-'));
    let unknown: Vec<_> = options
        .filter(|option| !text.contains(option.as_str()))
        .collect();
    ensure!(unknown.is_empty(), "{script} does not know {unknown:?}");
    let tool = script == "deploy/tool" || script == "tests/page";
    let first = arguments.first().filter(|_| tool);
    let known = first.is_none_or(|word| {
        text.contains(&format!("{word})")) || text.contains(&format!("{word} |"))
    });
    ensure!(known, "{script} does not know {first:?}");
    Ok(())
}

/// Looks whether the packages that a command of Cargo names are those of this workspace or its lock file.
fn packages_are_there(words: &[String]) -> Result<()> {
    let locked = std::fs::read_to_string(workspace().join("Cargo.lock"))?;
    for pair in words.windows(2).filter(|pair| pair[0] == "-p") {
        let line = format!("name = \"{}\"", pair[1]);
        ensure!(
            locked.lines().any(|locked| locked == line),
            "no package {}",
            pair[1]
        );
    }
    Ok(())
}

/// Returns the names of variables that our programs read.
async fn variables() -> BTreeSet<String> {
    let mut known: BTreeSet<String> = ["TILESTEAD_URL", "TILESTEAD_BIN_DIR"]
        .map(str::to_owned)
        .into();
    for service in ["gateway", "zone-server", "persistence-svc"] {
        known.extend(settings(service).await);
    }
    known
}

/// Looks whether each variable that a command sets for our programs is one that they read. Names in small letters are the
/// text's own.
fn sets_what_is_known(shown: &Shown, known: &BTreeSet<String>) -> Result<()> {
    let exported = shown.words.first().is_some_and(|word| word == "export");
    let exported = shown
        .words
        .iter()
        .filter(|_| exported)
        .filter_map(|word| shell::assignment(word));
    for (name, _) in exported.chain(shown.set.iter().cloned()) {
        let own = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let plain = name.strip_suffix("_FILE").unwrap_or(&name);
        ensure!(
            own || known.contains(plain) || known.contains(&name),
            "no program reads {name}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn each_command_of_a_document_is_one_that_its_program_takes() {
    let known = variables().await;
    let (mut wrong, mut foreign) = (Vec::new(), BTreeSet::new());
    for Found { document, shown } in found() {
        let taken = meant(&shown.words).and_then(|meant| match meant {
            Meant::Program(program, arguments) => takes(&program, &arguments),
            Meant::Script(script, arguments) => script_takes(script, &arguments),
            Meant::Foreign(program) => {
                foreign.insert(program);
                match program {
                    "cargo" => packages_are_there(&shown.words),
                    _ => Ok(()),
                }
            }
            Meant::Nothing => Ok(()),
        });
        let taken = taken.and_then(|()| sets_what_is_known(&shown, &known));
        if let Err(error) = taken {
            wrong.push(format!(
                "{}: {}: {error}",
                document.display(),
                shown.words.join(" ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused = FOREIGN
        .iter()
        .filter(|(program, _)| !foreign.contains(program));
    let unused: Vec<_> = unused.collect();
    assert!(unused.is_empty(), "no document shows these: {unused:?}");
}

/// A cluster, and an operator before it.
struct Desk<'c> {
    cluster: &'c Cluster,
    home: DataFolder,
    env: BTreeMap<&'static str, String>,
    /// The character that documents call ID.
    character: String,
}

impl Desk<'_> {
    /// Runs a command of a document. It must end well.
    async fn runs(&self, program: &str, arguments: &[String], shown: &Shown) -> Result<()> {
        let mut command = Command::new("timeout");
        command.arg(DEADLINE_S).arg(binary(program)?);
        command.args(arguments.iter().map(|word| match word.as_str() {
            "ID" => self.character.as_str(),
            word => word,
        }));
        // Files that a document names stand in the repository; what it makes goes elsewhere.
        let reads = arguments
            .first()
            .is_some_and(|word| word == "check-content");
        let folder = if reads {
            workspace()
        } else {
            self.home.path().to_owned()
        };
        command
            .env_clear()
            .envs(shown.set.iter().cloned())
            .envs(&self.env);
        command.current_dir(folder).stdin(Stdio::null());
        let told = tokio::task::spawn_blocking(move || command.output()).await??;
        let said = String::from_utf8_lossy(&told.stderr);
        ensure!(told.status.success(), "{:?}: {said}", told.status.code());
        Ok(())
    }
}

/// Returns the row of the table of commands that are run: it has the first words, or an option that stands anywhere.
fn row(program: &str, arguments: &[String]) -> Option<(&'static str, &'static str)> {
    let all = arguments.join(" ");
    let stands = |word: &str| {
        let first = all.strip_prefix(word);
        let first = first.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        first
            || arguments
                .iter()
                .any(|argument| word.starts_with("--") && argument == word)
    };
    RUN.iter()
        .copied()
        .find(|(of, word)| *of == program && stands(word))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_of_documents_that_only_look_are_run() {
    let plan = Plan::new("documents")
        .of(1, 2, 1)
        .env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan).await.unwrap();
    looks(&cluster).await.unwrap();
}

async fn looks(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let token = operator(&gateway).await?;
    let ann = Player::arrive(&gateway, Format::Json, "Ann").await?;
    let home = DataFolder::new("documents")?;
    let env = [
        ("PATH", std::env::var("PATH")?),
        ("TILESTEAD_URL", format!("http://{gateway}")),
        ("TILESTEAD_TOKEN", token),
        ("XDG_CONFIG_HOME", home.path().display().to_string()),
        ("DATABASE_URL", cluster.database_url().to_owned()),
        ("LOG_LEVEL", "error".to_owned()),
    ];
    let desk = Desk {
        cluster,
        home,
        env: env.into(),
        character: ann.id()?,
    };
    let mut met = BTreeSet::new();
    for Found { document, shown } in found() {
        let Ok(Meant::Program(program, arguments)) = meant(&shown.words) else {
            continue;
        };
        if let Some(row) = row(&program, &arguments) {
            let what = || format!("{}: {program} {}", document.display(), arguments.join(" "));
            desk.runs(&program, &arguments, &shown)
                .await
                .with_context(what)?;
            met.insert(row);
        }
    }
    let unmet: Vec<_> = RUN.iter().filter(|row| !met.contains(*row)).collect();
    ensure!(unmet.is_empty(), "no document shows these: {unmet:?}");
    let check = desk
        .cluster
        .command(&["check"], Duration::from_secs(60))
        .await?;
    ensure!(check.code == Some(0), "{}", check.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_walks_with_curl_go_as_their_pages_say() {
    let cluster = Cluster::start(Plan::new("walks")).await.unwrap();
    for page in WALKS {
        walks(&cluster, page).await.unwrap();
    }
}

/// Plays the blocks of a page, one after the other, in one shell.
async fn walks(cluster: &Cluster, page: &str) -> Result<()> {
    let documents = documents();
    let text = documents.get(Path::new(page)).context("no such page")?;
    let script = blocks(text);
    ensure!(script.contains(NAMED), "{page} names no {NAMED}");
    let script = script.replace(NAMED, &format!("http://{}", cluster.gateway(0)));
    let mut command = Command::new("timeout");
    command
        .args([DEADLINE_S, "bash", "-euo", "pipefail", "-c", &script])
        .stdin(Stdio::null());
    let told = tokio::task::spawn_blocking(move || command.output()).await??;
    let (out, wrong) = (
        String::from_utf8_lossy(&told.stdout),
        String::from_utf8_lossy(&told.stderr),
    );
    if !told.status.success() {
        bail!("{page}: {:?}: {wrong}\nit said:\n{out}", told.status.code());
    }
    Ok(())
}
