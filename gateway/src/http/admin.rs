//! `/admin/*`: what operators and admins look at, and the roles that they give.
//!
//! Always: no secret and no token is ever shown; who gave or took a role is in the record.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use proto::rpc::{
    identity::v1::{Deed, GateKind, ModerateRequest},
    queries::v1::{LedgerEntry, LedgerRequest, Login, LoginsRequest, UsersRequest},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::Code as Grpc;

use super::{
    ask::{Body, Id, Query},
    moderation,
    problem::{Code, Problem},
    shapes::{self, Pagination, Paging, refused},
};
use crate::{
    app::App,
    auth::{caller::Caller, roles::Role},
};

/// The longest text that is searched for, in characters.
const SEARCH_MAX: usize = 64;

/// `GET /admin/stats`
pub(super) async fn stats(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let totals = app.queries.totals().await;
    let totals = totals.map_err(|status| refused(&status))?;
    let view = app.zones.directory();
    let answer = json!({
        "totalUsers": totals.users,
        "totalCharacters": totals.characters,
        "activeSessions": totals.online,
        "quarantined": totals.quarantined,
        "bannedUsers": totals.banned,
        "frozen": totals.frozen,
        "zones": view.runs().count(),
        "playersHere": app.registry.players(),
        "uptime": app.started.elapsed().as_secs(),
    });
    Ok(Json(answer).into_response())
}

/// Which accounts.
#[derive(Debug, Deserialize)]
pub(super) struct Users {
    search: Option<String>,
    role: Option<String>,
    page: Option<u32>,
    limit: Option<u32>,
}

/// `GET /admin/users`
pub(super) async fn users(
    State(app): State<Arc<App>>,
    Query(asked): Query<Users>,
) -> Result<Response, Problem> {
    let (page, number) = Paging::new(asked.page, asked.limit).read()?;
    let ask = UsersRequest {
        search: text("/search", asked.search)?,
        role: text("/role", asked.role)?,
        page: Some(page),
    };
    let reply = app.queries.users(ask).await;
    let reply = reply.map_err(|status| refused(&status))?;
    let users = reply.rows.iter().filter_map(|row| {
        let mut user = shapes::account(row.account.as_ref()?);
        user["characters"] = row.characters.into();
        Some(user)
    });
    let answer = json!({
        "users": users.collect::<Vec<_>>(),
        "pagination": Pagination::of(number, page, reply.total),
    });
    Ok(Json(answer).into_response())
}

/// A text of a query; none is empty.
fn text(pointer: &str, value: Option<String>) -> Result<String, Problem> {
    let value = value.unwrap_or_default();
    if value.chars().count() > SEARCH_MAX {
        let why = format!("may have at most {SEARCH_MAX} characters");
        return Err(Problem::invalid(pointer, why));
    }
    Ok(value)
}

/// `GET /admin/users/{userId}`
pub(super) async fn user(State(app): State<Arc<App>>, Id(id): Id) -> Result<Response, Problem> {
    let found = app.accounts.account(&id).await;
    let found = found.map_err(|status| refused(&status))?;
    let Some(user) = &found.account else {
        return Err(Problem::of(Code::NotFound, "There is no such account."));
    };
    let characters: Vec<Value> = found.characters.iter().map(shapes::summary).collect();
    let gates = app.identity.gates_of(&id).await;
    let gates = gates.map_err(|status| refused(&status))?;
    let told = [GateKind::Ban, GateKind::Mute];
    let sanctions = gates.into_iter().filter(|gate| told.contains(&gate.kind()));
    let sanctions: Vec<Value> = sanctions.map(moderation::sanction).collect();
    let answer = json!({
        "user": shapes::account(user),
        "characters": characters,
        "sanctions": sanctions,
    });
    Ok(Json(answer).into_response())
}

/// All the roles that an account is to have.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Roles {
    roles: Vec<String>,
}

/// `PUT /admin/users/{userId}/roles`: just these roles from now on.
pub(super) async fn give_roles(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(asked): Body<Roles>,
) -> Result<Response, Problem> {
    if let Some(unknown) = asked
        .roles
        .iter()
        .position(|name| Role::parse(name).is_none())
    {
        let known = Role::ALL.map(Role::name).join(" and ");
        let pointer = format!("/roles/{unknown}");
        return Err(Problem::invalid(pointer, format!("there are {known}")));
    }
    let request = ModerateRequest {
        deed: Deed::Roles.into(),
        by: caller.by(),
        account_id: id.clone(),
        roles: asked.roles,
        ..ModerateRequest::default()
    };
    let done = app.identity.moderate(request).await;
    done.map_err(|status| match status.code() {
        Grpc::NotFound => Problem::of(Code::NotFound, "There is no such account."),
        _ => refused(&status),
    })?;
    let roles = app.identity.roles_of(&id).await;
    let roles = roles.map_err(|status| refused(&status))?;
    Ok(Json(json!({"success": true, "roles": roles})).into_response())
}

