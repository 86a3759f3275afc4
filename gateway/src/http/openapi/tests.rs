use super::*;
use crate::http::router::FAMILIES;

/// Returns every operation of the document, with its method and path.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    each.collect()
}

/// Returns every JSON body of an operation: of its request and of its answers.
fn bodies(operation: &Value) -> impl Iterator<Item = &Value> {
    let answers = operation["responses"].as_object().unwrap().values();
    let all = answers.chain([&operation["requestBody"]]);
    all.filter_map(|body| body.pointer("/content/application~1json"))
}

#[test]
fn each_operation_has_a_name_of_its_own_and_hides_no_other() {
    let document = written(FAMILIES);
    let operations = operations(&document);
    let names: BTreeSet<&str> = operations
        .iter()
        .map(|(_, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), operations.len(), "two have the same name");
    let routes = crate::http::router::routes(true);
    assert_eq!(names.len(), routes.len(), "one hides another");
}

#[test]
fn each_operation_says_how_it_succeeds() {
    let document = written(FAMILIES);
    for (name, operation) in operations(&document) {
        let mut statuses = operation["responses"].as_object().unwrap().keys();
        assert!(statuses.any(|status| status.as_str() < "300"), "{name}");
    }
}

#[test]
fn each_parameter_of_a_path_is_described() {
    let document = written(FAMILIES);
    for (name, operation) in operations(&document) {
        let described = operation["parameters"].as_array().into_iter().flatten();
        let described = described.filter(|parameter| parameter["in"] == "path");
        assert_eq!(described.count(), name.matches('{').count(), "{name}");
    }
}

#[test]
fn each_example_fits_its_schema() {
    let document = written(FAMILIES);
    let mut seen = 0;
    for (name, operation) in operations(&document) {
        for body in bodies(operation) {
            let Some(example) = body.get("example") else {
                assert_eq!(body["schema"], json!({}), "{name} has no example");
                continue;
            };
            seen += 1;
            let mut schema = body["schema"].clone();
            schema["components"] = document["components"].clone();
            let options = jsonschema::options().should_validate_formats(true);
            let validator = options.build(&schema).unwrap();
            let faults: Vec<String> = validator
                .iter_errors(example)
                .map(|fault| format!("{}: {fault}", fault.instance_path()))
                .collect();
            assert!(faults.is_empty(), "{name}: {faults:#?} in {example}");
        }
    }
    assert!(seen > 100, "only {seen} examples");
}

/// Checks names for the number by which schemars tells types of the same name apart.
#[test]
fn no_two_types_of_the_document_share_a_name() {
    let mut parts = Parts::default();
    for family in FAMILIES {
        for route in family.routes.iter().flat_map(|routes| routes()) {
            parts.operation(&route, family.name);
        }
    }
    let [requests, answers] = parts.schemas.names();
    let both: Vec<_> = requests.intersection(&answers).collect();
    assert!(both.is_empty(), "a request and an answer: {both:?}");
    for name in requests.union(&answers) {
        assert!(!name.ends_with(|c: char| c.is_ascii_digit()), "{name}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(document: &Value, part: &Value) {
        match part {
            Value::Object(fields) => {
                if let Some(path) = fields.get("$ref").and_then(Value::as_str) {
                    let found = document.pointer(path.trim_start_matches('#'));
                    assert!(found.is_some(), "{path}");
                }
                fields.values().for_each(|field| walk(document, field));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(document, item)),
            _ => {}
        }
    }
    let document = written(FAMILIES);
    walk(&document, &document);
}

#[test]
fn who_needs_a_token_is_said_by_the_route() {
    let document = written(FAMILIES);
    let of = |path: &str| &document["paths"][path]["get"];
    let readers = json!([{"bearer": ["player", "agent", "spectator"]}]);
    assert_eq!(of("/api/v1/player")["security"], readers);
    assert!(of("/api/v1/player")["responses"]["401"].is_object());
    let staff = json!([{"bearer": ["viewer", "moderator", "admin"]}]);
    assert_eq!(of("/admin/moderation")["security"], staff);
    assert_eq!(of("/hiscores")["security"], json!([]));
    assert!(of("/hiscores")["responses"]["401"].is_null());
    assert!(
        of("/status")["responses"]["429"].is_null(),
        "it is not counted"
    );
    assert!(of("/hiscores")["responses"]["429"].is_object());
}

#[test]
fn a_refusal_names_its_codes_and_a_limit_stands_where_it_is_checked() {
    let document = written(FAMILIES);
    let made = &document["paths"]["/api/character"]["post"];
    let refused = made["responses"]["409"]["$ref"].as_str().unwrap();
    let refused = document.pointer(refused.trim_start_matches('#')).unwrap();
    let codes = "/content/application~1problem+json/schema/properties/code/enum";
    let codes = refused.pointer(codes).unwrap();
    assert_eq!(*codes, json!(["name_taken", "too_many_characters"]));
    let listed = &document["paths"]["/admin/users"]["get"]["parameters"];
    let limit = listed.as_array().unwrap().iter();
    let limit = limit.filter(|parameter| parameter["name"] == "limit");
    let expected = json!({"type": "integer", "minimum": 1, "maximum": 100});
    assert!(limit.map(|limit| &limit["schema"]).eq([&expected]));
}
