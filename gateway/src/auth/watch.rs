//! Follows the push of sanctions, and tells the sessions of the accounts that it names.

use std::{sync::Arc, time::Duration};

use proto::rpc::identity::v1::{WatchGatesRequest, identity_client::IdentityClient};
use service_runtime::rpc::{self, Backoff};
use tokio_util::sync::CancellationToken;

use crate::{app::App, clock};

/// A silence this long ends a watch: signs of life come every second.
const SILENCE: Duration = Duration::from_secs(4);
/// A page of sanctions.
const UPDATE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Watches one persistence service after the other until `stop`.
pub(crate) async fn follow(app: Arc<App>, stop: CancellationToken) {
    let mut backoff = Backoff::new();
    let mut was_well = true;
    loop {
        let why = tokio::select! {
            () = stop.cancelled() => return,
            ended = watch(&app, &mut backoff, &mut was_well) => ended,
        };
        if was_well {
            tracing::warn!(error = %why, "bans and revocations are not being pushed");
            was_well = false;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = backoff.wait() => {}
        }
    }
}

/// Watches one persistence service until the watch ends. Returns why it ended.
async fn watch(app: &App, backoff: &mut Backoff, was_well: &mut bool) -> String {
    let route = app.auth.identity.route();
    let mut stub = IdentityClient::new(route).max_decoding_message_size(UPDATE_BYTES_MAX);
    let (since, incarnation) = app.auth.sanctions.position();
    let request = WatchGatesRequest {
        client: app.config.gateway_id.clone(),
        since,
        incarnation,
    };
    let mut pushes = match tokio::time::timeout(rpc::DEADLINE, stub.watch(request)).await {
        Ok(Ok(answer)) => answer.into_inner(),
        Ok(Err(status)) => return status.to_string(),
        Err(_) => return "no answer in time".to_owned(),
    };
    loop {
        let update = match tokio::time::timeout(SILENCE, pushes.message()).await {
            Ok(Ok(Some(update))) => update,
            Ok(Ok(None)) => return "the stream ended".to_owned(),
            Ok(Err(status)) => return status.to_string(),
            Err(_) => return "no sign of life".to_owned(),
        };
        let (_, before) = app.auth.sanctions.position();
        let restored = before != 0 && before != update.incarnation;
        for (account, news) in app.auth.sanctions.learn(update, clock::unix_ms()) {
            app.sessions.registry.news(&account, &news);
        }
        if restored {
            app.sessions.hub.look_again();
        }
        backoff.reset();
        if !*was_well {
            tracing::info!("bans and revocations are being pushed again");
            *was_well = true;
        }
    }
}
