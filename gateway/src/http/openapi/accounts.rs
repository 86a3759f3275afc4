//! `/api/auth/*` and `/api/voice/*`: tokens.

use serde_json::{Value, json};

use super::{
    describe::{Operation, op},
    players::her,
    schema::{account, flag, object, text, time, with, word},
};

const TAG: &str = "accounts";
const TOKEN: &str = "eyJ…";
const LATER: &str = "2026-11-22T04:00:00.000Z";

pub(super) fn operations() -> Vec<Operation> {
    let mut all = logins();
    all.extend(later());
    all
}

/// The key that an anonymous account's device keeps.
fn device_key() -> Value {
    json!({"type": ["string", "null"], "pattern": "^[A-Za-z0-9_-]{21}[AQgw]$"})
}

/// A token, and whose it is.
fn signed_in() -> (Value, Value) {
    let shape = with(
        [
            ("token", text()),
            ("expiresAt", time()),
            ("account", account()),
        ],
        [("deviceKey", text())],
    );
    let example = json!({"token": TOKEN, "expiresAt": LATER, "account": her()});
    (shape, example)
}

/// A token for what the caller is already.
fn token() -> (Value, Value) {
    let shape = object([("token", text()), ("expiresAt", time())]);
    (shape, json!({"token": TOKEN, "expiresAt": LATER}))
}

fn logins() -> Vec<Operation> {
    let (shape, example) = signed_in();
    let (plain, its) = token();
    vec![
        op("post", "/api/auth/anonymous", TAG, "Begins without a login")
            .about(
                "Only where there is no identity provider (else 403). A `deviceKey` is made and \
                 given once; with it the same account comes back.",
            )
            .body(with([], [("deviceKey", device_key())]), json!({}))
            .answers(200, shape.clone(), example.clone())
            .problems(&[401, 403]),
        op(
            "post",
            "/api/auth/login",
            TAG,
            "Logs in with the identity provider's token",
        )
        .about("With a `deviceKey`, the anonymous account of that device is claimed.")
        .body(
            with([("idpToken", text())], [("deviceKey", device_key())]),
            json!({"idpToken": TOKEN}),
        )
        .answers(200, shape, example)
        .problems(&[401, 403, 409]),
        op(
            "post",
            "/api/auth/operator",
            TAG,
            "An hour of running the place",
        )
        .body(object([("adminCode", word())]), json!({"adminCode": "…"}))
        .answers(200, plain, its)
        .problems(&[401, 403]),
    ]
}

fn later() -> Vec<Operation> {
    let (plain, its) = token();
    let voice = object([
        ("token", text()),
        ("url", text()),
        ("room", text()),
        ("identity", text()),
        ("canPublish", flag()),
        ("expiresAt", time()),
    ]);
    vec![
        op(
            "post",
            "/api/auth/refresh",
            TAG,
            "A new token that is good for the same",
        )
        .about("Agents and spectators get another token from their owner, operators by the code.")
        .answers(200, plain.clone(), its.clone()),
        op(
            "post",
            "/api/auth/spectator",
            TAG,
            "A token that only looks on",
        )
        .about(
            "It reads what is the account's, and sees the world by `world:watch`; it ends with \
             the login that it is from, which it cannot end, and makes no other token.",
        )
        .answers(200, plain, its),
        op(
            "post",
            "/api/auth/logout",
            TAG,
            "Ends the login, with all its tokens and sessions",
        )
        .empty(204, "The token is good for nothing any more."),
        op(
            "post",
            "/api/voice/token",
            TAG,
            "A token to talk with those around",
        )
        .about("404 where this server has no voice chat; 409 while nobody is in the world.")
        .answers(
            200,
            voice,
            json!({
                "token": TOKEN,
                "url": "wss://voice.example",
                "room": "region:0:0",
                "identity": "0199c3a0-0000-7000-8000-000000000001",
                "canPublish": true,
                "expiresAt": LATER,
            }),
        )
        .problems(&[404, 409]),
    ]
}
