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

/// Each variable of the specification: whose it is, and its default in development, in production
/// and in tests. `-`: none.
const VARIABLES: [(&str, &str, [&str; 3]); 27] = [
    ("PORT", "gateway", ["5555"; 3]),
    ("NODE_ENV", "gateway", ["development", "production", "test"]),
    (
        "NODE_ENV",
        "persistence-svc",
        ["development", "production", "test"],
    ),
    ("WORLD", "gateway", ["world"; 3]),
    ("WORLD", "zone-server", ["world"; 3]),
    ("DATABASE_URL", "persistence-svc", ["-", "[redacted]", "-"]),
    ("USE_LOCAL_POSTGRES", "persistence-svc", ["false"; 3]),
    ("JWT_SECRET", "gateway", ["-", "[redacted]", "-"]),
    ("ADMIN_CODE", "gateway", ["-", "[redacted]", "-"]),
    ("PUBLIC_IDP_APP_ID", "gateway", ["-"; 3]),
    ("IDP_APP_SECRET", "gateway", ["-"; 3]),
    (
        "PUBLIC_CDN_URL",
        "gateway",
        ["http://localhost:8080", "-", "-"],
    ),
    (
        "PUBLIC_API_URL",
        "gateway",
        ["http://localhost:5555", "-", "http://localhost:5555"],
    ),
    (
        "PUBLIC_WS_URL",
        "gateway",
        ["ws://localhost:5555/ws", "-", "ws://localhost:5555/ws"],
    ),
    ("PUBLIC_APP_URL", "gateway", ["-"; 3]),
    ("CLIENT_URL", "gateway", ["-"; 3]),
    ("AGENT_URL", "gateway", ["-"; 3]),
    ("AGENT_API_URL", "gateway", ["http://localhost:4001"; 3]),
    ("SKIP_MANIFESTS", "gateway", ["false"; 3]),
    ("SKIP_ASSETS", "zone-server", ["-"; 3]),
    ("CI", "zone-server", ["-"; 3]),
    ("VOICE_API_KEY", "gateway", ["-"; 3]),
    ("VOICE_API_SECRET", "gateway", ["-"; 3]),
    ("VOICE_URL", "gateway", ["-"; 3]),
    ("SAVE_INTERVAL", "zone-server", ["60"; 3]),
    ("DISABLE_RATE_LIMIT", "gateway", ["false"; 3]),
    ("COMMIT_HASH", "gateway", ["-"; 3]),
];

/// What production must be given.
const REQUIRED: [(&str, &str, &str); 3] = [
    ("gateway", "JWT_SECRET", "0123456789abcdef0123456789abcdef"),
    ("gateway", "ADMIN_CODE", "a-code-of-production"),
    (
        "persistence-svc",
        "DATABASE_URL",
        "postgres://u:p@db/tilestead",
    ),
];

#[tokio::test]
async fn every_variable_of_the_specification_is_a_setting_with_its_default() {
    for binary in ["gateway", "zone-server", "persistence-svc"] {
        for (n, environment) in ["development", "production", "test"]
            .into_iter()
            .enumerate()
        {
            let mut env = vec![("NODE_ENV", environment)];
            let required = REQUIRED.iter().filter(|(whose, ..)| *whose == binary);
            if environment == "production" {
                env.extend(required.map(|(_, name, value)| (*name, *value)));
            }
            let printed = run(binary, &["--print-config"], &env).await;
            assert_eq!(printed.code, Some(0), "{binary}: {}", printed.stderr);
            for (name, _, defaults) in VARIABLES.iter().filter(|(_, whose, _)| *whose == binary) {
                let lines = printed.stdout.lines();
                let mut words =
                    lines.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>());
                let line = words.find(|words| words.first() == Some(name));
                let value = line.map(|words| words[1].to_owned());
                let expected = Some(defaults[n].to_owned());
                assert_eq!(value, expected, "{name} of {binary} in {environment}");
            }
        }
    }
    let launcher = run("tilestead", &["--print-config"], &[]).await;
    assert_eq!(launcher.code, Some(0), "{}", launcher.stderr);
    for (name, ..) in VARIABLES {
        assert!(launcher.stdout.contains(&format!("\n{name} ")), "{name}");
    }
}

