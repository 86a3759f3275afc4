//! The list of keys that sign tokens changes while gateways run.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    login::{Ask, post, send},
    stage::Stage,
};

const FREELY: (&str, &str) = ("DISABLE_RATE_LIMIT", "true");

/// A file of keys, which is gone at the end.
struct KeyFile(PathBuf);

impl KeyFile {
    fn new(lines: &str) -> Self {
        let name = format!("tilestead-keys-{}", uuid::Uuid::new_v4());
        let file = Self(std::env::temp_dir().join(name));
        file.write(lines);
        file
    }

    /// Writes another list, whole at once.
    fn write(&self, lines: &str) {
        let next = self.0.with_extension("next");
        std::fs::write(&next, lines).unwrap();
        std::fs::rename(&next, &self.0).unwrap();
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Opens two gateways that read this file.
async fn stage(file: &KeyFile) -> Stage {
    let path = file.path();
    let settings = [FREELY, ("JWT_KEYS_FILE", path.as_str())];
    let mut stage = Stage::open(&settings).await;
    stage.add_gateway(&settings).await;
    stage
}

async fn login(stage: &Stage, index: usize) -> String {
    let asked = Ask {
        body: json!({}),
        ..Ask::default()
    };
    let (status, made) = post(stage, index, "/api/auth/anonymous", &asked).await;
    assert_eq!(status, 200, "{made}");
    made["token"].as_str().unwrap().to_owned()
}

fn kid(token: &str) -> String {
    jsonwebtoken::decode_header(token).unwrap().kid.unwrap()
}

async fn good(stage: &Stage, index: usize, token: &str) -> (u16, Value) {
    let body = Value::Null;
    let asked = Ask { token, body };
    let (status, answer) = send(stage, index, ("GET", "/api/v1/player"), &asked).await;
    (status, answer["code"].clone())
}

/// Waits until new tokens of a gateway name this key.
async fn signs_with(stage: &Stage, index: usize, id: &str) -> String {
    let signs = async {
        loop {
            let token = login(stage, index).await;
            if kid(&token) == id {
                return token;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let signs = timeout(Duration::from_secs(10), signs).await;
    signs.unwrap_or_else(|_| panic!("{id} never signs"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_logs_nobody_out_and_a_removed_one_ends_its_tokens() {
    let file = KeyFile::new("old the-first-secret\n");
    let stage = stage(&file).await;
    let mut ann = stage.player("Ann").await;
    let token = ann.welcome["authToken"].as_str().unwrap().to_owned();
    assert_eq!((kid(&token), kid(&ann.token)), ("old".into(), "old".into()));
    let body = json!({"characterId": ann.character_id, "agentName": "Helper"});
    let asked = Ask {
        token: &token,
        body,
    };
    let (_, agent) = post(&stage, 0, "/api/agents", &asked).await;
    let body = json!({"agentId": agent["data"]["agent"]["id"]});
    let asked = Ask {
        token: &token,
        body,
    };
    let (_, made) = post(&stage, 0, "/api/agents/credentials", &asked).await;
    let agents = made["authToken"].as_str().unwrap().to_owned();
    assert_eq!(kid(&agents), "old");

    file.write("new another-secret\nold the-first-secret\n");
    let newer = signs_with(&stage, 0, "new").await;
    signs_with(&stage, 1, "new").await;
    ann.alive().await;
    for index in [0, 1] {
        for token in [&token, &agents, &newer] {
            assert_eq!(good(&stage, index, token).await.0, 200, "{}", kid(token));
        }
    }
    let seen = ann.seq;
    let lost = ann.lose();
    let (mut ann, resumed) = lost.resume(stage.address(1), seen).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    ann.alive().await;
    let left = stage.player("Bob").await;
    assert_eq!(kid(&left.token), "new");

    file.write("new another-secret\n");
    for index in [0, 1] {
        let gone = async {
            while good(&stage, index, &token).await.0 == 200 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(Duration::from_secs(10), gone).await.expect("gone");
        for token in [&token, &agents] {
            let (status, code) = good(&stage, index, token).await;
            assert_eq!((status, code), (401, json!("invalid_token")));
        }
        assert_eq!(good(&stage, index, &newer).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_token_ends_with_its_key() {
    let file = KeyFile::new("old the-first-secret\n");
    let stage = stage(&file).await;
    let ann = stage.player("Ann").await;
    let (seen, lost) = (ann.seq, ann.lose());
    file.write("new another-secret\n");
    signs_with(&stage, 1, "new").await;
    let (_, refused) = lost.resume(stage.address(1), seen).await;
    assert_eq!(refused["event"], "session:invalid", "{refused}");
}

/// The other gateway may have read the newer list first.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_by_a_key_that_is_not_read_yet_is_good_at_once() {
    let file = KeyFile::new("old the-first-secret\n");
    let stage = stage(&file).await;
    for round in 0..10 {
        file.write(&format!("k{round} secret-{round}\nold the-first-secret\n"));
        // A read that was under way may have seen the list before.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let token = signs_with(&stage, round % 2, &format!("k{round}")).await;
        assert_eq!(good(&stage, (round + 1) % 2, &token).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_changes_nothing() {
    let file = KeyFile::new("old the-first-secret\n");
    let stage = stage(&file).await;
    let token = login(&stage, 0).await;
    for broken in ["", "new\n", "a b\na c\n"] {
        file.write(broken);
        tokio::time::sleep(Duration::from_millis(1300)).await;
        assert_eq!(kid(&login(&stage, 0).await), "old", "{broken:?}");
        assert_eq!(good(&stage, 1, &token).await.0, 200, "{broken:?}");
    }
    std::fs::remove_file(&file.0).unwrap();
    tokio::time::sleep(Duration::from_millis(1300)).await;
    assert_eq!(good(&stage, 1, &token).await.0, 200);
    file.write("new another-secret\nold the-first-secret\n");
    signs_with(&stage, 0, "new").await;
}
