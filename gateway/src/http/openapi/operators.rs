//! `/admin/*`.

use serde_json::{Value, json};

use super::{
    describe::{Operation, op},
    players::{ann, her},
    schema::{
        account, banked, count, flag, from_to, integer, kills, list, number, object, one_of,
        or_null, pagination, record, skills, slot, summary, text, time, with, worn, yes,
    },
};

const TAG: &str = "operators";
const ID: &str = "0199c3a0-0000-7000-8000-000000000001";

pub(super) fn operations() -> Vec<Operation> {
    [people(), lists(), moderation(), switches(), regions()].concat()
}

fn get(path: &'static str, summary: &'static str) -> Operation {
    op("get", path, TAG, summary)
}

/// A ban or a mute.
fn sanction() -> Value {
    object([
        ("kind", one_of(&["ban", "mute"])),
        ("accountId", text()),
        ("reason", text()),
        ("until", or_null(time())),
        ("by", text()),
        ("at", time()),
    ])
}

/// What may be done: about whom, why, and for how long, each where it makes sense.
fn moderated() -> Vec<Value> {
    let line = |pattern: &str| json!({"type": "string", "maxLength": 200, "pattern": pattern});
    let reason = || ("reason", line(r"^[^\x00-\x1f\x7f-\x9f]*$"));
    let id = json!({"type": "string", "pattern": "^[!-~]{1,128}$"});
    let name = json!({"type": "string", "minLength": 1, "maxLength": 64});
    let mut all = Vec::new();
    for (whom, schema) in [("accountId", id), ("name", name)] {
        let once = one_of(&["kick", "unban", "unmute"]);
        let lasting = one_of(&["ban", "mute"]);
        let whom = || (whom, schema.clone());
        all.push(with([("action", once), whom()], [reason()]));
        let minutes = ("minutes", from_to(1, 5_256_000));
        all.push(with([("action", lasting), whom()], [reason(), minutes]));
    }
    let announce = one_of(&["announce"]);
    let words = line("^[!-~][ -~]*$");
    all.push(object([("action", announce), ("reason", words)]));
    all
}

fn moderation() -> Vec<Operation> {
    let deed = object([
        ("id", count()),
        ("at", time()),
        ("by", text()),
        ("action", text()),
        ("accountId", text()),
        ("characterId", text()),
        ("detail", text()),
    ]);
    let part = |operation: Operation| {
        let before = json!({"type": "integer", "minimum": 0, "maximum": i64::MAX});
        operation
            .query("before", "Those before this one.", before)
            .query("limit", "Rows of a page.", from_to(1, 100))
    };
    let asked = json!({"oneOf": moderated()});
    let before = || or_null(count());
    vec![
        part(get("/admin/moderation", "Bans and mutes in force")).answers(
            200,
            object([("sanctions", list(sanction())), ("before", before())]),
            json!({"sanctions": [], "before": null}),
        ),
        op(
            "post",
            "/admin/moderation",
            TAG,
            "Kicks, bans, mutes, or announces",
        )
        .body(
            asked,
            json!({"action": "mute", "name": "Ann", "minutes": 60}),
        )
        .answers(200, object([("success", yes())]), json!({"success": true}))
        .problems(&[404]),
        part(get("/admin/moderation/log", "What operators did")).answers(
            200,
            object([("log", list(deed)), ("before", before())]),
            json!({"log": [], "before": null}),
        ),
    ]
}

/// A login as operators see it.
fn login() -> Value {
    object([
        ("characterId", text()),
        ("name", text()),
        ("accountId", text()),
        ("gateway", text()),
        ("loginAt", or_null(time())),
        ("logoutAt", or_null(time())),
        ("reason", or_null(text())),
    ])
}

fn page() -> Value {
    json!({"page": 1, "limit": 20, "total": 0, "totalPages": 0})
}

fn people() -> Vec<Operation> {
    let mut counted = account();
    counted["properties"]["characters"] = count();
    vec![
        get("/admin/stats", "How much there is of everything").answers(
            200,
            object([
                ("totalUsers", count()),
                ("totalCharacters", count()),
                ("activeSessions", count()),
                ("quarantined", count()),
                ("bannedUsers", count()),
                ("frozen", flag()),
                ("zones", count()),
                ("playersHere", count()),
                ("uptime", count()),
            ]),
            json!({
                "totalUsers": 2, "totalCharacters": 3, "activeSessions": 1, "quarantined": 0, "bannedUsers": 0,
                "frozen": false, "zones": 1, "playersHere": 1, "uptime": 3600,
            }),
        ),
        get("/admin/users", "Accounts, newest first")
            .query("search", "A part of the name, or the whole id.", short())
            .query("role", "A role that they have.", short())
            .paged()
            .answers(
                200,
                object([("users", list(counted)), ("pagination", pagination())]),
                json!({"users": [her()], "pagination": page()}),
            ),
        get("/admin/users/{id}", "An account and its characters")
            .path("id", "The account.", "0199c3a0-0000-7000-8000-000000000000")
            .answers(
                200,
                object([
                    ("user", account()),
                    ("characters", list(summary())),
                    ("sanctions", list(sanction())),
                ]),
                json!({"user": her(), "characters": [ann()], "sanctions": []}),
            )
            .problems(&[404]),
        op(
            "put",
            "/admin/users/{id}/roles",
            TAG,
            "Gives an account just these roles",
        )
        .about("They hold at once, and those that are not named end at once.")
        .path("id", "The account.", "0199c3a0-0000-7000-8000-000000000000")
        .body(
            object([("roles", list(one_of(&["moderator", "admin"])))]),
            json!({"roles": ["moderator"]}),
        )
        .answers(
            200,
            object([("success", yes()), ("roles", list(text()))]),
            json!({"success": true, "roles": ["moderator"]}),
        )
        .problems(&[404]),
        get("/admin/players/{id}", "All that is known of a character")
            .path("id", "The character.", ID)
            .gives(
                200,
                "application/json",
                object([
                    ("player", record()),
                    ("account", or_null(account())),
                    ("skills", skills()),
                    ("inventory", list(slot())),
                    ("equipment", list(worn())),
                    ("bank", list(banked())),
                    ("npcKills", list(kills())),
                    ("logins", count()),
                    ("playedSeconds", count()),
                    ("sessions", list(login())),
                ]),
            )
            .problems(&[404]),
    ]
}

