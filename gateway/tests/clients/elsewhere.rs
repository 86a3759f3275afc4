//! Going on at another gateway: where nothing of the session is, and everything must be right.

use serde_json::json;
use tokio::time::{Duration, timeout};

use crate::{client::Client, stage::Stage};

async fn two_gateways() -> Stage {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    stage
}

async fn resume(client: &mut Client, token: &str, last_seq: u64) -> serde_json::Value {
    let data = json!({"resumeToken": token, "lastSeq": last_seq});
    client.ask("session:resume", data).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_at_another_gateway_with_everything_anew() {
    let stage = two_gateways().await;
    let mut client = stage.player_at(0, "Ann").await;
    client.ask("player:move", json!({"stop": true})).await;
    let asleep = json!({"action": "sleep"});
    client.request("player:action", asleep).await;
    let inputs = stage.zone.heard(2).await;
    let lost = client.lose();
    let (mut client, resumed) = lost.resume(stage.address(1), lost.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    assert_eq!(resumed["data"]["resync"], true);
    assert_eq!(resumed["data"]["characterId"], lost.character_id);
    assert_eq!(resumed["seq"], 2, "behind the hello");
    assert_eq!(client.message().await["event"], "player:sync");
    let update = client.event("world:update").await;
    assert_eq!(update["data"]["chunks"][0]["full"], true, "{update}");
    assert_eq!(stage.zone.inputs(), inputs, "no input is sent twice");
    let moved = client.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
    let numbers: Vec<u64> = stage.zone.inputs().iter().map(|(n, _)| *n).collect();
    assert_eq!(
        numbers,
        [1, 2, 3],
        "numbered on behind those of the first gateway"
    );
    assert!(stage.metric_at(1, "gateway_resumes_total", "elsewhere") > 0.5);
    // And once more, back at the first one, whose part of the session is over by then or not.
    let lost = client.lose();
    let (mut client, resumed) = lost.resume(stage.address(0), lost.seq).await;
    assert_eq!(resumed["data"]["resync"], true, "{resumed}");
    client.event("player:sync").await;
    let moved = client.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
    assert_eq!(stage.zone.inputs().last().unwrap().0, 4);
}

/// Goes on at the second gateway and comes back to the first. There its part of the session waited
/// for the store all the while, and ends before the socket gets it.
async fn goes_and_comes_back(stage: &Stage, mut client: Client) {
    let held = stage.store.lists.lock().await;
    client.request("character:list", json!({})).await;
    let lost = client.lose();
    let (mut client, resumed) = lost.resume(stage.address(1), lost.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    client.alive().await;
    let lost = client.lose();
    // The gateway gives the store up by itself, while the socket waits already.
    let (mut client, resumed) = lost.resume(stage.address(0), lost.seq).await;
    drop(held);
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    assert_eq!(resumed["data"]["characterId"], lost.character_id);
    let moved = client.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_to_a_gateway_where_the_session_is_just_ending_goes_on() {
    let stage = two_gateways().await;
    let client = stage.player_at(0, "Ann").await;
    goes_and_comes_back(&stage, client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_to_a_gateway_that_only_the_bus_has_told_goes_on() {
    let stage = two_gateways().await;
    stage.zone.be_silent();
    let client = stage.player_at(0, "Ann").await;
    make_known(&stage).await;
    goes_and_comes_back(&stage, client).await;
}

/// Makes the bus know Ann, who can then get private messages.
async fn make_known(stage: &Stage) {
    let mut other = stage.player_at(1, "Bob").await;
    let hello = json!({"message": "hello", "channel": "private", "to": "Ann"});
    assert_eq!(other.ask("player:chat", hello).await["event"], "ack");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_that_still_stood_is_closed_as_replaced_by_its_own_resume() {
    let stage = two_gateways().await;
    let mut old = stage.player_at(0, "Ann").await;
    let mut new = Client::connect(stage.address(1), "").await;
    let resumed = resume(&mut new, &old.token, old.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    let (code, reason) = old.closed().await;
    assert_eq!((code, &*reason), (1001, "replaced by its own resume"));
    new.alive().await;
    let moved = new.ask("player:move", json!({"stop": true})).await;
    assert_eq!(moved["event"], "ack");
}

/// The zone's word may be lost with its link; the bus carries it as well.
#[tokio::test(flavor = "multi_thread")]
async fn the_older_gateway_hears_by_the_bus_that_its_session_goes_on_elsewhere() {
    let stage = two_gateways().await;
    stage.zone.be_silent();
    let mut old = stage.player_at(0, "Ann").await;
    make_known(&stage).await;
    let mut new = Client::connect(stage.address(1), "").await;
    let resumed = resume(&mut new, &old.token, old.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    assert_eq!(old.closed().await.0, 1001);
    new.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_resumes_at_once_one_plays_and_no_request_is_left_without_an_answer() {
    let stage = two_gateways().await;
    let client = stage.player_at(0, "Ann").await;
    let lost = client.lose();
    let mut both = Vec::new();
    for _ in 0..2 {
        both.push(Client::connect(stage.address(1), "").await);
    }
    let [a, b] = both.as_mut_slice() else {
        unreachable!()
    };
    let answers = tokio::join!(
        resume(a, &lost.token, lost.seq),
        resume(b, &lost.token, lost.seq)
    );
    assert_eq!(answers.0["event"], "session:resumed", "{}", answers.0);
    assert_eq!(answers.1["event"], "session:resumed", "{}", answers.1);
    // The same gateway: the one that was later took the socket's place.
    let closed = timeout(Duration::from_secs(5), async {
        tokio::select! {
            closed = a.closed() => closed,
            closed = b.closed() => closed,
        }
    });
    assert_eq!(closed.await.expect("both stand").0, 1001);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_plays_nobody_goes_on_in_the_lobby() {
    let stage = two_gateways().await;
    let mut client = stage.connect().await;
    client.log_in().await;
    let lost = client.lose();
    let (mut client, resumed) = lost.resume(stage.address(1), lost.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    assert!(resumed["data"].get("characterId").is_none(), "{resumed}");
    client.enter("Ann").await;
    let left = client.ask("world:leave", json!({})).await;
    assert_eq!(left["event"], "world:left");
    // The token of `world:left` says that the session plays nobody.
    let lost = client.lose();
    let (mut client, resumed) = lost.resume(stage.address(0), lost.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    let listed = client.ask("character:list", json!({})).await;
    assert_eq!(listed["data"]["characters"][0]["name"], "Ann");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_an_older_login_or_of_another_kind_or_altered_resumes_nothing() {
    let stage = two_gateways().await;
    let mut first = stage.player_at(0, "Ann").await;
    let old = first.token.clone();
    let key = first.welcome["deviceKey"].clone();
    let mut second = Client::connect(stage.address(0), "").await;
    let welcome = second.ask("authenticate", json!({"deviceKey": key})).await;
    second.enter_as(&first.character_id.clone()).await;
    assert_eq!(first.closed().await.0, 4010);

    let mut foreign = Client::connect(stage.address(1), "").await;
    let refused = resume(&mut foreign, &old, 1).await;
    assert_eq!(refused["event"], "session:invalid", "{refused}");
    let access = welcome["data"]["authToken"].as_str().unwrap().to_owned();
    let refused = resume(&mut foreign, &access, 1).await;
    assert_eq!(refused["event"], "session:invalid", "{refused}");
    // Somebody else's session under one's own signature.
    let mut other = stage.player_at(1, "Bob").await;
    let mut parts: Vec<&str> = second.token.split('.').collect();
    let own = other.token.clone();
    parts[2] = own.split('.').nth(2).unwrap();
    let refused = resume(&mut foreign, &parts.join("."), 1).await;
    assert_eq!(refused["event"], "session:invalid", "{refused}");
    // A resume token is no way to authenticate.
    let refused = foreign.ask("authenticate", json!({"token": own})).await;
    assert_eq!(refused["data"]["code"], "invalid_credentials", "{refused}");
    foreign.log_in().await;
    second.alive().await;
    other.alive().await;
    assert!(stage.metric_at(1, "gateway_resumes_total", "invalid") > 2.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_linger_time_nothing_is_resumed_and_one_may_authenticate() {
    let stage = two_gateways().await;
    let client = stage.player_at(0, "Ann").await;
    let lost = client.lose();
    stage.zone.forget(&lost.character_id);
    let (mut client, invalid) = lost.resume(stage.address(1), lost.seq).await;
    assert_eq!(invalid["event"], "session:invalid", "{invalid}");
    let why = invalid["data"]["reason"].as_str().unwrap();
    assert!(why.contains("left the world"), "{why}");
    client.log_in().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_waits_while_the_zones_are_being_recovered() {
    let stage = two_gateways().await;
    let client = stage.player_at(0, "Ann").await;
    let lost = client.lose();
    stage.zone.load(true);
    let mut client = Client::connect(stage.address(1), "").await;
    let data = json!({"resumeToken": lost.token, "lastSeq": lost.seq});
    let asked = client.request("session:resume", data).await;
    // Longer than it takes to be sure that somebody is nowhere.
    tokio::time::sleep(Duration::from_secs(2)).await;
    stage.zone.load(false);
    let answer = client.until(|message| message["re"] == asked).await;
    assert_eq!(answer["event"], "session:resumed", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_made_a_zone_fail_is_closed_as_a_fault_of_ours_and_resumes_nowhere() {
    let stage = two_gateways().await;
    let mut client = stage.player_at(0, "Ann").await;
    stage.zone.blame(&client.character_id.clone());
    assert_eq!(client.closed().await.0, 1011);
    let lost = client.lose();
    for gateway in [0, 1] {
        let (_, answer) = lost.resume(stage.address(gateway), lost.seq).await;
        assert_eq!(answer["event"], "session:invalid", "{answer}");
    }
}
