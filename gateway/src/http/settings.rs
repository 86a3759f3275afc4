//! `/admin/settings`: the settings of this gateway, as `--print-config` prints them.
//!
//! Always: no value of a secret is in them.

use std::sync::Arc;

use axum::{Json, extract::State};
use schemars::JsonSchema;
use serde::Serialize;

use super::route::{Answer, Route, VIEWERS};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![VIEWERS.get(
        "/admin/settings",
        "The settings of this gateway, without secrets",
        settings,
    )]
}

/// A setting of a process.
#[derive(Debug, Serialize, JsonSchema)]
struct Setting {
    #[schemars(example = &"PORT")]
    name: &'static str,
    /// Secrets are redacted; `-`: none.
    #[schemars(example = &"5555")]
    value: String,
    /// `environment`, `file` or `default`.
    #[schemars(example = &"default")]
    source: &'static str,
    about: &'static str,
}

/// All settings of a gateway.
#[derive(Debug, Serialize, JsonSchema)]
struct GatewaySettings {
    gateway: String,
    settings: Vec<Setting>,
}

async fn settings(State(app): State<Arc<App>>) -> Answer<GatewaySettings> {
    let shown = app.config.shown.iter().map(|setting| Setting {
        name: setting.name,
        value: setting.value.clone(),
        source: setting.source,
        about: setting.help,
    });
    Ok(Json(GatewaySettings {
        gateway: app.config.gateway_id.clone(),
        settings: shown.collect(),
    }))
}
