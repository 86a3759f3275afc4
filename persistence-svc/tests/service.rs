//! The service as a whole: its settings, its replicas, and a store that goes away.

#![allow(clippy::unwrap_used)]

use crate::stage;

use std::collections::BTreeMap;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use persistence_svc::{Server, StoreLocked};
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::RunState;
use proto::rpc::persistence::v1::accounts_client::AccountsClient;
use proto::rpc::persistence::v1::runs_client::RunsClient;
use stage::{Kind, Replica, Stage, region, serve, telemetry, until, watch};
use test_servers::{Authority, Postgres};
use tokio::time::{sleep, timeout};
use tonic::{Code, Status};

/// Runs the binary with nothing but these variables.
fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_persistence-svc"))
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn settings(url: String) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("PERSISTENCE_LISTEN", "127.0.0.1:0".to_owned()),
        ("PLACEMENT_SETTLE_MS", "0".to_owned()),
        ("MASS_LAPSE_MS", "0".to_owned()),
        ("LEASE_MS", "2000".to_owned()),
        ("DATABASE_URL", url),
    ])
}

async fn secret(replica: &Replica) -> Result<wire::SecretReply, Status> {
    let ask = wire::SecretRequest {
        name: "tokens".to_owned(),
    };
    let mut client = AccountsClient::new(replica.channel.clone());
    let answer = client.secret(ask).await?;
    Ok(answer.into_inner())
}

async fn renew(replica: &Replica, run: u64) -> Result<RunState, Status> {
    let ask = wire::RenewRequest {
        run_id: run,
        ..wire::RenewRequest::default()
    };
    let mut client = RunsClient::new(replica.channel.clone());
    Ok(client.renew(ask).await?.into_inner().state())
}

async fn register(replica: &Replica, place: (i32, i32)) -> u64 {
    let ask = wire::RegisterRequest {
        address: "127.0.0.1:1".to_owned(),
        build: "test".to_owned(),
        content_hash: "content".to_owned(),
        regions: vec![region(place.0, place.1)],
        ..wire::RegisterRequest::default()
    };
    let mut client = RunsClient::new(replica.channel.clone());
    client.register(ask).await.unwrap().into_inner().run_id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_that_is_open_is_not_opened_again() {
    let stage = Stage::new(Kind::Sqlite).await;
    let config = stage::config(stage.settings());
    let Err(error) = Server::bind(config, telemetry()).await else {
        panic!("the world was opened twice");
    };
    let locked = error.downcast_ref::<StoreLocked>().unwrap();
    assert!(locked.to_string().contains("is open already"));
    assert_eq!(service_runtime::run::exit_code(&error), 64);
    let folder = stage.settings()["DATA_DIR"].clone();
    let output = tokio::task::spawn_blocking(move || run(&[], &[("DATA_DIR", &folder)]));
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(64));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("is open already"), "{said}");
    // Another service may open the folder as soon as the first one has ended.
    let settings = stage.settings().clone();
    stage.end().await;
    serve(&settings).await.end().await;
}

/// Starts the service as a process on `port`, with its world in `folder`.
fn process(folder: &str, port: u16) -> Child {
    Command::new(env!("CARGO_BIN_EXE_persistence-svc"))
        .env_clear()
        .env("DATA_DIR", folder)
        .env("PERSISTENCE_LISTEN", format!("127.0.0.1:{port}"))
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_survives_a_kill() {
    let folder = stage::temporary_folder();
    let path = folder.display().to_string();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let channel = stage::channel(&format!("127.0.0.1:{port}"));
    let ask = async |create| {
        let ask = wire::SignInRequest {
            device_key_hash: vec![9; 32].into(),
            create,
        };
        let mut client = AccountsClient::new(channel.clone());
        let reply = client.sign_in(ask).await.ok()?;
        reply.into_inner().account
    };
    let mut child = process(&path, port);
    let made = until("an account is made", async || ask(true).await).await;
    child.kill().unwrap();
    child.wait().unwrap();
    let mut child = process(&path, port);
    let found = until("the account is found", async || ask(false).await).await;
    assert_eq!(found, made);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

/// A stand-in for docker: it notes its calls and knows its container once that is made. It leaves
/// starting to the test that reads `asked`.
const ENGINE: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> calls
case "$1" in
  start) [ -e made ] || { echo "Error: no such container: $2" >&2; exit 1; } ;;
  run) touch made ;;
  *) echo "Error: unknown command $1" >&2; exit 2 ;;
