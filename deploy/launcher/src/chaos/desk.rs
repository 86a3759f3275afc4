//! The socket at which gateways look at the supervisor and give it orders.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use gateway::chaos::{FaultOrder, Sight};
use tokio::{net::UnixListener, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{Shared, board::Refused};

/// Serves until `stop`.
pub(super) async fn serve(
    listener: UnixListener,
    shared: Arc<Shared>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let router = Router::new()
        .route("/", get(look).post(order))
        .with_state(shared);
    let serving = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
    Ok(serving.await?)
}

async fn look(State(shared): State<Arc<Shared>>) -> Json<Sight> {
    Json(shared.board().sight(Instant::now()))
}

async fn order(State(shared): State<Arc<Shared>>, Json(order): Json<FaultOrder>) -> Response {
    match shared.order(&order) {
        Ok(fault) => (StatusCode::ACCEPTED, Json(fault)).into_response(),
        Err(Refused::Unknown) => StatusCode::NOT_FOUND.into_response(),
        Err(Refused::Busy(why)) => (StatusCode::CONFLICT, why).into_response(),
    }
}
