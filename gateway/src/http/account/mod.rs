//! `/api/account`: a player takes its data away, or removes its account.
//!
//! Always: only a player's own token may do either. After a removal no token of the account is
//! good anywhere, and its open sockets close.

mod export;

use axum::{
    http::Uri,
    response::{IntoResponse, NoContent, Response},
};
use proto::rpc::personal::v1::{DeleteAccountRequest, Deletion};
use schemars::JsonSchema;
use serde::Deserialize;
use service_runtime::telemetry::sampled;

use super::{
    ask::Body,
    problem::{Code, Problem},
    route::{Call, OWNERS, Route},
    shapes,
    values::Short,
};
use crate::{
    auth::{caller::Denied, sanctions::News, tokens::LIFETIME_S},
    clock,
};

/// Extra time of the revocation, for clocks that differ.
const MARGIN_MS: u64 = 60_000;
/// The longest confirmation, in characters.
const NAME_CHARS_MAX: usize = 128;

pub(super) fn routes() -> Vec<Route> {
    let mut routes = export::routes();
    routes.push(
        OWNERS
            .delete("/api/account", "Removes the account, for ever", delete)
            .about(
                "`confirm` is the account's name. All characters must be out of the world: stop \
                 agents and leave first. Everything that leads to a person goes, and all tokens of \
                 the account end.",
            )
            .problems(&[
                Code::InWorld,
                Code::Quarantined,
                Code::LastOperator,
                Code::Banned,
            ]),
    );
    routes
}

/// Confirmation of a removal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"confirm": "Wanderer-5f3a0c1d"}))]
struct Removal {
    /// The name of the account.
    confirm: Short<NAME_CHARS_MAX>,
}

async fn delete(
    Call { app, caller }: Call,
    uri: Uri,
    Body(asked): Body<Removal>,
) -> Result<NoContent, Response> {
    let account_id = &caller.account_id;
    let found = app.auth.accounts.account(account_id).await;
    let found = found.map_err(|status| shapes::refused(&status).into_response())?;
    // Another request was faster: then this token has ended.
    let ended = || Denied::InvalidToken.answer(&uri);
    let account = found.account.ok_or_else(ended)?;
    if asked.confirm.0 != account.name {
        let why = "write the account's name, as /api/player shows it";
        return Err(Problem::invalid("/confirm", why).into_response());
    }
    // By then, all tokens of the account have ended.
    let ours_ms = clock::unix_ms() + LIFETIME_S * 1000;
    let until_ms = ours_ms.max(caller.expires_at_ms).saturating_add(MARGIN_MS);
    let ask = DeleteAccountRequest {
        account_id: account_id.clone(),
        login_ids: vec![caller.login_id.clone()],
        until_ms,
    };
    let outcome = app.personal.delete(ask).await;
    match outcome.map_err(|status| shapes::refused(&status).into_response())? {
        Deletion::Done => {}
        Deletion::NotThere => return Err(ended()),
        Deletion::Banned => return Err(Denied::Banned { until_ms: None }.answer(&uri)),
        refused => return Err(refusal(refused).into_response()),
    }
    // The push tells the other gateways; here the account is gone before the answer is out.
    for id in [account_id, &caller.login_id] {
        app.auth.sanctions.revoked(id, until_ms);
    }
    app.sessions.registry.news(account_id, &News::Changed);
    Ok(NoContent)
}

/// Returns the problem for an account that cannot go as things are.
fn refusal(outcome: Deletion) -> Problem {
    let (code, why) = match outcome {
        Deletion::InWorld => (
            Code::InWorld,
            "A character of the account is in the world: leave it, stop agents, and wait until \
             the characters are gone.",
        ),
        Deletion::Quarantined => (
            Code::Quarantined,
            "A character of the account is kept out of the world for now; ask an operator.",
        ),
        Deletion::LastOperator => (
            Code::LastOperator,
            "Without this account there would be no operator; give somebody else the role.",
        ),
        Deletion::Unspecified | Deletion::Done | Deletion::NotThere | Deletion::Banned => {
            if let Some(left_out) = sampled("the store answers oddly", "deletion") {
                tracing::error!(
                    ?outcome,
                    left_out,
                    "the store refuses for an unknown reason"
                );
            }
            (Code::Internal, Code::Internal.meaning())
        }
    };
    Problem::of(code, why)
}