/// `GET /admin/players/{playerId}`
pub(super) async fn player(State(app): State<Arc<App>>, Id(id): Id) -> Result<Response, Problem> {
    let profile = app.queries.profile(&id).await;
    let profile = profile.map_err(|status| refused(&status))?;
    let account_id = profile
        .record
        .as_ref()
        .map(|record| record.account_id.clone());
    let account = app.accounts.account(&account_id.unwrap_or_default()).await;
    let account = account.map_err(|status| refused(&status))?.account;
    let ask = LoginsRequest {
        character_id: id,
        open: false,
        page: Some(proto::rpc::queries::v1::Page {
            offset: 0,
            limit: shapes::LIMIT_MAX,
        }),
    };
    let logins = app.queries.logins(ask).await;
    let logins = logins.map_err(|status| refused(&status))?;
    let answer = json!({
        "player": shapes::record(&profile),
        "account": account.as_ref().map(shapes::account),
        "skills": shapes::skills(&profile),
        "inventory": shapes::inventory(&profile),
        "equipment": shapes::equipment(&profile),
        "bank": shapes::bank(&profile),
        "npcKills": shapes::kills(&profile),
        "logins": profile.logins,
        "playedSeconds": profile.played_ms / 1000,
        "sessions": logins.rows.iter().map(login).collect::<Vec<_>>(),
    });
    Ok(Json(answer).into_response())
}

/// Which logins.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sessions {
    player_id: Option<String>,
    open: Option<bool>,
    page: Option<u32>,
    limit: Option<u32>,
}

/// `GET /admin/sessions`
pub(super) async fn sessions(
    State(app): State<Arc<App>>,
    Query(asked): Query<Sessions>,
) -> Result<Response, Problem> {
    let (page, number) = Paging::new(asked.page, asked.limit).read()?;
    let ask = LoginsRequest {
        character_id: text("/playerId", asked.player_id)?,
        open: asked.open.unwrap_or(false),
        page: Some(page),
    };
    let reply = app.queries.logins(ask).await;
    let reply = reply.map_err(|status| refused(&status))?;
    let answer = json!({
        "sessions": reply.rows.iter().map(login).collect::<Vec<_>>(),
        "pagination": Pagination::of(number, page, reply.total),
    });
    Ok(Json(answer).into_response())
}

/// A login as operators see it.
fn login(login: &Login) -> Value {
    let mut shown = shapes::login(login);
    shown["name"] = login.name.as_str().into();
    shown["accountId"] = login.account_id.as_str().into();
    shown["gateway"] = login.gateway_id.as_str().into();
    shown
}

/// Which rows of the ledger.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Audit {
    player_id: Option<String>,
    item_id: Option<String>,
    page: Option<u32>,
    limit: Option<u32>,
}

/// `GET /admin/audit`: how items and coins came and went.
pub(super) async fn audit(
    State(app): State<Arc<App>>,
    Query(asked): Query<Audit>,
) -> Result<Response, Problem> {
    let (page, number) = Paging::new(asked.page, asked.limit).read()?;
    let ask = LedgerRequest {
        character_id: text("/playerId", asked.player_id)?,
        item_id: text("/itemId", asked.item_id)?,
        page: Some(page),
    };
    let reply = app.queries.ledger(ask).await;
    let reply = reply.map_err(|status| refused(&status))?;
    let answer = json!({
        "entries": reply.rows.iter().map(entry).collect::<Vec<_>>(),
        "pagination": Pagination::of(number, page, reply.total),
    });
    Ok(Json(answer).into_response())
}

fn entry(entry: &LedgerEntry) -> Value {
    let holder = (!entry.character_id.is_empty()).then_some(&entry.character_id);
    json!({
        "id": format!("{}-{}-{}", entry.run_id, entry.sequence, entry.row),
        "playerId": holder,
        "itemId": entry.item_id,
        "cause": entry.cause,
        "delta": entry.delta,
        "at": shapes::time(entry.at_ms),
    })
}
