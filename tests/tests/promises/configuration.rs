//! Wrong configuration ends a process with one sentence and exit code 64, before a port is bound.

use std::{net::TcpListener, time::Duration};

use tests::cluster::process::{Finished, finish};

const SOON: Duration = Duration::from_secs(10);

async fn run(binary: &str, arguments: &[&str], env: &[(&str, &str)]) -> Finished {
    finish(binary, arguments, env, SOON)
        .await
        .expect("a binary of ours")
}

fn one_sentence(what: &str, finished: &Finished, names: &str) {
    let Finished { code, stderr, .. } = finished;
    assert_eq!(*code, Some(64), "{what}: {stderr}");
    assert!(
        stderr.contains(names),
        "{what} does not name {names}: {stderr}"
    );
    assert_eq!(stderr.trim().lines().count(), 1, "{what}: {stderr}");
}

#[tokio::test]
async fn a_wrong_value_is_named_before_a_port_is_bound() {
    // The port is taken: a process that bound it first would complain of that instead.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let listen = format!("127.0.0.1:{port}");
    for (binary, wrong, port) in [
        (
            "gateway",
            ("PERSISTENCE_ADDRESSES", "not an address"),
            ("PORT", &port),
        ),
        (
            "zone-server",
            ("WALK_TILES_PER_TICK", "fast"),
            ("ZONE_LISTEN", &listen),
        ),
        (
            "persistence-svc",
            ("LEASE_MS", "soon"),
            ("PERSISTENCE_LISTEN", &listen),
        ),
    ] {
        let finished = run(binary, &[], &[wrong, (port.0, port.1.as_str())]).await;
        one_sentence(binary, &finished, wrong.0);
        assert!(!finished.stderr.contains("in use"), "{}", finished.stderr);
    }
}

#[tokio::test]
async fn a_wrong_port_is_named() {
    for (binary, variable, name) in [
        ("gateway", "PORT", "PORT"),
        ("zone-server", "ZONE_LISTEN", "ZONE_LISTEN"),
        (
            "persistence-svc",
            "PERSISTENCE_LISTEN",
            "PERSISTENCE_LISTEN",
        ),
        ("tilestead", "PORT", "--port"),
    ] {
        let finished = run(binary, &[], &[(variable, "many")]).await;
        one_sentence(binary, &finished, name);
    }
}

#[tokio::test]
async fn production_without_its_secrets_does_not_start() {
    let finished = run("gateway", &[], &[("NODE_ENV", "production")]).await;
    one_sentence("gateway", &finished, "JWT_SECRET");
    let finished = run("persistence-svc", &[], &[("NODE_ENV", "production")]).await;
    one_sentence("persistence-svc", &finished, "DATABASE_URL");
}

#[tokio::test]
async fn limits_cannot_be_off_in_production() {
    let env = [
        ("NODE_ENV", "production"),
        (
            "JWT_SECRET",
            "a-long-secret-that-nobody-would-guess-0123456789",
        ),
        ("ADMIN_CODE", "another-long-secret-0123456789"),
        ("DISABLE_RATE_LIMIT", "true"),
    ];
    let finished = run("gateway", &[], &env).await;
    one_sentence("gateway", &finished, "DISABLE_RATE_LIMIT");
}

#[tokio::test]
async fn every_binary_explains_itself_and_hides_its_secrets() {
    let secret = "correct-horse-battery-staple-0123456789";
    for binary in ["gateway", "zone-server", "persistence-svc"] {
        let help = run(binary, &["--help"], &[]).await;
        assert_eq!(help.code, Some(0), "{binary}: {}", help.stderr);
        assert!(help.stdout.len() > 200, "{binary}: {}", help.stdout);
        let version = run(binary, &["--version"], &[]).await;
        assert_eq!(version.code, Some(0), "{binary}");
        assert!(
            version.stdout.contains(env!("CARGO_PKG_VERSION")),
            "{}",
            version.stdout
        );
        let print = run(binary, &["--print-config"], &[("JWT_SECRET", secret)]).await;
        assert_eq!(print.code, Some(0), "{binary}: {}", print.stderr);
        assert!(!print.stdout.contains(secret), "{binary} shows a secret");
    }
    let print = run("gateway", &["--print-config"], &[("JWT_SECRET", secret)]).await;
    assert!(print.stdout.contains("[redacted]"), "{}", print.stdout);
    let help = run("tilestead", &["--help"], &[]).await;
    for option in ["--zones", "--gateways", "--data", "--port"] {
        assert!(help.stdout.contains(option), "{option}: {}", help.stdout);
    }
}
