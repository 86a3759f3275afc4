//! Logins: anonymous accounts, the identity provider's subjects, and our own tokens until their
//! owners give them up.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_servers::idp::{Idp, Serving, now_s};

use crate::{client::Client, conforms, stage::Stage, walk::signed};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const FREELY: (&str, &str) = ("DISABLE_RATE_LIMIT", "true");

/// Status and body of an answer to a POST.
pub(crate) async fn post(stage: &Stage, index: usize, path: &str, asked: &Ask<'_>) -> (u16, Value) {
    send(stage, index, ("POST", path), asked).await
}

/// Status and body of an answer to a request of any method.
pub(crate) async fn send(
    stage: &Stage,
    index: usize,
    (method, path): (&str, &str),
    asked: &Ask<'_>,
) -> (u16, Value) {
    let bearer = match asked.token {
        "" => String::new(),
        token => format!("authorization: Bearer {token}\r\n"),
    };
    let body = match &asked.body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{bearer}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = stage.ask(index, &request).await;
    conforms::check(method, path, &answer).await;
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}

/// A request over HTTP: its data, and its sender.
#[derive(Default)]
pub(crate) struct Ask<'a> {
    pub(crate) token: &'a str,
    pub(crate) body: Value,
}

fn saying(body: Value) -> Ask<'static> {
    Ask { token: "", body }
}

fn showing(token: &str) -> Ask<'_> {
    Ask {
        token,
        body: Value::Null,
    }
}

async fn with_idp(idp: &Idp) -> Stage {
    let mut settings = idp.settings();
    settings.push(("DISABLE_RATE_LIMIT", "true".to_owned()));
    settings.push(("JWT_SECRET", SECRET.to_owned()));
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    Stage::open(&settings).await
}

