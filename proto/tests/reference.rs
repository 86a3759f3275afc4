//! The protocol reference says just what the code does. It lacks no event and no code of the
//! code's, it has no others, and every sample fits its description.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use proto::client::{ClientMessage, CloseCode, ErrorCode, asyncapi};
use serde_json::Value;

fn document() -> Value {
    asyncapi::document("0.0.0")
}

/// Returns the names of the messages that carry this tag.
fn described(document: &Value, tag: &str) -> BTreeSet<String> {
    let all = document["components"]["messages"].as_object().unwrap();
    let of = all.values().filter(|m| m["tags"][0]["name"] == tag);
    of.map(|m| m["name"].as_str().unwrap().to_owned()).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// Returns every name that some source file gives to an event of the server's.
fn named_in_the_code() -> BTreeSet<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for of in [
        "src",
        "../world/src",
        "../gateway/src",
        "../zone-server/src",
    ] {
        sources(&here.join(of), &mut files);
    }
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for block in text.split("server_events! {").skip(1) {
            let block = block.split("\n}").next().unwrap();
            let quoted = block.split('"').skip(1).step_by(2);
            names.extend(quoted.map(str::to_owned));
        }
        for by_hand in text.split("ServerEvent for ").skip(1) {
            let name = by_hand.split('"').nth(1).unwrap_or_default();
            assert!(
                by_hand.starts_with("$data"),
                "{}: name {name} in server_events!, which the reference is made of",
                file.display()
            );
        }
    }
    names
}

#[test]
fn every_event_of_the_server_is_described_and_none_that_there_is_not() {
    let described = described(&document(), "server");
    let named = named_in_the_code();
    let missing: Vec<_> = named.difference(&described).collect();
    assert!(
        missing.is_empty(),
        "add the file's EVENTS to TOLD in world/src/event.rs or FILES in proto/src/client/asyncapi.rs: {missing:?}"
    );
    let gone: Vec<_> = described.difference(&named).collect();
    assert!(gone.is_empty(), "no such events: {gone:?}");
    assert!(named.len() > 20, "only {named:?}");
}

#[test]
fn every_event_of_a_client_is_described_and_none_that_there_is_not() {
    let described = described(&document(), "client");
    let zones = world::Intent::events().into_iter();
    let known = ClientMessage::NAMES.iter().copied().chain(zones);
    let known: BTreeSet<String> = known.map(str::to_owned).collect();
    assert_eq!(described, known);
}

#[test]
fn every_code_is_described_and_none_that_there_is_not() {
    let document = document();
    let codes = document["components"]["schemas"]["ErrorCode"]["oneOf"].as_array();
    let described = codes.unwrap().iter().map(|code| {
        assert!(
            code["description"].is_string(),
            "{code}: what does it mean?"
        );
        code["const"].as_str().unwrap()
    });
    let known: BTreeSet<&str> = ErrorCode::all().map(|code| code.wire()).collect();
    assert_eq!(described.collect::<BTreeSet<_>>(), known);
    let closing = document["channels"]["play"]["x-close-codes"].as_array();
    let closing = closing.unwrap().iter().map(|c| c["code"].as_u64().unwrap());
    let known = CloseCode::ALL.iter().map(|(code, _)| *code as u64);
    assert!(closing.eq(known));
}

#[test]
fn every_event_is_said_in_words() {
    for (key, message) in document()["components"]["messages"].as_object().unwrap() {
        let summary = message["summary"].as_str().unwrap();
        assert!(
            !summary.is_empty(),
            "{key}: a comment at its type is missing"
        );
    }
}

#[test]
fn every_answer_is_an_event_and_every_reference_leads_somewhere() {
    let document = document();
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                if let Some(Value::String(at)) = fields.get("$ref") {
                    resolve(&document, at);
                }
                open.extend(fields.values());
            }
            _ => {}
        }
    }
}

fn resolve<'a>(document: &'a Value, at: &str) -> &'a Value {
    let found = document.pointer(at.strip_prefix('#').unwrap());
    found.unwrap_or_else(|| panic!("{at} is nowhere"))
}

