//! Wrong configuration ends a process with one sentence and exit code 64, before a port is bound.

use std::{
    collections::BTreeSet,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use proto::client::Format;
use serde_json::json;
use tests::{
    bot::{Payload, Player},
    cluster::{
        Cluster, Plan,
        process::{Finished, finish, workspace},
    },
};

use crate::interface::ADMIN_CODE;

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
async fn production_without_certificates_does_not_start_unless_a_mesh_protects_it() {
    for binary in ["gateway", "zone-server", "persistence-svc"] {
        let mut env = production((binary, "INTERNAL_TLS", &[]), None);
        let finished = run(binary, &[], &env).await;
        one_sentence(binary, &finished, "INTERNAL_TLS_CA");
        // A file that is no certificate is as good as none.
        let names = ["INTERNAL_TLS_CA", "INTERNAL_TLS_CERT", "INTERNAL_TLS_KEY"];
        env.extend(names.map(|name| (name, "/dev/null")));
        let finished = run(binary, &[], &env).await;
        one_sentence(binary, &finished, "INTERNAL_TLS");
        env.push(("INTERNAL_TLS", "off"));
        let printed = run(binary, &["--print-config"], &env).await;
        assert_eq!(printed.code, Some(0), "{binary}: {}", printed.stderr);
    }
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

/// Settings that production needs.
const REQUIRED: [(&str, &str, &str); 6] = [
    ("gateway", "INTERNAL_TLS", "off"),
    ("zone-server", "INTERNAL_TLS", "off"),
    ("persistence-svc", "INTERNAL_TLS", "off"),
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

/// All secrets, whose they are, and what else must be set with them.
#[allow(clippy::type_complexity, reason = "a table")]
const SECRETS: [(&str, &str, &[(&str, &str)]); 8] = [
    ("gateway", "JWT_SECRET", &[]),
    ("gateway", "JWT_KEYS", &[]),
    ("gateway", "ADMIN_CODE", &[]),
    (
        "gateway",
        "IDP_APP_SECRET",
        &[
            ("PUBLIC_IDP_APP_ID", "app"),
            ("IDP_ISSUER", "https://idp.example"),
            ("IDP_JWKS_URL", "https://idp.example/keys"),
        ],
    ),
    (
        "gateway",
        "VOICE_API_KEY",
        &[
            ("VOICE_API_SECRET", "a-secret-of-the-voice-server"),
            ("VOICE_URL", "wss://voice.example"),
        ],
    ),
    (
        "gateway",
        "VOICE_API_SECRET",
        &[
            ("VOICE_API_KEY", "a-key-of-the-voice-server"),
            ("VOICE_URL", "wss://voice.example"),
        ],
    ),
    ("gateway", "REDIS_URL", &[]),
    ("persistence-svc", "DATABASE_URL", &[]),
];

/// Returns a production's settings with this secret, and all else as it should be.
fn production<'a>(
    (binary, name, others): (&str, &'a str, &[(&'a str, &'a str)]),
    secret: Option<&'a str>,
) -> Vec<(&'a str, &'a str)> {
    let mut env = vec![("NODE_ENV", "production")];
    let required = REQUIRED.iter().filter(|(whose, ..)| *whose == binary);
    env.extend(required.map(|(_, name, value)| (*name, *value)));
    env.extend(others);
    env.retain(|(known, _)| *known != name);
    env.extend(secret.map(|secret| (name, secret)));
    env
}

#[tokio::test]
async fn production_refuses_each_secret_that_is_missing_or_a_sample() {
    for secret in SECRETS {
        let (binary, name, _) = secret;
        let samples = match name {
            "DATABASE_URL" => [
                "postgres://tilestead:tilestead@db/tilestead",
                "host=db user=tilestead password=change-me",
            ],
            "REDIS_URL" => [
                "redis://:password@redis:6379",
                "redis://u:<SECRET>@redis:6379",
            ],
            _ => ["<A_SECRET>", "change-me-please-0123456789-0123456789"],
        };
        for sample in samples {
            let finished = run(binary, &[], &production(secret, Some(sample))).await;
            one_sentence(binary, &finished, name);
            assert!(
                finished.stderr.contains("everybody knows"),
                "{}",
                finished.stderr
            );
            let known = sample.contains("change-me") && finished.stderr.contains("change-me");
            assert!(!known, "the secret is shown: {}", finished.stderr);
        }
        if REQUIRED.iter().any(|(_, required, _)| *required == name) {
            let finished = run(binary, &[], &production(secret, None)).await;
            one_sentence(binary, &finished, name);
        }
    }
}

/// Returns the files of this repository that give settings to people.
fn published() -> Vec<PathBuf> {
    fn look(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let gives = [
                ".yaml",
                ".yml",
                ".env",
                ".example",
                ".toml",
                "Dockerfile",
                ".md",
            ];
            if path.is_dir() && !matches!(&*name, "target" | ".git" | "out" | "node_modules") {
                look(&path, found);
            } else if gives.iter().any(|end| name.ends_with(end)) || name.starts_with(".env") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    look(&workspace(), &mut found);
    found
}

#[tokio::test]
async fn no_secret_that_this_repository_publishes_is_good_in_production() {
    let mut seen = BTreeSet::new();
    for file in published() {
        let text = std::fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            for secret in SECRETS {
                let (binary, name, _) = secret;
                // The forms are `NAME: value`, `NAME=value`, and `name: NAME` with `value:` on the
                // next line.
                let Some(at) = line.find(name) else { continue };
                let after = line[at + name.len()..].trim_start();
                let Some(value) = after.strip_prefix([':', '=']) else {
                    continue;
                };
                let value = value.split_whitespace().next().unwrap_or_default();
                let value = value.trim_matches(['"', '\'', '`', ',', '\\', ')', '.']);
                // Random values, parts of an address, and placeholders do not count.
                let made = value.contains("$(") || value.contains('…') || value.starts_with('$');
                let open = name == "REDIS_URL" && !value.contains('@');
                if value.is_empty() || made || open || !seen.insert((name, value.to_owned())) {
                    continue;
                }
                let finished = run(binary, &[], &production(secret, Some(value))).await;
                one_sentence(binary, &finished, name);
            }
        }
    }
    for (name, value) in [
        // A file of keys has the key's id before the secret.
        ("JWT_KEYS", "dev"),
        ("ADMIN_CODE", "only-for-development"),
        (
            "DATABASE_URL",
            "postgres://tilestead:tilestead@postgres/tilestead",
        ),
    ] {
        assert!(
            seen.contains(&(name, value.to_owned())),
            "{name} was not looked at: {seen:?}"
        );
    }
}

#[tokio::test]
async fn an_identity_provider_without_its_app_is_no_anonymous_world() {
    for (name, value) in [
        ("IDP_APP_SECRET", "a-secret-of-the-app"),
        ("IDP_ISSUER", "https://idp.example"),
        ("IDP_JWKS_URL", "https://idp.example/keys"),
    ] {
        for environment in ["development", "production"] {
            let mut env = production(("gateway", "", &[]), None);
            env[0].1 = environment;
            env.push((name, value));
            let finished = run("gateway", &[], &env).await;
            one_sentence("gateway", &finished, name);
            assert!(
                finished.stderr.contains("PUBLIC_IDP_APP_ID"),
                "{}",
                finished.stderr
            );
        }
    }
}

/// A file with a secret, which goes when the test ends.
struct SecretFile(PathBuf);

impl SecretFile {
    fn new(name: &str, secret: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = format!("secret-{}-{count}-{name}", std::process::id());
        let file = std::env::temp_dir().join(file);
        std::fs::write(&file, format!("{secret}\n")).expect("a file");
        Self(file)
    }
}

impl Drop for SecretFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn each_secret_may_stand_in_a_file() {
    for secret in SECRETS {
        let (binary, name, others) = secret;
        let text = match name {
            "DATABASE_URL" => "postgres://u:kept-in-a-file@db/tilestead",
            "REDIS_URL" => "redis://:kept-in-a-file@redis:6379",
            "JWT_KEYS" => "k1 kept-in-a-file-0123456789abcdef0123",
            _ => "kept-in-a-file-0123456789abcdef0123",
        };
        let file = SecretFile::new(name, text);
        let variable = format!("{name}_FILE");
        let path = file.0.display().to_string();
        let mut env = production((binary, name, others), None);
        env.push((variable.as_str(), path.as_str()));
        let printed = run(binary, &["--print-config"], &env).await;
        assert_eq!(printed.code, Some(0), "{name}: {}", printed.stderr);
        let mut lines = printed.stdout.lines();
        let line = lines.find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("{name}: {}", printed.stdout));
        assert!(
            line.contains("[redacted]") && line.contains("file"),
            "{line}"
        );
        assert!(!printed.stdout.contains("kept-in-a-file"));
        env.push((name, text));
        let both = run(binary, &[], &env).await;
        one_sentence(binary, &both, name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_production_starts_with_all_its_secrets_in_files() {
    let secrets = [
        (
            "JWT_SECRET",
            "a-jwt-secret-0123456789abcdef0123456789abcdef",
        ),
        ("ADMIN_CODE", ADMIN_CODE),
        ("VOICE_API_KEY", "a-key-of-the-voice-server"),
        ("VOICE_API_SECRET", "a-secret-of-the-voice-server"),
    ];
    let mut plan = Plan::new("in_files").env("NODE_ENV", "production");
    plan = plan.env("VOICE_URL", "wss://voice.example");
    plan.rate_limits = true;
    plan.secret_files = true;
    let files = secrets.map(|(name, secret)| (name, SecretFile::new(name, secret)));
    for (name, file) in &files {
        plan = plan.env(&format!("{name}_FILE"), &file.0.display().to_string());
    }
    let cluster = Cluster::start(plan).await.unwrap();
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann")
        .await
        .unwrap();
    // The content of the files counts.
    for (code, good) in [(ADMIN_CODE, true), ("another", false)] {
        let told = ann
            .ask("admin:elevate", &json!({ "code": code }))
            .await
            .unwrap();
        assert_eq!(matches!(told, Payload::Ack(_)), good, "{told:?}");
    }
    ann.check().unwrap();
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
