//! `/api/auth/*`: how tokens are got, renewed and given up.
//!
//! Always: the guard has counted whoever comes here without a good token as an attempt; no token
//! and no code is ever logged.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use proto::rpc::persistence::v1::SignInReply;
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::{Code as Grpc, Status};

use super::{
    ask::Body,
    problem::{Code, Problem},
    shapes,
};
use crate::{
    app::App,
    auth::{
        admission,
        caller::{Caller, Denied},
        device_key::DeviceKey,
        gates::News,
        tokens::{Good, Issued, LIFETIME_S, Scope},
    },
    clock,
};

/// Whose tokens may be renewed. Operators name the code anew; agents and spectators get another
/// one from their owner, who may have changed its mind by then.
pub(super) const MAY_REFRESH: &[Scope] = &[Scope::Player];
/// Who may make a token that only looks on.
pub(super) const MAY_SHOW: &[Scope] = &[Scope::Player];
/// Whose tokens may end their login: an agent's token is one by itself, a spectator's is part of
/// its owner's.
pub(super) const MAY_LOGOUT: &[Scope] = &[Scope::Player, Scope::Agent, Scope::Operator];
/// The account that operators' tokens name; no login makes it.
const OPERATOR: &str = "operator";
/// A renewal that is under way elsewhere while its login is given up ends this much later.
const MARGIN_MS: u64 = 60_000;

/// Who plays without a login.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Anonymous {
    #[serde(default)]
    device_key: Option<String>,
}

/// Who has a token of the identity provider.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Login {
    idp_token: String,
    #[serde(default)]
    device_key: Option<String>,
}

/// Who knows the operators' code.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Operator {
    admin_code: String,
}

/// `POST /api/auth/anonymous`: the account of a device key, or a new one.
pub(super) async fn anonymous(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<Anonymous>,
) -> Result<Response, Response> {
    if !app.config.anonymous {
        let why = "There is an identity provider here: log in with its token.";
        return Err(Problem::of(Code::AnonymousDisabled, why).into_response());
    }
    let (key, made) = match &ask.device_key {
        Some(text) => (device_key(text)?, false),
        None => (DeviceKey::new(), true),
    };
    let found = app.accounts.sign_in(key.hash(), made).await;
    let found = found.map_err(|status| shapes::refused(&status).into_response())?;
    let Some(account) = &found.account else {
        let why = "Nobody has this device key; leave it out to begin anew.";
        return Err(Problem::of(Code::InvalidCredentials, why).into_response());
    };
    pass(&app, &account.id, &[], &uri).await?;
    let issued = app.tokens.issue(&account.id);
    let mut answer = token(issued, Some(&found), &uri)?;
    if made {
        answer["deviceKey"] = key.into_text().into();
    }
    Ok(Json(answer).into_response())
}

/// `POST /api/auth/login`: a token of the identity provider for one of ours.
pub(super) async fn login(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<Login>,
) -> Result<Response, Response> {
    let Some(provider) = &app.provider else {
        let why = "There is no identity provider here: play anonymously.";
        return Err(Problem::of(Code::LoginDisabled, why).into_response());
    };
    if !provider.issued(&ask.idp_token) {
        return Err(Denied::InvalidToken.answer(&uri));
    }
    let vouched = admission::verify(provider, &ask.idp_token).await;
    let vouched = vouched.map_err(|denied| denied.answer(&uri))?;
    let claims = ask.device_key.as_deref().map(device_key).transpose()?;
    let claims = claims.map(|key| key.hash());
    let found = app.identity.sign_in(&vouched.subject, claims).await;
    let found = found.map_err(|status| unclaimed(&status).into_response())?;
    let Some(account) = &found.account else {
        return Err(Problem::store_away().into_response());
    };
    provider.remember(&vouched.subject, &account.id);
    pass(&app, &account.id, &[&vouched.token_id], &uri).await?;
    let good = Good::player(&account.id);
    let issued = app.tokens.issue_within(good, &vouched.token_id);
    Ok(Json(token(issued, Some(&found), &uri)?).into_response())
}

