//! `/api/template` and `/api/templates`: characters to begin from, as the content describes them.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use chassis::telemetry::sampled;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    ask::Id,
    problem::{Code, Problem},
};
use crate::app::App;

/// Where the content describes them.
const FILE: &str = "templates.json";

/// One template.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Template {
    id: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    emoji: String,
    #[serde(default)]
    created_at: Option<String>,
    /// What an agent's runtime reads.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    template_config: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct File {
    templates: Vec<Template>,
}

/// Those of the content that is shown now; none where it has none.
fn templates(app: &App) -> Vec<Template> {
    let version = app.shown.version();
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

/// The template with the address of its configuration.
fn shown(template: Template) -> Value {
    let url = format!("/api/templates/{}/config", template.id);
    let mut shown = json!(template);
    shown["templateUrl"] = url.into();
    shown
}

/// `GET /api/template`
pub(super) async fn list(State(app): State<Arc<App>>) -> Response {
    let short = |template| Template {
        template_config: Map::new(),
        ..template
    };
    let all = templates(&app).into_iter().map(short).map(shown);
    Json(json!({"success": true, "templates": all.collect::<Vec<_>>()})).into_response()
}

/// `GET /api/template/{id}`
pub(super) async fn get(State(app): State<Arc<App>>, Id(id): Id) -> Result<Response, Problem> {
    let template = shown(one(&app, &id)?);
    Ok(Json(json!({"success": true, "template": template})).into_response())
}

/// `GET /api/template/{id}/config`: the configuration itself.
pub(super) async fn config(State(app): State<Arc<App>>, Id(id): Id) -> Result<Response, Problem> {
    Ok(Json(one(&app, &id)?.template_config).into_response())
}
