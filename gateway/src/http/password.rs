//! Names and passwords: an account gets one, logs in with it, changes it, or recovers by a code.
//!
//! Always: each guess counts for the name or the account, and for the address. A name that nobody has
//! looks like one with a wrong password.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use proto::rpc::{
    identity::v1::{ChangePasswordRequest, MakePasswordRequest, NoteLoginRequest, Password},
    persistence::v1::Account,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tonic::{Code as Grpc, Status};

use super::{
    address::Peer,
    ask::Body,
    auth::{MARGIN_MS, SignedIn, pass},
    limited,
    problem::{Code, Problem},
    route::{Call, OWNERS, Policy, Route},
    shapes,
    values::Short,
};
use crate::{
    app::App,
    auth::{
        caller::{Caller, Denied},
        password::{self, CHARS_MAX, NAME_CHARS_MAX, RecoveryCodes},
        sanctions::News,
        tokens::{Good, Issued, LIFETIME_S, Refused},
    },
    clock,
};

/// The longest recovery code as somebody writes it, in characters.
const CODE_CHARS_MAX: usize = 64;
/// The longest refresh token, in characters.
const TOKEN_CHARS_MAX: usize = 1_024;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Policy::Public
            .post("/api/auth/password", "Logs in with a name and a password", login)
            .problems(&[Code::InvalidCredentials, Code::Banned, Code::NotReady]),
        Policy::Public
            .post(
                "/api/auth/recover",
                "Sets a new password by a recovery code",
                recover,
            )
            .about(
                "A code counts once. All other logins of the password end, and the account's device \
                 key signs nobody in any more.",
            )
            .problems(&[Code::InvalidCredentials, Code::Banned, Code::NotReady]),
        Policy::Public
            .post("/api/auth/renew", "Goes on with a login of a password", renew)
            .about(
                "Answers a token of the same login, and a refresh token for the next 60 days. A \
                 login that somebody ended, or that a new password ended, does not go on.",
            )
            .problems(&[Code::InvalidCredentials, Code::Banned, Code::NotReady]),
        OWNERS
            .post(
                "/api/account/password",
                "Gives the account a name and a password",
                make,
            )
            .about(
                "The account stays the same, with all that it has, and never expires. The recovery \
                 codes are shown once.",
            )
            .problems(&[Code::NameTaken, Code::HasPassword, Code::NotReady]),
        OWNERS
            .put("/api/account/password", "Changes the password", change)
            .about(
                "All other logins of the password end, the account's device key signs nobody in any \
                 more, and there are new recovery codes in place of the old ones.",
            )
            .problems(&[
                Code::InvalidCredentials,
                Code::NoPassword,
                Code::Conflict,
                Code::NotReady,
            ]),
    ]
}

/// A name and its password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"name": "ann", "password": "correct horse battery"}))]
struct Credentials {
    /// 3 to 64 letters, digits and `.-_@+`, in any case.
    name: Short<NAME_CHARS_MAX>,
    /// 8 to 128 characters.
    password: Short<CHARS_MAX>,
}

/// A recovery code, and the password that counts from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "name": "ann",
    "recoveryCode": "0000-0000-0000-0000",
    "password": "correct horse battery"
}))]
struct Recovery {
    name: Short<NAME_CHARS_MAX>,
    recovery_code: Short<CODE_CHARS_MAX>,
    password: Short<CHARS_MAX>,
}

/// What a login with a password gave.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({"refreshToken": "eyJ…"}))]
struct Renewal {
    refresh_token: Short<TOKEN_CHARS_MAX>,
}

/// The password, and the one that counts from now on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "password": "correct horse battery",
    "newPassword": "another horse battery"
}))]
struct Change {
    password: Short<CHARS_MAX>,
    new_password: Short<CHARS_MAX>,
}

/// Codes that set a new password, each once. Nobody can read them again.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Recoverable {
    #[schemars(example = ["0000-0000-0000-0000"])]
    recovery_codes: Vec<String>,
    /// Makes new tokens of this login for 60 days, by `POST /api/auth/renew`.
    #[schemars(example = &"eyJ…")]
    refresh_token: String,
}

async fn login(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<Credentials>,
) -> Result<Json<SignedIn>, Response> {
    let known = known(&app, &ask.name.0, &uri).await?;
    let hash = known.as_ref().map(|known| known.hash.clone());
    let right = app.auth.hashing.verify(ask.password.0, hash).await;
    let right = right.map_err(|_| busy())?;
    let known = known.filter(|_| right).ok_or_else(wrong)?;
    let beginning = begin(&app, &known.account_id, &uri).await?;
    let noted = NoteLoginRequest {
        account_id: known.account_id,
        login_id: beginning.issued.token_id.clone(),
        until_ms: until_ms(),
    };
    let noted = app.auth.identity.note_login(noted).await;
    noted.map_err(|status| refused(&status))?;
    beginning.answer(&app, &uri)
}