/// `POST /api/auth/operator`: an hour of running the place.
pub(super) async fn operator(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<Operator>,
) -> Result<Response, Response> {
    if !app.config.admin_code.is_set() {
        let why = "There are no operators here: ADMIN_CODE is not set.";
        return Err(Problem::of(Code::OperatorsDisabled, why).into_response());
    }
    if !app.config.admin_code.is(&ask.admin_code) {
        tracing::warn!("a wrong operators' code");
        app.metrics.auth_attempt("wrong_admin_code");
        let why = "That is not the operators' code.";
        return Err(Problem::of(Code::InvalidCredentials, why).into_response());
    }
    let issued = app.tokens.issue_for(Good {
        account_id: OPERATOR,
        scope: Scope::Operator,
        character_id: None,
        ends_by_ms: None,
    });
    let answer = token(issued, None, &uri)?;
    tracing::info!("somebody logged in as an operator");
    app.metrics.auth_attempt("operator");
    Ok(Json(answer).into_response())
}

/// `POST /api/auth/refresh`: a new token that is good for the same as the one that is shown.
pub(super) async fn refresh(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
) -> Result<Response, Response> {
    let good = Good {
        account_id: &caller.account_id,
        scope: caller.scope,
        character_id: caller.character_id.as_deref(),
        ends_by_ms: None,
    };
    let issued = app.tokens.issue_within(good, &caller.login_id);
    Ok(Json(token(issued, None, &uri)?).into_response())
}

/// `POST /api/auth/spectator`: a token that only looks on, of the same login.
pub(super) async fn spectator(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
) -> Result<Response, Response> {
    let good = Good {
        account_id: &caller.account_id,
        scope: Scope::Spectator,
        character_id: None,
        ends_by_ms: None,
    };
    let issued = app.tokens.issue_within(good, &caller.login_id);
    Ok(Json(token(issued, None, &uri)?).into_response())
}

/// `POST /api/auth/logout`: ends the login of the token, with all tokens and sessions of it.
pub(super) async fn logout(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Response> {
    // Whatever comes from the login has ended by then, and the provider's own token, too.
    let ours_ms = clock::unix_ms() + LIFETIME_S * 1000;
    let until_ms = ours_ms.max(caller.expires_at_ms).saturating_add(MARGIN_MS);
    let ids = vec![caller.login_id.clone()];
    let revoked = app.identity.revoke(&caller.account_id, ids, until_ms).await;
    revoked.map_err(|status| shapes::refused(&status).into_response())?;
    // The push tells the others; here it holds before the answer is out.
    app.gates.revoked(&caller.login_id, until_ms);
    app.registry.news(&caller.account_id, &News::Changed);
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn device_key(text: &str) -> Result<DeviceKey, Response> {
    let why = "22 characters, as they were given out";
    DeviceKey::parse(text).ok_or_else(|| Problem::invalid("/deviceKey", why).into_response())
}

async fn pass(app: &App, account_id: &str, ids: &[&str], uri: &Uri) -> Result<(), Response> {
    let passed = admission::pass(app, account_id, ids).await;
    passed.map_err(|denied| denied.answer(uri))
}

/// A new token, as clients get it.
fn token(issued: Option<Issued>, of: Option<&SignInReply>, uri: &Uri) -> Result<Value, Response> {
    let issued = issued.ok_or_else(|| Denied::NotReady.answer(uri))?;
    let mut answer = json!({
        "token": issued.token,
        "expiresAt": clock::iso(issued.expires_at_ms),
    });
    if let Some(account) = of.and_then(|of| of.account.as_ref()) {
        answer["account"] = shapes::account(account);
    }
    Ok(answer)
}

/// Why an anonymous account is not claimed.
fn unclaimed(status: &Status) -> Problem {
    match status.code() {
        Grpc::AlreadyExists => {
            let why = "Somebody else has claimed the account of this device key.";
            Problem::of(Code::DeviceKeyClaimed, why)
        }
        Grpc::ResourceExhausted => {
            let why = "Your account has no room for the characters of this device key; \
                       delete some, or log in without it.";
            Problem::of(Code::TooManyCharacters, why)
        }
        Grpc::FailedPrecondition => {
            let why = "A character of this device key is in the world; leave it first.";
            Problem::of(Code::CharacterOnline, why)
        }
        Grpc::PermissionDenied => {
            Problem::of(Code::Banned, "The account of this device key is banned.")
        }
        _ => shapes::refused(status),
    }
}
