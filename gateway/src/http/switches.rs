//! `/admin/*`: what operators switch: freezing, runs that go, regions that pause, quarantine.
//!
//! Always: whoever switches something is named by the id of its login or account, in the store's
//! record (where exchanges are frozen) or in the log, never by a token. Switching again what is so
//! already changes nothing and says so.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use proto::rpc::{
    common::v1 as common,
    identity::v1::{Deed, ModerateRequest},
    queries::v1::ResumeRegionRequest,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::Code as Grpc;

use super::{
    ask::{Body, Id},
    problem::{Code, Problem},
    shapes::refused,
};
use crate::{app::App, auth::caller::Caller};

/// Writes down who switched what.
fn note(caller: &Caller, what: &str, of: &str) {
    tracing::info!(by = caller.by(), what, of, "an operator switched");
}

async fn frozen(app: &App) -> Result<bool, Problem> {
    let totals = app.queries.totals().await;
    Ok(totals.map_err(|status| refused(&status))?.frozen)
}

/// `GET /admin/freeze`
pub(super) async fn is_frozen(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let frozen = frozen(&app).await?;
    Ok(Json(json!({"frozen": frozen})).into_response())
}

/// `POST /admin/freeze`: nothing that moves items or coins is done until it is lifted.
pub(super) async fn freeze(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    set_frozen(&app, &caller, true).await
}

/// `DELETE /admin/freeze`
pub(super) async fn unfreeze(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    set_frozen(&app, &caller, false).await
}

async fn set_frozen(app: &App, caller: &Caller, frozen: bool) -> Result<Response, Problem> {
    let changed = self::frozen(app).await? != frozen;
    let deed = if frozen { Deed::Freeze } else { Deed::Unfreeze };
    let request = ModerateRequest {
        deed: deed.into(),
        by: caller.by(),
        ..ModerateRequest::default()
    };
    let done = app.identity.moderate(request).await;
    done.map_err(|status| refused(&status))?;
    Ok(Json(json!({"frozen": frozen, "changed": changed})).into_response())
}

/// `GET /admin/zones`: every run, and every region with what it costs.
pub(super) async fn zones(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let reply = app.queries.regions().await;
    let reply = reply.map_err(|status| refused(&status))?;
    let view = app.zones.directory();
    let runs = view.runs().map(|run| {
        json!({
            "id": run.run_id.to_string(),
            "address": run.address,
            "state": if run.draining { "draining" } else { "live" },
        })
    });
    let regions = reply.rows.iter().map(|row| {
        let at = row.region.unwrap_or_default();
        let or_none = |run: u64| (run != 0).then(|| run.to_string());
        json!({
            "x": at.x,
            "z": at.z,
            "zone": or_none(row.run_id),
            "epoch": row.epoch,
            "players": row.players,
            "costMicros": row.cost_us,
            "goesTo": or_none(row.wanted_run_id),
            "faults": row.faults,
            "paused": row.paused,
        })
    });
    let (runs, regions): (Vec<Value>, Vec<Value>) = (runs.collect(), regions.collect());
    Ok(Json(json!({"zones": runs, "regions": regions})).into_response())
}

/// `POST /admin/zones/{zoneId}/drain`: the run gives its regions to others.
pub(super) async fn drain(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response, Problem> {
    let none = || Problem::of(Code::NotFound, "No such zone lives.");
    let run_id: u64 = id.parse().map_err(|_| none())?;
    if app.zones.directory().run(run_id).is_none() {
        return Err(none());
    }
    match app.queries.drain(run_id).await {
        Ok(()) => {}
        Err(status) if status.code() == Grpc::PermissionDenied => return Err(none()),
        Err(status) => return Err(refused(&status)),
    }
    note(&caller, "drain", &id);
    let answer = json!({"zone": run_id.to_string(), "state": "draining"});
    Ok((StatusCode::ACCEPTED, Json(answer)).into_response())
}

/// Where a region is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    x: i32,
    z: i32,
}

/// `POST /admin/regions/resume`: a paused region is played again.
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Body(Place { x, z }): Body<Place>,
) -> Result<Response, Problem> {
    let region = Some(common::Region { x, z });
    let changed = app
        .queries
        .resume_region(ResumeRegionRequest { region })
        .await;
    let changed = changed.map_err(|status| refused(&status))?;
    note(&caller, "resume region", &format!("{x},{z}"));
    Ok(Json(json!({"x": x, "z": z, "changed": changed})).into_response())
}

/// `GET /admin/quarantine`
pub(super) async fn quarantine(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let reply = app.queries.quarantined().await;
    let reply = reply.map_err(|status| refused(&status))?;
    let held = reply.rows.iter();
    let held = held.map(|held| json!({"playerId": held.character_id, "name": held.name}));
    Ok(Json(json!({"players": held.collect::<Vec<_>>()})).into_response())
}

/// `DELETE /admin/quarantine/{playerId}`: the character may play again.
pub(super) async fn lift(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response, Problem> {
    let lifted = app.queries.release_character(&id).await;
    if !lifted.map_err(|status| refused(&status))? {
        return Err(Problem::of(
            Code::NotFound,
            "No such character is quarantined.",
        ));
    }
    note(&caller, "lift quarantine", &id);
    Ok(Json(json!({"playerId": id, "quarantined": false})).into_response())
}
