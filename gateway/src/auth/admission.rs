//! Admission: checks a token, ours or the identity provider's, and then the sanctions.
//!
//! Always: the token's issuer alone selects the verifier. An account whose ban or logout the store
//! knows does not come in, unless it happened after the last push.

use service_runtime::config::Secret;

use super::{
    caller::{Caller, Denied},
    provider::{Provider, TokenError, Vouched},
    sanctions::{self, Shut},
    tokens::Scope,
};
use crate::{app::App, clock};

/// Returns the caller that a token names, or the reason why they may not come in.
pub(crate) async fn admit(app: &App, token: &Secret) -> Result<Caller, Denied> {
    let token = token.expose();
    let caller = match &app.auth.provider {
        Some(provider) if provider.issued(token) => vouched(app, provider, token).await?,
        _ => app.auth.tokens.verify(token)?.into(),
    };
    sanctions(app, &caller).await?;
    Ok(caller)
}

/// Checks whether an account may come in by a token or login with these ids. Asks the store
/// where the last push is not fresh.
pub(crate) async fn pass(app: &App, account_id: &str, ids: &[&str]) -> Result<(), Denied> {
    let now_ms = clock::unix_ms();
    let passed = if app.auth.sanctions.is_fresh() {
        app.auth.sanctions.pass(account_id, ids, now_ms)
    } else {
        let asked = app.auth.identity.sanctions_of(account_id).await;
        let known = asked.map_err(|status| {
            tracing::debug!(code = ?status.code(), "nobody knows who is kept out");
            Denied::NotReady
        })?;
        sanctions::pass_by(known, account_id, ids, now_ms)
    };
    passed.map_err(|shut| match shut {
        Shut::Revoked | Shut::Deleted => Denied::InvalidToken,
        Shut::Banned(ban) => Denied::Banned {
            until_ms: ban.until_ms,
        },
    })
}

async fn sanctions(app: &App, caller: &Caller) -> Result<(), Denied> {
    let ids = [caller.token_id.as_str(), caller.login_id.as_str()];
    pass(app, &caller.account_id, &ids).await
}

/// Checks one of the provider's tokens.
pub(crate) async fn verify(provider: &Provider, token: &str) -> Result<Vouched, Denied> {
    provider.verify(token).await.map_err(|error| match error {
        TokenError::Invalid => Denied::InvalidToken,
        TokenError::Away => Denied::ProviderAway,
    })
}

/// Returns the caller that one of the provider's tokens names. The store makes a missing account.
async fn vouched(app: &App, provider: &Provider, token: &str) -> Result<Caller, Denied> {
    let vouched = verify(provider, token).await?;
    let known = provider.account_of(&vouched.subject);
    // The subject of an account that is gone may begin anew, with a token of a later login.
    let known = known.filter(|id| !app.auth.sanctions.is_deleted(id));
    let account_id = match known {
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