/// A text that is searched for.
fn short() -> Value {
    json!({"type": "string", "maxLength": 64})
}

fn lists() -> Vec<Operation> {
    let entry = object([
        ("id", text()),
        ("playerId", or_null(text())),
        ("itemId", text()),
        ("cause", text()),
        ("delta", integer()),
        ("at", or_null(time())),
    ]);
    vec![
        get("/admin/sessions", "Logins, newest first")
            .query("playerId", "Of one character.", short())
            .query("open", "Only those that go on.", flag())
            .paged()
            .answers(
                200,
                object([("sessions", list(login())), ("pagination", pagination())]),
                json!({"sessions": [], "pagination": page()}),
            ),
        get(
            "/admin/audit",
            "How items and coins came and went, newest first",
        )
        .query("playerId", "Of one character.", short())
        .query("itemId", "Of one item.", short())
        .paged()
        .answers(
            200,
            object([("entries", list(entry)), ("pagination", pagination())]),
            json!({
                "entries": [{
                    "id": "7-12-1", "playerId": ID, "itemId": "coins", "cause": "starter",
                    "delta": 25, "at": "2026-11-21T16:00:00.000Z",
                }],
                "pagination": page(),
            }),
        ),
        get(
            "/admin/quarantine",
            "Characters that are kept out of the world",
        )
        .answers(
            200,
            object([(
                "players",
                list(object([("playerId", text()), ("name", text())])),
            )]),
            json!({"players": [{"playerId": ID, "name": "Ann"}]}),
        ),
        op(
            "delete",
            "/admin/quarantine/{id}",
            TAG,
            "Lets a character play again",
        )
        .path("id", "The character.", ID)
        .answers(
            200,
            object([("playerId", text()), ("quarantined", flag())]),
            json!({"playerId": ID, "quarantined": false}),
        )
        .problems(&[404]),
    ]
}

fn switches() -> Vec<Operation> {
    let changed = || object([("frozen", flag()), ("changed", flag())]);
    vec![
        get("/admin/freeze", "Whether items and coins may move").answers(
            200,
            object([("frozen", flag())]),
            json!({"frozen": false}),
        ),
        op(
            "post",
            "/admin/freeze",
            TAG,
            "Refuses all that moves items or coins",
        )
        .answers(200, changed(), json!({"frozen": true, "changed": true})),
        op("delete", "/admin/freeze", TAG, "Allows it again").answers(
            200,
            changed(),
            json!({"frozen": false, "changed": true}),
        ),
        op(
            "post",
            "/admin/zones/{id}/drain",
            TAG,
            "Has a zone give its regions to others",
        )
        .path("id", "The zone's run.", "7")
        .answers(
            202,
            object([("zone", text()), ("state", one_of(&["draining"]))]),
            json!({"zone": "7", "state": "draining"}),
        )
        .problems(&[404]),
    ]
}

fn regions() -> Vec<Operation> {
    let zone = object([
        ("id", text()),
        ("address", text()),
        ("state", one_of(&["live", "draining"])),
    ]);
    let region = object([
        ("x", integer()),
        ("z", integer()),
        ("zone", or_null(text())),
        ("epoch", count()),
        ("players", count()),
        ("costMicros", number()),
        ("goesTo", or_null(text())),
        ("faults", count()),
        ("paused", flag()),
    ]);
    let tile = || json!({"type": "integer", "minimum": -15625, "maximum": 15625});
    vec![
        get(
            "/admin/zones",
            "Every zone, and every region with what it costs",
        )
        .answers(
            200,
            object([("zones", list(zone)), ("regions", list(region))]),
            json!({
                "zones": [{"id": "7", "address": "zone-0:5700", "state": "live"}],
                "regions": [{
                    "x": 0, "z": 0, "zone": "7", "epoch": 3, "players": 1, "costMicros": 120,
                    "goesTo": null, "faults": 0, "paused": false,
                }],
            }),
        ),
        op(
            "post",
            "/admin/regions/resume",
            TAG,
            "Lets a paused region be played again",
        )
        .body(
            object([("x", tile()), ("z", tile())]),
            json!({"x": 0, "z": 0}),
        )
        .answers(
            200,
            object([("x", integer()), ("z", integer()), ("changed", flag())]),
            json!({"x": 0, "z": 0, "changed": false}),
        ),
    ]
}
