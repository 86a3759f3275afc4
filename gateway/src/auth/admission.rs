//! Who is let in: a token, ours or the identity provider's, together with the gates.
//!
//! Always: whose token it is stands in its issuer, and only that verifier is asked; nobody is let
//! in whose ban or logout is known to the store, unless it happened less than a push ago.

use chassis::config::Secret;

use super::{
    caller::{Caller, Denied},
    gates::{self, Shut},
    provider::{Doubt, Provider, Vouched},
    tokens::Scope,
};
use crate::{app::App, clock};

/// Who a token names, if they are let in.
pub(crate) async fn admit(app: &App, token: &Secret) -> Result<Caller, Denied> {
    let token = token.expose();
    let caller = match &app.auth.provider {
        Some(provider) if provider.issued(token) => vouched(app, provider, token).await?,
        _ => app.auth.tokens.verify(token)?.into(),
    };
    gates(app, &caller).await?;
    Ok(caller)
}

/// Whether an account may come in by a token or login with these ids.
pub(crate) async fn pass(app: &App, account_id: &str, ids: &[&str]) -> Result<(), Denied> {
    let now_ms = clock::unix_ms();
    let passed = if app.auth.gates.is_fresh() {
        app.auth.gates.pass(account_id, ids, now_ms)
    } else {
        let asked = app.auth.identity.gates_of(account_id).await;
        let known = asked.map_err(|status| {
            tracing::debug!(code = ?status.code(), "nobody knows who is kept out");
            Denied::NotReady
        })?;
        gates::pass_by(known, account_id, ids, now_ms)
    };
    passed.map_err(|shut| match shut {
        Shut::Revoked => Denied::InvalidToken,
        Shut::Banned(ban) => Denied::Banned {
            until_ms: ban.until_ms,
        },
    })
}

async fn gates(app: &App, caller: &Caller) -> Result<(), Denied> {
    let ids = [caller.token_id.as_str(), caller.login_id.as_str()];
    pass(app, &caller.account_id, &ids).await
}

/// Checks one of the provider's tokens.
pub(crate) async fn verify(provider: &Provider, token: &str) -> Result<Vouched, Denied> {
    provider.verify(token).await.map_err(|doubt| match doubt {
        Doubt::Invalid => Denied::InvalidToken,
        Doubt::Away => Denied::ProviderAway,
    })
}

/// Who one of the provider's tokens names here; their account is made when there is none.
async fn vouched(app: &App, provider: &Provider, token: &str) -> Result<Caller, Denied> {
    let vouched = verify(provider, token).await?;
    let account_id = match provider.account_of(&vouched.subject) {
        Some(known) => known,
        None => {
            let asked = app.auth.identity.sign_in(&vouched.subject, None).await;
            let found = asked.map_err(|status| {
                tracing::debug!(code = ?status.code(), "the store does not say who it is");
                Denied::NotReady
            })?;
            let id = found.account.ok_or(Denied::NotReady)?.id;
            provider.remember(&vouched.subject, &id);
            id
        }
    };
    Ok(Caller {
        account_id,
        scope: Scope::Player,
        character_id: None,
        login_id: vouched.token_id.clone(),
        token_id: vouched.token_id,
        expires_at_ms: vouched.expires_at_ms,
        role: None,
    })
}
