//! JSON Schema, as far as this project's document uses it. Pure.
//!
//! Always: a keyword that is not understood is a fault of its own, so that nothing passes because
//! it was not looked at.

use serde_json::Value;

/// What says something to people only.
const WORDS: [&str; 4] = ["description", "examples", "title", "default"];

/// All that does not fit the schema, each with its place.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    fit(schema, value, "", &mut found);
    found
}

fn fit(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        if *schema != Value::Bool(true) {
            found.push(format!("{at}: {schema} is no schema"));
        }
        return;
    };
    for (keyword, asked) in keywords {
        if let Some(fault) = broken(keyword, asked, schema, value) {
            found.push(format!("{at}: {fault}"));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(items) = schema.get("items") {
            fit(items, item, &format!("{at}/{index}"), found);
        }
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let named = schema.get("properties").and_then(|all| all.get(name));
        if let Some(known) = named.or_else(|| schema.get("additionalProperties")) {
            if *known == Value::Bool(false) {
                found.push(format!("{at}/{name}: not described"));
            } else {
                fit(known, field, &format!("{at}/{name}"), found);
            }
        }
    }
}

/// What is wrong with the value by one keyword.
fn broken(keyword: &str, asked: &Value, schema: &Value, value: &Value) -> Option<String> {
    let number = || value.as_f64().zip(asked.as_f64());
    let length = || {
        let length = value.as_str()?.chars().count() as u64;
        Some((length, asked.as_u64()?))
    };
    let (fits, why) = match keyword {
        "type" => (is_of(asked, value), "type"),
        "enum" => (asked.as_array()?.contains(value), "enum"),
        "const" => (asked == value, "const"),
        "minimum" => (number().is_none_or(|(n, least)| n >= least), "minimum"),
        "maximum" => (number().is_none_or(|(n, most)| n <= most), "maximum"),
        "minLength" => (length().is_none_or(|(n, least)| n >= least), "minLength"),
        "maxLength" => (length().is_none_or(|(n, most)| n <= most), "maxLength"),
        "required" => {
            let missing = |name: &&Value| {
                let name = name.as_str().unwrap_or_default();
                value.as_object().is_some_and(|has| !has.contains_key(name))
            };
            let missing = asked.as_array()?.iter().find(missing)?;
            return Some(format!("{missing} is missing"));
        }
        "format" if asked == "date-time" => (value.as_str().is_none_or(is_moment), "date-time"),
        "properties" | "additionalProperties" if schema["type"].is_null() => {
            (false, "fields of no object")
        }
        "properties" | "additionalProperties" | "items" => return None,
        keyword if WORDS.contains(&keyword) => return None,
        other => return Some(format!("the keyword {other} is not understood here")),
    };
    (!fits).then(|| format!("{value} breaks {why} {asked}"))
}

fn is_of(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        _ => false,
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    }
}

/// `2026-11-21T16:00:00.000Z`, with or without parts of a second.
pub fn is_moment(text: &str) -> bool {
    let shape = |text: &str| -> String {
        let digit = |c: char| if c.is_ascii_digit() { '9' } else { c };
        text.chars().map(digit).collect()
    };
    let Some(rest) = text.strip_suffix('Z') else {
        return false;
    };
    let (whole, parts) = rest.split_once('.').unwrap_or((rest, "0"));
    let within = |from: usize, most: u32| {
        let part = whole
            .get(from..from + 2)
            .and_then(|part| part.parse::<u32>().ok());
        part.is_some_and(|part| part <= most)
    };
    shape(whole) == "9999-99-99T99:99:99"
        && !parts.is_empty()
        && parts.bytes().all(|byte| byte.is_ascii_digit())
        && [(5, 12), (8, 31), (11, 23), (14, 59), (17, 60)]
            .iter()
            .all(|(at, most)| within(*at, *most))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_keyword_refuses_what_it_says() {
        for (schema, good, bad) in [
            (json!({"type": "integer"}), json!(1), json!(1.5)),
            (json!({"type": ["string", "null"]}), json!(null), json!(1)),
            (json!({"const": true}), json!(true), json!(false)),
            (json!({"enum": ["a"]}), json!("a"), json!("b")),
            (json!({"minimum": 0}), json!(0), json!(-1)),
            (json!({"maximum": 9}), json!(9), json!(10)),
            (json!({"minLength": 1}), json!("a"), json!("")),
            (json!({"maxLength": 1}), json!("ä"), json!("ab")),
            (json!({"required": ["a"]}), json!({"a": 1}), json!({"b": 1})),
            (
                json!({"items": {"type": "string"}}),
                json!(["a"]),
                json!([1]),
            ),
            (
                json!({"type": "object", "properties": {}, "additionalProperties": false}),
                json!({}),
                json!({"a": 1}),
            ),
            (
                json!({"format": "date-time"}),
                json!("2026-11-21T16:00:00.000Z"),
                json!("2026-13-21T16:00:00.000Z"),
            ),
        ] {
            assert_eq!(faults(&schema, &good), [""; 0], "{schema}");
            assert_eq!(faults(&schema, &bad).len(), 1, "{schema} takes {bad}");
        }
        assert_eq!(faults(&json!({"surprise": 1}), &json!(1)).len(), 1);
    }
}
