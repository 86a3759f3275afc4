//! PostgreSQL over TLS, and behind a pooler in transaction mode: real servers that refuse what they
//! must refuse.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use proto::rpc::common::v1::Tile;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::accounts_client::AccountsClient;
use test_servers::{Authority, Certified, PgBouncer, Postgres};
use tokio::time::{Instant, timeout};

use crate::stage::{Kind, Stage, serve, until};

/// A server with TLS, its CA, and a CA that has nothing to do with it.
struct Scene {
    server: Postgres,
    ca: Authority,
    other: Authority,
}

/// Starts a server whose certificate names `localhost`; `rules` say which clients it lets in.
fn scene(rules: &str) -> Scene {
    let (ca, other) = (Authority::new(), Authority::new());
    let own = ca.certify(&["localhost"]);
    let settings = [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", own.cert.display()),
        format!("ssl_key_file={}", own.key.display()),
        format!("ssl_ca_file={}", ca.ca().display()),
    ];
    let server = Postgres::try_start_with(&settings.each_ref().map(String::as_str)).unwrap();
    server.admit(rules);
    Scene { server, ca, other }
}

impl Scene {
    fn url(&self, host: &str, mode: &str) -> String {
        format!(
            "postgres://postgres@{host}:{}/postgres{mode}",
            self.server.port()
        )
    }

    /// Runs a command of the service against the server. Returns its exit code and what it said.
    fn reach(&self, host: &str, mode: &str, files: &[(&str, &std::path::Path)]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_persistence-svc"));
        command.arg("migrate").env_clear();
        command.env("DATABASE_URL", self.url(host, mode));
        command.envs(files.iter().copied());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap_or(-1), said)
    }

    fn reaches(&self, host: &str, mode: &str, files: &[(&str, &std::path::Path)]) {
        let (code, said) = self.reach(host, mode, files);
        assert_eq!(code, 0, "{host} {mode}: {said}");
    }

    fn is_refused(&self, host: &str, mode: &str, files: &[(&str, &std::path::Path)], why: &str) {
        let (code, said) = self.reach(host, mode, files);
        assert_eq!(code, 1, "{host} {mode}: {said}");
        assert!(said.contains(why), "{host} {mode}: {said}");
    }
}

fn identity(own: &Certified) -> [(&'static str, &std::path::Path); 2] {
    [
        ("DATABASE_CERT_FILE", &own.cert),
        ("DATABASE_KEY_FILE", &own.key),
    ]
}

#[test]
fn a_server_that_refuses_plaintext_is_reached_by_tls() {
    let scene = scene("hostssl all all all trust");
    scene.reaches("127.0.0.1", "", &[]);
    scene.reaches("127.0.0.1", "?sslmode=prefer", &[]);
    scene.reaches("127.0.0.1", "?sslmode=require", &[]);
    let why = "no pg_hba.conf entry";
    scene.is_refused("127.0.0.1", "?sslmode=disable", &[], why);
}

#[test]
fn a_certificate_of_another_ca_is_refused() {
    let scene = scene("hostssl all all all trust");
    let (right, wrong) = (scene.ca.ca(), scene.other.ca());
    for mode in ["require", "verify-ca", "verify-full"] {
        let mode = format!("?sslmode={mode}");
        scene.reaches("localhost", &mode, &[("DATABASE_CA_FILE", &right)]);
        let files = [("DATABASE_CA_FILE", &*wrong)];
        scene.is_refused("localhost", &mode, &files, "UnknownIssuer");
    }
    // The system's CAs have not signed it either.
    let (code, said) = scene.reach("localhost", "?sslmode=verify-full", &[]);
    assert_ne!(code, 0, "{said}");
}

#[test]
fn only_verify_full_refuses_a_wrong_host_name() {
    let scene = scene("hostssl all all all trust");
    let ca = scene.ca.ca();
    let files = [("DATABASE_CA_FILE", &*ca)];
    scene.reaches("127.0.0.1", "?sslmode=verify-ca", &files);
    let why = "not valid for name";
    scene.is_refused("127.0.0.1", "?sslmode=verify-full", &files, why);
}

#[test]
fn a_server_that_requires_a_client_certificate_gets_one() {
    let scene = scene("hostssl all all all trust clientcert=verify-ca");
    let (right, wrong) = (
        scene.ca.certify(&["postgres"]),
        scene.other.certify(&["postgres"]),
    );
    let mode = "?sslmode=require";
    scene.reaches("localhost", mode, &identity(&right));
    let why = "certificate";
    scene.is_refused("localhost", mode, &[], why);
    let (code, said) = scene.reach("localhost", mode, &identity(&wrong));
    assert_eq!(code, 1, "{said}");
}

#[test]
fn prefer_goes_on_without_tls_and_require_does_not() {
    let scene = scene("hostnossl all all all trust");
    scene.reaches("localhost", "?sslmode=prefer", &[]);
    scene.is_refused("localhost", "?sslmode=require", &[], "no pg_hba.conf entry");
    let plain = Scene {
        server: Postgres::start(),
        ..scene
    };
    plain.reaches("localhost", "?sslmode=prefer", &[]);
    let why = "does not support TLS";
    plain.is_refused("localhost", "?sslmode=require", &[], why);
}

#[test]
fn a_password_may_come_from_a_file() {
    let scene = scene("hostssl all all all scram-sha-256");
    let set = "ALTER ROLE postgres PASSWORD 'well-kept'";
    scene.server.sql("postgres", set);
    let file = std::env::temp_dir().join(format!("password-{}", std::process::id()));
    std::fs::write(&file, "well-kept\n").unwrap();
    scene.reaches("localhost", "", &[("DATABASE_PASSWORD_FILE", &file)]);
    std::fs::write(&file, "guessed\n").unwrap();
    let files = [("DATABASE_PASSWORD_FILE", &*file)];
    let (code, said) = scene.reach("localhost", "", &files);
    std::fs::remove_file(file).unwrap();
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("password") && !said.contains("guessed"),
        "{said}"
    );
}

