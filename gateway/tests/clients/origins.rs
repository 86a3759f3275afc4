//! Origins that may use this server: each sentence of the specification, over HTTP and for the
//! upgrade of a WebSocket.

use crate::{client::upgrade, stage::Stage};

const SETTINGS: [(&str, &str); 9] = [
    (
        "CORS_ORIGINS",
        "https://play.example, https://api.example:8443",
    ),
    ("CORS_PREVIEW_HOSTS", "preview.example,previews.api.example"),
    ("SOCIAL_FRAME_HOSTS", "frames.example"),
    ("IDP_HOST", "idp.example"),
    ("PUBLIC_APP_URL", "https://app.example/play"),
    ("CLIENT_URL", "http://client.example:3333"),
    ("AGENT_URL", "https://agents.example"),
    ("AGENT_API_URL", "https://agents-api.example"),
    ("DISABLE_RATE_LIMIT", "true"),
];

const ALLOWED: [&str; 13] = [
    "https://play.example",
    "https://api.example:8443",
    "http://localhost:3333",
    "https://localhost",
    "http://localhost:80",
    "https://pr-7.preview.example",
    "https://pr-7.previews.api.example",
    "https://chat.frames.example",
    "https://auth.idp.example",
    "https://app.example",
    "http://client.example:3333",
    "https://agents.example",
    "https://agents-api.example",
];

const REFUSED: [&str; 15] = [
    "http://play.example",
    "https://play.example:8443",
    "https://api.example",
    "https://preview.example",
    "https://evilpreview.example",
    "http://pr-7.preview.example",
    "https://pr-7.preview.example:444",
    "https://pr-7.preview.example.evil.test",
    "https://localhost.evil.test",
    "https://evil-localhost",
    "http://chat.frames.example",
    "https://client.example:3333",
    "ftp://localhost",
    "null",
    "*",
];

const HEADERS: [&str; 3] = [
    "access-control-allow-credentials: true",
    "access-control-allow-methods: GET, PUT, POST, DELETE, OPTIONS, PATCH",
    "access-control-allow-headers: Content-Type, Authorization, X-Requested-With",
];

async fn ask(stage: &Stage, line: &str, origin: &str) -> String {
    let request = format!(
        "{line} HTTP/1.1\r\nhost: here\r\norigin: {origin}\r\nconnection: close\r\n\
         access-control-request-method: PATCH\r\n\r\n"
    );
    stage.ask(0, &request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_origin_of_the_lists_is_named_back_on_every_answer_and_no_other() {
    let stage = Stage::open(&SETTINGS).await;
    for line in [
        "GET /health",
        "GET /nothing",
        "POST /env.js",
        "OPTIONS /api/v1/world",
    ] {
        for origin in ALLOWED {
            let answer = ask(&stage, line, origin).await;
            let named = format!("access-control-allow-origin: {origin}\r\n");
            assert!(answer.contains(&named), "{line} {origin}: {answer}");
            for header in HEADERS {
                assert!(answer.contains(header), "{header}: {answer}");
            }
            assert!(answer.contains("vary: Origin"), "{answer}");
        }
        for origin in REFUSED {
            let answer = ask(&stage, line, origin).await;
            assert!(
                !answer.contains("access-control-allow"),
                "{line} {origin}: {answer}"
            );
        }
    }
    let preflight = ask(&stage, "OPTIONS /api/v1/world", ALLOWED[0]).await;
    assert!(preflight.starts_with("HTTP/1.1 204"), "{preflight}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_origins_may_upgrade() {
    let stage = Stage::open(&SETTINGS).await;
    // The gateway waits for more after an upgrade that it allows; it answers one of an old version
    // and ends it.
    let old = |origin: &str| {
        let headers = format!("origin: {origin}\r\nconnection: close\r\n");
        upgrade(&headers).replace("version: 13", "version: 8")
    };
    for origin in ALLOWED {
        let answer = stage.ask(0, &old(origin)).await;
        assert!(answer.starts_with("HTTP/1.1 426"), "{origin}: {answer}");
    }
    for origin in REFUSED {
        let answer = stage.ask(0, &old(origin)).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{origin}: {answer}");
        assert!(answer.contains("origin_refused"), "{answer}");
    }
}
