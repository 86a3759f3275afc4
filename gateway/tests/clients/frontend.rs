//! The frontend's build from a public folder, and voice tokens.

use std::{fs, path::PathBuf};

use base64::Engine;
use serde_json::{Value, json};

use crate::{
    login::{Ask, post},
    stage::Stage,
};

/// A public folder beside something that nobody may see.
struct Public(PathBuf);

impl Public {
    fn new() -> Self {
        let around = std::env::temp_dir().join(format!("public-{}", uuid::Uuid::new_v4()));
        let folder = around.join("public");
        fs::create_dir_all(folder.join("assets")).unwrap();
        for (path, text) in [
            ("../secret.txt", "nobody may see this"),
            ("index.html", "<!doctype html><title>the frontend</title>"),
            ("assets/index-B3kQx9aZ.js", "console.log('hashed')"),
            ("logo.svg", "<svg/>"),
            (".env", "nobody may see this"),
        ] {
            fs::write(folder.join(path), text).unwrap();
        }
        std::os::unix::fs::symlink(around.join("secret.txt"), folder.join("link.txt")).unwrap();
        Self(around)
    }

    fn folder(&self) -> String {
        self.0.join("public").display().to_string()
    }
}

impl Drop for Public {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let lines = answer.lines().filter_map(|line| line.split_once(": "));
    let mut found = lines.filter(|(known, _)| *known == name);
    found.next().map_or("", |(_, value)| value)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_folder_takes_the_place_of_the_page_with_its_index_for_its_own_paths() {
    let public = Public::new();
    let stage = Stage::open(&[("PUBLIC_DIR", &public.folder())]).await;
    for path in ["/", "/index.html", "/play/anywhere?x=1"] {
        let answer = stage.get(0, path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(
            answer.contains("<title>the frontend</title>"),
            "{path}: {answer}"
        );
        assert_eq!(header(&answer, "cache-control"), "no-cache");
        let policy = header(&answer, "content-security-policy");
        assert!(policy.contains("default-src 'self'") && policy.contains("object-src 'none'"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "strict-origin-when-cross-origin"),
            ("cross-origin-opener-policy", "same-origin-allow-popups"),
        ] {
            assert_eq!(header(&answer, name), value, "{path}");
        }
    }
    let script = stage.get(0, "/assets/index-B3kQx9aZ.js").await;
    assert_eq!(
        header(&script, "cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert!(header(&script, "content-type").starts_with("text/javascript"));
    let logo = stage.get(0, "/logo.svg").await;
    assert_eq!(header(&logo, "content-type"), "image/svg+xml");
    let tag = header(&logo, "etag");
    let again = format!(
        "GET /logo.svg HTTP/1.1\r\nhost: x\r\nif-none-match: {tag}\r\nconnection: close\r\n\r\n"
    );
    assert!(stage.ask(0, &again).await.starts_with("HTTP/1.1 304"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_beside_the_public_folder_is_served_and_the_interface_stays() {
    let public = Public::new();
    let stage = Stage::open(&[("PUBLIC_DIR", &public.folder())]).await;
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "//secret.txt",
        "/link.txt",
        "/.env",
        "/missing.png",
        "/api/nothing",
        "/manifests/nothing.json",
        "/hiscores/nothing/here",
    ] {
        let answer = stage.get(0, path).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{path}: {answer}");
        assert!(!answer.contains("nobody may see"), "{path}: {answer}");
        assert!(
            answer.contains("application/problem+json"),
            "{path}: {answer}"
        );
    }
    let health = stage.get(0, "/health").await;
    assert!(health.contains("\"status\":\"ok\""), "{health}");
    let post = "POST /play HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let posted = stage.ask(0, post).await;
    assert!(posted.starts_with("HTTP/1.1 404"), "{posted}");
}

const VOICE: [(&str, &str); 5] = [
    ("VOICE_API_KEY", "the-key"),
    ("VOICE_API_SECRET", "the-secret-of-the-voice-server-00"),
    ("VOICE_URL", "wss://voice.example"),
    ("ADMIN_CODE", "open sesame, please"),
    ("DISABLE_RATE_LIMIT", "true"),
];

async fn voice(stage: &Stage, token: &str) -> (u16, Value) {
    let request = format!(
        "POST /api/voice/token HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\
         connection: close\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    let answer = stage.ask(0, &request).await;
    let status = answer[9..12].parse().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_in_the_world_gets_a_voice_token_for_its_surroundings() {
    let stage = Stage::open(&VOICE).await;
    let (status, problem) = voice(&stage, "x").await;
    assert_eq!((status, &problem["code"]), (401, &json!("invalid_token")));
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let token = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let (status, problem) = voice(&stage, &token).await;
    assert_eq!((status, &problem["code"]), (409, &json!("not_in_world")));
    ann.enter("Ann").await;
    let (status, answer) = voice(&stage, &token).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["url"], "wss://voice.example");
    assert_eq!(answer["identity"], ann.character_id.as_str());
    let jwt = answer["token"].as_str().unwrap();
    let claims = jwt.split('.').nth(1).unwrap();
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(claims);
    let claims: Value = serde_json::from_slice(&claims.unwrap()).unwrap();
    assert_eq!(claims["iss"], "the-key");
    assert_eq!(claims["video"]["room"], answer["room"]);
    assert_eq!(claims["video"]["roomJoin"], true);
    assert_eq!(claims["video"]["canPublish"], true);
    assert!(
        answer["room"].as_str().unwrap().starts_with("region:"),
        "{answer}"
    );
    // A muted player may only listen.
    let mut operator = stage.connect().await;
    operator.log_in().await;
    let account = operator.welcome["account"]["id"].as_str().unwrap();
    stage.store.give_roles(account, &["admin"]);
    let mute = Ask {
        token: operator.welcome["authToken"].as_str().unwrap(),
        body: json!({"action": "mute", "name": "Ann"}),
    };
    assert_eq!(post(&stage, 0, "/admin/moderation", &mute).await.0, 200);
    // The push is on its way.
    while voice(&stage, &token).await.1["canPublish"] != false {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_voice_server_there_are_no_voice_tokens() {
    let stage = Stage::open(&[]).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let token = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let (status, problem) = voice(&stage, &token).await;
    assert_eq!((status, &problem["code"]), (404, &json!("not_found")));
}