/// Returns the settings of a service over `url`.
fn settings(url: String) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("PERSISTENCE_LISTEN", "127.0.0.1:0".to_owned()),
        ("DATABASE_URL", url),
    ])
}

/// Returns the first column of a query on another session of the server.
async fn ask(server: &Postgres, query: &str) -> i64 {
    let url = server.socket_url_of("postgres");
    let connecting = tokio_postgres::connect(&url, tokio_postgres::NoTls);
    let (client, connection) = connecting.await.unwrap();
    let driver = tokio::spawn(connection);
    let count = client.query_one(query, &[]).await.unwrap().get(0);
    driver.abort();
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_connection_of_the_service_is_by_tls() {
    let scene = tokio::task::spawn_blocking(|| scene("host all all all trust"));
    let scene = scene.await.unwrap();
    let mut settings = settings(scene.url("localhost", "?sslmode=verify-full"));
    settings.insert("DATABASE_CA_FILE", scene.ca.ca().display().to_string());
    settings.insert("HISCORES_REFRESH_MS", "10".to_owned());
    let replica = serve(&settings).await;
    let ours = "FROM pg_stat_ssl NATURAL JOIN pg_stat_activity
                WHERE application_name = 'tilestead-persistence'";
    until("the service listens and calls", async || {
        let listens = format!("SELECT count(*) {ours} AND query LIKE 'LISTEN %'");
        (ask(&scene.server, &listens).await == 1).then_some(())
    })
    .await;
    let all = ask(&scene.server, &format!("SELECT count(*) {ours}")).await;
    let plain = ask(
        &scene.server,
        &format!("SELECT count(*) {ours} AND NOT ssl"),
    )
    .await;
    assert!(all > 1 && plain == 0, "{plain} of {all}");
    replica.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_pooler_the_service_listens_on_the_direct_connection_only() {
    let stage = Stage::new(Kind::Pooled).await;
    let listens = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND query LIKE 'LISTEN %'";
    assert_eq!(stage.ask(listens).await, ["0"]);
    let mut settings = stage.settings().clone();
    settings.insert("DATABASE_DIRECT_URL", stage.direct_url());
    let replica = serve(&settings).await;
    until("the service listens", async || {
        (stage.ask(listens).await == ["1"]).then_some(())
    })
    .await;
    replica.end().await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_pooler_every_wait_for_a_lock_has_an_end() {
    let start = || {
        let server = Arc::new(Postgres::start());
        let pooler = PgBouncer::start(Arc::clone(&server));
        (server, pooler)
    };
    let (server, pooler) = tokio::task::spawn_blocking(start).await.unwrap();
    let mut settings = settings(pooler.url_of("postgres"));
    settings.insert("DATABASE_POOLER", "transaction".to_owned());
    let replica = serve(&settings).await;
    let accounts = AccountsClient::new(replica.channel.clone());
    let secret = async |name: &str| {
        let name = name.to_owned();
        accounts.clone().secret(wire::SecretRequest { name }).await
    };
    until("the service is ready", async || secret("ready").await.ok()).await;
    let url = server.url();
    let (other, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    other
        .batch_execute("BEGIN; LOCK TABLE secrets, users IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let begun = Instant::now();
    let waits = timeout(Duration::from_secs(8), async {
        let ask = wire::CreateCharacterRequest {
            account_id: "somebody".to_owned(),
            name: "Somebody".to_owned(),
            spawn: Some(Tile { x: 1, z: 1 }),
            look: String::new(),
        };
        let mut transaction = accounts.clone();
        tokio::join!(secret("another"), transaction.create_character(ask))
    });
    let (alone, within) = waits.await.unwrap();
    assert!(alone.is_err() && within.is_err(), "{:?}", begun.elapsed());
    let waited = server.log().matches("due to lock timeout").count();
    assert!(waited >= 2, "{}", server.log());
    other.batch_execute("COMMIT").await.unwrap();
    replica.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_that_no_setting_names_is_told_in_words() {
    let stage = Stage::new(Kind::Pooled).await;
    let url = stage.settings()["DATABASE_URL"].clone();
    let reach = move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_persistence-svc"));
        command.arg("migrate").env_clear().env("DATABASE_URL", url);
        command.output().unwrap()
    };
    let output = tokio::task::spawn_blocking(reach).await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("DATABASE_POOLER=transaction"), "{said}");
    stage.end().await;
}
