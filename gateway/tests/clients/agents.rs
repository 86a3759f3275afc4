//! Agents over HTTP: the tokens that may use each route, the answers, and the words that the store,
//! the zone and the runtime hear.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, extract::Path, routing::post};
use serde_json::{Value, json};

use crate::stage::Stage;

/// Somebody with a token and a character.
struct Owner {
    token: String,
    character: String,
}

async fn owner(stage: &Stage, name: &str) -> Owner {
    let mut client = stage.connect().await;
    client.log_in().await;
    let made = client.ask("character:create", json!({"name": name})).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Owner {
        token: text(&client.welcome["authToken"]),
        character: text(&made["data"]["character"]["id"]),
    }
}

/// Status and body of an answer; `body` empty: none is sent.
async fn ask(stage: &Stage, token: &str, line: &str, body: &str) -> (u16, Value) {
    let head = match body {
        "" => String::new(),
        body => format!(
            "content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        ),
    };
    let bearer = match token {
        "" => String::new(),
        token => format!("authorization: Bearer {token}\r\n"),
    };
    let request =
        format!("{line} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{bearer}{head}\r\n{body}");
    let answer = stage.ask(0, &request).await;
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, serde_json::from_str(body).unwrap_or_default())
}

impl Owner {
    async fn ask(&self, stage: &Stage, line: &str, body: Value) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        ask(stage, &self.token, line, &body).await
    }

    /// Asks the same, and fails if it does not work.
    async fn done(&self, stage: &Stage, line: &str, body: Value) -> Value {
        let (status, answer) = self.ask(stage, line, body).await;
        assert!(status < 300, "{line}: {status} {answer}");
        answer
    }

    async fn agent(&self, stage: &Stage) -> String {
        let body = json!({"characterId": self.character, "agentName": "Helper"});
        let made = self.done(stage, "POST /api/agents", body).await;
        made["data"]["agent"]["id"].as_str().unwrap().to_owned()
    }
}

const OPEN: &[(&str, &str)] = &[("DISABLE_RATE_LIMIT", "true")];

