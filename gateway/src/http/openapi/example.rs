//! Makes examples of schemas: the one that a type or a field gives, else one that its schema
//! allows.

use serde_json::{Map, Value, json};

/// The id of examples.
const ID: &str = "0199c3a0-0000-7000-8000-000000000001";
/// The moment of examples.
const MOMENT: &str = "2026-11-21T16:00:00.000Z";

/// Returns an example for a schema. `name` is the field's; `schemas` holds the schemas that it
/// refers to.
pub(super) fn example(schema: &Value, name: &str, schemas: &Value) -> Value {
    if let Some(given) = schema.pointer("/examples/0") {
        return given.clone();
    }
    if let Some(only) = schema.get("const").or_else(|| schema.pointer("/enum/0")) {
        return only.clone();
    }
    if let Some(path) = schema["$ref"].as_str() {
        let component = path.rsplit('/').next().unwrap_or_default();
        return example(&schemas[component], name, schemas);
    }
    let choices = ["/anyOf/0", "/oneOf/0"];
    if let Some(first) = choices.iter().find_map(|first| schema.pointer(first)) {
        return example(first, name, schemas);
    }
    match kind(schema) {
        "object" => object(schema, schemas),
        "array" => array(schema, name, schemas),
        "string" if schema["format"] == "date-time" => MOMENT.into(),
        "string" if name == "id" || name.ends_with("Id") => ID.into(),
        "string" => "…".into(),
        "integer" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        "number" => json!(0.0),
        "boolean" => json!(false),
        _ => Value::Null,
    }
}

/// Returns the type of a schema; of a nullable one, the type beside null.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
        kind => kind.as_str().unwrap_or_default(),
    }
}

fn object(schema: &Value, schemas: &Value) -> Value {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields = fields.map(|(name, field)| (name.clone(), example(field, name, schemas)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn array(schema: &Value, name: &str, schemas: &Value) -> Value {
    let least = schema["minItems"].as_u64().unwrap_or(1).max(1);
    let item = example(&schema["items"], name, schemas);
    (0..least).map(|_| item.clone()).collect()
}
