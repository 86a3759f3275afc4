//! Shapes of JSON, as JSON Schema writes them, in few words.

use serde_json::{Map, Value, json};

/// A text.
pub(super) fn text() -> Value {
    json!({"type": "string"})
}

/// One of these.
pub(super) fn one_of(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

/// A moment, ISO 8601 UTC.
pub(super) fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

/// A whole number.
pub(super) fn integer() -> Value {
    json!({"type": "integer"})
}

/// A whole number that is not negative.
pub(super) fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

/// A whole number within bounds, both included.
pub(super) fn from_to(least: u32, most: u32) -> Value {
    json!({"type": "integer", "minimum": least, "maximum": most})
}

/// Any number.
pub(super) fn number() -> Value {
    json!({"type": "number"})
}

/// Yes or no.
pub(super) fn flag() -> Value {
    json!({"type": "boolean"})
}

/// Always true.
pub(super) fn yes() -> Value {
    json!({"type": "boolean", "const": true})
}

/// That, or nothing.
pub(super) fn or_null(mut schema: Value) -> Value {
    let kind = schema["type"].clone();
    schema["type"] = json!([kind, "null"]);
    schema
}

/// A list.
pub(super) fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// Any names, each with that.
pub(super) fn by_name(values: Value) -> Value {
    json!({"type": "object", "additionalProperties": values})
}

/// These fields, all of them there, and no others.
pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    with(fields, [])
}

/// These fields, and perhaps those behind; no others.
pub(super) fn with<const N: usize, const M: usize>(
    fields: [(&str, Value); N],
    perhaps: [(&str, Value); M],
) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let all = fields.into_iter().chain(perhaps);
    let properties: Map<String, Value> = all
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// `{x, z}` of a region.
pub(super) fn region() -> Value {
    object([("x", integer()), ("z", integer())])
}

/// `{x, y, z}` of a place.
pub(super) fn position() -> Value {
    object([("x", integer()), ("y", number()), ("z", integer())])
}

/// Level and experience, by skill.
pub(super) fn skills() -> Value {
    by_name(object([("level", count()), ("xp", number())]))
}

/// Where a part of a list stands in it.
pub(super) fn pagination() -> Value {
    object([
        ("page", count()),
        ("limit", count()),
        ("total", count()),
        ("totalPages", count()),
    ])
}

/// An account.
pub(super) fn account() -> Value {
    object([
        ("id", text()),
        ("name", text()),
        ("anonymous", flag()),
        ("roles", list(text())),
        ("createdAt", or_null(time())),
    ])
}

/// What lists show of a character.
pub(super) fn summary() -> Value {
    object([
        ("id", text()),
        ("name", text()),
        ("combatLevel", count()),
        ("online", flag()),
        ("lastLoginAt", or_null(time())),
        ("region", region()),
    ])
}

/// A stack in a numbered slot.
pub(super) fn slot() -> Value {
    object([("slot", count()), ("itemId", text()), ("quantity", count())])
}

/// A stack in a named slot.
pub(super) fn worn() -> Value {
    object([("slot", text()), ("itemId", text()), ("quantity", count())])
}

/// All of one item in a bank.
pub(super) fn banked() -> Value {
    object([
        ("itemId", text()),
        ("quantity", count()),
        ("tab", count()),
        ("place", count()),
    ])
}

/// How many of a kind of NPC.
pub(super) fn kills() -> Value {
    object([("npcId", text()), ("count", count())])
}

/// The whole record of a character: the names of the specification's table.
pub(super) fn record() -> Value {
    let plain = [
        ("id", text()),
        ("accountId", text()),
        ("name", text()),
        ("combatLevel", count()),
        ("health", count()),
        ("coins", count()),
        ("positionX", number()),
        ("positionY", number()),
        ("positionZ", number()),
        ("online", flag()),
        ("isAgent", flag()),
        ("quarantined", flag()),
        ("createdAt", or_null(time())),
        ("lastLoginAt", or_null(time())),
    ];
    let mut schema = object(plain);
    for skill in world::Skill::ALL {
        schema["properties"][format!("{}Level", skill.name())] = count();
        schema["properties"][format!("{}Xp", skill.name())] = number();
    }
    schema
}

/// The same, but further fields may be there and mean nothing.
pub(super) fn open(mut schema: Value) -> Value {
    if let Value::Object(fields) = &mut schema {
        fields.remove("additionalProperties");
    }
    schema
}

/// A text that is not empty.
pub(super) fn word() -> Value {
    json!({"type": "string", "minLength": 1})
}