/// Each line of the golden files is a message; each must fit the description of its event.
#[test]
fn what_is_written_fits_what_is_described_for_every_event() {
    let document = document();
    for (file, tag) in [("client_events", "client"), ("server_events", "server")] {
        let path = format!("tests/golden/snapshots/golden__{file}.snap");
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let mut seen = BTreeSet::new();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let message: Value = serde_json::from_str(line).unwrap();
            let event = message["event"].as_str().unwrap();
            let key = format!("{tag}.{}", event.replace(':', "."));
            let payload = &document["components"]["messages"][key]["payload"];
            let mut found = Vec::new();
            misfits(&document, payload, &message, event, &mut found);
            assert!(found.is_empty(), "{line}: {found:#?}");
            seen.insert(event.to_owned());
        }
        let missing: Vec<_> = described(&document, tag)
            .difference(&seen)
            .cloned()
            .collect();
        assert!(missing.is_empty(), "write one in golden.rs: {missing:?}");
    }
}

#[test]
fn what_does_not_fit_is_noticed() {
    let document = document();
    let payload = &document["components"]["messages"]["client.inventory.drop"]["payload"];
    let faults = |text: &str| {
        let mut found = Vec::new();
        let message = serde_json::from_str(text).unwrap();
        misfits(&document, payload, &message, "", &mut found);
        found.len()
    };
    assert_eq!(faults(r#"{"event":"inventory:drop","data":{"slot":3}}"#), 0);
    for bad in [
        r#"{"event":"inventory:move","data":{"slot":3}}"#,
        r#"{"event":"inventory:drop"}"#,
        r#"{"event":"inventory:drop","data":{"slot":"3"}}"#,
        r#"{"event":"inventory:drop","data":{"slot":-3}}"#,
        r#"{"event":"inventory:drop","data":{"slot":3,"all":true}}"#,
        r#"{"event":"inventory:drop","id":true,"data":{"slot":3}}"#,
    ] {
        assert_eq!(faults(bad), 1, "{bad}");
    }
}

/// Returns the parts that do not fit the schema, with their places.
fn misfits(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = resolve(document, reference);
        return misfits(document, schema, value, at, found);
    }
    let fits = |schema: &Value| {
        let mut found = Vec::new();
        misfits(document, schema, value, at, &mut found);
        found.is_empty()
    };
    let either = [&schema["anyOf"], &schema["oneOf"]];
    for choices in either.into_iter().filter_map(Value::as_array) {
        if !choices.iter().any(fits) {
            found.push(format!("{at}: {value} is none of the possible"));
        }
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        misfits(document, part, value, at, found);
    }
    if !is_of_kind(schema, value) || !is_in_bounds(schema, value) {
        found.push(format!("{at}: {value} does not fit {schema}"));
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let schema = match &schema["items"] {
                    Value::Array(each) => &each[index],
                    all => all,
                };
                misfits(document, schema, item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(fields) => misfit_fields(document, schema, fields, at, found),
        _ => {}
    }
}

fn misfit_fields(
    document: &Value,
    schema: &Value,
    fields: &serde_json::Map<String, Value>,
    at: &str,
    found: &mut Vec<String>,
) {
    for name in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            found.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, field) in fields {
        let at = format!("{at}/{name}");
        match schema["properties"].get(name) {
            Some(schema) => misfits(document, schema, field, &at, found),
            None if schema["additionalProperties"] == false => {
                found.push(format!("{at}: not described"));
            }
            None => misfits(document, &schema["additionalProperties"], field, &at, found),
        }
    }
}

fn is_of_kind(schema: &Value, value: &Value) -> bool {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return true,
    };
    kinds.iter().any(|kind| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    })
}

fn is_in_bounds(schema: &Value, value: &Value) -> bool {
    let same = schema.get("const").is_none_or(|only| only == value);
    let listed = schema["enum"]
        .as_array()
        .is_none_or(|all| all.contains(value));
    let number = value.as_f64();
    let least = schema["minimum"]
        .as_f64()
        .zip(number)
        .is_none_or(|(least, n)| n >= least);
    let most = schema["maximum"]
        .as_f64()
        .zip(number)
        .is_none_or(|(most, n)| n <= most);
    let length = value.as_str().map(|text| text.chars().count() as u64);
    let short = schema["maxLength"]
        .as_u64()
        .zip(length)
        .is_none_or(|(most, n)| n <= most);
    same && listed && least && most && short
}