/// Goes on with a login that the store still knows as one of the password.
async fn renew(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<Renewal>,
) -> Result<Json<SignedIn>, Response> {
    let claims = app.auth.tokens.verify_refresh(&ask.refresh_token.0);
    let claims = claims.map_err(|no| match no {
        Refused::NotReady => Denied::NotReady.answer(&uri),
        Refused::Invalid => over(),
    })?;
    let known = app.auth.identity.password_of_account(&claims.sub).await;
    let known = known.map_err(|status| refused(&status))?;
    let goes_on = known.is_some_and(|known| known.login_ids.contains(&claims.login));
    if !goes_on {
        return Err(over());
    }
    let account = account(&app, &claims.sub).await?.ok_or_else(over)?;
    pass(&app, &claims.sub, &[&claims.login], &uri).await?;
    let good = Good::player(&claims.sub);
    let issued = app.auth.tokens.issue_within(good, &claims.login);
    let login = claims.login;
    let again = Beginning {
        issued: issued.ok_or_else(|| Denied::NotReady.answer(&uri))?,
        login,
        account,
    };
    again.answer(&app, &uri)
}

async fn recover(
    State(app): State<Arc<App>>,
    uri: Uri,
    Body(ask): Body<Recovery>,
) -> Result<Json<SignedIn>, Response> {
    let known = known(&app, &ask.name.0, &uri).await?;
    let left = known.and_then(|known| {
        let left = password::use_code(&known.recovery_code_hashes, &ask.recovery_code.0);
        left.map(|left| (known, left))
    });
    let (known, left) = left.ok_or_else(|| {
        let why = "Nobody has this name with this recovery code, or the code was used.";
        Problem::of(Code::InvalidCredentials, why).into_response()
    })?;
    strong(&ask.password.0, &known.name, "/password")?;
    let beginning = begin(&app, &known.account_id, &uri).await?;
    let login = &beginning.issued.token_id;
    replace(&app, &known, (ask.password.0, left), login).await?;
    beginning.answer(&app, &uri)
}

async fn make(
    Call { app, caller }: Call,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    uri: Uri,
    Body(ask): Body<Credentials>,
) -> Result<Json<Recoverable>, Response> {
    let guess = limited::guess(&app, &caller.account_id, &peer, &headers).await;
    guess.map_err(|over| over.answer(&uri))?;
    let name = name(&ask.name.0)?;
    strong(&ask.password.0, &name, "/password")?;
    let hash = app.auth.hashing.hash(ask.password.0).await;
    let codes = RecoveryCodes::new();
    let request = MakePasswordRequest {
        account_id: caller.account_id.clone(),
        name,
        hash: hash.map_err(|_| busy())?,
        recovery_code_hashes: codes.hashes.into(),
        login_id: caller.login_id.clone(),
    };
    let made = app.auth.identity.make_password(request).await;
    made.map_err(|status| refused(&status))?;
    recoverable(&app, &caller, codes.texts, &uri)
}

async fn change(
    Call { app, caller }: Call,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    uri: Uri,
    Body(ask): Body<Change>,
) -> Result<Json<Recoverable>, Response> {
    let guess = limited::guess(&app, &caller.account_id, &peer, &headers).await;
    guess.map_err(|over| over.answer(&uri))?;
    let known = app.auth.identity.password_of_account(&caller.account_id);
    let known = known.await.map_err(|status| refused(&status))?;
    let none = || Problem::of(Code::NoPassword, Code::NoPassword.meaning()).into_response();
    let known = known.ok_or_else(none)?;
    let hash = Some(known.hash.clone());
    let right = app.auth.hashing.verify(ask.password.0, hash).await;
    if !right.map_err(|_| busy())? {
        return Err(wrong());
    }
    strong(&ask.new_password.0, &known.name, "/newPassword")?;
    let codes = RecoveryCodes::new();
    let new = (ask.new_password.0, codes.hashes);
    replace(&app, &known, new, &caller.login_id).await?;
    recoverable(&app, &caller, codes.texts, &uri)
}

/// Answers with new recovery codes, and with what lets the login go on.
fn recoverable(
    app: &App,
    caller: &Caller,
    recovery_codes: Vec<String>,
    uri: &Uri,
) -> Result<Json<Recoverable>, Response> {
    Ok(Json(Recoverable {
        recovery_codes,
        refresh_token: refresh_token(app, &caller.account_id, &caller.login_id, uri)?,
    }))
}

