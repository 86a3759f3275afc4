//! Friends and ignored players, within a gateway and between two, with and without Redis.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};
use test_servers::Redis;
use tokio::time::{Instant, sleep, timeout};

use crate::{client::Client, stage::Stage};

/// Waits for a message about friends of which `right` is true.
async fn told(client: &mut Client, event: &str, right: impl Fn(&Value) -> bool) -> Value {
    let found = client.until(|m| m["event"] == event && right(&m["data"]));
    found.await["data"].clone()
}

/// Asks for a change; it must be made. Gives what changed.
async fn does(client: &mut Client, event: &str, data: Value) -> Value {
    let answer = client.ask(event, data).await;
    assert_eq!(answer["event"], "friends:update", "{answer}");
    answer["data"].clone()
}

/// Asks for a change; it must be refused. Gives why.
async fn refused(client: &mut Client, event: &str, data: Value) -> String {
    let answer = client.ask(event, data).await;
    assert_eq!(answer["event"], "error", "{answer}");
    assert_eq!(answer["data"]["event"], event);
    answer["data"]["code"].as_str().unwrap().to_owned()
}

fn status(data: &Value, id: &str) -> String {
    let friends = data["friends"].as_array().into_iter().flatten();
    let mut of = friends.filter(|friend| friend["id"] == id);
    of.next()
        .map_or(String::new(), |f| f["status"].as_str().unwrap().to_owned())
}

async fn presence(client: &mut Client, id: &str, is: &str) {
    told(client, "friends:presence", |data| status(data, id) == is).await;
}

/// Makes two players friends, and checks that each knows that the other one plays.
async fn befriend(one: &mut Client, name: &str, other: &mut Client) {
    does(one, "friends:request", json!({"name": name})).await;
    let asked = told(other, "friends:update", |data| data["requests"].is_array()).await;
    let request = json!({"requestId": asked["requests"][0]["id"]});
    let now = does(other, "friends:accept", request).await;
    sees_online(other, &one.character_id, &now).await;
    let id = other.character_id.clone();
    let now = told(one, "friends:update", |data| data["friends"].is_array()).await;
    assert!(now["requestsGone"].is_array(), "{now}");
    sees_online(one, &id, &now).await;
}

/// Waits until a friend is online: `now` says so, or the next presence does, if its gateway was
/// late.
async fn sees_online(client: &mut Client, id: &str, now: &Value) {
    match status(now, id).as_str() {
        "online" => {}
        "offline" | "unknown" => presence(client, id, "online").await,
        other => panic!("{other}: {now}"),
    }
}

async fn arrive(stage: &Stage, gateway: usize, name: &str) -> (Client, Value) {
    let mut client = stage.player_at(gateway, name).await;
    let list = told(&mut client, "friends:list", |_| true).await;
    (client, list)
}