esac
touch asked
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_local_postgres_is_made_once_and_started_ever_after() {
    let folder = stage::temporary_folder();
    std::fs::create_dir_all(&folder).unwrap();
    let engine = folder.join("engine");
    std::fs::write(&engine, ENGINE).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&engine, executable).unwrap();
    // The server that the container would be: at a port of its own, and off.
    let server = tokio::task::spawn_blocking(|| {
        let mut server = Postgres::start();
        server.sql(
            "postgres",
            "CREATE ROLE tilestead LOGIN PASSWORD 'tilestead'",
        );
        server.sql("postgres", "CREATE DATABASE tilestead OWNER tilestead");
        server.stop();
        server
    });
    let mut server = server.await.unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let name = format!("tilestead-postgres-{}", server.port());
    let calls = || std::fs::read_to_string(folder.join("calls")).unwrap_or_default();
    let mut epochs = Vec::new();
    for start in [1, 2] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_persistence-svc"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("USE_LOCAL_POSTGRES", "true")
            .env("CONTAINER_ENGINE", &engine)
            .env("LOCAL_POSTGRES_PORT", server.port().to_string())
            .env("DATA_DIR", folder.join("data"))
            .env("PERSISTENCE_LISTEN", format!("127.0.0.1:{port}"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the engine is asked", async || {
            folder.join("asked").exists().then_some(())
        })
        .await;
        std::fs::remove_file(folder.join("asked")).unwrap();
        server = tokio::task::spawn_blocking(move || {
            server.restart();
            server
        })
        .await
        .unwrap();
        let channel = stage::channel(&format!("127.0.0.1:{port}"));
        let told = until("the service is ready", async || {
            let ask = wire::SecretRequest {
                name: "tokens".to_owned(),
            };
            let asked = AccountsClient::new(channel.clone()).secret(ask).await;
            asked.ok().map(|reply| reply.into_inner().value)
        });
        epochs.push(told.await);
        child.kill().unwrap();
        child.wait().unwrap();
        let calls = calls();
        let lines: Vec<&str> = calls.lines().collect();
        assert_eq!(lines[0], format!("start {name}"), "first it is looked for");
        let made = format!(
            "run --detach --name {name} --publish 127.0.0.1:{}:5432",
            server.port()
        );
        assert!(lines[1].starts_with(&made), "{calls}");
        assert!(
            lines[1].contains("--env POSTGRES_PASSWORD=tilestead"),
            "{calls}"
        );
        assert_eq!(
            lines[2..],
            vec![format!("start {name}"); start - 1],
            "made once"
        );
        server.stop();
    }
    assert_eq!(epochs[0], epochs[1], "the same database");
    assert!(!folder.join("data").exists(), "nothing is kept in SQLite");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn wrong_settings_are_one_sentence_and_exit_code_64() {
    const DATABASE: (&str, &str) = ("DATABASE_URL", "postgres://u:pass@h/d");
    let (ca, other) = (Authority::new(), Authority::new());
    let (one, two) = (ca.certify(&["one"]), other.certify(&["two"]));
    let files = [ca.ca(), one.cert, two.key].map(|path| path.display().to_string());
    let [ca, cert, key] = files.each_ref().map(String::as_str);
    let unfit = [
        DATABASE,
        ("DATABASE_CERT_FILE", cert),
        ("DATABASE_KEY_FILE", key),
    ];
    for (variables, expected) in [
        (&unfit[..], "the key in DATABASE_KEY_FILE does not fit"),
        (&[("DATABASE_URL", "mysql://root:pass@x/y")], "DATABASE_URL"),
        (
            &[("DATABASE_URL", "postgres://u:pass@h/d?sslmode=always")],
            "verify-full",
        ),
        (
            &[DATABASE, ("DATABASE_CA_FILE", "/nowhere.pem")],
            "DATABASE_CA_FILE cannot be read: /nowhere.pem",
        ),
        (
            &[DATABASE, ("DATABASE_CA_FILE", "/dev/null")],
            "DATABASE_CA_FILE holds no certificate",
        ),
        (&[DATABASE, ("DATABASE_CA_FILE", ca)], "sslmode=verify-full"),
        (
            &[DATABASE, ("DATABASE_CERT_FILE", "/nowhere.pem")],
            "DATABASE_CERT_FILE and DATABASE_KEY_FILE go together",
        ),
        (
            &[DATABASE, ("DATABASE_PASSWORD", "pass")],
            "only one of DATABASE_URL and DATABASE_PASSWORD",
        ),
        (
            &[DATABASE, ("DATABASE_POOLER", "session")],
            "DATABASE_POOLER must be none or transaction",
        ),
        (
            &[
                ("DATABASE_URL", "host=h options='-c work_mem=1MB'"),
                ("DATABASE_POOLER", "transaction"),
            ],
            "must not have options",
        ),
        (&[("PERSISTENCE_LISTEN", "nowhere")], "PERSISTENCE_LISTEN"),
        (&[("LEASE_MS", "soon")], "LEASE_MS"),
        (&[("LEASE_MS", "5")], "LEASE_MS"),
        (&[("NODE_ENV", "production")], "DATABASE_URL"),
    ] {
        let output = run(&[], variables);
        assert_eq!(output.status.code(), Some(64), "{variables:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(expected), "{said}");
        assert!(
            !said.contains("pass@") && said.trim().lines().count() == 1,
            "{said}"
        );
    }
    let url = "postgres://tile:hunter2@127.0.0.1/world";
    let shown = run(&["--print-config"], &[("DATABASE_URL", url)]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("DATABASE_URL") && !shown.contains("hunter2"),
        "{shown}"
    );
}

#[test]
fn the_command_migrate_makes_the_tables_and_ends() {
    let server = Postgres::shared();
    let url = server.create_database("migrated");
    let obey = |url: &str, words: &[&str]| {
        let output = run(words, &[("DATABASE_URL", url)]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    // The plan shows all and makes nothing.
    for _ in 0..2 {
        let plan = obey(&url, &["migrate", "--plan"]);
        assert!(plan.contains("\n    CREATE TABLE users ("), "{plan}");
        assert!(
            plan.contains("layout 2: programs that know layout 1 or a later one may"),
            "{plan}"
        );
    }
    let first = obey(&url, &["migrate"]);
    assert!(first.contains("layout 2"), "{first}");
    assert_eq!(obey(&url, &["migrate"]), "");
    assert_eq!(obey(&url, &["migrate", "--plan"]), "nothing is missing\n");
    // Layouts that are missing, on tables that are there.
    let older = server.create_database("of_layout_1");
    for statements in [
        include_str!("../migrations/postgres/0001_world.sql"),
        "CREATE TABLE tilestead_migrations (version integer PRIMARY KEY,
           at timestamptz NOT NULL DEFAULT now(), oldest integer NOT NULL DEFAULT 1);
         INSERT INTO tilestead_migrations (version) VALUES (1); ANALYZE users",
    ] {
        server.sql("of_layout_1", statements);
    }
    let plan = obey(&older, &["migrate", "--plan"]);
    let lock = "      SHARE on users (";
    assert!(
        plan.contains(lock) && plan.contains(": reads go on, writes wait"),
        "{plan}"
    );
    assert!(
        plan.contains(", about 0 rows)") && plan.contains(" kB"),
        "{plan}"
    );
    assert!(obey(&older, &["migrate"]).contains("layout 2"));
    server.sql("of_layout_1", r#"SELECT "constitutionXp" FROM characters"#);
    // Tables of a later release, which allow this program.
    let newer = "INSERT INTO tilestead_migrations (version, oldest) VALUES (998, 2)";
    server.sql("migrated", newer);
    let output = run(&["migrate"], &[("DATABASE_URL", &url)]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    // Tables of a still later one, which do not.
    let newer = "INSERT INTO tilestead_migrations (version, oldest) VALUES (999, 900)";
    server.sql("migrated", newer);
    let output = run(&["migrate"], &[("DATABASE_URL", &url)]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("newer version") && said.contains("layout 900"),
        "{said}"
    );
}

#[test]
fn the_plan_of_a_world_on_one_machine_changes_nothing() {
    let folder = stage::temporary_folder();
    std::fs::create_dir_all(&folder).unwrap();
    let place = folder.display().to_string();
    let obey = |words: &[&str]| {
        let output = run(words, &[("DATA_DIR", &place)]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::File::create(folder.join("world.sqlite")).unwrap();
    for _ in 0..2 {
        let plan = obey(&["migrate", "--plan"]);
        assert!(plan.contains("layout 1, in one transaction"), "{plan}");
    }
    assert!(obey(&["migrate"]).contains("layout 2: done"));
    let plan = obey(&["migrate", "--plan"]);
    assert!(
        plan.contains(" bytes; ") && plan.ends_with("nothing is missing\n"),
        "{plan}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_share_one_store_and_learn_of_each_others_changes() {
    // Held to the end: the stage lets go of it halfway.
    let _server = tokio::task::spawn_blocking(Postgres::shared).await.unwrap();
    let stage = Stage::new(Kind::Postgres).await;
    let (two, three) = tokio::join!(stage.another(), stage.another());
    let mut seen = watch(two.channel.clone()).await;
    assert!(!seen.message().await.unwrap().unwrap().unchanged);
    let zone = stage.zone(region(3, 3)).await;
    let owned = timeout(stage::SOON, async {
        loop {
            let update = seen.message().await.unwrap().unwrap();
            if update.regions.iter().any(|owner| owner.run_id == zone.run) {
                return update;
            }
        }
    });
    assert_eq!(owned.await.unwrap().regions[0].epoch, zone.epoch);
    assert_eq!(renew(&three, zone.run).await.unwrap(), RunState::Live);
    assert_eq!(secret(&two).await.unwrap(), secret(&three).await.unwrap());
    // One plans; when it ends, another goes on.
    stage.end().await;
    let run = register(&two, (4, 4)).await;
    let mut seen = watch(three.channel.clone()).await;
    let taken = timeout(stage::SOON, async {
        loop {
            let update = seen.message().await.unwrap().unwrap();
            if update.regions.iter().any(|owner| owner.run_id == run) {
                return;
            }
        }
    });
    taken.await.unwrap();
    two.end().await;
    three.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_replicas_may_start_over_an_empty_database_at_once() {
    let server = tokio::task::spawn_blocking(Postgres::shared).await.unwrap();
    let settings = settings(server.create_database("crowded"));
    let starts = (0..5).map(|_| serve(&settings));
    let replicas = futures::future::join_all(starts).await;
    for replica in &replicas {
        until("the replica is ready", async || secret(replica).await.ok()).await;
    }
    for replica in replicas {
        replica.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_away_is_waited_for() {
    let mut server = tokio::task::spawn_blocking(Postgres::start).await.unwrap();
    server.stop();
    let replica = serve(&settings(server.url())).await;
    let asked = Instant::now();
    let answer = secret(&replica).await;
    assert_eq!(answer.unwrap_err().code(), Code::Unavailable);
    assert!(asked.elapsed() < Duration::from_secs(1));
    let server = tokio::task::spawn_blocking(move || {
        server.restart();
        server
    });
    let server = server.await.unwrap();
    until("the replica is ready", async || secret(&replica).await.ok()).await;
    replica.end().await;
    drop(server);
}

/// The store dies for longer than a lease. Live runs could not renew; they get one lease to do so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_taken_over_just_after_the_store_was_away() {
    let mut server = tokio::task::spawn_blocking(Postgres::start).await.unwrap();
    let replica = serve(&settings(server.url())).await;
    until("the replica is ready", async || secret(&replica).await.ok()).await;
    let mut updates = watch(replica.channel.clone()).await;
    let (prompt, slow) = (
        register(&replica, (0, 0)).await,
        register(&replica, (9, 9)).await,
    );
    timeout(stage::SOON, async {
        loop {
            renew(&replica, prompt).await.unwrap();
            renew(&replica, slow).await.unwrap();
            let update = updates.message().await.unwrap().unwrap();
            if update.regions.len() == 2 && update.regions.iter().all(|owner| owner.run_id > 0) {
                return;
            }
        }
    })
    .await
    .unwrap();
    let server = tokio::task::spawn_blocking(move || {
        server.kill9();
        std::thread::sleep(Duration::from_secs(3));
        server.restart();
        server
    });
    let server = server.await.unwrap();
    // The first renews at once; the second somewhat later, when its lease is long over.
    until("the store is back", async || {
        renew(&replica, prompt).await.ok()
    })
    .await;
    let back = Instant::now();
    while back.elapsed() < Duration::from_millis(1_200) {
        assert_eq!(renew(&replica, prompt).await.unwrap(), RunState::Live);
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(renew(&replica, slow).await.unwrap(), RunState::Live);
    // And it is not for ever: the store takes the regions of a run that stays silent.
    until("the silent run is fenced", async || {
        renew(&replica, prompt).await.unwrap();
        let update = updates.message().await.unwrap().unwrap();
        let left = update.regions.iter().all(|owner| owner.run_id == prompt);
        (!update.unchanged && left).then_some(())
    })
    .await;
    assert_eq!(renew(&replica, slow).await.unwrap(), RunState::Fenced);
    replica.end().await;
    drop(server);
}
