//! Holds answers against the document: each JSON that a route of it answers, problems included,
//! is one that it describes for this status.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
};

use jsonschema::Validator;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::{stage::Stage, walk::SETTINGS};

static DOCUMENT: OnceCell<Value> = OnceCell::const_new();

/// Validators that were made, by the place of their schema.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Returns the document, as a gateway without limits answers it.
pub(crate) async fn document() -> &'static Value {
    let asked = DOCUMENT.get_or_init(|| async {
        let stage = Box::pin(Stage::open(&SETTINGS)).await;
        let request = "GET /openapi.json HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
        let answer = stage.ask(0, request).await;
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    });
    asked.await
}

/// Returns the document's path that matches a requested path: the one with the fewest parameters.
fn template<'a>(document: &'a Value, path: &str) -> Option<&'a String> {
    let path = path.split('?').next().unwrap_or_default();
    let fits = |template: &&String| {
        let (asked, known) = (path.split('/'), template.split('/'));
        asked.clone().count() == known.clone().count()
            && asked
                .zip(known)
                .all(|(part, known)| part == known || known.starts_with('{'))
    };
    let all = document["paths"].as_object().unwrap().keys();
    all.filter(fits)
        .min_by_key(|template| template.matches('{').count())
}

/// Panics where the document does not describe this answer to this request.
pub(crate) async fn check(method: &str, path: &str, answer: &str) {
    let document = document().await;
    let described = template(document, path).map(|template| {
        let method = method.to_ascii_lowercase();
        (template, &document["paths"][template][method])
    });
    let Some((template, operation)) = described.filter(|(_, operation)| operation.is_object())
    else {
        return;
    };
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    // The small store of these tests does not know every question.
    if status == "500" {
        return;
    }
    let at = format!("{method} {template} {status}");
    let mut response = &operation["responses"][status];
    if let Some(path) = response["$ref"].as_str() {
        response = document.pointer(path.trim_start_matches('#')).unwrap();
    }
    assert!(response.is_object(), "{at} is not described: {answer}");
    let json = ["application/json", "application/problem+json"];
    let sent = json
        .into_iter()
        .find(|kind| head.contains(&format!("content-type: {kind}")));
    let Some(kind) = sent else { return };
    let schema = &response["content"][kind]["schema"];
    assert!(schema.is_object(), "{at}: {kind} is not described");
    let value: Value = serde_json::from_str(body).unwrap();
    let validator = validator(&at, schema, document);
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{at}: {faults:#?} in {value}");
}

fn validator(at: &str, schema: &Value, document: &Value) -> Arc<Validator> {
    let mut made = VALIDATORS.lock().unwrap();
    let validator = made.entry(at.to_owned()).or_insert_with(|| {
        let mut schema = schema.clone();
        schema["components"] = json!({"schemas": document["components"]["schemas"]});
        let options = jsonschema::options().should_validate_formats(true);
        Arc::new(options.build(&schema).unwrap())
    });
    Arc::clone(validator)
}
