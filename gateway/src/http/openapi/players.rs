//! `/api/v1/player` and `/api/player/*`.

use proto::client::limits::{NAME_CHARS_MAX, NAME_CHARS_MIN};
use serde_json::{Value, json};

use super::{
    describe::{Operation, op},
    schema::{
        account, banked, count, flag, kills, list, number, object, or_null, pagination, position,
        region, skills, slot, summary, text, time, with, worn, yes,
    },
};

const TAG: &str = "players";

/// A character as examples show it.
pub(super) fn ann() -> Value {
    json!({
        "id": "0199c3a0-0000-7000-8000-000000000001",
        "name": "Ann",
        "combatLevel": 3,
        "online": false,
        "lastLoginAt": null,
        "region": {"x": 0, "z": 0},
    })
}

/// Her account.
pub(super) fn her() -> Value {
    json!({
        "id": "0199c3a0-0000-7000-8000-000000000000",
        "name": "Wanderer-5f3a",
        "anonymous": true,
        "roles": [],
        "createdAt": "2026-11-21T16:00:00.000Z",
    })
}

/// What a wish for a character is.
fn put() -> Value {
    let mut schema = with(
        [],
        [
            ("characterId", or_null(text())),
            ("name", or_null(name())),
            ("isAgent", or_null(flag())),
        ],
    );
    schema["anyOf"] = json!([{"required": ["name"]}, {"required": ["characterId", "isAgent"]}]);
    schema
}

/// A character's name.
pub(super) fn name() -> Value {
    json!({
        "type": "string",
        "minLength": NAME_CHARS_MIN,
        "maxLength": NAME_CHARS_MAX,
        "description": "2 to 20 letters, digits, spaces, - and _, two of them letters or digits; letters are those of one script of any language, and no name of staff. Kept in Unicode's form NFKC, trimmed, with single spaces. Unique whatever the case, and none that looks like another.",
    })
}

pub(super) fn operations() -> Vec<Operation> {
    let mut all = own();
    all.extend(data());
    all
}

fn own() -> Vec<Operation> {
    let made = object([("success", yes()), ("character", summary())]);
    let example = json!({"success": true, "character": ann()});
    let playing = object([
        ("characterId", text()),
        ("online", yes()),
        ("region", region()),
        ("position", or_null(position())),
    ]);
    vec![
        op(
            "get",
            "/api/v1/player",
            TAG,
            "The caller's account and characters",
        )
        .about("`session` is there while one of them is in the world.")
        .answers(
            200,
            with(
                [("account", account()), ("characters", list(summary()))],
                [("session", playing)],
            ),
            json!({"account": her(), "characters": [ann()]}),
        )
        .problems(&[404]),
        op(
            "post",
            "/api/v1/player",
            TAG,
            "Makes a character, or changes one",
        )
        .about(
            "With `characterId`, that character is changed; it must not be in the world \
                 (409 character_online). Without, a new one is made.",
        )
        .body(put(), json!({"name": "Ann"}))
        .answers(200, made.clone(), example.clone())
        .answers(201, made, example)
        .problems(&[404, 409]),
    ]
}

/// Whose it is, in examples.
const ID: &str = "0199c3a0-0000-7000-8000-000000000001";

/// A query about what a character has, under both names of the family: the fields of its answer
/// beside those that each has, and an example of them.
fn query<const N: usize>(
    paths: [&'static str; 2],
    summary: &'static str,
    fields: [(&str, Value); N],
    example: Value,
) -> Vec<Operation> {
    described(paths, summary, fields, example).or(paths[1])
}

fn described<const N: usize>(
    paths: [&'static str; 2],
    summary: &'static str,
    fields: [(&str, Value); N],
    mut example: Value,
) -> Operation {
    let mut answer = object([("success", yes()), ("characterId", text())]);
    example["success"] = true.into();
    example["characterId"] = ID.into();
    for (name, schema) in fields {
        if let Some(required) = answer["required"].as_array_mut() {
            required.push(name.into());
        }
        answer["properties"][name] = schema;
    }
    op("get", paths[0], TAG, summary)
        .about("Of the only character, or the one that plays, where none is named.")
        .query("characterId", "One of the caller's characters.", text())
        .problems(&[404])
        .answers(200, answer, example)
}

fn data() -> Vec<Operation> {
    let list_all = op(
        "get",
        "/api/player",
        TAG,
        "The caller's account and characters",
    )
    .answers(
        200,
        object([
            ("success", yes()),
            ("account", account()),
            ("characters", list(summary())),
        ]),
        json!({"success": true, "account": her(), "characters": [ann()]}),
    )
    .problems(&[404])
    .or("/api/players");
    [list_all, things(), statistics(), sessions()].concat()
}

fn things() -> Vec<Operation> {
    let inventory = query(
        ["/api/player/inventory", "/api/players/inventory"],
        "What a character carries",
        [
            ("slots", count()),
            ("coins", count()),
            ("inventory", list(slot())),
        ],
        json!({
            "slots": 28,
            "coins": 25,
            "inventory": [{"slot": 0, "itemId": "bronze_hatchet", "quantity": 1}],
        }),
    );
    let equipment = query(
        ["/api/player/equipment", "/api/players/equipment"],
        "What a character wears",
        [("equipment", list(worn()))],
        json!({"equipment": [{"slot": "weapon", "itemId": "bronze_sword", "quantity": 1}]}),
    );
    let bank = query(
        ["/api/player/bank", "/api/players/bank"],
        "What a character has in the bank",
        [("bank", list(banked()))],
        json!({"bank": [{"itemId": "logs", "quantity": 40, "tab": 0, "place": 0}]}),
    );
    [inventory, equipment, bank].concat()
}

fn statistics() -> Vec<Operation> {
    query(
        ["/api/player/statistics", "/api/players/statistics"],
        "What a character has come to",
        [
            ("combatLevel", count()),
            ("totalLevel", count()),
            ("totalXp", number()),
            ("skills", skills()),
            ("kills", list(kills())),
            ("logins", count()),
            ("playedSeconds", count()),
            ("createdAt", or_null(time())),
            ("lastLoginAt", or_null(time())),
        ],
        json!({
            "combatLevel": 3,
            "totalLevel": 26,
            "totalXp": 1154.0,
            "skills": {"constitution": {"level": 10, "xp": 1154.0}},
            "kills": [{"npcId": "duck", "count": 7}],
            "logins": 2,
            "playedSeconds": 5400,
            "createdAt": "2026-11-21T16:00:00.000Z",
            "lastLoginAt": null,
        }),
    )
}

fn sessions() -> Vec<Operation> {
    let session = object([
        ("characterId", text()),
        ("loginAt", or_null(time())),
        ("logoutAt", or_null(time())),
        ("reason", or_null(text())),
    ]);
    let paths = ["/api/player/sessions", "/api/players/sessions"];
    let operation = described(
        paths,
        "When a character played, newest first",
        [("sessions", list(session)), ("pagination", pagination())],
        json!({
            "sessions": [{
                "characterId": ID,
                "loginAt": "2026-11-21T16:00:00.000Z",
                "logoutAt": null,
                "reason": null,
            }],
            "pagination": {"page": 1, "limit": 20, "total": 1, "totalPages": 1},
        }),
    );
    operation.paged().or(paths[1])
}
