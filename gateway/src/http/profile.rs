//! `/admin/…/profile`: the functions in which a zone, this gateway or a
//! persistence service spends its time.

use axum::{
    body::Body as HttpBody,
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use proto::rpc::{identity::v1::AuditAction, zone::v1::ProfilePart};
use schemars::JsonSchema;
use serde::Deserialize;
use service_runtime::profile::{self, NoProfile, SECONDS_MAX};
use tokio_stream::StreamExt;
use tonic::{Code as Grpc, Streaming};

use super::{
    ask::{Body, Id},
    problem::{Code, Problem},
    route::{ADMINS, Call, Route},
    switches::record,
    values::{Line, Within},
};
use crate::stores;

const TEXT: &str = "text/plain; charset=utf-8";
const ABOUT: &str = "Answers after these seconds with the stacks of all samples in the folded form, from which flame \
     graphs are made: a line each, with the functions from the outermost to the innermost and the \
     number of samples. There are 99 in a second of processor time.";
const BUSY: &str = "Another profile of this process is being taken; ask again when it is done.";
const OLDER: &str = "This persistence service is of an older version, which takes no profile.";

pub(super) fn routes() -> Vec<Route> {
    vec![
        ADMINS
            .post(
                "/admin/zones/{id}/profile",
                "Samples the processor of a zone",
                of_zone,
            )
            .about(ABOUT)
            .path("The zone's run.", "7")
            .text("text/plain")
            .problems(&[Code::Conflict, Code::ZoneUnavailable]),
        ADMINS
            .post(
                "/admin/gateway/profile",
                "Samples the processor of the gateway that answers",
                of_gateway,
            )
            .about(ABOUT)
            .text("text/plain")
            .problems(&[Code::Conflict]),
        ADMINS
            .post(
                "/admin/stores/profile",
                "Samples the processor of a persistence service",
                of_store,
            )
            .about(ABOUT)
            .text("text/plain")
            .problems(&[Code::NotFound, Code::Conflict, Code::StorageUnavailable]),
    ]
}

/// How long the processor is sampled.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"seconds": 30}))]
struct Sampling {
    seconds: Within<1, SECONDS_MAX>,
}

/// Which persistence service is sampled, and how long.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"address": "10.0.0.7:5600", "seconds": 30}))]
struct StoreSampling {
    /// As `/admin/stores` lists it.
    address: Line<300>,
    seconds: Within<1, SECONDS_MAX>,
}

async fn of_zone(
    Call { app, caller }: Call,
    Id(id): Id,
    Body(asked): Body<Sampling>,
) -> Result<Response, Problem> {
    let none = || Problem::of(Code::NotFound, "No such zone lives.");
    let run_id: u64 = id.parse().map_err(|_| none())?;
    let view = app.zones.directory();
    if view.run(run_id).is_none() {
        return Err(none());
    }
    let seconds = asked.seconds.get();
    let what = format!("zone {run_id}, {seconds} seconds");
    record(&app, &caller, AuditAction::Profile, ("", &what)).await?;
    let parts = app.live_queries.profile(&view, run_id, seconds).await;
    let parts = parts.map_err(|status| match status.code() {
        Grpc::NotFound => none(),
        Grpc::ResourceExhausted => Problem::of(Code::Conflict, BUSY),
        code => {
            tracing::warn!(run = run_id, ?code, "a zone takes no profile");
            Problem::of(Code::ZoneUnavailable, "The zone took no profile.")
        }
    })?;
    Ok(in_parts(parts))
}

async fn of_store(
    Call { app, caller }: Call,
    Body(asked): Body<StoreSampling>,
) -> Result<Response, Problem> {
    let none = || Problem::of(Code::NotFound, "No such persistence service is known.");
    let (address, seconds) = (asked.address.0, asked.seconds.get());
    if !app.stores.has(&address) {
        return Err(none());
    }
    let what = format!("store {address}, {seconds} seconds");
    record(&app, &caller, AuditAction::Profile, ("", &what)).await?;
    let parts = app.stores.profile(&address, seconds).await;
    let parts = parts.ok_or_else(none)?.map_err(|status| {
        if stores::is_older(&status) {
            return Problem::of(Code::Conflict, OLDER);
        }
        match status.code() {
            Grpc::ResourceExhausted => Problem::of(Code::Conflict, BUSY),
            code => {
                tracing::warn!(address, ?code, "a persistence service takes no profile");
                let why = "The persistence service took no profile.";
                Problem::of(Code::StorageUnavailable, why)
            }
        }
    })?;
    Ok(in_parts(parts))
}

async fn of_gateway(
    Call { app, caller }: Call,
    Body(asked): Body<Sampling>,
) -> Result<Response, Problem> {
    let seconds = asked.seconds.get();
    let what = format!("gateway {}, {seconds} seconds", app.config.gateway_id);
    record(&app, &caller, AuditAction::Profile, ("", &what)).await?;
    match profile::take(seconds).await {
        Ok(stacks) => Ok(text(stacks.into())),
        Err(NoProfile::Busy) => Err(Problem::of(Code::Conflict, BUSY)),
        Err(error @ (NoProfile::Failed(_) | NoProfile::Nameless(_))) => {
            tracing::error!(%error, "there is no profile");
            Err(Problem::of(Code::Internal, "There is no profile."))
        }
    }
}

fn in_parts(parts: Streaming<ProfilePart>) -> Response {
    let data = parts.map(|part| part.map(|part| part.data));
    text(HttpBody::from_stream(data))
}

fn text(body: HttpBody) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(TEXT))], body).into_response()
}
