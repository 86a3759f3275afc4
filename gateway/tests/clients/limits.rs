//! Messages that are refused, and how often one may.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    client::{BINARY, Client},
    stage::Stage,
};

fn nested(depth: usize) -> String {
    let open = "[".repeat(depth);
    let close = "]".repeat(depth);
    format!(r#"{{"event":"ping","id":1,"data":{{"t":{open}{close}}}}}"#)
}

fn code(message: &Value) -> &str {
    assert_eq!(message["event"], "error", "{message}");
    assert!(
        !message["data"]["message"].as_str().unwrap().is_empty(),
        "no words"
    );
    message["data"]["code"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_message_that_cannot_be_read_gets_its_error_and_the_connection_goes_on() {
    let stage = Stage::open(&[]).await;
    let mut other = stage.player("Other").await;
    let mut client = stage.player("Ann").await;
    for (text, expected) in [
        ("", "malformed"),
        ("{", "malformed"),
        ("[]", "malformed"),
        (r#"{"event":7}"#, "malformed"),
        (r#"{"event":"ping","extra":1}"#, "malformed"),
        (&nested(5000), "malformed"),
        (r#"{"event":"nonsense","id":3}"#, "unknown_event"),
        (
            r#"{"event":"player:move","data":{"target":{"x":1}}}"#,
            "invalid_data",
        ),
        (
            r#"{"event":"player:move","data":{"target":{"x":99999,"z":0}}}"#,
            "invalid_data",
        ),
        (
            r#"{"event":"player:chat","data":{"message":""}}"#,
            "invalid_data",
        ),
        (
            r#"{"event":"authenticate","data":{}}"#,
            "already_authenticated",
        ),
        (
            r#"{"event":"world:enter","data":{"characterId":"x"}}"#,
            "already_in_world",
        ),
    ] {
        client.send_text(text).await;
        let answer = client.until(|m| m["event"] == "error").await;
        assert_eq!(code(&answer), expected, "{text:.60}");
    }
    client.send_frame(true, BINARY, b"\x80").await;
    let answer = client.until(|m| m["event"] == "error").await;
    assert_eq!(code(&answer), "wrong_encoding");
    client.alive().await;
    other.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_names_the_request_and_what_comes_too_early_is_refused() {
    let stage = Stage::open(&[]).await;
    let mut client = stage.connect().await;
    for event in ["character:list", "world:leave", "world:enter"] {
        let data = match event {
            "world:enter" => json!({"characterId": "x"}),
            _ => json!({}),
        };
        assert_eq!(code(&client.ask(event, data).await), "not_authenticated");
    }
    client.alive().await;
    client.log_in().await;
    let refused = client.ask("player:move", json!({"stop": true})).await;
    assert_eq!(
        (code(&refused), &refused["data"]["event"]),
        ("not_in_world", &json!("player:move"))
    );
    let refused = client
        .ask("world:enter", json!({"characterId": "somebody"}))
        .await;
    assert_eq!(code(&refused), "not_your_character");
    for (name, why) in [
        ("A", "2 to 20 characters"),
        ("<bob>", "no other signs"),
        ("Ann\u{3164}", "nothing invisible"),
        ("Аnn", "letters of one script"),
        ("Ａdmin", "names of staff"),
        ("M0derator", "names of staff"),
    ] {
        let refused = client.ask("character:create", json!({"name": name})).await;
        assert_eq!(code(&refused), "invalid_name");
        let said = refused["data"]["message"].as_str().unwrap();
        assert!(said.contains(why), "{name}: {said}");
    }
    let bare = json!({"name": "Ann", "look": "99999"});
    let refused = client.ask("character:create", bare).await;
    assert_eq!(code(&refused), "invalid_data");
    let said = refused["data"]["message"].as_str().unwrap();
    assert!(said.contains("a look has five digits"), "{said}");
    client.enter("Ann").await;
    let dressed = json!({"name": "Bob", "look": "21340"});
    let made = client.ask("character:create", dressed).await;
    assert_eq!(made["data"]["character"]["look"], "21340", "{made}");
    let refused = client.ask("character:create", json!({"name": "ann"})).await;
    assert_eq!(code(&refused), "name_taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn messagepack_is_spoken_both_ways_and_deep_nesting_is_refused() {
    let stage = Stage::open(&[]).await;
    let header = "sec-websocket-protocol: tilestead.msgpack\r\n";
    let mut client = Client::connect(stage.address(0), header).await;
    let read = |came: Option<(u8, Vec<u8>)>| -> Value {
        let (opcode, payload) = came.expect("closed");
        assert_eq!(opcode, BINARY);
        rmp_serde::from_slice(&payload).unwrap()
    };
    assert_eq!(read(client.frame().await)["event"], "session:hello");
    let message = json!({"event": "ping", "id": "p", "data": {"t": 3}});
    let bytes = rmp_serde::to_vec_named(&message).unwrap();
    client.send_frame(true, BINARY, &bytes).await;
    let pong = read(client.frame().await);
    assert_eq!((&pong["event"], &pong["re"]), (&json!("pong"), &json!("p")));
    // Arrays in arrays, as deep as a message can be.
    client.send_frame(true, BINARY, &[0x91; 16_000]).await;
    assert_eq!(code(&read(client.frame().await)), "malformed");
    client.send_frame(true, BINARY, &bytes).await;
    assert_eq!(read(client.frame().await)["event"], "pong");
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_malformed_messages_close() {
    let stage = Stage::open(&[]).await;
    let mut other = stage.player("Other").await;
    let mut client = stage.connect().await;
    for _ in 0..20 {
        client.send_text("rubbish").await;
    }
    assert_eq!(client.closed().await.0, 4002);
    other.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_messages_with_data_that_no_zone_can_read_close() {
    let stage = Stage::open(&[]).await;
    let mut other = stage.player("Other").await;
    let mut client = stage.player("Ann").await;
    for _ in 0..19 {
        let refused = client.ask("player:move", json!({"target": 7})).await;
        assert_eq!(code(&refused), "invalid_data");
    }
    client.alive().await;
    client.request("player:move", json!({"target": 7})).await;
    assert_eq!(client.closed().await.0, 4002);
    // A zone answers many in one tick.
    let mut hasty = stage.player("Hasty").await;
    for _ in 0..20 {
        hasty.request("player:move", json!({"target": 7})).await;
    }
    assert_eq!(hasty.closed().await.0, 4002);
    other.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_61st_message_of_a_second_is_refused_and_nobody_else_is() {
    let stage = Stage::open(&[]).await;
    let mut other = stage.player("Other").await;
    let mut client = stage.player("Ann").await;
    for _ in 0..100 {
        client.request("ping", json!({"t": 1})).await;
    }
    let (mut passed, mut refused) = (0, 0);
    while passed + refused < 100 {
        let answer = client
            .until(|m| m["event"] == "pong" || m["event"] == "error")
            .await;
        match answer["event"].as_str() {
            Some("pong") => passed += 1,
            _ => {
                assert_eq!(code(&answer), "rate_limited");
                assert!((1..=1001).contains(&answer["data"]["retryAfterMs"].as_u64().unwrap()));
                assert!(answer["re"].is_u64(), "it names the request");
                refused += 1;
            }
        }
    }
    assert!(passed <= 60 && refused >= 40, "{passed} passed");
    other.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_eleventh_attempt_of_an_address_is_refused_but_tokens_are_free() {
    let stage = Stage::open(&[]).await;
    let mut first = stage.connect().await;
    first.log_in().await;
    let token = first.welcome["authToken"].as_str().unwrap().to_owned();
    let key = first.welcome["deviceKey"].as_str().unwrap().to_owned();
    let mut client = stage.connect().await;
    for _ in 0..9 {
        let refused = client.ask("authenticate", json!({"token": "x.y.z"})).await;
        assert_eq!(code(&refused), "invalid_credentials");
    }
    let refused = client.ask("authenticate", json!({"deviceKey": key})).await;
    assert_eq!(code(&refused), "rate_limited");
    assert!(refused["data"]["retryAfterMs"].as_u64().unwrap() > 1000);
    let welcome = client.ask("authenticate", json!({"token": token})).await;
    assert_eq!(welcome["data"]["account"], first.welcome["account"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_device_key_brings_the_same_account_back() {
    let stage = Stage::open(&[]).await;
    let first = stage.player("Ann").await;
    let key = first.welcome["deviceKey"].as_str().unwrap();
    let mut again = stage.connect().await;
    let welcome = again.ask("authenticate", json!({"deviceKey": key})).await;
    assert_eq!(welcome["data"]["account"], first.welcome["account"]);
    assert_eq!(welcome["data"]["characters"][0]["name"], "Ann");
    assert!(
        welcome["data"].get("deviceKey").is_none(),
        "it is shown once"
    );
    let mut wrong = stage.connect().await;
    let unknown = "AAAAAAAAAAAAAAAAAAAAAA";
    let refused = wrong
        .ask("authenticate", json!({"deviceKey": unknown}))
        .await;
    assert_eq!(code(&refused), "invalid_credentials");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_in_the_header_serves_and_a_wrong_one_closes() {
    let stage = Stage::open(&[]).await;
    let mut first = stage.connect().await;
    first.log_in().await;
    let token = first.welcome["authToken"].as_str().unwrap();
    let header = format!("authorization: Bearer {token}\r\n");
    let mut client = Client::connect(stage.address(0), &header).await;
    let welcome = client.event("session:welcome").await;
    assert_eq!(welcome["data"]["account"], first.welcome["account"]);
    let mut wrong = Client::connect(stage.address(0), "authorization: Bearer x\r\n").await;
    assert_eq!(wrong.closed().await.0, 4004);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_at_most_four_connections() {
    let stage = Stage::open(&[]).await;
    let mut first = stage.connect().await;
    first.log_in().await;
    let token = first.welcome["authToken"].as_str().unwrap().to_owned();
    let mut more = Vec::new();
    for _ in 0..3 {
        let mut client = stage.connect().await;
        let welcome = client.ask("authenticate", json!({"token": token})).await;
        assert_eq!(welcome["event"], "session:welcome");
        more.push(client);
    }
    let mut fifth = stage.connect().await;
    let refused = fifth.ask("authenticate", json!({"token": token})).await;
    assert_eq!(code(&refused), "rate_limited");
    assert_eq!(fifth.closed().await.0, 1008);
    first.alive().await;
}

// One thread: then the clock can be stopped, and time passes only where nothing else is to do.
#[tokio::test]
async fn ten_seconds_of_excess_close_and_keep_the_account_out_for_a_minute() {
    let stage = Stage::open(&[]).await;
    let mut other = stage.connect().await;
    other.log_in().await;
    let mut client = stage.connect().await;
    client.log_in().await;
    let token = json!({"token": client.welcome["authToken"]});
    let mut second = stage.connect().await;
    second.ask("authenticate", token.clone()).await;
    tokio::time::pause();
    let burst = async |client: &mut Client| {
        for _ in 0..40 {
            client.request("ping", json!({"t": 1})).await;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    for _ in 0..19 {
        burst(&mut client).await;
    }
    let refused = client.ask("ping", json!({"t": 1})).await;
    assert!(refused["event"].is_string(), "refused, but still there");
    for _ in 0..4 {
        burst(&mut client).await;
    }
    assert_eq!(client.closed().await.0, 4008);
    second.request("ping", json!({"t": 1})).await;
    assert_eq!(second.closed().await.0, 4008, "all of the account");

    let mut early = stage.connect().await;
    let refused = early.ask("authenticate", token.clone()).await;
    assert_eq!(code(&refused), "rate_limited");
    let wait = refused["data"]["retryAfterMs"].as_u64().unwrap();
    assert!((55_000..=60_001).contains(&wait), "{wait}");
    assert_eq!(early.closed().await.0, 4008);
    other.alive().await;

    tokio::time::sleep(Duration::from_millis(wait - 2000)).await;
    let mut early = stage.connect().await;
    let refused = early.ask("authenticate", token.clone()).await;
    assert_eq!(code(&refused), "rate_limited");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut late = stage.connect().await;
    let welcome = late.ask("authenticate", token).await;
    assert_eq!(welcome["event"], "session:welcome", "{welcome}");
}