/// An older copy of the database took the place of the one that she knew.
#[tokio::test(flavor = "multi_thread")]
async fn lists_of_friends_are_those_of_a_restored_store() {
    let stage = Stage::open(&[]).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    let (mut bob, _) = arrive(&stage, 0, "Bob").await;
    befriend(&mut ann, "bob", &mut bob).await;
    stage.store.restored();
    let gone = |data: &Value| data["friendsGone"] == json!([bob.character_id]);
    told(&mut ann, "friends:update", gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_only_a_newer_store_knows_is_an_error() {
    let stage = Stage::open(&[]).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    let (mut bob, _) = arrive(&stage, 0, "Bob").await;
    stage.store.book.lock().unwrap().newer = true;
    let ask = json!({"name": "Bob"});
    assert_eq!(
        refused(&mut ann, "friends:request", ask.clone()).await,
        "internal"
    );
    stage.store.book.lock().unwrap().newer = false;
    befriend(&mut ann, "bob", &mut bob).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn friends_are_made_across_gateways_and_hear_who_comes_and_goes() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    let (mut ann, list) = arrive(&stage, 0, "Ann").await;
    assert_eq!(list, json!({"friends": [], "requests": [], "ignored": []}));
    let (mut bob, _) = arrive(&stage, 1, "Bob").await;
    befriend(&mut ann, "bob", &mut bob).await;
    let twice = json!({"name": "Bob"});
    assert_eq!(
        refused(&mut ann, "friends:request", twice).await,
        "already_friends"
    );
    let nobody = json!({"name": "Nobody"});
    assert_eq!(
        refused(&mut ann, "friends:request", nobody).await,
        "player_not_found"
    );
    // Bob goes, and comes again at the other gateway.
    let left = bob.ask("world:leave", json!({})).await;
    assert_eq!(left["event"], "world:left", "{left}");
    let id = bob.character_id.clone();
    presence(&mut ann, &id, "offline").await;
    bob.enter_as(&id).await;
    presence(&mut ann, &id, "online").await;
    let list = ann.ask("friends:list", json!({})).await;
    assert_eq!(list["event"], "friends:list");
    assert_eq!(status(&list["data"], &id), "online");
    let friend = &list["data"]["friends"][0];
    assert_eq!(
        (&friend["name"], &friend["level"]),
        (&json!("Bob"), &json!(3))
    );
    does(&mut ann, "friends:remove", json!({"friendId": id})).await;
    let gone = told(&mut bob, "friends:update", |data| {
        data["friendsGone"].is_array()
    })
    .await;
    assert_eq!(gone["friendsGone"], json!([ann.character_id]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_declined_or_taken_back_and_both_are_told() {
    let stage = Stage::open(&[]).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    let (mut bob, _) = arrive(&stage, 0, "Bob").await;
    let ask = json!({"name": "Bob"});
    let told_ann = does(&mut ann, "friends:request", ask.clone()).await;
    let id = told_ann["requests"][0]["id"].clone();
    told(&mut bob, "friends:update", |data| {
        data["requests"][0]["id"] == id
    })
    .await;
    assert_eq!(
        refused(&mut ann, "friends:request", ask.clone()).await,
        "already_requested"
    );
    does(&mut bob, "friends:decline", json!({"requestId": id})).await;
    told(&mut ann, "friends:update", |data| {
        data["requestsGone"] == json!([id])
    })
    .await;
    let missing = json!({"requestId": id});
    assert_eq!(
        refused(&mut bob, "friends:accept", missing).await,
        "not_found"
    );
    does(&mut ann, "friends:request", ask).await;
    told(&mut bob, "friends:update", |data| {
        data["requests"].is_array()
    })
    .await;
    does(&mut ann, "friends:decline", json!({"requestId": id})).await;
    told(&mut bob, "friends:update", |data| {
        data["requestsGone"] == json!([id])
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_ignored_is_not_heard_on_any_channel() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    let (mut bob, _) = arrive(&stage, 1, "Bob").await;
    let (mut cat, _) = arrive(&stage, 1, "Cat").await;
    let whisper = json!({"message": "psst", "channel": "private", "to": "Bob"});
    let before = ann.ask("player:chat", whisper.clone()).await;
    assert_eq!(before["event"], "ack", "{before}");
    bob.until(|m| m["data"]["message"] == "psst").await;
    let ignored = does(&mut bob, "ignore:add", json!({"name": "ann"})).await;
    assert_eq!(ignored["ignored"][0]["name"], "Ann");
    assert_eq!(
        refused(&mut bob, "ignore:add", json!({"name": "Ann"})).await,
        "already_ignored"
    );
    let shout = |text: &str| json!({"message": text, "channel": "global"});
    let said = ann.ask("player:chat", shout("unwanted")).await;
    assert_eq!(said["event"], "ack", "she cannot tell: {said}");
    let answer = ann.ask("player:chat", whisper.clone()).await;
    assert_eq!(answer["data"]["code"], "not_delivered", "{answer}");
    cat.until(|m| m["data"]["message"] == "unwanted").await;
    let said = cat.ask("player:chat", shout("wanted")).await;
    assert_eq!(said["event"], "ack", "{said}");
    let heard = bob.event("chat:message").await;
    assert_eq!(heard["data"]["message"], "wanted", "nothing came before it");
    let id = ann.character_id.clone();
    does(&mut bob, "ignore:remove", json!({"ignoredId": id})).await;
    // Five messages in five seconds.
    sleep(Duration::from_secs(3)).await;
    let answer = ann.ask("player:chat", whisper).await;
    assert_eq!(answer["event"], "ack", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_31st_request_in_a_minute_is_refused() {
    let stage = Stage::open(&[]).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    for _ in 0..30 {
        let list = ann.ask("friends:list", json!({})).await;
        assert_eq!(list["event"], "friends:list", "{list}");
    }
    assert_eq!(
        refused(&mut ann, "friends:list", json!({})).await,
        "rate_limited"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_everybody_is_heard_and_lists_are_refused() {
    let mut stage = Stage::open(&[]).await;
    stage.add_gateway(&[]).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    stage.store.book.lock().unwrap().away = true;
    let mut bob = stage.player_at(1, "Bob").await;
    assert_eq!(
        refused(&mut bob, "friends:list", json!({})).await,
        "storage_unavailable"
    );
    let add = json!({"name": "Ann"});
    assert_eq!(
        refused(&mut bob, "ignore:add", add).await,
        "storage_unavailable"
    );
    let tell = json!({"message": "psst", "channel": "private", "to": "Bob"});
    let answer = ann.ask("player:chat", tell).await;
    assert_eq!(answer["event"], "ack", "{answer}");
    stage.store.book.lock().unwrap().away = false;
    told(&mut bob, "friends:list", |_| true).await;
}

/// Says something to Redis itself, in its inline form.
fn order(redis: &Redis, command: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", redis.port())).unwrap();
    let said = format!("{command}\r\nQUIT\r\n");
    stream.write_all(said.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(!answer.starts_with('-'), "{command}: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_redis_nothing_is_known_of_friends_and_all_is_caught_up_with_it() {
    let mut redis = Redis::start();
    let url = redis.url();
    let mut stage = Stage::open(&[("REDIS_URL", &url)]).await;
    stage.add_gateway(&[("REDIS_URL", &url)]).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    let (mut bob, _) = arrive(&stage, 1, "Bob").await;
    let (mut cat, _) = arrive(&stage, 1, "Cat").await;
    let (bobs, cats) = (bob.character_id.clone(), cat.character_id.clone());
    befriend(&mut ann, "Bob", &mut bob).await;
    befriend(&mut ann, "Cat", &mut cat).await;
    redis.kill9();
    let unknown =
        |data: &Value| status(data, &bobs) == "unknown" && status(data, &cats) == "unknown";
    told(&mut ann, "friends:presence", unknown).await;
    // Lists work without it.
    let list = ann.ask("friends:list", json!({})).await;
    assert_eq!(status(&list["data"], &bobs), "unknown", "{list}");
    does(
        &mut bob,
        "friends:remove",
        json!({"friendId": ann.character_id}),
    )
    .await;
    redis.restart();
    let caught_up = async {
        let (mut removed, mut back) = (false, false);
        while !(removed && back) {
            let message = ann.message().await;
            let (event, data) = (&message["event"], &message["data"]);
            let whole = event == "friends:list";
            removed |= data["friendsGone"] == json!([bobs]);
            removed |= whole && status(data, &bobs).is_empty();
            back |= (whole || event == "friends:presence") && status(data, &cats) == "online";
        }
    };
    timeout(Duration::from_secs(60), caught_up)
        .await
        .expect("all is known again");
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_gateway_died_without_a_word_is_offline_before_long() {
    let redis = Redis::start();
    let url = redis.url();
    let settings = [("REDIS_URL", url.as_str()), ("PRESENCE_POLL_SECONDS", "5")];
    let stage = Stage::open(&settings).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    let (mut bob, _) = arrive(&stage, 0, "Bob").await;
    befriend(&mut ann, "Bob", &mut bob).await;
    let id = bob.character_id.clone();
    bob.ask("world:leave", json!({})).await;
    presence(&mut ann, &id, "offline").await;
    // As a gateway would have left it that is no more: nobody renews it.
    let entry = r#"{"gatewayId":"dead","sessionId":"s","accountId":"a"}"#.replace('"', "\\\"");
    order(&redis, &format!("SET presence:{id} \"{entry}\" PX 20000"));
    presence(&mut ann, &id, "online").await;
    let began = Instant::now();
    let gone = async {
        loop {
            let ping = timeout(Duration::from_secs(5), ann.event("friends:presence")).await;
            match ping {
                Ok(message) if status(&message["data"], &id) == "offline" => return,
                _ => ann.alive().await,
            }
        }
    };
    timeout(Duration::from_secs(60), gone).await.expect("never");
    assert!(began.elapsed() > Duration::from_secs(12), "not at once");
}

/// Nobody looks at the bus for her: it has no entry of him at all.
#[tokio::test(flavor = "multi_thread")]
async fn events_tell_who_comes_and_goes_without_a_look() {
    let redis = Redis::start();
    let url = redis.url();
    let settings = [
        ("REDIS_URL", url.as_str()),
        ("PRESENCE_POLL_SECONDS", "3600"),
    ];
    let stage = Stage::open(&settings).await;
    let (mut ann, _) = arrive(&stage, 0, "Ann").await;
    let (mut bob, _) = arrive(&stage, 0, "Bob").await;
    befriend(&mut ann, "Bob", &mut bob).await;
    let id = bob.character_id.clone();
    bob.ask("world:leave", json!({})).await;
    presence(&mut ann, &id, "offline").await;
    let say = |online: bool, epoch: u64| {
        let change = json!({"online": online, "gatewayId": "other", "sessionEpoch": epoch});
        let news = json!({"kind": "presence", "characterId": id, "change": change});
        let news = news.to_string().replace('"', "\\\"");
        order(&redis, &format!("PUBLISH social \"{news}\""));
    };
    say(true, 8);
    presence(&mut ann, &id, "online").await;
    // An older login's end comes late.
    say(false, 7);
    say(false, 8);
    presence(&mut ann, &id, "offline").await;
    say(true, 9);
    presence(&mut ann, &id, "online").await;
}
