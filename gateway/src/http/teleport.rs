//! `/admin/players/{id}/teleport`: puts a character somewhere else.

use axum::Json;
use proto::{
    client::admin::COORDINATE_MAX,
    rpc::identity::v1::{AuditAction, ModerateRequest},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tonic::Code as Grpc;

use super::{
    ask::{Body, Id},
    problem::{Code, Problem},
    route::{ADMINS, Answer, Call, Route},
    values::{Around, Line},
};

pub(super) fn routes() -> Vec<Route> {
    let character = "0199c3a0-0000-7000-8000-000000000001";
    vec![
        ADMINS
            .post(
                "/admin/players/{id}/teleport",
                "Puts a character somewhere else",
                teleport,
            )
            .about(
                "A character that is in the world stands there within a second, or its player is told why not. \
                 One that is away stays where it is.",
            )
            .path("The character.", character),
    ]
}

/// A coordinate, in tiles.
type Coordinate = Around<COORDINATE_MAX>;

/// Where to, and why.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Destination {
    x: Coordinate,
    z: Coordinate,
    /// For the record.
    reason: Option<Line<200>>,
}

/// A character that is told to stand somewhere else.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sent {
    player_id: String,
    x: i32,
    z: i32,
}

async fn teleport(
    Call { app, caller }: Call,
    Id(id): Id,
    Body(to): Body<Destination>,
) -> Answer<Sent> {
    let (x, z) = (to.x.get(), to.z.get());
    let record = app.queries.profile(&id).await?.record.unwrap_or_default();
    let request = ModerateRequest {
        action: AuditAction::Teleport.into(),
        by: caller.by(),
        account_id: record.account_id,
        character_id: id.clone(),
        reason: to.reason.unwrap_or_default().0,
        x,
        z,
        ..ModerateRequest::default()
    };
    let sent = app.auth.identity.moderate(request).await;
    sent.map_err(|status| match status.code() {
        Grpc::NotFound => Problem::of(Code::NotFound, "There is no such character."),
        _ => status.into(),
    })?;
    Ok(Json(Sent {
        player_id: id,
        x,
        z,
    }))
}
