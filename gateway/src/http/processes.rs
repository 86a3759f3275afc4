//! `/admin/gateways` and `/admin/stores`: the processes beside the zones, with the times of their work.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State};
use proto::{
    rpc::queries::v1::{Pool, StatusReply},
    topics::Beat,
};
use schemars::JsonSchema;
use serde::Serialize;
use tonic::Status;

use super::route::{Answer, Route, VIEWERS};
use crate::{app::App, live_queries::told, stores};

pub(super) fn routes() -> Vec<Route> {
    vec![
        VIEWERS
            .get("/admin/gateways", "Every gateway", gateways)
            .about(
                "The first one is the gateway that answers, as it is now. The others are as they said \
                 in their last sign of life: each gives one every ten seconds.",
            ),
        VIEWERS
            .get("/admin/stores", "Every persistence service", all)
            .about("Each is asked, and has two seconds for its answer."),
    ]
}

/// A gateway.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GatewayProcess {
    #[schemars(example = &"gateway-0")]
    id: String,
    /// Whether it is the one that answers.
    answers: bool,
    /// Its players in the world.
    players: u64,
    /// Mean work of a task that shows a tick to its sessions; null: there was none yet, or it does not
    /// tell.
    flush_micros: Option<u32>,
    /// Seconds since it began; null: it does not tell.
    uptime: Option<u64>,
    /// Seconds since its last sign of life.
    silent_seconds: u64,
}

impl GatewayProcess {
    fn of(beat: Beat, age: Duration, answers: bool) -> Self {
        Self {
            id: beat.gateway_id,
            answers,
            players: beat.players,
            flush_micros: told(beat.flush_us),
            uptime: beat.uptime_s,
            silent_seconds: age.as_secs(),
        }
    }
}

/// Every gateway that gave a sign of life lately.
#[derive(Debug, Serialize, JsonSchema)]
struct Gateways {
    gateways: Vec<GatewayProcess>,
}

async fn gateways(State(app): State<Arc<App>>) -> Answer<Gateways> {
    let all = app.sessions.hub.gateways().into_iter().enumerate();
    let gateways = all.map(|(place, (beat, age))| GatewayProcess::of(beat, age, place == 0));
    Ok(Json(Gateways {
        gateways: gateways.collect(),
    }))
}

/// Whether a persistence service answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum StoreState {
    Live,
    Silent,
    /// It is of a version that tells nothing of itself.
    Older,
}

/// A persistence service. All but its address and state is null where it does not answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StoreProcess {
    #[schemars(example = &"10.0.0.7:5600")]
    address: String,
    state: StoreState,
    version: Option<String>,
    /// Seconds since it began.
    uptime: Option<u64>,
    #[schemars(example = &"postgresql")]
    database: Option<String>,
    /// Mean time of a commit; null: there was none yet.
    commit_micros: Option<u32>,
    /// Null: SQLite, which has one connection.
    connections: Option<Connections>,
}

/// Connections of a persistence service to its database.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Connections {
    in_use: u32,
    max: u32,
    /// Callers that wait for one.
    waiting: u32,
}

impl From<Pool> for Connections {
    fn from(pool: Pool) -> Self {
        Self {
            in_use: pool.in_use,
            max: pool.max,
            waiting: pool.waiting,
        }
    }
}

impl StoreProcess {
    fn of(address: String, answer: Result<StatusReply, Status>) -> Self {
        match answer {
            Ok(reply) => Self {
                address,
                state: StoreState::Live,
                version: Some(reply.version),
                uptime: Some(reply.uptime_s),
                database: Some(reply.database),
                commit_micros: told(reply.commit_us),
                connections: reply.pool.map(Connections::from),
            },
            Err(status) => Self {
                address,
                state: match stores::is_older(&status) {
                    true => StoreState::Older,
                    false => StoreState::Silent,
                },
                version: None,
                uptime: None,
                database: None,
                commit_micros: None,
                connections: None,
            },
        }
    }
}

/// Every persistence service that the gateway knows.
#[derive(Debug, Serialize, JsonSchema)]
struct Stores {
    stores: Vec<StoreProcess>,
}

async fn all(State(app): State<Arc<App>>) -> Answer<Stores> {
    let all = app.stores.all().await.into_iter();
    let stores = all.map(|(address, answer)| StoreProcess::of(address, answer));
    Ok(Json(Stores {
        stores: stores.collect(),
    }))
}
