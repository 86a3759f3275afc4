//! Operators: the code, and their acts on others at every gateway.

use serde_json::{Value, json};

use crate::{
    client::Client,
    login::{Ask, post, send},
    stage::Stage,
};

const CODE: &str = "open sesame, please";
const SETTINGS: [(&str, &str); 3] = [
    ("ADMIN_CODE", CODE),
    ("DISABLE_RATE_LIMIT", "true"),
    ("JWT_SECRET", "0123456789abcdef0123456789abcdef"),
];

/// Returns two gateways, and an operator in the world at the first.
async fn stage() -> (Stage, Client) {
    let mut stage = Stage::open(&SETTINGS).await;
    stage.add_gateway(&SETTINGS).await;
    let mut operator = stage.player("Overseer").await;
    let refused = order(&mut operator, "freeze", json!({})).await;
    assert_eq!(refused["data"]["code"], "not_elevated");
    let done = operator.ask("admin:elevate", json!({"code": CODE})).await;
    assert_eq!(done["event"], "ack", "{done}");
    (stage, operator)
}

async fn order(operator: &mut Client, command: &str, args: Value) -> Value {
    let asked = json!({"command": command, "args": args});
    operator.ask("admin:command", asked).await
}

async fn done(operator: &mut Client, command: &str, args: Value) {
    let answer = order(operator, command, args).await;
    assert_eq!(answer["event"], "ack", "{command}: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_know_the_code_is_no_operator_and_may_not_guess_for_long() {
    let limited = [
        SETTINGS[0],
        SETTINGS[2],
        ("TRUSTED_PROXIES", "127.0.0.1/32"),
    ];
    let stage = Stage::open(&limited).await;
    let mut client = stage.player("Guesser").await;
    let mut codes = Vec::new();
    for guess in 0..11 {
        let refused = client
            .ask("admin:elevate", json!({"code": guess.to_string()}))
            .await;
        codes.push(refused["data"]["code"].as_str().unwrap().to_owned());
    }
    assert_eq!(codes[0], "invalid_credentials");
    assert_eq!(codes[10], "rate_limited");
    // Nor by another way.
    let own = client.welcome["authToken"].as_str().unwrap().to_owned();
    let asked = named(&own);
    let (status, _) = post(&stage, 0, "/api/auth/operator", &asked).await;
    assert_eq!(status, 429);
    // Another address does not help: the gateway does not even look at a good guess.
    let forwarded = "x-forwarded-for: 203.0.113.9\r\n";
    let mut elsewhere = Client::connect(stage.address(0), forwarded).await;
    let token = client.welcome["authToken"].clone();
    let welcome = elsewhere.ask("authenticate", json!({"token": token})).await;
    assert_eq!(welcome["event"], "session:welcome", "{welcome}");
    let refused = elsewhere.ask("admin:elevate", json!({"code": CODE})).await;
    assert_eq!(refused["data"]["code"], "rate_limited", "{refused}");
    let without = Stage::open(&[SETTINGS[1], SETTINGS[2]]).await;
    let (status, answer) = post(&without, 0, "/api/auth/operator", &asked).await;
    assert_eq!(
        (status, &answer["code"]),
        (403, &json!("operators_disabled"))
    );
}

/// The gateway refuses the banned. Whoever comes before the gateway has heard of the ban is thrown
/// out as soon as it hears.
async fn stays_out(stage: &Stage, gateway: usize, token: &str) {
    loop {
        let mut back = Client::connect(stage.address(gateway), "").await;
        let answer = back.ask("authenticate", json!({"token": token})).await;
        assert_eq!(back.closed().await.0, 4003, "{answer}");
        if answer["data"]["code"] == "banned" {
            return;
        }
        assert_eq!(answer["event"], "session:welcome", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_banned_is_out_at_every_gateway_until_the_ban_ends() {
    let (stage, mut operator) = stage().await;
    let mut ann = stage.player_at(1, "Ann").await;
    let token = ann.welcome["authToken"].as_str().unwrap().to_owned();
    done(
        &mut operator,
        "ban",
        json!({"name": "ann", "message": "spam"}),
    )
    .await;
    let told = ann.event("notice").await;
    assert!(told["data"]["message"].as_str().unwrap().contains("spam"));
    assert_eq!(ann.closed().await.0, 4003);
    for index in [0, 1] {
        stays_out(&stage, index, &token).await;
        let asked = Ask {
            token: &token,
            ..Ask::default()
        };
        let (status, answer) = post(&stage, index, "/api/auth/refresh", &asked).await;
        assert_eq!((status, &answer["code"]), (403, &json!("banned")));
    }
    let key = json!({"deviceKey": ann.welcome["deviceKey"]});
    let mut back = stage.connect().await;
    let refused = back.ask("authenticate", key.clone()).await;
    assert_eq!(refused["data"]["code"], "banned");
    done(&mut operator, "unban", json!({"name": "Ann"})).await;
    let mut back = Client::connect(stage.address(1), "").await;
    loop {
        let answer = back.ask("authenticate", key.clone()).await;
        if answer["event"] == "session:welcome" {
            break;
        }
        // The push is on its way.
        back = Client::connect(stage.address(1), "").await;
    }
    let audit_log = stage.store.audit_log();
    assert!(
        audit_log[1].starts_with("AUDIT_ACTION_BAN ")
            && audit_log[2].starts_with("AUDIT_ACTION_UNBAN ")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_kicked_loses_the_connection_and_may_come_back() {
    let (stage, mut operator) = stage().await;
    let mut ann = stage.player_at(1, "Ann").await;
    let account = ann.welcome["account"]["id"].clone();
    done(&mut operator, "kick", json!({"accountId": account})).await;
    assert_eq!(ann.closed().await.0, 1008);
    let mut back = Client::connect(stage.address(1), "").await;
    let key = json!({"deviceKey": ann.welcome["deviceKey"]});
    let welcome = back.ask("authenticate", key).await;
    assert_eq!(welcome["event"], "session:welcome", "{welcome}");
    back.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_muted_is_told_so_and_heard_by_nobody() {
    let (stage, mut operator) = stage().await;
    let mut ann = stage.player_at(1, "Ann").await;
    done(&mut operator, "mute", json!({"name": "Ann", "minutes": 5})).await;
    let said = json!({"message": "hello", "channel": "global"});
    loop {
        let answer = ann.ask("player:chat", said.clone()).await;
        if answer["event"] == "error" {
            assert_eq!(answer["data"]["code"], "muted");
            assert!(
                answer["data"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("until")
            );
            break;
        }
        // The push is on its way.
        tokio::task::yield_now().await;
    }
    done(&mut operator, "unmute", json!({"name": "Ann"})).await;
    while ann.ask("player:chat", said.clone()).await["event"] == "error" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_hears_an_announcement() {
    let (stage, mut operator) = stage().await;
    let mut ann = stage.player_at(1, "Ann").await;
    // The bus may not know yet that somebody listens there.
    let heard = async {
        loop {
            done(&mut operator, "announce", json!({"message": "Supper!"})).await;
            let told =
                tokio::time::timeout(std::time::Duration::from_millis(500), ann.event("notice"));
            if let Ok(told) = told.await {
                return told;
            }
        }
    };
    let told = heard.await;
    assert_eq!(
        (&told["data"]["code"], &told["data"]["message"]),
        (&json!("announcement"), &json!("Supper!"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_teleport_reaches_the_zone_as_no_client_could_ask_for_it() {
    let (stage, mut operator) = stage().await;
    let mut ann = stage.player_at(1, "Ann").await;
    let forged = ann.ask("operator:teleport", json!({"x": 1, "z": 2})).await;
    assert_eq!(forged["data"]["code"], "unknown_event");
    let refused = order(&mut ann, "teleport", json!({"x": 1, "z": 2})).await;
    assert_eq!(refused["data"]["code"], "not_elevated");
    done(
        &mut operator,
        "teleport",
        json!({"name": "Ann", "x": 5, "z": 6}),
    )
    .await;
    done(&mut operator, "teleport", json!({"x": 7, "z": 8})).await;
    let arrived = |stage: &Stage| {
        let inputs = stage.zone.inputs();
        let named = inputs
            .iter()
            .filter(|(_, event)| event == "operator:teleport");
        named.count()
    };
    let both = async {
        while arrived(&stage) < 2 {
            ann.alive().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), both)
        .await
        .expect("the zone never heard");
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_moderate_over_http_and_see_what_was_done() {
    let (stage, operator) = stage().await;
    let mut ann = stage.player_at(1, "Ann").await;
    let token = own_token(&operator);
    let token = token.as_str();
    let act = |body| Ask { token, body };
    let path = "/admin/moderation";
    for (body, status) in [
        (json!({"action": "smite", "name": "Ann"}), 400),
        (json!({"action": "ban"}), 400),
        (json!({"action": "ban", "name": "Ann", "minutes": 0}), 400),
        (json!({"action": "freeze"}), 400),
        (json!({"action": "ban", "name": "Nobody"}), 404),
        (
            json!({"action": "ban", "name": "Ann", "reason": "enough"}),
            200,
        ),
    ] {
        let (got, answer) = post(&stage, 0, path, &act(body.clone())).await;
        assert_eq!(got, status, "{body}: {answer}");
    }
    assert_eq!(ann.closed().await.0, 4003);
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\n\r\n"
    );
    let list = stage.ask(0, &request).await;
    assert!(
        list.contains("\"enough\"") && list.contains("\"ban\""),
        "{list}"
    );
    // A player's token is none of an operator's.
    let bob = stage.player("Bob").await;
    let asked = Ask {
        token: bob.welcome["authToken"].as_str().unwrap(),
        body: json!({"action": "ban", "name": "Overseer"}),
    };
    let (status, answer) = post(&stage, 0, path, &asked).await;
    assert_eq!((status, &answer["code"]), (403, &json!("role_required")));
}

/// Returns the request that names the code with this token.
fn named(token: &str) -> Ask<'_> {
    let body = json!({"adminCode": CODE});
    Ask { token, body }
}

fn own_token(client: &Client) -> String {
    client.welcome["authToken"].as_str().unwrap().to_owned()
}

fn account(client: &Client) -> String {
    client.welcome["account"]["id"].as_str().unwrap().to_owned()
}

/// Gives an account these roles, with somebody's token.
async fn give(stage: &Stage, token: &str, account: &str, roles: Value) -> (u16, Value) {
    let path = format!("/admin/users/{account}/roles");
    let body = json!({"roles": roles});
    send(stage, 0, ("PUT", &path), &Ask { token, body }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moderator_needs_no_code_and_is_none_any_more_at_once() {
    let (stage, operator) = stage().await;
    let token = own_token(&operator);
    let mut ann = stage.player_at(1, "Ann").await;
    let mut bob = stage.player("Bob").await;
    let own = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let mute = json!({"name": "Bob", "minutes": 5});
    let refused = order(&mut ann, "mute", mute.clone()).await;
    assert_eq!(refused["data"]["code"], "not_elevated");

    let (status, answer) = give(&stage, &token, &account(&ann), json!(["moderator"])).await;
    assert_eq!((status, &answer["roles"]), (200, &json!(["moderator"])));
    for (command, args) in [
        ("mute", mute.clone()),
        ("unmute", json!({"name": "Bob"})),
        ("announce", json!({"message": "Be nice."})),
        ("ban", json!({"name": "Bob", "minutes": 5})),
    ] {
        done(&mut ann, command, args).await;
    }
    assert_eq!(bob.closed().await.0, 4003);
    done(&mut ann, "unban", json!({"name": "Bob"})).await;
    // Commands that run the place are not for moderators.
    for (command, args) in [("freeze", json!({})), ("teleport", json!({"x": 1, "z": 2}))] {
        let refused = order(&mut ann, command, args).await;
        assert_eq!(refused["data"]["code"], "not_elevated", "{command}");
    }
    let see = |method: &'static str, path: &'static str| {
        let asked = Ask {
            token: &own,
            body: Value::Null,
        };
        let stage = &stage;
        async move { send(stage, 1, (method, path), &asked).await }
    };
    assert_eq!(see("GET", "/admin/moderation").await.0, 200);
    assert_eq!(see("GET", "/admin/moderation/log").await.0, 200);
    let (status, answer) = see("POST", "/admin/freeze").await;
    assert_eq!((status, &answer["code"]), (403, &json!("role_required")));
    let (status, _) = give(&stage, &own, &account(&ann), json!(["admin"])).await;
    assert_eq!(status, 403, "nobody makes an admin of themselves");
    let by = format!("AUDIT_ACTION_BAN {}", account(&bob));
    assert!(
        stage
            .store
            .audit_log()
            .iter()
            .any(|action| action.starts_with(&by))
    );

    let (status, _) = give(&stage, &token, &account(&ann), json!([])).await;
    assert_eq!(status, 200);
    let refused = order(&mut ann, "mute", mute).await;
    assert_eq!(refused["data"]["code"], "not_elevated");
    assert_eq!(see("GET", "/admin/moderation").await.0, 403);
    // Each step is in the record.
    let told = stage.store.audit_log();
    let of = format!("AUDIT_ACTION_ROLES {} ", account(&ann));
    let told: Vec<&str> = told
        .iter()
        .filter_map(|action| action.strip_prefix(&of))
        .collect();
    assert_eq!(told, ["moderator", ""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_reads_and_does_nothing_and_a_moderator_may_act_on_it() {
    let (stage, operator) = stage().await;
    let token = own_token(&operator);
    let mut ann = stage.player("Ann").await;
    let mut bob = stage.player("Bob").await;
    let (status, answer) = give(&stage, &token, &account(&ann), json!(["viewer"])).await;
    assert_eq!((status, &answer["roles"]), (200, &json!(["viewer"])));
    let refused = order(&mut ann, "mute", json!({"name": "Bob"})).await;
    assert_eq!(refused["data"]["code"], "not_elevated", "{refused}");
    let own = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let asked = Ask {
        token: &own,
        body: json!({"action": "kick", "name": "Bob"}),
    };
    let path = "/admin/moderation";
    assert_eq!(send(&stage, 0, ("GET", path), &asked).await.0, 200);
    let (status, answer) = post(&stage, 0, path, &asked).await;
    assert_eq!((status, &answer["code"]), (403, &json!("role_required")));
    give(&stage, &token, &account(&bob), json!(["moderator"])).await;
    done(&mut bob, "mute", json!({"name": "Ann", "minutes": 5})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn moderators_do_nothing_about_each_other_and_admins_do_all() {
    let (stage, operator) = stage().await;
    let token = own_token(&operator);
    let mut ann = stage.player("Ann").await;
    let mut bob = stage.player("Bob").await;
    give(&stage, &token, &account(&ann), json!(["moderator"])).await;
    let (status, answer) = give(&stage, &token, &account(&bob), json!(["admin"])).await;
    assert_eq!(status, 200, "{answer}");
    let refused = order(&mut ann, "ban", json!({"name": "Bob"})).await;
    assert_eq!(refused["data"]["code"], "not_elevated", "{refused}");
    let own = ann.welcome["authToken"].as_str().unwrap().to_owned();
    let asked = Ask {
        token: &own,
        body: json!({"action": "kick", "name": "Bob"}),
    };
    let (status, answer) = post(&stage, 0, "/admin/moderation", &asked).await;
    assert_eq!((status, &answer["code"]), (403, &json!("role_required")));
    // An admin gives and takes roles, and may do everything that the code allows.
    let admin = bob.welcome["authToken"].as_str().unwrap().to_owned();
    done(&mut bob, "freeze", json!({})).await;
    done(&mut bob, "teleport", json!({"x": 1, "z": 2})).await;
    let (status, answer) = give(&stage, &admin, &account(&ann), json!([])).await;
    assert_eq!((status, &answer["roles"]), (200, &json!([])));
    let (status, _) = give(&stage, &admin, &account(&ann), json!(["god"])).await;
    assert_eq!(status, 400);
    bob.alive().await;
    ann.alive().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_makes_the_first_operator_and_no_other() {
    let (stage, mut operator) = stage().await;
    let first = own_token(&operator);
    let mut ann = stage.player_at(1, "Ann").await;
    let hers = own_token(&ann);
    let refused = ann.ask("admin:elevate", json!({"code": CODE})).await;
    assert_eq!(refused["data"]["code"], "not_elevated", "{refused}");
    let words = refused["data"]["message"].as_str().unwrap();
    assert!(words.contains("operators already"), "{words}");
    let (status, answer) = post(&stage, 1, "/api/auth/operator", &named(&hers)).await;
    assert_eq!((status, &answer["code"]), (403, &json!("operators_exist")));
    let words = answer["detail"].as_str().unwrap();
    assert!(words.contains("operators already"), "{words}");
    let refused = order(&mut ann, "freeze", json!({})).await;
    assert_eq!(refused["data"]["code"], "not_elevated");
    // The operator may name it again, and is one at every gateway.
    let (status, answer) = post(&stage, 1, "/api/auth/operator", &named(&first)).await;
    assert_eq!((status, &answer["roles"]), (200, &json!(["admin"])));
    done(&mut operator, "announce", json!({"message": "Hello."})).await;
    // The last one keeps the role, and gives it up when there is another.
    let own = account(&operator);
    let (status, answer) = give(&stage, &first, &own, json!(["moderator"])).await;
    assert_eq!((status, &answer["code"]), (409, &json!("last_operator")));
    assert_eq!(
        give(&stage, &first, &account(&ann), json!(["admin"]))
            .await
            .0,
        200
    );
    assert_eq!(give(&stage, &hers, &own, json!([])).await.0, 200);
    let refused = order(&mut operator, "freeze", json!({})).await;
    assert_eq!(refused["data"]["code"], "not_elevated");
    let (status, _) = post(&stage, 0, "/api/auth/operator", &named(&first)).await;
    assert_eq!(status, 403, "the code counts no more");
    done(&mut ann, "freeze", json!({})).await;
    let by = |id: &str| format!("account:{id}");
    let (operator, ann) = (by(&own), by(&account(&ann)));
    let told: Vec<_> = stage.store.acts();
    let told: Vec<_> = told
        .iter()
        .map(|(action, by)| (action.trim_start_matches("AUDIT_ACTION_"), by.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("FIRST_OPERATOR", operator.as_str()),
            ("ANNOUNCE", &operator),
            ("ROLES", &operator),
            ("ROLES", &ann),
            ("FREEZE", &ann),
        ]
    );
}
