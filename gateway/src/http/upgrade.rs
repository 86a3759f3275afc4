//! `GET /ws`: from an HTTP request to a session.

use std::{num::NonZeroU16, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::State,
    http::{
        HeaderMap, HeaderValue, StatusCode, Uri,
        header::{ACCEPT_LANGUAGE, ORIGIN, SEC_WEBSOCKET_PROTOCOL},
    },
    response::{IntoResponse, Response},
};
use fastwebsockets::upgrade::{IncomingUpgrade, UpgradeFut};
use proto::client::Format;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use super::{
    address::Peer,
    ask::Query,
    limited::{self, Counted},
    problem::{Code, Problem},
    route::{Policy, Route},
    values::Within,
};
use crate::{
    app::App,
    auth::caller::{self, Denied},
    limits::unauthenticated::NoRoom,
    screen::Screen,
    session::{Session, visitor::Visitor},
    social::global::Shards,
    socket::Socket,
};

/// Longest time for a client to read the answer to its upgrade.
const UPGRADE_TIMEOUT: Duration = Duration::from_secs(10);

/// Most players that a client can ask for at once.
const PLAYERS_MAX: u32 = 2_000;

pub(super) fn routes() -> Vec<Route> {
    let switched = "The connection is a WebSocket from here on.";
    vec![
        Policy::Session
            .get("/ws", "The WebSocket of the game", ws)
            .uncounted()
            .about(
                "`tilestead.json` (default), `tilestead.msgpack` or `tilestead.v2` as the \
                 subprotocol; the events are described in /asyncapi.json, the updates of \
                 `tilestead.v2` in docs/compact.md. A client of `tilestead.v2` sees at most \
                 `players` players at once, itself among them, the nearest, if it asks for that. Where \
                 global chat has languages, a client hears and speaks that of `language`.",
            )
            .empty(StatusCode::SWITCHING_PROTOCOLS, switched)
            .problems(&[
                Code::Subprotocol,
                Code::InvalidRequest,
                Code::UpgradeRequired,
                Code::RateLimited,
                Code::NotReady,
                Code::Draining,
            ]),
    ]
}

/// Wishes of a client for its connection.
#[derive(Debug, Deserialize, JsonSchema)]
struct Wishes {
    /// Most players that it wants to see at once, the nearest; without it: all in sight. Only for
    /// `tilestead.v2`.
    players: Option<Within<1, PLAYERS_MAX>>,
    /// Language of global chat, as `de`, where the server has one for each; without it: the first
    /// known one of `Accept-Language`.
    language: Option<String>,
}

impl Wishes {
    /// Returns the language of the client, if global chat has one for it.
    fn language(&self, shards: &Shards, headers: &HeaderMap) -> Option<String> {
        let accepted = headers
            .get(ACCEPT_LANGUAGE)
            .and_then(|value| value.to_str().ok());
        shards.language(self.language.as_deref(), accepted)
    }

    fn screen(&self, format: Format) -> Result<Screen, Problem> {
        let players_max = self.players.map(Within::get);
        if players_max.is_some() && format != Format::Compact {
            let why = "Only clients of tilestead.v2 can ask for a number of players.";
            return Err(Problem::invalid("/players", why));
        }
        Ok(Screen {
            format,
            players_max: players_max.and_then(|most| NonZeroU16::new(u16::try_from(most).ok()?)),
        })
    }
}