#[tokio::test]
async fn production_refuses_each_secret_that_is_missing_or_a_sample() {
    for (binary, name, _) in REQUIRED {
        for sample in [None, Some("<ADMIN_CODE>")] {
            let mut env = vec![("NODE_ENV", "production")];
            for (whose, other, value) in REQUIRED {
                match sample {
                    _ if whose != binary => {}
                    Some(sample) if other == name => env.push((other, sample)),
                    None if other == name => {}
                    _ => env.push((other, value)),
                }
            }
            let finished = run(binary, &[], &env).await;
            one_sentence(binary, &finished, name);
        }
    }
}

#[tokio::test]
async fn a_secret_may_stand_in_a_file() {
    let file = std::env::temp_dir().join(format!("secret-{}", std::process::id()));
    std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
    let path = file.display().to_string();
    for name in [
        "JWT_SECRET",
        "ADMIN_CODE",
        "VOICE_API_SECRET",
        "IDP_APP_SECRET",
    ] {
        let variable = format!("{name}_FILE");
        let env = [
            (variable.as_str(), path.as_str()),
            ("VOICE_API_KEY", "key"),
            ("VOICE_URL", "wss://voice.example"),
        ];
        let env = if name.starts_with("VOICE") {
            &env[..]
        } else {
            &env[..1]
        };
        let printed = run("gateway", &["--print-config"], env).await;
        assert_eq!(printed.code, Some(0), "{name}: {}", printed.stderr);
        let mut lines = printed.stdout.lines();
        let line = lines
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap();
        assert!(
            line.contains("[redacted]") && line.contains("file"),
            "{line}"
        );
        assert!(!printed.stdout.contains("0123456789abcdef"));
    }
    let _ = std::fs::remove_file(file);
}

#[tokio::test]
async fn a_local_postgres_needs_a_container_engine_and_development() {
    let on = ("USE_LOCAL_POSTGRES", "true");
    let none = ("CONTAINER_ENGINE", "/nowhere/docker");
    for binary in ["persistence-svc", "tilestead"] {
        let finished = run(binary, &[], &[on, none]).await;
        one_sentence(binary, &finished, "USE_LOCAL_POSTGRES");
        assert!(
            finished.stderr.contains("/nowhere/docker"),
            "{}",
            finished.stderr
        );
    }
    let database = ("DATABASE_URL", "postgres://u:p@db/tilestead");
    for environment in ["production", "test"] {
        let env = [on, none, database, ("NODE_ENV", environment)];
        let finished = run("persistence-svc", &[], &env).await;
        one_sentence("persistence-svc", &finished, "USE_LOCAL_POSTGRES");
    }
}

#[tokio::test]
async fn times_that_make_no_sense_are_refused_with_the_range() {
    for (binary, name, value, range) in [
        ("zone-server", "SAVE_INTERVAL", "0", "1 to 3600"),
        ("zone-server", "LINGER_SECONDS", "99999999999", "0 to 86400"),
        ("persistence-svc", "LEASE_MS", "1", "100 to 60000"),
        (
            "persistence-svc",
            "MASS_LAPSE_MS",
            "99999999999",
            "0 to 3600000",
        ),
        ("gateway", "LINGER_SECONDS", "99999999999", "0 to 86400"),
        ("gateway", "BODY_TIMEOUT_MS", "0", "1 to 86400000"),
    ] {
        let finished = run(binary, &[], &[(name, value)]).await;
        one_sentence(binary, &finished, name);
        assert!(finished.stderr.contains(range), "{}", finished.stderr);
    }
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
