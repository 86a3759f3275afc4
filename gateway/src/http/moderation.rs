//! `/admin/moderation`: bans and mutes, and what operators did.
//!
//! Always: who did it is in the record by the id of the operator's login or of the account that has
//! the role, never by a token; moderators do nothing about each other or about admins.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use proto::{
    client::admin::AdminVerb,
    rpc::identity::v1::{Deed, Gate, GateKind, ModerateRequest, PageRequest},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::Code as Grpc;

use super::{
    ask::{Body, Query, there},
    problem::{Code, Problem},
    shapes,
};
use crate::{
    app::App,
    auth::{caller::Caller, roles},
    clock, session,
};

/// The longest reason, in characters.
const REASON_MAX: usize = 200;
const MINUTES_MAX: u32 = 5_256_000;
const MINUTE_MS: u64 = 60_000;
const PAGE_MAX: u32 = 100;

/// Which part of a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Part {
    /// Those before this one.
    #[serde(default)]
    before: Option<u64>,
    #[serde(default)]
    limit: Option<u32>,
}

/// What is to be done, about whom.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Asked {
    action: AdminVerb,
    #[serde(default, deserialize_with = "there")]
    account_id: Option<String>,
    /// A character's name, instead.
    #[serde(default, deserialize_with = "there")]
    name: Option<String>,
    #[serde(default, deserialize_with = "there")]
    reason: Option<String>,
    #[serde(default, deserialize_with = "there")]
    minutes: Option<u32>,
}

/// `GET /admin/moderation`: bans and mutes in force, newest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Query(part): Query<Part>,
) -> Result<Response, Problem> {
    let page = page(&part)?;
    let gates = app.identity.sanctions(page).await;
    let gates = gates.map_err(|status| shapes::refused(&status))?;
    let next = next(&gates, page.most, |gate| gate.version);
    let sanctions: Vec<Value> = gates.into_iter().map(sanction).collect();
    Ok(Json(json!({"sanctions": sanctions, "before": next})).into_response())
}

/// `GET /admin/moderation/log`: what operators did, newest first.
pub(super) async fn log(
    State(app): State<Arc<App>>,
    Query(part): Query<Part>,
) -> Result<Response, Problem> {
    let page = page(&part)?;
    let deeds = app.identity.deeds(page).await;
    let deeds = deeds.map_err(|status| shapes::refused(&status))?;
    let next = next(&deeds, page.most, |deed| deed.id);
    let deeds = deeds.into_iter().map(|deed| {
        json!({
            "id": deed.id,
            "at": clock::iso(deed.at_ms),
            "by": deed.by,
            "action": deed.deed,
            "accountId": deed.account_id,
            "characterId": deed.character_id,
            "detail": deed.detail,
        })
    });
    let deeds: Vec<Value> = deeds.collect();
    Ok(Json(json!({"log": deeds, "before": next})).into_response())
}

/// `POST /admin/moderation`: kick, ban, unban, mute, unmute, announce.
pub(super) async fn act(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Body(asked): Body<Asked>,
) -> Result<Response, Problem> {
    let deed = checked(&asked)?;
    let (account_id, character_id) = whom(&app, &asked).await?;
    let outranks = roles::outranks(&app, caller.role, &account_id).await;
    if !outranks.map_err(|_| Problem::store_away())? {
        let why = "Moderators may not do this to each other, nor to admins.";
        return Err(Problem::of(Code::RoleRequired, why));
    }
    let until = asked
        .minutes
        .map(|minutes| clock::unix_ms() + u64::from(minutes) * MINUTE_MS);
    let reason = asked.reason.clone().unwrap_or_default();
    let request = ModerateRequest {
        deed: deed.into(),
        by: caller.by(),
        account_id,
        character_id,
        reason: reason.clone(),
        until_ms: until.unwrap_or(0),
        ..ModerateRequest::default()
    };
    let done = app.identity.moderate(request).await;
    done.map_err(|status| match status.code() {
        Grpc::NotFound => Problem::of(Code::NotFound, "There is no such account."),
        _ => shapes::refused(&status),
    })?;
    if deed == Deed::Announce {
        let told = app.hub.announce(session::announcement(reason)).await;
        told.map_err(|_| Problem::of(Code::NotReady, "The bus is away; it was told nobody."))?;
    }
    Ok(Json(json!({"success": true})).into_response())
}