async fn login(stage: &Stage, token: &str) -> (u16, Value) {
    let body = json!({"idpToken": token});
    post(stage, 0, "/api/auth/login", &saying(body)).await
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value}"))
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subject_of_the_provider_is_one_account_by_every_way() {
    let idp = Idp::start();
    let stage = with_idp(&idp).await;
    let (status, answer) = login(&stage, &idp.token("ann")).await;
    assert_eq!(status, 200, "{answer}");
    let id = text(&answer["account"]["id"]);
    let own = text(&answer["token"]);
    // The provider's own token serves for HTTP and for the WebSocket.
    for token in [own.as_str(), &idp.token("ann")] {
        let (status, renewed) = post(&stage, 0, "/api/auth/refresh", &showing(token)).await;
        assert_eq!(status, 200, "{renewed}");
        let mut client = stage.connect().await;
        let welcome = client.ask("authenticate", json!({"token": token})).await;
        assert_eq!(welcome["data"]["account"]["id"], id.as_str(), "{welcome}");
    }
    let (_, other) = login(&stage, &idp.token("bob")).await;
    assert_ne!(other["account"]["id"], id.as_str());
    // Nobody is anonymous here.
    let refused = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    assert_eq!(
        (refused.0, &refused.1["code"]),
        (403, &json!("anonymous_disabled"))
    );
    let mut client = stage.connect().await;
    assert_eq!(
        client.event("session:hello").await["data"]["anonymous"],
        false
    );
    let refused = client.ask("authenticate", json!({})).await;
    assert_eq!(refused["data"]["code"], "anonymous_disabled");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_provider_everybody_is_anonymous_and_lasts_by_its_key() {
    let stage = Stage::open(&[FREELY]).await;
    let (status, made) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    assert_eq!(status, 200, "{made}");
    let key = json!({"deviceKey": made["deviceKey"]});
    let (status, again) = post(&stage, 0, "/api/auth/anonymous", &saying(key.clone())).await;
    assert_eq!((status, &again["account"]), (200, &made["account"]));
    assert!(again.get("deviceKey").is_none(), "it is said once");
    let mut client = stage.connect().await;
    let welcome = client.ask("authenticate", key).await;
    assert_eq!(welcome["data"]["account"]["id"], made["account"]["id"]);
    for (key, status, code) in [
        ("rubbish", 400, "invalid_request"),
        ("AAAAAAAAAAAAAAAAAAAAAA", 401, "invalid_credentials"),
    ] {
        let asked = saying(json!({"deviceKey": key}));
        let refused = post(&stage, 0, "/api/auth/anonymous", &asked).await;
        assert_eq!((refused.0, &refused.1["code"]), (status, &json!(code)));
    }
    let refused = login(&stage, "a.b.c").await;
    assert_eq!(
        (refused.0, &refused.1["code"]),
        (403, &json!("login_disabled"))
    );
}

async fn by_password(stage: &Stage, name: &str, password: &str) -> (u16, Value) {
    let body = json!({"name": name, "password": password});
    post(stage, 0, "/api/auth/password", &saying(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_with_a_password_is_the_same_account_anywhere() {
    const WORDS: &str = "correct horse battery";
    let stage = Stage::open(&[FREELY]).await;
    let (_, guest) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    let token = text(&guest["token"]);
    let with = |body: Value| Ask {
        token: &token,
        body,
    };
    for (name, password, pointer) in [
        ("ann", "password123", "/password"),
        ("ann", "short", "/password"),
        ("annabella", "Annabella1", "/password"),
        ("a b", WORDS, "/name"),
    ] {
        let asked = with(json!({"name": name, "password": password}));
        let refused = post(&stage, 0, "/api/account/password", &asked).await;
        assert_eq!(
            (refused.0, &refused.1["errors"][0]["pointer"]),
            (400, &json!(pointer))
        );
    }
    let asked = with(json!({"name": "Ann", "password": WORDS}));
    let (status, made) = post(&stage, 0, "/api/account/password", &asked).await;
    assert_eq!(status, 200, "{made}");
    let codes = made["recoveryCodes"].as_array().unwrap();
    assert_eq!(codes.len(), 10);
    let again = post(&stage, 0, "/api/account/password", &asked).await;
    assert_eq!((again.0, &again.1["code"]), (409, &json!("has_password")));
    let (_, other) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    let asked = Ask {
        token: &text(&other["token"]),
        body: json!({"name": "ANN", "password": WORDS}),
    };
    let taken = post(&stage, 0, "/api/account/password", &asked).await;
    assert_eq!((taken.0, &taken.1["code"]), (409, &json!("name_taken")));

    let (status, here) = by_password(&stage, "ann", WORDS).await;
    assert_eq!(
        (status, &here["account"]["id"]),
        (200, &guest["account"]["id"])
    );
    for (name, password) in [("ann", "correct horse"), ("nobody", WORDS)] {
        let refused = by_password(&stage, name, password).await;
        assert_eq!(
            (refused.0, &refused.1["code"]),
            (401, &json!("invalid_credentials"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_ends_other_logins_and_a_code_counts_once() {
    let stage = Stage::open(&[FREELY]).await;
    let (_, guest) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    let first = text(&guest["token"]);
    let asked = Ask {
        token: &first,
        body: json!({"name": "bob", "password": "correct horse battery"}),
    };
    let (_, made) = post(&stage, 0, "/api/account/password", &asked).await;
    let (_, there) = by_password(&stage, "bob", "correct horse battery").await;
    let there = text(&there["token"]);
    let change =
        |password: &str| json!({"password": password, "newPassword": "another horse battery"});
    let wrong = Ask {
        token: &first,
        body: change("no horse battery"),
    };
    let refused = send(&stage, 0, ("PUT", "/api/account/password"), &wrong).await;
    assert_eq!(
        (refused.0, &refused.1["code"]),
        (401, &json!("invalid_credentials"))
    );
    let right = Ask {
        token: &first,
        body: change("correct horse battery"),
    };
    let (status, changed) = send(&stage, 0, ("PUT", "/api/account/password"), &right).await;
    assert_eq!(status, 200, "{changed}");
    let (status, _) = post(&stage, 0, "/api/auth/refresh", &showing(&there)).await;
    assert_eq!(status, 401, "the other login is over");
    let (status, _) = post(&stage, 0, "/api/auth/refresh", &showing(&first)).await;
    assert_eq!(status, 200, "this one goes on");

    let recover = |code: &Value| {
        saying(json!({"name": "bob", "recoveryCode": code, "password": "third horse battery"}))
    };
    let old = recover(&made["recoveryCodes"][0]);
    let old = post(&stage, 0, "/api/auth/recover", &old).await;
    assert_eq!(
        (old.0, &old.1["code"]),
        (401, &json!("invalid_credentials"))
    );
    let code = recover(&changed["recoveryCodes"][0]);
    let (status, recovered) = post(&stage, 0, "/api/auth/recover", &code).await;
    assert_eq!(
        (status, &recovered["account"]["id"]),
        (200, &guest["account"]["id"])
    );
    let (status, _) = post(&stage, 0, "/api/auth/recover", &code).await;
    assert_eq!(status, 401, "a code counts once");
    let (status, _) = post(&stage, 0, "/api/auth/refresh", &showing(&first)).await;
    assert_eq!(status, 401, "who recovers is alone");
    let (status, _) = by_password(&stage, "bob", "third horse battery").await;
    assert_eq!(status, 200);
}

async fn renew(stage: &Stage, refresh_token: &Value) -> (u16, Value) {
    let body = json!({ "refreshToken": refresh_token });
    post(stage, 0, "/api/auth/renew", &saying(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_of_a_password_goes_on_until_it_is_ended() {
    let stage = Stage::open(&[FREELY]).await;
    let (_, guest) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    let first = text(&guest["token"]);
    let asked = Ask {
        token: &first,
        body: json!({"name": "dan", "password": "correct horse battery"}),
    };
    let (_, made) = post(&stage, 0, "/api/account/password", &asked).await;
    let (_, here) = by_password(&stage, "dan", "correct horse battery").await;
    let (_, there) = by_password(&stage, "dan", "correct horse battery").await;
    for token in [&made, &here, &there].map(|login| &login["refreshToken"]) {
        let (status, renewed) = renew(&stage, token).await;
        assert_eq!(
            (status, &renewed["account"]["id"]),
            (200, &guest["account"]["id"])
        );
        let (status, _) = renew(&stage, &renewed["refreshToken"]).await;
        assert_eq!(status, 200, "and again");
    }
    // It is no token for anything else, and no other token renews a login.
    let misused = showing(here["refreshToken"].as_str().unwrap());
    let (status, _) = post(&stage, 0, "/api/auth/refresh", &misused).await;
    assert_eq!(status, 401);
    for token in [&here["token"], &json!("a.b.c")] {
        let (status, refused) = renew(&stage, token).await;
        assert_eq!(
            (status, &refused["code"]),
            (401, &json!("invalid_credentials"))
        );
    }
    // Whoever logs out with a token of a renewal ends the login.
    let (_, renewed) = renew(&stage, &here["refreshToken"]).await;
    let out = showing(renewed["token"].as_str().unwrap());
    let (status, _) = post(&stage, 0, "/api/auth/logout", &out).await;
    assert_eq!(status, 204);
    let (status, _) = renew(&stage, &here["refreshToken"]).await;
    assert_eq!(status, 401, "it was ended");
    // A new password ends all others.
    let change =
        json!({"password": "correct horse battery", "newPassword": "another horse battery"});
    let asked = Ask {
        token: &first,
        body: change,
    };
    let (_, changed) = send(&stage, 0, ("PUT", "/api/account/password"), &asked).await;
    let (status, _) = renew(&stage, &there["refreshToken"]).await;
    assert_eq!(status, 401, "a new password ended it");
    let (status, _) = renew(&stage, &changed["refreshToken"]).await;
    assert_eq!(status, 200, "this one goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_at_a_name_are_counted() {
    let stage = Stage::open(&[("JWT_SECRET", SECRET)]).await;
    let mut codes = Vec::new();
    for _ in 0..12 {
        codes.push(
            by_password(&stage, "carol", "correct horse battery")
                .await
                .0,
        );
    }
    assert_eq!(codes[..9], [401; 9], "{codes:?}");
    assert_eq!(codes[11], 429, "{codes:?}");
}

/// Returns tokens that the provider's own key signed, and that say what none of its tokens for us
/// says.
fn misspoken(idp: &Idp) -> Vec<(String, String)> {
    let good = idp.claims("ann");
    let mut all = Vec::new();
    let mut add = |what: &str, token: String| all.push((what.to_owned(), token));
    let bad_claims = [
        ("another issuer", "iss", json!("https://evil.example")),
        ("another audience", "aud", json!("other-app")),
        (
            "an audience among others that is not ours",
            "aud",
            json!(["a", "b"]),
        ),
        ("expired", "exp", json!(now_s() - 6)),
        ("not good yet", "nbf", json!(now_s() + 60)),
        ("made in the future", "iat", json!(now_s() + 60)),
        ("a subject that is a number", "sub", json!(7)),
        ("no subject", "sub", json!("")),
    ];
    for (what, name, value) in bad_claims {
        let mut claims = good.clone();
        claims[name] = value;
        add(what, idp.sign(&claims));
    }
    for name in ["iss", "aud", "exp", "sub"] {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        add(&format!("without {name}"), idp.sign(&claims));
    }
    all
}

/// Returns every token that looks like the provider's and is not.
fn forged(idp: &Idp) -> Vec<(String, String)> {
    let kid = idp.kid();
    let good = idp.claims("ann");
    let header = json!({"alg": "ES256", "typ": "JWT", "kid": kid});
    let mut all = misspoken(idp);
    let mut add = |what: &str, token: String| all.push((what.to_owned(), token));
    for kid in [
        "other",
        "../../etc/passwd",
        "' OR 1=1 --",
        "http://evil.example/k",
    ] {
        let mut header = header.clone();
        header["kid"] = json!(kid);
        add(&format!("the key {kid}"), idp.sign_as(&header, &good));
    }
    let mut no_kid = header.clone();
    no_kid.as_object_mut().unwrap().remove("kid");
    add("no key", idp.sign_as(&no_kid, &good));
    for alg in ["none", "None", "HS256", "RS256", "ES384"] {
        let mut header = header.clone();
        header["alg"] = json!(alg);
        let token = idp.sign_as(&header, &good);
        let (said, _) = token.rsplit_once('.').unwrap();
        add(&format!("{alg} without signature"), format!("{said}."));
        add(&format!("{alg} with signature"), token);
    }
    for public in idp.public_keys() {
        let header = json!({"alg": "HS256", "kid": kid});
        let token = signed(&header, &good, &public);
        add("signed with the public key as a secret", token);
    }
    // Another provider's key, offered by the token itself.
    let evil = Idp::start();
    let mut offered = header.clone();
    offered["jwk"] = json!({"kty": "EC", "kid": kid});
    offered["jku"] = json!("http://127.0.0.1:9/jwks.json");
    add("a key of its own", evil.sign_as(&offered, &good));
    let token = idp.token("ann");
    add("cut short", token[..token.len() - 2].to_owned());
    add(
        "a million bytes",
        format!("{token}{}", "A".repeat(1_000_000)),
    );
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn no_forged_token_of_the_provider_lets_anybody_in() {
    let idp = Idp::start();
    let stage = with_idp(&idp).await;
    assert_eq!(login(&stage, &idp.token("ann")).await.0, 200);
    for (what, token) in forged(&idp) {
        let (status, answer) = login(&stage, &token).await;
        // Text that is too long for a body is too long for a token.
        let refused = status == 401 || (token.len() > 100_000 && matches!(status, 401 | 413));
        assert!(refused, "{what}: {status} {answer}");
        if token.len() < 8_000 {
            let bearer = post(&stage, 0, "/api/auth/refresh", &showing(&token)).await;
            assert_eq!(bearer.0, 401, "{what} as bearer: {}", bearer.1);
        }
    }
    // Tokens that name unknown keys did not make the provider work for them.
    assert!(idp.asked() <= 8, "asked {} times", idp.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_kind_of_token_passes_for_the_other() {
    let idp = Idp::start();
    let stage = with_idp(&idp).await;
    let (_, answer) = login(&stage, &idp.token("ann")).await;
    let own = text(&answer["token"]);
    assert_eq!(login(&stage, &own).await.0, 401);
    // The provider's claims under our secret, and ours under the provider's key.
    let header = json!({"alg": "HS256"});
    let as_ours = signed(&header, &idp.claims("ann"), SECRET.as_bytes());
    let ours = json!({
        "sub": "ann", "iss": "tilestead", "aud": "tilestead", "iat": now_s(),
        "exp": now_s() + 60, "jti": "j", "scope": "player",
    });
    for token in [as_ours, idp.sign(&ours)] {
        let (status, _) = post(&stage, 0, "/api/auth/refresh", &showing(&token)).await;
        assert_eq!(status, 401);
        assert_eq!(login(&stage, &token).await.0, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_serve_while_the_provider_is_ill_and_new_ones_are_found() {
    let idp = Idp::start();
    idp.serve(Serving::WithSecret);
    let stage = with_idp(&idp).await;
    assert_eq!(login(&stage, &idp.token("ann")).await.0, 200);
    for illness in [Serving::Ill, Serving::Rubbish] {
        idp.serve(illness);
        assert_eq!(login(&stage, &idp.token("bob")).await.0, 200, "{illness:?}");
    }
    idp.serve(Serving::Well);
    let before = idp.token("ann");
    idp.rotate();
    assert_eq!(login(&stage, &idp.token("ann")).await.0, 200, "a new key");
    assert_eq!(
        login(&stage, &before).await.0,
        401,
        "the one before is gone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_never_answered_is_said_to_be_away() {
    let idp = Idp::start();
    idp.serve(Serving::Ill);
    let stage = with_idp(&idp).await;
    let (status, answer) = login(&stage, &idp.token("ann")).await;
    assert_eq!(
        (status, &answer["code"]),
        (503, &json!("identity_provider_away"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_key_is_claimed_by_a_login() {
    let stage = Stage::open(&[FREELY, ("JWT_SECRET", SECRET)]).await;
    let (_, made) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    // The same store, and a gateway with a provider.
    let idp = Idp::start();
    let mut settings = idp.settings();
    settings.push(("JWT_SECRET", SECRET.to_owned()));
    let settings: Vec<(&str, &str)> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut stage = stage;
    stage.add_gateway(&settings).await;
    let body = json!({"idpToken": idp.token("ann"), "deviceKey": made["deviceKey"]});
    let (status, claimed) = post(&stage, 1, "/api/auth/login", &saying(body)).await;
    assert_eq!(
        (status, &claimed["account"]["id"]),
        (200, &made["account"]["id"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_logout_ends_the_login_at_every_gateway_at_once() {
    let mut stage = Stage::open(&[FREELY, ("JWT_SECRET", SECRET)]).await;
    stage.add_gateway(&[FREELY, ("JWT_SECRET", SECRET)]).await;
    let (_, made) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    let first = text(&made["token"]);
    let (_, renewed) = post(&stage, 1, "/api/auth/refresh", &showing(&first)).await;
    let second = text(&renewed["token"]);
    // A login of its own, which goes on.
    let key = json!({"deviceKey": made["deviceKey"]});
    let (_, other) = post(&stage, 0, "/api/auth/anonymous", &saying(key)).await;
    let other = text(&other["token"]);
    let mut here = Client::connect(stage.address(0), "").await;
    here.ask("authenticate", json!({"token": first})).await;
    let mut there = Client::connect(stage.address(1), "").await;
    let welcome = there.ask("authenticate", json!({"token": second})).await;
    let resume = text(&welcome["data"]["resumeToken"]);
    let third = text(&welcome["data"]["authToken"]);
    let asked = Instant::now();
    assert_eq!(
        post(&stage, 1, "/api/auth/logout", &showing(&second))
            .await
            .0,
        204
    );
    assert_eq!(here.closed().await.0, 4004);
    assert_eq!(there.closed().await.0, 4004);
    assert!(
        asked.elapsed() < Duration::from_secs(2),
        "{:?}",
        asked.elapsed()
    );
    for token in [&first, &second, &third] {
        for index in [0, 1] {
            let refused = post(&stage, index, "/api/auth/refresh", &showing(token)).await;
            assert_eq!(
                (refused.0, &refused.1["code"]),
                (401, &json!("invalid_token"))
            );
        }
    }
    let mut back = stage.connect().await;
    let refused = back.ask("authenticate", json!({"token": third})).await;
    assert_eq!(refused["data"]["code"], "invalid_credentials");
    let asked = json!({"resumeToken": resume, "lastSeq": 0});
    let refused = back.ask("session:resume", asked).await;
    assert_eq!(refused["data"]["code"], "invalid_credentials");
    assert_eq!(
        post(&stage, 0, "/api/auth/refresh", &showing(&other))
            .await
            .0,
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_logout_by_the_providers_token_lasts_as_long_as_it_and_the_next_token_comes_in() {
    let idp = Idp::start();
    let stage = with_idp(&idp).await;
    let mut claims = idp.claims("ann");
    let end_s = claims["iat"].as_u64().unwrap() + 30 * 24 * 60 * 60;
    claims["exp"] = json!(end_s);
    let long = idp.sign(&claims);
    let (_, renewed) = post(&stage, 0, "/api/auth/refresh", &showing(&long)).await;
    let ours = text(&renewed["token"]);
    let (status, _) = post(&stage, 0, "/api/auth/logout", &showing(&long)).await;
    assert_eq!(status, 204);
    for token in [&long, &ours] {
        let refused = post(&stage, 0, "/api/auth/refresh", &showing(token)).await;
        assert_eq!(
            (refused.0, &refused.1["code"]),
            (401, &json!("invalid_token"))
        );
        let mut client = stage.connect().await;
        let refused = client.ask("authenticate", json!({"token": token})).await;
        assert_eq!(refused["data"]["code"], "invalid_credentials");
    }
    assert_eq!(login(&stage, &long).await.0, 401);
    let ends = stage.store.revoked_until_ms();
    assert!(ends.iter().all(|end| *end >= end_s * 1000), "{ends:?}");
    // The same login at the provider, and its next token.
    let (status, answer) = login(&stage, &idp.token("ann")).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_nothing_is_pushed_the_store_is_asked_each_time() {
    let mut stage = Stage::open(&[FREELY, ("JWT_SECRET", SECRET)]).await;
    stage.add_gateway(&[FREELY, ("JWT_SECRET", SECRET)]).await;
    let (_, made) = post(&stage, 0, "/api/auth/anonymous", &saying(json!({}))).await;
    let token = text(&made["token"]);
    stage.store.push_nothing();
    // A pushed state is good for 5 s, no longer.
    tokio::time::sleep(Duration::from_millis(5_200)).await;
    assert_eq!(
        post(&stage, 0, "/api/auth/refresh", &showing(&token))
            .await
            .0,
        200
    );
    assert_eq!(
        post(&stage, 1, "/api/auth/logout", &showing(&token))
            .await
            .0,
        204
    );
    assert_eq!(
        post(&stage, 0, "/api/auth/refresh", &showing(&token))
            .await
            .0,
        401
    );
}
