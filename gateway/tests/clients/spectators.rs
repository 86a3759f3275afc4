//! Spectators: they have a token of their own, do nothing, and take nobody's place.

use serde_json::{Value, json};

use crate::{
    client::Client,
    login::{Ask, post, send},
    samples::{CLIENT_MESSAGES, Sample},
    stage::Stage,
};

const SETTINGS: [(&str, &str); 1] = [("DISABLE_RATE_LIMIT", "true")];

fn token(client: &Client) -> String {
    client.welcome["authToken"].as_str().unwrap().to_owned()
}

/// Makes a spectator's token of the client's account.
async fn link(stage: &Stage, client: &Client) -> String {
    let own = token(client);
    let asked = Ask {
        token: &own,
        body: Value::Null,
    };
    let (status, answer) = post(stage, 0, "/api/auth/spectator", &asked).await;
    assert_eq!(status, 200, "{answer}");
    answer["token"].as_str().unwrap().to_owned()
}

async fn spectator(stage: &Stage, token: &str) -> Client {
    let mut client = stage.connect().await;
    let welcome = client.ask("authenticate", json!({"token": token})).await;
    assert_eq!(welcome["event"], "session:welcome", "{welcome}");
    client.welcome = welcome["data"].clone();
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spectator_sees_what_is_around_a_character() {
    let stage = Stage::open(&SETTINGS).await;
    let mut ann = stage.player("Ann").await;
    let link = link(&stage, &ann).await;
    let mut looks = spectator(&stage, &link).await;
    // There is nothing to resume.
    assert_eq!(looks.welcome["resumeToken"], Value::Null);
    assert_eq!(
        looks.welcome["characters"][0]["id"],
        ann.character_id.as_str()
    );
    let asked = json!({"characterId": ann.character_id});
    let watching = looks.ask("world:watch", asked).await;
    assert_eq!(watching["event"], "world:watching", "{watching}");
    let told = &watching["data"];
    assert_eq!(
        (&told["x"], &told["z"], &told["online"]),
        (&json!(32), &json!(32), &json!(true))
    );
    let id = ann.character_id.clone();
    let shows = |update: &Value| {
        let chunks = update["data"]["chunks"].as_array().into_iter().flatten();
        let mut all = chunks.flat_map(|chunk| chunk["enter"].as_array().into_iter().flatten());
        all.any(|entity| entity["id"] == id.as_str())
    };
    looks
        .until(|message| message["event"] == "world:update" && shows(message))
        .await;
    ann.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spectator_may_do_nothing_else() {
    let stage = Stage::open(&SETTINGS).await;
    let ann = stage.player("Ann").await;
    let link = link(&stage, &ann).await;
    let own = json!({"characterId": ann.character_id});
    for Sample { event: name, data } in CLIENT_MESSAGES.iter().copied() {
        let mut looks = spectator(&stage, &link).await;
        let answer = looks.ask(name, serde_json::from_str(data).unwrap()).await;
        let code = answer["data"]["code"].as_str().unwrap_or_default();
        match name {
            "ping" => assert_eq!(answer["event"], "pong"),
            "character:list" => assert_eq!(answer["event"], "character:list"),
            "authenticate" | "session:resume" => assert_eq!(code, "already_authenticated"),
            // Of somebody else.
            "world:watch" => assert_eq!(code, "not_your_character", "{answer}"),
            name => assert_eq!(code, "wrong_scope", "{name}: {answer}"),
        }
    }
    for event in ["character:delete", "world:enter"] {
        let mut looks = spectator(&stage, &link).await;
        let answer = looks.ask(event, own.clone()).await;
        assert_eq!(answer["data"]["code"], "wrong_scope", "{event}: {answer}");
    }
    assert!(stage.zone.inputs().is_empty(), "nothing reached the zone");
    // A session that plays does not look on.
    let mut bob = stage.player("Bob").await;
    let refused = bob.ask("world:watch", own).await;
    assert_eq!(refused["data"]["code"], "wrong_scope");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spectator_sees_own_characters_and_peaceful_areas_only() {
    let stage = Stage::open(&SETTINGS).await;
    let ann = stage.player("Ann").await;
    let bob = stage.player("Bob").await;
    let link = link(&stage, &ann).await;
    let asked = Ask {
        token: &link,
        body: Value::Null,
    };
    let (_, areas) = send(&stage, 0, ("GET", "/api/v1/world/areas"), &asked).await;
    let areas = areas["areas"].as_array().unwrap().clone();
    let of = |kind: &str| {
        let found = areas.iter().find(|area| area["kind"] == kind);
        found.unwrap_or_else(|| panic!("no {kind}")).clone()
    };
    let mut looks = spectator(&stage, &link).await;
    let refused = looks
        .ask("world:watch", json!({"characterId": bob.character_id}))
        .await;
    assert_eq!(refused["data"]["code"], "not_your_character");
    let refused = looks.ask("world:watch", json!({"area": "nowhere"})).await;
    assert_eq!(refused["data"]["code"], "not_found");
    let refused = looks
        .ask("world:watch", json!({"area": of("pvp")["id"]}))
        .await;
    assert_eq!(refused["data"]["code"], "wrong_scope");
    let town = of("town");
    let watching = looks.ask("world:watch", json!({"area": town["id"]})).await;
    assert_eq!(watching["data"]["area"], town["id"], "{watching}");
    let x = watching["data"]["x"].as_i64().unwrap();
    let (least, most) = (&town["bounds"]["minX"], &town["bounds"]["maxX"]);
    assert!(x >= least.as_i64().unwrap() && x < most.as_i64().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn spectators_take_no_place_from_players_and_end_with_the_login() {
    let stage = Stage::open(&[]).await;
    let ann = stage.player("Ann").await;
    let link = link(&stage, &ann).await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(spectator(&stage, &link).await);
    }
    let mut fifth = stage.connect().await;
    fifth.request("authenticate", json!({"token": link})).await;
    assert_eq!(fifth.closed().await.0, 1008);
    let own = token(&ann);
    for _ in 0..3 {
        all.push(spectator(&stage, &own).await);
    }
    let asked = Ask {
        token: &own,
        body: Value::Null,
    };
    let (status, _) = post(&stage, 0, "/api/auth/logout", &asked).await;
    assert_eq!(status, 204);
    for mut client in all {
        assert_eq!(client.closed().await.0, 4004);
    }
    let mut back = stage.connect().await;
    let refused = back.ask("authenticate", json!({"token": link})).await;
    assert_eq!(refused["data"]["code"], "invalid_credentials");
}