#[tokio::test]
async fn goals_are_set_stopped_and_resumed_durably_and_the_zone_is_told() {
    let stage = Stage::open(OPEN).await;
    let ann = owner(&stage, "Ann").await;
    let agent = ann.agent(&stage).await;
    let line = |method: &str, rest: &str| format!("{method} /api/agents/{agent}/{rest}");
    let goal = ann.done(&stage, &line("GET", "goal"), Value::Null).await;
    assert_eq!(goal["goal"]["id"], "explore");
    assert_eq!(goal["goal"]["progressPercent"], 40);
    assert_eq!(
        (&goal["goal"]["lockedBy"], &goal["goalsPaused"]),
        (&json!("autonomous"), &json!(false))
    );
    assert_eq!(goal["availableGoals"][0]["id"], "rest");
    let stopped = ann
        .done(&stage, &line("POST", "goal/stop"), json!({}))
        .await;
    assert_eq!(
        (&stopped["goal"], &stopped["goalsPaused"]),
        (&Value::Null, &json!(true))
    );
    assert!(stopped["success"] == true && stopped["availableGoals"].is_array());
    let told = stage.zone.minds().state().told.last().cloned().unwrap();
    assert!(told.paused && told.character_id == ann.character);
    let paused = ann.done(&stage, &line("GET", "goal"), Value::Null).await;
    assert_eq!(
        (&paused["goal"], &paused["message"]),
        (&Value::Null, &json!("Goals are paused."))
    );
    let resumed = ann
        .done(&stage, &line("POST", "goal/resume"), json!({}))
        .await;
    assert_eq!(resumed["goalsPaused"], false);
    let set = ann
        .done(&stage, &line("POST", "goal"), json!({"goalId": "rest"}))
        .await;
    assert_eq!(
        (&set["goal"]["id"], &set["goal"]["locked"]),
        (&json!("rest"), &json!(true))
    );
    let (status, none) = ann
        .ask(&stage, &line("POST", "goal"), json!({"goalId": "rule"}))
        .await;
    assert_eq!((status, &none["code"]), (400, &json!("invalid_request")));
    assert_eq!(none["errors"][0]["pointer"], "/goalId");
    // The zone may be away: the store has it all the same.
    stage.zone.minds().state().silent = true;
    let stopped = ann
        .done(&stage, &line("POST", "goal/stop"), json!({}))
        .await;
    assert_eq!(stopped["goalsPaused"], true);
    assert!(stopped["availableGoals"].as_array().unwrap().len() > 3);
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn only_the_owner_and_the_agents_own_token_reach_an_agent() {
    let stage = Stage::open(OPEN).await;
    let (ann, bob) = (owner(&stage, "Ann").await, owner(&stage, "Bob").await);
    let agent = ann.agent(&stage).await;
    let of_bob = bob.agent(&stage).await;
    let made = ann
        .done(
            &stage,
            "POST /api/agents/credentials",
            json!({"agentId": agent}),
        )
        .await;
    let mind = Owner {
        token: made["authToken"].as_str().unwrap().to_owned(),
        character: ann.character.clone(),
    };
    assert_eq!(made["characterId"], json!(ann.character));
    let listed = ann
        .done(&stage, "GET /api/agents/credentials", Value::Null)
        .await;
    assert_eq!(
        listed["credentials"][0]["credentialId"],
        made["credentialId"]
    );
    assert!(
        !listed.to_string().contains(&mind.token),
        "a token is shown once"
    );
    let rest = [
        ("GET", "goal", ""),
        ("POST", "goal", r#"{"goalId":"rest"}"#),
        ("POST", "goal/stop", "{}"),
        ("POST", "goal/resume", "{}"),
        ("POST", "message", r#"{"content":"stop"}"#),
        ("GET", "quick-actions", ""),
        ("GET", "activity", ""),
    ];
    for family in ["/api/agent", "/api/agents"] {
        for (method, rest, body) in rest {
            let line = |agent: &str| format!("{method} {family}/{agent}/{rest}");
            let asked =
                async |token: &str, agent: &str| ask(&stage, token, &line(agent), body).await;
            assert_eq!(asked("", &agent).await.0, 401, "{rest}");
            assert_eq!(asked("rubbish", &agent).await.0, 401, "{rest}");
            let (status, theirs) = asked(&bob.token, &agent).await;
            assert_eq!(
                (status, &theirs["code"]),
                (404, &json!("not_found")),
                "{rest}"
            );
            assert_eq!(asked(&mind.token, &of_bob).await.0, 404, "{rest}");
            assert_eq!(asked(&ann.token, &agent).await.0, 200, "{rest}");
            assert_eq!(asked(&mind.token, &agent).await.0, 200, "{rest}");
        }
    }
    let id = format!("/api/agents/{agent}");
    for (line, body) in [
        (
            "POST /api/agents".to_owned(),
            json!({"characterId": ann.character}),
        ),
        (
            "POST /api/agents/credentials".to_owned(),
            json!({"agentId": agent}),
        ),
        (format!("DELETE {id}"), Value::Null),
        (format!("POST {id}/stop"), json!({})),
    ] {
        let (status, answer) = mind.ask(&stage, &line, body.clone()).await;
        assert_eq!(
            (status, &answer["code"]),
            (403, &json!("wrong_scope")),
            "{line}"
        );
    }
    for line in [
        "GET /api/agents?accountId=other",
        "GET /api/agents/mappings/other",
    ] {
        assert_eq!(ann.ask(&stage, line, Value::Null).await.0, 403, "{line}");
    }
    let theft = json!({"agentId": agent, "accountId": "other"});
    assert_eq!(
        ann.ask(&stage, "POST /api/agents/credentials", theft)
            .await
            .0,
        403
    );
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn agents_are_made_in_both_shapes_listed_and_removed() {
    let stage = Stage::open(OPEN).await;
    let ann = owner(&stage, "Ann").await;
    let json_of =
        json!({"characterJson": {"name": "Eliza", "settings": {"characterId": ann.character}}});
    let (status, made) = ann.ask(&stage, "POST /api/agents", json_of).await;
    assert_eq!(status, 201);
    let agent = made["data"]["agent"].clone();
    assert_eq!(
        (&agent["name"], &agent["status"]),
        (&json!("Eliza"), &json!("active"))
    );
    let id = agent["id"].as_str().unwrap();
    let mapping = ann
        .done(
            &stage,
            &format!("GET /api/agents/mapping/{id}"),
            Value::Null,
        )
        .await;
    assert_eq!(
        (&mapping["characterId"], &mapping["agentName"]),
        (&json!(ann.character), &json!("Eliza"))
    );
    let account = mapping["accountId"].as_str().unwrap();
    let all = ann
        .done(
            &stage,
            &format!("GET /api/agents/mappings/{account}"),
            Value::Null,
        )
        .await;
    assert_eq!((&all["agentIds"], &all["count"]), (&json!([id]), &json!(1)));
    let stopped = ann
        .done(&stage, &format!("POST /api/agents/{id}/stop"), json!({}))
        .await;
    assert_eq!(stopped["data"]["agent"]["status"], "inactive");
    ann.done(
        &stage,
        &format!("DELETE /api/agents/mappings/{id}"),
        Value::Null,
    )
    .await;
    let told = stage.zone.minds().state().told.last().cloned().unwrap();
    assert!(!told.agent, "the zone hears that it is none any more");
    let (status, _) = ann
        .ask(
            &stage,
            &format!("GET /api/agents/mapping/{id}"),
            Value::Null,
        )
        .await;
    assert_eq!(status, 404);
    for body in [
        json!({}),
        json!({"characterId": ""}),
        json!({"characterId": 7}),
    ] {
        let (status, answer) = ann.ask(&stage, "POST /api/agents", body.clone()).await;
        assert_eq!(
            (status, answer["errors"].is_array()),
            (400, true),
            "{body}: {answer}"
        );
    }
}

#[tokio::test]
async fn what_an_agent_sees_and_did_is_shown() {
    let stage = Stage::open(OPEN).await;
    let ann = owner(&stage, "Ann").await;
    let agent = ann.agent(&stage).await;
    let line = |rest: &str| format!("GET /api/agents/{agent}/{rest}");
    let quick = ann.done(&stage, &line("quick-actions"), Value::Null).await;
    assert_eq!(quick["playerPosition"], json!([3, 1.0, -4]));
    let bank = json!({"id": "sta:bank", "name": "Bank", "type": "bank", "distance": 7});
    assert_eq!(quick["nearbyLocations"], json!([bank]));
    assert_eq!(
        (
            &quick["inventory"][0]["id"],
            &quick["inventory"][0]["canDrop"]
        ),
        (&json!("logs"), &json!(true))
    );
    let commands = quick["quickCommands"].as_array().unwrap();
    // The agent has no tools and sees no beast; all else it can do.
    let cannot = commands.iter().filter(|c| c["available"] == false);
    let cannot: Vec<_> = cannot
        .map(|c| (&c["id"], c["reason"].is_string()))
        .collect();
    let work = ["chop_tree", "mine_ore", "catch_fish", "attack_nearest"].map(Value::from);
    assert_eq!(cannot, work.iter().map(|id| (id, true)).collect::<Vec<_>>());
    let did = ann.done(&stage, &line("activity"), Value::Null).await;
    assert_eq!(
        did["recentActions"][0]["timestamp"],
        "2023-11-14T22:13:20.000Z"
    );
    assert_eq!(did["sessionStats"]["goldEarned"], 12);
    assert_eq!(did["sessionStats"]["totalXpGained"], 10.5);
    stage.zone.minds().state().silent = true;
    let quick = ann.done(&stage, &line("quick-actions"), Value::Null).await;
    assert_eq!(
        (&quick["playerPosition"], &quick["nearbyLocations"]),
        (&Value::Null, &json!([]))
    );
    assert!(quick["message"].is_string());
    assert!(
        quick["quickCommands"]
            .as_array()
            .unwrap()
            .iter()
            .all(|c| c["available"] == false)
    );
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn an_agent_hears_five_lines_in_five_seconds_and_its_runtime_hears_them_too() {
    let heard: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
    let said = Arc::clone(&heard);
    let route = post(async move |Path(id): Path<String>, body: String| {
        said.lock()
            .unwrap()
            .push((id, serde_json::from_str(&body).unwrap()));
        "{}"
    });
    let router = Router::new().route("/api/agents/{id}/events", route);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let stage = Stage::open(&[("AGENT_API_URL", &url)]).await;
    let ann = owner(&stage, "Ann").await;
    let agent = ann.agent(&stage).await;
    let line = format!("POST /api/agents/{agent}/message");
    let told = ann.done(&stage, &line, json!({"content": "stop"})).await;
    assert_eq!(
        (&told["delivered"], &told["understood"]),
        (&json!(true), &json!("Stand still"))
    );
    for n in 0..4 {
        let told = ann
            .done(&stage, &line, json!({"content": format!("line\u{7} {n}")}))
            .await;
        assert_eq!(
            (&told["delivered"], &told["understood"]),
            (&json!(false), &Value::Null)
        );
        assert_eq!(told["commands"], json!(["stop", "go to <place>"]));
        let says = told["message"].as_str().unwrap();
        assert!(says.contains("did not understand") && says.contains("stop, go to"));
    }
    let (status, over) = ann.ask(&stage, &line, json!({"content": "more"})).await;
    assert_eq!((status, &over["code"]), (429, &json!("rate_limited")));
    assert_eq!(
        stage.zone.minds().state().said[1],
        "line 0",
        "what cannot be seen is left out"
    );
    for content in [
        json!(""),
        json!("\u{200b}"),
        json!("x".repeat(201)),
        json!(7),
        Value::Null,
    ] {
        let (status, _) = ann.ask(&stage, &line, json!({"content": content})).await;
        assert_eq!(status, 400, "{content}");
    }
    ann.done(
        &stage,
        &format!("POST /api/agents/{agent}/goal/stop"),
        json!({}),
    )
    .await;
    let begun = std::time::Instant::now();
    while heard.lock().unwrap().len() < 6 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{heard:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let heard = heard.lock().unwrap().clone();
    assert_eq!(
        (&heard[0].0, &heard[0].1["event"]),
        (&agent, &json!("message"))
    );
    assert_eq!(heard[0].1["content"], "stop");
    let last = &heard.last().unwrap().1;
    assert_eq!(
        (&last["event"], &last["goalsPaused"]),
        (&json!("goal_stopped"), &json!(true))
    );
}

#[tokio::test]
async fn an_agent_that_nobody_plays_answers_its_owner_in_chat() {
    let stage = Stage::open(OPEN).await;
    let mut bob = stage.connect().await;
    bob.log_in().await;
    let made = bob.ask("character:create", json!({"name": "Ann"})).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let ann = Owner {
        token: text(&bob.welcome["authToken"]),
        character: text(&made["data"]["character"]["id"]),
    };
    let line = |text: &str| json!({"message": text, "channel": "private", "to": "ann"});
    bob.enter("Bob").await;
    let nobody = bob.ask("player:chat", line("stop")).await;
    assert_eq!(nobody["data"]["code"], "not_delivered", "{nobody}");
    ann.agent(&stage).await;
    for (said, answer) in [
        ("stop", "All right. Stand still."),
        (
            "good morning",
            "I did not understand that. I understand: stop, go to <place>.",
        ),
    ] {
        let done = bob.ask("player:chat", line(said)).await;
        assert_eq!(done["event"], "ack", "{done}");
        let heard = bob.event("chat:message").await["data"].clone();
        assert_eq!(heard["message"], answer);
        assert_eq!(
            (&heard["channel"], &heard["from"]),
            (&json!("private"), &json!("Ann"))
        );
        assert_eq!(heard["fromId"], ann.character);
    }
    assert_eq!(stage.zone.minds().state().said, ["stop", "good morning"]);
    // Somebody else's agent is nobody to them.
    let mut cat = stage.player("Cat").await;
    let refused = cat.ask("player:chat", line("stop")).await;
    assert_eq!(refused["data"]["code"], "not_delivered", "{refused}");
}

#[tokio::test]
async fn a_runtime_that_is_away_holds_nobody_up() {
    let stage = Stage::open(&[("AGENT_API_URL", "http://127.0.0.1:9"), OPEN[0]]).await;
    let ann = owner(&stage, "Ann").await;
    let agent = ann.agent(&stage).await;
    let begun = std::time::Instant::now();
    ann.done(
        &stage,
        &format!("POST /api/agents/{agent}/goal/stop"),
        json!({}),
    )
    .await;
    assert!(begun.elapsed() < Duration::from_secs(2));
    let failed = || stage.metric("gateway_agent_runtime_total", "failed");
    while failed() < 1.0 {
        assert!(
            begun.elapsed() < Duration::from_secs(15),
            "nobody counts it"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn agents_made_from_one_address_are_counted_by_the_hour() {
    let stage = Stage::open(&[("AGENTS_PER_ADDRESS_MAX", "2")]).await;
    let (ann, bob, cid) = (
        owner(&stage, "Ann").await,
        owner(&stage, "Bob").await,
        owner(&stage, "Cid").await,
    );
    ann.agent(&stage).await;
    ann.agent(&stage).await;
    bob.agent(&stage).await;
    let body = json!({"characterId": cid.character});
    let (status, refused) = cid.ask(&stage, "POST /api/agents", body).await;
    assert_eq!((status, &refused["code"]), (429, &json!("rate_limited")));
    let said = refused["detail"].as_str().unwrap();
    assert!(said.contains("2 agents may be made in an hour"), "{said}");
    ann.agent(&stage).await;
}
