//! `/admin/zones/{id}/record`: the inputs of a zone's next ticks, for a replay on another machine.
//!
//! Always: the gateway passes the record on as it comes, and holds no more than a part of it.

use axum::{
    body::Body as HttpBody,
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use proto::rpc::identity::v1::AuditAction;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use tokio_stream::StreamExt;
use tonic::Code as Grpc;

use super::{
    ask::{Body, Id},
    problem::{Code, Problem},
    route::{ADMINS, Call, Route},
    switches::record,
};

const OCTETS: &str = "application/octet-stream";

pub(super) fn routes() -> Vec<Route> {
    vec![
        ADMINS
            .post(
                "/admin/zones/{id}/record",
                "Records a zone's next ticks",
                make,
            )
            .about(
                "Answers when the ticks were played, with a file that `zone-server replay` plays \
                 again. A zone makes one record at a time.",
            )
            .path("The zone's run.", "7")
            .body::<serde_json::Value>(OCTETS)
            .problems(&[Code::Conflict, Code::ZoneUnavailable]),
    ]
}

/// What is to be recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"ticks": 20}))]
struct Recording {
    ticks: Ticks,
}

/// A number of ticks of 600 ms.
#[derive(Debug, Clone, Copy)]
struct Ticks(u32);

impl Ticks {
    /// A minute.
    const MOST: u32 = 100;
}

impl<'de> Deserialize<'de> for Ticks {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let (ticks, most) = (u32::deserialize(value)?, Self::MOST);
        match (1..=most).contains(&ticks) {
            true => Ok(Self(ticks)),
            false => Err(D::Error::custom(format!("must be 1 to {most}"))),
        }
    }
}

impl JsonSchema for Ticks {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ticks".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": Self::MOST, "examples": [20]})
    }
}

async fn make(
    Call { app, caller }: Call,
    Id(id): Id,
    Body(asked): Body<Recording>,
) -> Result<Response, Response> {
    let none = || Problem::of(Code::NotFound, "No such zone lives.").into_response();
    let run_id: u64 = id.parse().map_err(|_| none())?;
    let view = app.zones.directory();
    if view.run(run_id).is_none() {
        return Err(none());
    }
    let what = format!("zone {run_id}, {} ticks", asked.ticks.0);
    let noted = record(&app, &caller, AuditAction::Record, ("", &what)).await;
    noted.map_err(IntoResponse::into_response)?;
    let parts = app.live_queries.record(&view, run_id, asked.ticks.0).await;
    let parts = parts.map_err(|status| match status.code() {
        Grpc::NotFound => none(),
        Grpc::ResourceExhausted => {
            let why = "Another record of this zone is being made; ask again when it is done.";
            Problem::of(Code::Conflict, why).into_response()
        }
        code => {
            tracing::warn!(run = run_id, ?code, "a zone makes no record");
            Problem::of(Code::ZoneUnavailable, "The zone made no record.").into_response()
        }
    })?;
    let data = parts.map(|part| part.map(|part| part.data));
    let kind = (CONTENT_TYPE, HeaderValue::from_static(OCTETS));
    Ok(([kind], HttpBody::from_stream(data)).into_response())
}
