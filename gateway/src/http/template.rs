//! `/api/template` and `/api/templates`: characters to begin from, as the content describes them.

use std::sync::Arc;

use axum::{Json, extract::State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use service_runtime::telemetry::sampled;

use super::{
    ask::Id,
    problem::{Code, Problem},
    route::{ANYBODY, Answer, Route},
    values::{Success, Time, success},
};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    [
        ANYBODY
            .get("/api/template", "Templates to begin from", list)
            .or("/api/templates"),
        ANYBODY
            .get("/api/template/{id}", "One template", get)
            .path("The template.", "wayfarer")
            .or("/api/templates/{id}"),
        ANYBODY
            .get(
                "/api/template/{id}/config",
                "A template's configuration itself",
                config,
            )
            .path("The template.", "wayfarer")
            .or("/api/templates/{id}/config"),
    ]
    .concat()
}

/// File in which the content describes them.
const FILE: &str = "templates.json";

/// A template of a character.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Template {
    #[schemars(example = &"wayfarer")]
    id: String,
    #[schemars(example = &"Wayfarer")]
    name: String,
    #[serde(default)]
    #[schemars(example = &"Walks the roads from end to end.")]
    description: String,
    #[serde(default)]
    #[schemars(example = &"🥾")]
    emoji: String,
    #[serde(default)]
    #[schemars(with = "Option<Time>")]
    created_at: Option<String>,
    /// Configuration that an agent's runtime reads.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(example = json!({"name": "Wayfarer"}))]
    template_config: Map<String, Value>,
}

/// A template with the address of its configuration.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Template")]
struct Shown {
    #[serde(flatten)]
    template: Template,
    #[schemars(example = &"/api/templates/wayfarer/config")]
    template_url: String,
}

impl From<Template> for Shown {
    fn from(template: Template) -> Self {
        Self {
            template_url: format!("/api/templates/{}/config", template.id),
            template,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
struct File {
    templates: Vec<Template>,
}

/// Returns the templates of the current content; none where it has none.
fn templates(app: &App) -> Vec<Template> {
    let version = app.served.shown.version();
    let Some(file) = version.manifests.stored(FILE) else {
        return Vec::new();
    };
    match serde_json::from_slice::<File>(file.body()) {
        Ok(file) => file.templates,
        Err(error) => {
            if let Some(left_out) = sampled("a manifest cannot be read", FILE) {
                tracing::warn!(%error, file = FILE, left_out, "a manifest cannot be read");
            }
            Vec::new()
        }
    }
}

fn one(app: &App, id: &str) -> Result<Template, Problem> {
    let none = || Problem::of(Code::NotFound, "There is no such template.");
    templates(app)
        .into_iter()
        .find(|template| template.id == id)
        .ok_or_else(none)
}

/// Templates to begin from, without their configurations.
#[derive(Debug, Serialize, JsonSchema)]
struct Templates {
    templates: Vec<Shown>,
}

async fn list(State(app): State<Arc<App>>) -> Json<Success<Templates>> {
    let short = |template| Template {
        template_config: Map::new(),
        ..template
    };
    let all = templates(&app).into_iter().map(short).map(Shown::from);
    success(Templates {
        templates: all.collect(),
    })
}

/// One template.
#[derive(Debug, Serialize, JsonSchema)]
struct One {
    template: Shown,
}

async fn get(State(app): State<Arc<App>>, Id(id): Id) -> Answer<Success<One>> {
    let template = one(&app, &id)?.into();
    Ok(success(One { template }))
}

/// A configuration that an agent's runtime reads.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline, example = json!({"name": "Wayfarer"}))]
struct Configuration(Map<String, Value>);

/// Returns the configuration itself.
async fn config(State(app): State<Arc<App>>, Id(id): Id) -> Answer<Configuration> {
    Ok(Json(Configuration(one(&app, &id)?.template_config)))
}
