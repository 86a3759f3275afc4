//! `/api/v1/world`, `/api/v1/world/areas` and `/hiscores`.

use serde_json::{Value, json};

use super::{
    describe::{Operation, op},
    schema::{
        count, flag, from_to, integer, list, number, object, one_of, or_null, pagination, text,
        time,
    },
};

const TAG: &str = "world";

pub(super) fn operations() -> Vec<Operation> {
    [places(), hiscores()].concat()
}

fn places() -> Vec<Operation> {
    let region = object([
        ("x", integer()),
        ("z", integer()),
        ("players", count()),
        ("npcs", or_null(count())),
        ("zone", or_null(text())),
        ("state", one_of(&["played", "waiting", "paused"])),
    ]);
    let zone = object([
        ("id", text()),
        ("state", one_of(&["live", "draining"])),
        ("regions", count()),
        ("players", count()),
    ]);
    let bounds = object([
        ("minX", integer()),
        ("maxX", integer()),
        ("minZ", integer()),
        ("maxZ", integer()),
    ]);
    let area = object([
        ("id", text()),
        ("name", text()),
        ("description", text()),
        ("kind", one_of(&["town", "safe", "wilderness", "pvp"])),
        ("difficultyLevel", count()),
        ("biome", text()),
        ("safeZone", flag()),
        ("pvpEnabled", flag()),
        ("bounds", bounds),
    ]);
    vec![
        op("get", "/api/v1/world", TAG, "How the world is")
            .about("`npcs` is null where the zone did not answer in time.")
            .answers(
                200,
                object([
                    ("tick", count()),
                    ("serverTime", time()),
                    ("players", count()),
                    ("regions", list(region)),
                    ("zones", list(zone)),
                ]),
                json!({
                    "tick": 2_983_000_000_u64,
                    "serverTime": "2026-11-21T16:00:00.000Z",
                    "players": 1,
                    "regions": [{
                        "x": 0, "z": 0, "players": 1, "npcs": 12, "zone": "7", "state": "played",
                    }],
                    "zones": [{"id": "7", "state": "live", "regions": 1, "players": 1}],
                }),
            ),
        op(
            "get",
            "/api/v1/world/areas",
            TAG,
            "The named parts of the world",
        )
        .answers(
            200,
            object([("areas", list(area))]),
            json!({"areas": [{
                "id": "harbour",
                "name": "The Harbour",
                "description": "Where most begin.",
                "kind": "town",
                "difficultyLevel": 0,
                "biome": "plains",
                "safeZone": true,
                "pvpEnabled": false,
                "bounds": {"minX": -20, "maxX": 20, "minZ": -20, "maxZ": 20},
            }]}),
        ),
    ]
}

/// How far the hiscores go, and how fresh they are.
const RANKED: &str = "The list holds the best 100,000. All pages show the same refresh of it, \
which is at most a minute old; a gateway keeps a page for 30 seconds.";

fn hiscores() -> Vec<Operation> {
    let row = object([
        ("rank", count()),
        ("name", text()),
        ("level", count()),
        ("xp", number()),
    ]);
    let table = object([
        ("skill", text()),
        ("rows", list(row)),
        ("pagination", pagination()),
        ("skills", list(text())),
    ]);
    let example = |skill: &str| -> Value {
        json!({
            "skill": skill,
            "rows": [{"rank": 1, "name": "Ann", "level": 26, "xp": 1154.0}],
            "pagination": {"page": 1, "limit": 25, "total": 1, "totalPages": 1},
            "skills": ["attack", "cooking"],
        })
    };
    let page = from_to(1, 4_000);
    vec![
        op(
            "get",
            "/hiscores",
            TAG,
            "Who is best at everything together",
        )
        .about(RANKED)
        .query("page", "Which page, from 1.", page.clone())
        .answers(200, table.clone(), example("total"))
        .tagged(),
        op("get", "/hiscores/{skill}", TAG, "Who is best at a skill")
            .about(RANKED)
            .path("skill", "The skill, or `total`.", "cooking")
            .query("page", "Which page, from 1.", page)
            .answers(200, table, example("cooking"))
            .tagged()
            .problems(&[404]),
    ]
}
