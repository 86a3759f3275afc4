//! `/api/auth/*`: makes, renews and revokes tokens.
//!
//! Always: the guard has counted each request without a good token as an attempt; the gateway logs
//! no token and no code.

use std::{borrow::Cow, sync::Arc};

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, Uri},
    response::{IntoResponse, NoContent, Response},
};
use proto::rpc::persistence::v1::Account as Stored;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use tonic::{Code as Grpc, Status};

use super::{
    address::Peer,
    admin::Given,
    ask::Body,
    limited,
    problem::{Code, Problem},
    route::{Call, OWNERS, Policy, Route, SPEAKERS},
    shapes::{self, Account},
    values::{Success, Time, success},
};
use crate::{
    app::App,
    auth::{
        admission,
        caller::Denied,
        device_key::DeviceKey,
        operators::{self, NotMade},
        sanctions::News,
        tokens::{Good, Issued, LIFETIME_S, Scope},
    },
    clock,
};

/// Callers who may end their login: an agent's token is one by itself, a spectator's is part of
/// its owner's.
const MAY_LOGOUT: Policy = SPEAKERS;
/// Extra time of a revocation, for a renewal that is under way elsewhere.
pub(super) const MARGIN_MS: u64 = 60_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Policy::Public
            .post("/api/auth/anonymous", "Begins without a login", anonymous)
            .about(
                "Only where there is no identity provider (else 403). A `deviceKey` is made and \
                 given once; with it the same account comes back.",
            )
            .problems(&[
                Code::InvalidCredentials,
                Code::AnonymousDisabled,
                Code::Banned,
            ]),
        Policy::Public
            .post(
                "/api/auth/login",
                "Logs in with the identity provider's token",
                login,
            )
            .about("With a `deviceKey`, the anonymous account of that device is claimed.")
            .problems(&[
                Code::InvalidToken,
                Code::LoginDisabled,
                Code::Banned,
                Code::DeviceKeyClaimed,
                Code::TooManyCharacters,
                Code::CharacterOnline,
            ]),
        first_operator(),
        // Agents and spectators get another token from their owner, who may have changed their mind
        // by then.
        OWNERS
            .post(
                "/api/auth/refresh",
                "A new token that is good for the same",
                refresh,
            )
            .about("Agents and spectators get another token from their owner."),
        OWNERS
            .post(
                "/api/auth/spectator",
                "A token that only looks on",
                spectator,
            )
            .about(
                "It reads what is the account's, and sees the world by `world:watch`; it ends \
                 with the login that it is from, which it cannot end, and makes no other token.",
            ),
        MAY_LOGOUT.post(
            "/api/auth/logout",
            "Ends the login, with all its tokens and sessions",
            logout,
        ),
    ]
}

fn first_operator() -> Route {
    OWNERS
        .post(
            "/api/auth/operator",
            "Becomes the first operator, by the code",
            operator,
        )
        .about(
            "The account gets the role `admin`. The code counts as long as no account has \
             that role; then operators give it, by `PUT /admin/users/{id}/roles`.",
        )
        .problems(&[
            Code::InvalidCredentials,
            Code::OperatorsDisabled,
            Code::OperatorsExist,
        ])
}

/// The key that the device of an anonymous account keeps.
#[derive(Deserialize)]
struct KeyText(String);

impl KeyText {
    fn read(&self) -> Result<DeviceKey, Response> {
        let why = "22 characters, as they were given out";
        let key = DeviceKey::parse(&self.0);
        key.ok_or_else(|| Problem::invalid("/deviceKey", why).into_response())
    }
}

impl JsonSchema for KeyText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "KeyText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_-]{21}[AQgw]$"})
    }
}

/// A login without an account elsewhere.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({}))]
struct AnonymousLogin {
    #[serde(default)]
    device_key: Option<KeyText>,
}

/// A login with a token of the identity provider.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({"idpToken": "eyJ…"}))]
struct ProviderLogin {
    idp_token: String,
    #[serde(default)]
    device_key: Option<KeyText>,
}

/// The operators' code.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OperatorCode {
    #[schemars(length(min = 1), example = &"…")]
    admin_code: String,
}

/// A new token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NewToken {
    #[schemars(example = &"eyJ…")]
    token: String,
    expires_at: Time,
}

/// A new token, and whose it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignedIn {
    #[serde(flatten)]
    token: NewToken,
    account: Account,
    /// Key of a new anonymous account, given once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"AAAAAAAAAAAAAAAAAAAAAA")]
    device_key: Option<String>,
    /// Makes new tokens of a password's login for 60 days, by `POST /api/auth/renew`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"eyJ…")]
    refresh_token: Option<String>,
}

impl SignedIn {
    /// Answers with a token, and nothing else that signs in later.
    pub(super) fn known(
        issued: Option<Issued>,
        account: &Stored,
        uri: &Uri,
    ) -> Result<Self, Response> {
        Ok(Self {
            token: token(issued, uri)?,
            account: Account::from(account),
            device_key: None,
            refresh_token: None,
        })
    }

    /// Answers with a token and a refresh token of the same login.
    pub(super) fn lasting(self, refresh_token: String) -> Self {
        Self {
            refresh_token: Some(refresh_token),
            ..self
        }
    }
}