fn page(part: &Part) -> Result<PageRequest, Problem> {
    let most = part.limit.unwrap_or(50);
    if !(1..=PAGE_MAX).contains(&most) {
        return Err(Problem::invalid("/limit", format!("1 to {PAGE_MAX}")));
    }
    let before = part.before.unwrap_or(0);
    if i64::try_from(before).is_err() {
        return Err(Problem::invalid("/before", "a number from an earlier page"));
    }
    Ok(PageRequest { before, most })
}

/// Where the next page begins, if there may be one.
fn next<T>(rows: &[T], most: u32, number: impl Fn(&T) -> u64) -> Option<u64> {
    let full = u32::try_from(rows.len()).is_ok_and(|read| read == most);
    rows.last().filter(|_| full).map(number)
}

pub(super) fn sanction(gate: Gate) -> Value {
    let kind = match gate.kind() {
        GateKind::Mute => "mute",
        _ => "ban",
    };
    json!({
        "kind": kind,
        "accountId": gate.account_id,
        "reason": gate.reason,
        "until": (gate.until_ms > 0).then(|| clock::iso(gate.until_ms)),
        "by": gate.by,
        "at": clock::iso(gate.at_ms),
    })
}

/// What is asked, when it can be done here.
fn checked(asked: &Asked) -> Result<Deed, Problem> {
    let deed = match asked.action {
        AdminVerb::Kick => Deed::Kick,
        AdminVerb::Ban => Deed::Ban,
        AdminVerb::Unban => Deed::Unban,
        AdminVerb::Mute => Deed::Mute,
        AdminVerb::Unmute => Deed::Unmute,
        AdminVerb::Announce => Deed::Announce,
        AdminVerb::Teleport | AdminVerb::Freeze | AdminVerb::Unfreeze => {
            let why = "kick, ban, unban, mute, unmute or announce";
            return Err(Problem::invalid("/action", why));
        }
    };
    let reason = asked.reason.as_deref().unwrap_or_default();
    if reason.chars().count() > REASON_MAX || reason.chars().any(char::is_control) {
        let why = format!("at most {REASON_MAX} characters of one line");
        return Err(Problem::invalid("/reason", why));
    }
    if deed == Deed::Announce && reason.trim().is_empty() {
        return Err(Problem::invalid("/reason", "what is announced"));
    }
    let whom = usize::from(asked.account_id.is_some()) + usize::from(asked.name.is_some());
    if whom != usize::from(deed != Deed::Announce) {
        let why = "one of accountId and name; neither for announce";
        return Err(Problem::invalid("/accountId", why));
    }
    match asked.minutes {
        Some(_) if !matches!(deed, Deed::Ban | Deed::Mute) => {
            Err(Problem::invalid("/minutes", "only for ban and mute"))
        }
        Some(minutes) if !(1..=MINUTES_MAX).contains(&minutes) => {
            Err(Problem::invalid("/minutes", format!("1 to {MINUTES_MAX}")))
        }
        _ => Ok(deed),
    }
}

/// The account, and the character that was named.
async fn whom(app: &App, asked: &Asked) -> Result<(String, String), Problem> {
    if let Some(id) = &asked.account_id {
        if id.is_empty() || id.len() > 128 || id.contains('\0') {
            return Err(Problem::invalid("/accountId", "1 to 128 bytes"));
        }
        return Ok((id.clone(), String::new()));
    }
    let Some(name) = &asked.name else {
        return Ok(Default::default());
    };
    let found = app.accounts.find_character(name).await;
    let found = found.map_err(|status| match status.code() {
        Grpc::NotFound | Grpc::InvalidArgument => {
            Problem::of(Code::NotFound, "No character has this name.")
        }
        _ => shapes::refused(&status),
    })?;
    Ok((found.account_id, found.id))
}
