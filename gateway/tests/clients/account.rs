//! Accounts that their players take away or remove, at every gateway.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::{
    client::Client,
    login::{Ask, send},
    stage::Stage,
    walk::token,
};

const SETTINGS: [(&str, &str); 1] = [("JWT_SECRET", "0123456789abcdef0123456789abcdef")];
const REMOVE: (&str, &str) = ("DELETE", "/api/account");

#[tokio::test(flavor = "multi_thread")]
async fn who_is_removed_is_out_at_every_gateway_and_no_token_is_good() {
    let mut stage = Stage::open(&SETTINGS).await;
    stage.add_gateway(&SETTINGS).await;
    let mut near = stage.connect().await;
    near.log_in().await;
    let account = near.welcome["account"]["id"].as_str().unwrap().to_owned();
    let own = near.welcome["authToken"].as_str().unwrap().to_owned();
    let other = token(&account, "player", |_| {});
    let mut far = Client::connect(stage.address(1), "").await;
    let welcome = far.ask("authenticate", json!({ "token": other })).await;
    assert_eq!(welcome["event"], "session:welcome", "{welcome}");
    let resume = welcome["data"]["resumeToken"].clone();

    let asked = |confirm: &str| Ask {
        token: &own,
        body: json!({ "confirm": confirm }),
    };
    let (status, answer) = send(&stage, 0, REMOVE, &asked("Ann")).await;
    assert_eq!((status, &answer["code"]), (400, &json!("invalid_request")));
    assert_eq!(answer["errors"][0]["pointer"], "/confirm");
    near.alive().await;

    let (sure, also) = (asked(&account), asked(&account));
    let (one, two) = tokio::join!(
        send(&stage, 0, REMOVE, &sure),
        send(&stage, 0, REMOVE, &also)
    );
    let mut both = [one.0, two.0];
    both.sort_unstable();
    assert_eq!(both, [204, 401], "{one:?} {two:?}");
    for client in [&mut near, &mut far] {
        let told = client.event("notice").await;
        assert_eq!(told["data"]["code"], "account_deleted");
        let (code, why) = client.closed().await;
        assert_eq!((code, why.as_str()), (4004, "this account was deleted"));
    }
    for (index, token) in [(0, &own), (0, &other), (1, &own), (1, &other)] {
        let body = Value::Null;
        let asked = Ask { token, body };
        let (status, answer) = send(&stage, index, ("GET", "/api/player"), &asked).await;
        assert_eq!((status, &answer["code"]), (401, &json!("invalid_token")));
    }
    let mut back = Client::connect(stage.address(1), "").await;
    let data = json!({ "resumeToken": resume, "lastSeq": 0 });
    let refused = back.ask("session:resume", data).await;
    assert_eq!(refused["data"]["code"], "invalid_credentials", "{refused}");
    let key = json!({ "deviceKey": near.welcome["deviceKey"] });
    let refused = back.ask("authenticate", key).await;
    assert_eq!(refused["data"]["code"], "invalid_credentials", "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_kept_for_a_reason_that_only_a_newer_store_knows_plays_on() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    let token = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let body = json!({ "confirm": ann.welcome["account"]["id"] });
    let sure = Ask {
        token: &token,
        body,
    };
    stage.store.newer.store(true, Ordering::SeqCst);
    let (status, answer) = send(&stage, 0, REMOVE, &sure).await;
    assert_eq!((status, &answer["code"]), (500, &json!("internal")));
    ann.alive().await;
    stage.store.newer.store(false, Ordering::SeqCst);
    let (status, answer) = send(&stage, 0, REMOVE, &sure).await;
    assert_eq!(status, 204, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_exported_so_often_an_hour_and_by_its_player_alone() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.connect().await;
    ann.log_in().await;
    ann.ask("character:create", json!({"name": "Ann"})).await;
    let own = ann.welcome["authToken"].as_str().unwrap();
    let account = ann.welcome["account"]["id"].as_str().unwrap();
    let export = async |token: &str| {
        let body = Value::Null;
        let asked = Ask { token, body };
        send(&stage, 0, ("GET", "/api/account/export"), &asked).await
    };
    for scope in ["agent", "spectator"] {
        let (status, answer) = export(&token(account, scope, |_| {})).await;
        assert_eq!((status, &answer["code"]), (403, &json!("wrong_scope")));
    }
    for _ in 0..5 {
        let (status, answer) = export(own).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["characters"][0]["character"]["name"], "Ann");
        assert_eq!(answer["account"]["deviceKey"], json!(true));
    }
    let (status, answer) = export(own).await;
    assert_eq!((status, &answer["code"]), (429, &json!("rate_limited")));
}