/// Signs in to the account of a device key, or to a new one.
async fn anonymous(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<AnonymousLogin>,
) -> Result<Json<SignedIn>, Response> {
    if !app.config.anonymous {
        let why = "There is an identity provider here: log in with its token.";
        return Err(Problem::of(Code::AnonymousDisabled, why).into_response());
    }
    let (key, made) = match &ask.device_key {
        Some(text) => (text.read()?, false),
        None => (DeviceKey::new(), true),
    };
    let found = app.auth.accounts.sign_in(key.hash(), made).await;
    let found = found.map_err(|status| shapes::refused(&status).into_response())?;
    let Some(account) = found.account else {
        let why = "Nobody has this device key; leave it out to begin anew.";
        return Err(Problem::of(Code::InvalidCredentials, why).into_response());
    };
    pass(&app, &account.id, &[], &uri).await?;
    let issued = app.auth.tokens.issue(&account.id);
    Ok(Json(SignedIn {
        token: token(issued, &uri)?,
        account: Account::from(&account),
        device_key: made.then(|| key.into_text()),
        refresh_token: None,
    }))
}

/// Exchanges a token of the identity provider for one of ours.
async fn login(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<ProviderLogin>,
) -> Result<Json<SignedIn>, Response> {
    let Some(provider) = &app.auth.provider else {
        let why = "There is no identity provider here: play anonymously.";
        return Err(Problem::of(Code::LoginDisabled, why).into_response());
    };
    if !provider.issued(&ask.idp_token) {
        return Err(Denied::InvalidToken.answer(&uri));
    }
    let vouched = admission::verify(provider, &ask.idp_token).await;
    let vouched = vouched.map_err(|denied| denied.answer(&uri))?;
    let claims = ask.device_key.as_ref().map(KeyText::read).transpose()?;
    let claims = claims.map(|key| key.hash());
    let found = app.auth.identity.sign_in(&vouched.subject, claims).await;
    let found = found.map_err(|status| unclaimed(&status).into_response())?;
    let Some(account) = found.account else {
        return Err(Problem::store_away().into_response());
    };
    provider.remember(&vouched.subject, &account.id);
    pass(&app, &account.id, &[&vouched.token_id], &uri).await?;
    let good = Good::player(&account.id);
    let issued = app.auth.tokens.issue_within(good, &vouched.token_id);
    SignedIn::known(issued, &account, &uri).map(Json)
}

/// Makes the caller's account the first operator.
async fn operator(
    Call { app, caller }: Call,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    uri: Uri,
    Body(ask): Body<OperatorCode>,
) -> Result<Json<Success<Given>>, Response> {
    let (account, code) = (&caller.account_id, &ask.admin_code);
    let guess = limited::guess(&app, account, &peer, &headers).await;
    guess.map_err(|over| over.answer(&uri))?;
    let made = operators::make_first(&app, account, code).await;
    made.map_err(|no| unmade(no).into_response())?;
    let roles = app.auth.identity.roles_of(account).await;
    let roles = roles.map_err(|status| shapes::refused(&status).into_response())?;
    Ok(success(Given { roles }))
}

/// Returns the problem for an account that the code did not make an operator.
fn unmade(no: NotMade) -> Problem {
    match no {
        NotMade::NoCode => {
            let why = "The code makes no operators here: ADMIN_CODE is not set.";
            Problem::of(Code::OperatorsDisabled, why)
        }
        NotMade::WrongCode => {
            Problem::of(Code::InvalidCredentials, "That is not the operators' code.")
        }
        NotMade::Exists => Problem::of(Code::OperatorsExist, NotMade::EXISTS),
        NotMade::Away(status) => shapes::refused(&status),
    }
}

/// Renews a token.
async fn refresh(Call { app, caller }: Call, uri: Uri) -> Result<Json<NewToken>, Response> {
    let good = Good {
        account_id: &caller.account_id,
        scope: caller.scope,
        character_id: caller.character_id.as_deref(),
        ends_by_ms: None,
    };
    let issued = app.auth.tokens.issue_within(good, &caller.login_id);
    Ok(Json(token(issued, &uri)?))
}

/// Makes a token that only looks on, of the same login.
async fn spectator(Call { app, caller }: Call, uri: Uri) -> Result<Json<NewToken>, Response> {
    let good = Good {
        account_id: &caller.account_id,
        scope: Scope::Spectator,
        character_id: None,
        ends_by_ms: None,
    };
    let issued = app.auth.tokens.issue_within(good, &caller.login_id);
    Ok(Json(token(issued, &uri)?))
}

/// Ends the login of the token, with all tokens and sessions of it.
async fn logout(Call { app, caller }: Call) -> Result<NoContent, Response> {
    // By then, all tokens of the login and the provider's own token have ended.
    let ours_ms = clock::unix_ms() + LIFETIME_S * 1000;
    let until_ms = ours_ms.max(caller.expires_at_ms).saturating_add(MARGIN_MS);
    let ids = vec![caller.login_id.clone()];
    let revoked = app
        .auth
        .identity
        .revoke(&caller.account_id, ids, until_ms)
        .await;
    revoked.map_err(|status| shapes::refused(&status).into_response())?;
    // The push tells the other gateways; here the revocation holds before the answer is out.
    app.auth.sanctions.revoked(&caller.login_id, until_ms);
    app.sessions
        .registry
        .news(&caller.account_id, &News::Changed);
    Ok(NoContent)
}

pub(super) async fn pass(
    app: &App,
    account_id: &str,
    ids: &[&str],
    uri: &Uri,
) -> Result<(), Response> {
    let passed = admission::pass(app, account_id, ids).await;
    passed.map_err(|denied| denied.answer(uri))
}

/// Converts a new token for clients.
fn token(issued: Option<Issued>, uri: &Uri) -> Result<NewToken, Response> {
    let issued = issued.ok_or_else(|| Denied::NotReady.answer(uri))?;
    Ok(NewToken {
        token: issued.token,
        expires_at: Time::of(issued.expires_at_ms),
    })
}

/// Returns the problem for an anonymous account that a subject cannot claim.
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