fn refresh_token(app: &App, account: &str, login: &str, uri: &Uri) -> Result<String, Response> {
    let token = app.auth.tokens.issue_refresh(account, login);
    token.ok_or_else(|| Denied::NotReady.answer(uri))
}

/// Returns the password of a name, after counting a guess at it.
async fn known(app: &App, text: &str, uri: &Uri) -> Result<Option<Password>, Response> {
    let name = name(text)?;
    let guess = limited::guess_of_name(app, &name).await;
    guess.map_err(|over| over.answer(uri))?;
    let known = app.auth.identity.password_of_name(&name).await;
    known.map_err(|status| refused(&status))
}

/// A login whose token is not out yet.
struct Beginning {
    issued: Issued,
    login: String,
    account: Account,
}

impl Beginning {
    fn answer(self, app: &App, uri: &Uri) -> Result<Json<SignedIn>, Response> {
        let refresh = refresh_token(app, &self.account.id, &self.login, uri)?;
        let known = SignedIn::known(Some(self.issued), &self.account, uri)?;
        Ok(Json(known.lasting(refresh)))
    }
}

/// Begins a login of an account. The caller stores it before it gives its token out.
async fn begin(app: &App, account_id: &str, uri: &Uri) -> Result<Beginning, Response> {
    // The account was deleted meanwhile.
    let account = account(app, account_id).await?.ok_or_else(wrong)?;
    pass(app, account_id, &[], uri).await?;
    let issued = app.auth.tokens.issue(account_id);
    let issued = issued.ok_or_else(|| Denied::NotReady.answer(uri))?;
    let login = issued.token_id.clone();
    Ok(Beginning {
        issued,
        login,
        account,
    })
}

async fn account(app: &App, account_id: &str) -> Result<Option<Account>, Response> {
    let found = app.auth.accounts.account(account_id).await;
    let found = found.map_err(|status| shapes::refused(&status).into_response())?;
    Ok(found.account)
}

/// Sets a new password with the hashes of its recovery codes. Ends all other logins of the old one.
async fn replace(
    app: &App,
    known: &Password,
    (password, codes): (String, Vec<u8>),
    login: &str,
) -> Result<(), Response> {
    let until_ms = until_ms();
    let hash = app.auth.hashing.hash(password).await;
    let request = ChangePasswordRequest {
        account_id: known.account_id.clone(),
        before: known.hash.clone(),
        hash: hash.map_err(|_| busy())?,
        recovery_code_hashes: codes.into(),
        login_id: login.to_owned(),
        until_ms,
    };
    let ended = app.auth.identity.change_password(request).await;
    // The push tells the other gateways; here the logins end before the answer is out.
    for login in ended.map_err(|status| refused(&status))? {
        app.auth.sanctions.revoked(&login, until_ms);
    }
    let registry = &app.sessions.registry;
    registry.news(&known.account_id, &News::Changed);
    Ok(())
}

/// Returns the time by which all tokens that exist now have ended.
fn until_ms() -> u64 {
    clock::unix_ms() + LIFETIME_S * 1000 + MARGIN_MS
}

fn name(text: &str) -> Result<String, Response> {
    let why = "3 to 64 letters, digits and `.-_@+`";
    password::name(text).ok_or_else(|| Problem::invalid("/name", why).into_response())
}

fn strong(password: &str, name: &str, pointer: &str) -> Result<(), Response> {
    let checked = password::check(password, name);
    checked.map_err(|weak| Problem::invalid(pointer, weak.to_string()).into_response())
}

fn wrong() -> Response {
    let why = "Nobody has this name with this password.";
    Problem::of(Code::InvalidCredentials, why).into_response()
}

fn over() -> Response {
    let why = "This login is over; log in with the name and the password.";
    Problem::of(Code::InvalidCredentials, why).into_response()
}

fn busy() -> Response {
    let why = "Too many people log in right now; try again in a moment.";
    Problem::of(Code::NotReady, why).into_response()
}

/// Returns the problem for a refusal by the store.
fn refused(status: &Status) -> Response {
    let problem = match status.code() {
        Grpc::AlreadyExists => Problem::of(Code::NameTaken, "Somebody else has this name."),
        Grpc::FailedPrecondition => Problem::of(Code::HasPassword, Code::HasPassword.meaning()),
        Grpc::Aborted => {
            let why = "The password has changed meanwhile; log in with the new one.";
            Problem::of(Code::Conflict, why)
        }
        _ => shapes::refused(status),
    };
    problem.into_response()
}