async fn ws(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    uri: Uri,
    Query(wishes): Query<Wishes>,
    upgrade: Result<IncomingUpgrade, StatusCode>,
) -> Response {
    if app.sessions.draining.is_cancelled() {
        let why = "This gateway is about to stop; try another one.";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let problem = Problem::new(status, "draining", why, &uri).into_response();
        return ([("retry-after", "1")], problem).into_response();
    }
    let asked = asked_protocols(&headers);
    let Some((format, named)) = choose(&asked) else {
        let why = "Known subprotocols are tilestead.json, tilestead.msgpack and tilestead.v2.";
        return Problem::new(StatusCode::BAD_REQUEST, "subprotocol", why, &uri).into_response();
    };
    let screen = match wishes.screen(format) {
        Ok(screen) => screen,
        Err(problem) => return problem.into_response(),
    };
    let language = wishes.language(&app.config.global_chat.shards, &headers);
    let address = app.config.proxies.client(peer.address, &headers);
    let unauthenticated = match app.bounds.unauthenticated.enter(address) {
        Ok(unauthenticated) => unauthenticated,
        Err(no) => return crowded(&app, no, &uri),
    };
    // Behind a proxy, only the upgrade names the client of this connection.
    let proxies = &app.config.proxies;
    let proxied = proxies.trusts(peer.address.ip().to_canonical()) && !proxies.trusts(address);
    if proxied {
        match app.bounds.places.of_client(address) {
            Some(share) => peer.place.hold_for_client(share),
            None => return too_many(&app, &uri),
        }
    }
    let Ok(Ok((response, upgraded))) = upgrade.map(IncomingUpgrade::upgrade) else {
        let why = "This is the WebSocket endpoint; ask for an upgrade (RFC 6455).";
        let status = StatusCode::UPGRADE_REQUIRED;
        let problem = Problem::new(status, "upgrade_required", why, &uri).into_response();
        let spoken = [("upgrade", "websocket"), ("sec-websocket-version", "13")];
        return (spoken, problem).into_response();
    };
    let token = match caller::bearer(&headers) {
        Ok(token) => token,
        Err(denied) => return denied_attempt(&app, &peer, &headers, denied, &uri).await,
    };
    let from_page = headers.contains_key(ORIGIN);
    let tasks = app.sessions.clients.clone();
    tasks.finish("session", async move {
        if let Some((read, write)) = halves(upgraded).await {
            let (reports, write_timeout) = (app.reports.clone(), app.config.times.write);
            let open = |mailbox| Socket::open(read, write, screen, mailbox, reports, write_timeout);
            let visitor = Visitor::new(address, language, from_page, unauthenticated);
            Session::serve(Arc::clone(&app), visitor, token, open).await;
        }
    });
    let mut response = response.map(axum::body::Body::new);
    if named {
        let protocol = HeaderValue::from_static(format.subprotocol());
        response
            .headers_mut()
            .insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    response
}

/// Counts unreadable credentials as an attempt, and refuses them.
async fn denied_attempt(
    app: &App,
    peer: &Peer,
    headers: &HeaderMap,
    denied: Denied,
    uri: &Uri,
) -> Response {
    match limited::attempt(app, Counted::default(), Some(peer), headers).await {
        Ok(counted) => {
            let mut response = denied.answer(uri);
            counted.tell(&mut response);
            response
        }
        Err(over) => over.answer(uri),
    }
}

/// Refuses an upgrade because there are too many unauthenticated sockets.
fn crowded(app: &App, no: NoRoom, uri: &Uri) -> Response {
    app.metrics.limited("unauthenticated", false);
    let most = app.config.unauthenticated;
    let (status, code, why) = match no {
        NoRoom::Address => (
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            format!(
                "At most {} connections of your address may be open that are not authenticated; \
                 authenticate on those, or close them.",
                most.per_address
            ),
        ),
        NoRoom::Total => (
            StatusCode::SERVICE_UNAVAILABLE,
            "not_ready",
            format!(
                "At most {} connections may be open that are not authenticated, and all of them \
                 are being answered; try again in a moment.",
                most.total
            ),
        ),
    };
    let problem = Problem::new(status, code, why, uri).into_response();
    ([("retry-after", "10")], problem).into_response()
}

/// Refuses an upgrade because the client's address has too many connections.
fn too_many(app: &App, uri: &Uri) -> Response {
    app.metrics.limited("connections", false);
    let most = app.config.connections_per_address_max;
    let why = format!("At most {most} connections of your address may be open; close one.");
    let status = StatusCode::TOO_MANY_REQUESTS;
    let problem = Problem::new(status, "rate_limited", why, uri).into_response();
    ([("retry-after", "10")], problem).into_response()
}

/// Returns the two sides of the connection behind an upgrade; `None` when the upgrade fails.
pub(crate) async fn halves(
    upgraded: UpgradeFut,
) -> Option<(crate::socket::ReadSide, crate::socket::WriteSide)> {
    let socket = timeout(UPGRADE_TIMEOUT, upgraded).await.ok()?.ok()?;
    // Nobody has read through the socket yet, so its buffer loses nothing.
    let (read, write) = tokio::io::split(socket.into_inner());
    Some((Box::new(read), Box::new(write)))
}

fn asked_protocols(headers: &HeaderMap) -> Vec<&str> {
    let lines = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .collect()
}

/// Returns the first requested subprotocol that is ours; JSON where the client named none. The
/// flag tells whether the answer must name it back.
fn choose(asked: &[&str]) -> Option<(Format, bool)> {
    if asked.is_empty() {
        return Some((Format::Json, false));
    }
    let known = |name: &&str| {
        Format::ALL
            .into_iter()
            .find(|format| format.subprotocol() == *name)
    };
    asked.iter().find_map(known).map(|format| (format, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_subprotocol_is_spoken() {
        assert_eq!(choose(&[]), Some((Format::Json, false)));
        assert_eq!(
            choose(&["tilestead.msgpack"]),
            Some((Format::MessagePack, true))
        );
        assert_eq!(
            choose(&["chat", "tilestead.json"]),
            Some((Format::Json, true))
        );
        assert_eq!(choose(&["chat"]), None);
    }
}
