use std::collections::BTreeSet;

use super::*;

/// What does not fit the schema, with its place.
fn misfits(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{at}: {other} is no type"),
    };
    if !kinds.is_empty() && !kinds.iter().any(is) {
        found.push(format!("{at}: {value} is not {kinds:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        found.push(format!("{at}: {value} is none of {allowed:?}"));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        misfits(&schema["items"], item, &format!("{at}/{index}"), found);
    }
    let Some(fields) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            found.push(format!("{at}: {name} is missing"));
        }
    }
    for (name, field) in fields {
        let at = format!("{at}/{name}");
        match schema["properties"].get(name) {
            Some(schema) => misfits(schema, field, &at, found),
            None if schema["additionalProperties"] == false => {
                found.push(format!("{at}: not described"));
            }
            None => misfits(&schema["additionalProperties"], field, &at, found),
        }
    }
}

#[test]
fn every_route_is_described_and_everything_described_is_a_route() {
    let routes: BTreeSet<&str> = router::routes(true)
        .iter()
        .map(|route| route.path)
        .collect();
    let described: BTreeSet<&str> = operations().iter().map(|of| of.path).collect();
    let missing: Vec<_> = routes.difference(&described).collect();
    assert!(
        missing.is_empty(),
        "describe these in gateway/src/http/openapi/<family>.rs: {missing:?}"
    );
    let gone: Vec<_> = described.difference(&routes).collect();
    assert!(gone.is_empty(), "no such routes: {gone:?}");
}

#[test]
fn each_operation_has_a_name_of_its_own_and_a_family() {
    let document = built(&operations());
    let mut names = BTreeSet::new();
    for methods in document["paths"].as_object().unwrap().values() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name} is there twice");
            let tag = operation["tags"][0].as_str().unwrap();
            assert!(
                TAGS.iter().any(|(known, _)| *known == tag),
                "{method} {name}: {tag}"
            );
        }
    }
    assert_eq!(names.len(), operations().len(), "one hides another");
}

#[test]
fn each_example_fits_its_schema() {
    let document = built(&operations());
    let mut found = Vec::new();
    let mut seen = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap().values();
            for body in answers.chain([&operation["requestBody"]]) {
                for content in body["content"]
                    .as_object()
                    .into_iter()
                    .flat_map(|c| c.values())
                {
                    if let Some(example) = content.get("example") {
                        seen += 1;
                        let at = format!("{method} {path}");
                        misfits(&content["schema"], example, &at, &mut found);
                    }
                }
            }
        }
    }
    assert!(seen > 20, "only {seen} examples");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn recorded_answers_are_of_operations_that_are_described() {
    let document = built(&operations());
    let text = include_str!("answers.json");
    let recorded: Map<String, Value> = serde_json::from_str(text).expect("JSON");
    for (key, answer) in recorded {
        let words: Vec<&str> = key.split(' ').collect();
        let content = &document["paths"][words[1]][words[0]]["responses"][words[2]]["content"];
        assert_eq!(content["application/json"]["example"], answer, "{key}");
    }
    assert_eq!(singular("/api/agents/{agentId}"), "/api/agent/{agentId}");
    assert_eq!(singular("/api/agentship"), "/api/agentship");
}

#[test]
fn who_needs_a_token_is_said_by_the_route() {
    let document = built(&operations());
    let of = |path: &str| &document["paths"][path]["get"];
    assert_eq!(of("/api/v1/player")["security"], json!([{"bearer": []}]));
    assert!(of("/api/v1/player")["responses"]["401"].is_object());
    assert_eq!(of("/hiscores")["security"], json!([]));
    assert!(of("/hiscores")["responses"]["401"].is_null());
    assert!(
        of("/status")["responses"]["429"].is_null(),
        "it is not counted"
    );
    assert!(of("/hiscores")["responses"]["429"].is_object());
}
