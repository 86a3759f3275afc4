//! The gateways and persistence services as operators see them, and a profile of a persistence service.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

use proto::rpc::{
    queries::v1::{Pool, SampleRequest, StatusReply, StatusRequest, replica_server::Replica},
    zone::v1::ProfilePart,
};
use serde_json::{Value, json};
use service_runtime::rpc::{Parts, in_parts};
use tokio::time::timeout;
use tonic::{Request, Response, Status};

use crate::{
    login::{Ask, post, send},
    stage::Stage,
    store::Store,
    walk::{SETTINGS, token},
};

/// The replica as the pretending store plays it.
#[derive(Default)]
pub(crate) struct Played {
    /// It is of a version that tells nothing of itself.
    older: AtomicBool,
    /// Somebody else takes a profile.
    busy: AtomicBool,
    /// Times that it was asked how it is.
    asked: AtomicU32,
}

impl Played {
    fn knows(&self) -> Result<(), Status> {
        match self.older.load(Ordering::SeqCst) {
            true => Err(Status::unimplemented("no such method")),
            false => Ok(()),
        }
    }
}

#[tonic::async_trait]
impl Replica for Store {
    type ProfileStream = Parts<ProfilePart>;

    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusReply>, Status> {
        self.replica.asked.fetch_add(1, Ordering::SeqCst);
        self.replica.knows()?;
        Ok(Response::new(StatusReply {
            version: "1.2.3".to_owned(),
            uptime_s: 60,
            database: "postgresql".to_owned(),
            commit_us: 1500,
            pool: Some(Pool {
                in_use: 3,
                max: 16,
                waiting: 2,
            }),
        }))
    }

    async fn profile(
        &self,
        ask: Request<SampleRequest>,
    ) -> Result<Response<Self::ProfileStream>, Status> {
        self.replica.knows()?;
        if self.replica.busy.load(Ordering::SeqCst) {
            return Err(Status::resource_exhausted("another one"));
        }
        let stacks = format!("main;commit {}\n", ask.into_inner().seconds);
        Ok(in_parts(stacks.as_bytes(), |data| ProfilePart { data }))
    }
}

/// Returns a gateway, and a token of an account with a role.
async fn stage(role: &str) -> (Stage, String) {
    let stage = Stage::open(&SETTINGS).await;
    stage.store.give_roles(role, &[role]);
    (stage, token(role, "player", |_| {}))
}

async fn get(stage: &Stage, path: &str, token: &str) -> Value {
    let body = Value::Null;
    let (status, answer) = send(stage, 0, ("GET", path), &Ask { token, body }).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn every_gateway_is_listed_with_its_players_and_times() {
    let (mut stage, token) = stage("viewer").await;
    let _ann = stage.player("Ann").await;
    stage.add_gateway(&SETTINGS).await;
    let _bob = stage.player_at(1, "Bob").await;
    let _cat = stage.player_at(1, "Cat").await;
    let both = async {
        loop {
            let seen = get(&stage, "/admin/gateways", &token).await;
            let counts = [0, 1].map(|n| seen["gateways"][n]["players"].as_u64());
            // Some signs of life go by before the numbers are those of now.
            if counts == [Some(1), Some(2)] && !seen["gateways"][1]["flushMicros"].is_null() {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let seen = timeout(Duration::from_secs(40), both).await;
    let seen = seen.expect("the other gateway is never told of");
    let gateways = seen["gateways"].as_array().unwrap();
    assert_eq!(gateways.len(), 2, "{seen}");
    assert_eq!(gateways[0]["answers"], true, "{seen}");
    assert_eq!(gateways[1]["answers"], false, "{seen}");
    assert_ne!(gateways[0]["id"], gateways[1]["id"], "{seen}");
    for one in gateways {
        assert!(one["flushMicros"].as_u64() > Some(0), "{seen}");
        assert!(one["uptime"].as_u64() < Some(120), "{seen}");
        assert!(one["silentSeconds"].as_u64() < Some(22), "{seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_store_is_asked_how_it_is_and_one_of_an_older_version_only_once_in_a_while() {
    let (stage, token) = stage("viewer").await;
    let address = stage.store.address.clone();
    let seen = get(&stage, "/admin/stores", &token).await;
    let live = json!({
        "address": address, "state": "live", "version": "1.2.3", "uptime": 60,
        "database": "postgresql", "commitMicros": 1500,
        "connections": {"inUse": 3, "max": 16, "waiting": 2},
    });
    assert_eq!(seen, json!({"stores": [live]}));
    let without = |state: &str| {
        json!({"stores": [{
            "address": address, "state": state, "version": null, "uptime": null,
            "database": null, "commitMicros": null, "connections": null,
        }]})
    };
    stage.store.away.store(true, Ordering::SeqCst);
    let seen = get(&stage, "/admin/stores", &token).await;
    assert_eq!(seen, without("silent"));
    stage.store.away.store(false, Ordering::SeqCst);
    stage.store.replica.older.store(true, Ordering::SeqCst);
    let before = stage.store.replica.asked.load(Ordering::SeqCst);
    for _ in 0..3 {
        let seen = get(&stage, "/admin/stores", &token).await;
        assert_eq!(seen, without("older"));
    }
    let asked = stage.store.replica.asked.load(Ordering::SeqCst) - before;
    assert_eq!(asked, 1, "its refusals would raise an alert");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_sampled_by_its_address_and_the_record_says_so() {
    let (stage, token) = stage("admin").await;
    let path = "/admin/stores/profile";
    let ask = |address: &str, seconds: u32| Ask {
        token: &token,
        body: json!({"address": address, "seconds": seconds}),
    };
    let own = stage.store.address.clone();
    let body = ask(&own, 2).body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = stage.ask(0, &request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("main;commit 2\n"), "{answer}");
    let acts = stage.store.audit_log();
    let told = format!("store {own}, 2 seconds");
    assert!(
        acts.iter()
            .any(|act| act.starts_with("AUDIT_ACTION_PROFILE") && act.ends_with(&told)),
        "{acts:?}"
    );
    let (status, answer) = post(&stage, 0, path, &ask("127.0.0.1:1", 2)).await;
    assert_eq!((status, &answer["code"]), (404, &json!("not_found")));
    let (status, answer) = post(&stage, 0, path, &ask(&own, 61)).await;
    assert_eq!((status, &answer["code"]), (400, &json!("invalid_request")));
    assert_eq!(
        stage.store.audit_log().len(),
        acts.len(),
        "nothing was done"
    );
    stage.store.replica.busy.store(true, Ordering::SeqCst);
    let (status, answer) = post(&stage, 0, path, &ask(&own, 2)).await;
    assert_eq!((status, &answer["code"]), (409, &json!("conflict")));
    stage.store.replica.older.store(true, Ordering::SeqCst);
    let (status, answer) = post(&stage, 0, path, &ask(&own, 2)).await;
    assert_eq!((status, &answer["code"]), (409, &json!("conflict")));
    assert!(
        answer["detail"].as_str().unwrap().contains("older version"),
        "{answer}"
    );
}
