//! Schemas of requests and answers, as the document has them.

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::http::route::SchemaOf;

/// Place of the shared schemas in the document.
const PATH: &str = "/components/schemas";

/// Makes schemas, and keeps those that others refer to.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    /// Parameters stand one by one, so nothing refers to them.
    queries: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = PATH.into();
            settings.meta_schema = None;
        });
        let inline = settings
            .clone()
            .with(|settings| settings.inline_subschemas = true);
        Self {
            requests: settings.clone().into_generator(),
            queries: inline.into_generator(),
            answers: settings.for_serialize().into_generator(),
        }
    }
}

impl Schemas {
    /// Returns the schema of a request's body.
    pub(super) fn request(&mut self, schema: SchemaOf) -> Value {
        plain(schema(&mut self.requests).to_value())
    }

    /// Returns the schema of an answer's body, which allows no other fields.
    pub(super) fn answer(&mut self, schema: SchemaOf) -> Value {
        closed(plain(schema(&mut self.answers).to_value()))
    }

    /// Returns the parameters, one for each field.
    pub(super) fn query(&mut self, schema: SchemaOf) -> Vec<Value> {
        let schema = plain(schema(&mut self.queries).to_value());
        let fields = schema["properties"].as_object().into_iter().flatten();
        let parameters = fields.map(|(name, field)| {
            let mut field = field.clone();
            let description = match &mut field {
                Value::Object(field) => field.remove("description"),
                _ => None,
            };
            // A missing parameter has no value, not even null.
            if let Some(kind) = field.pointer("/type/0").cloned() {
                field["type"] = kind;
            }
            json!({
                "name": name,
                "in": "query",
                "description": description,
                "required": false,
                "schema": field,
            })
        });
        parameters.collect()
    }

    /// Returns the names of the shared schemas: of requests, and of answers.
    #[cfg(test)]
    pub(super) fn names(&self) -> [std::collections::BTreeSet<String>; 2] {
        let names = |schemas: &SchemaGenerator| schemas.definitions().keys().cloned().collect();
        [names(&self.requests), names(&self.answers)]
    }

    /// Returns all shared schemas by name.
    pub(super) fn components(&mut self) -> Map<String, Value> {
        let requests = self.requests.take_definitions(true).into_iter();
        let answers = self.answers.take_definitions(true).into_iter();
        let mut all: Map<String, Value> = requests
            .map(|(name, schema)| (name, plain(schema)))
            .collect();
        all.extend(answers.map(|(name, schema)| (name, closed(plain(schema)))));
        all
    }
}

/// Applies `change` to a schema and to every schema in it, but to no plain value.
fn each(schema: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    match schema {
        Value::Object(fields) => {
            change(fields);
            for (name, field) in fields {
                if !["examples", "const", "enum", "required"].contains(&name.as_str()) {
                    each(field, change);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        _ => {}
    }
}

/// Removes Rust's number formats, and writes "anything" as the empty schema.
fn plain(mut schema: Value) -> Value {
    if schema == json!(true) {
        return json!({});
    }
    each(&mut schema, &|fields| {
        if fields
            .get("format")
            .is_some_and(|format| format != "date-time" && format.is_string())
        {
            fields.remove("format");
        }
    });
    schema
}

/// Allows only the described fields.
fn closed(mut schema: Value) -> Value {
    each(&mut schema, &|fields| {
        let described = fields.get("properties").is_some_and(Value::is_object);
        if described && !fields.contains_key("additionalProperties") {
            fields.insert("additionalProperties".to_owned(), false.into());
        }
    });
    schema
}
