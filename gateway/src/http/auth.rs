//! `/api/auth/*`: how tokens are got, renewed and given up.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::Uri,
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::{
    app::App,
    auth::{
        caller::{Caller, Denied},
        tokens::{Good, Issued, Scope},
    },
    clock,
};

/// Whose tokens may be renewed. Operators name the code anew, agents their credentials.
pub(super) const MAY_REFRESH: &[Scope] = &[Scope::Player, Scope::Spectator];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    token: String,
    expires_at: String,
}

impl From<Issued> for Token {
    fn from(issued: Issued) -> Self {
        Self {
            token: issued.token,
            expires_at: clock::iso(issued.expires_at_ms),
        }
    }
}

/// A new token that is good for the same as the one that is shown.
pub(super) async fn refresh(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
) -> Response {
    let good = Good {
        account_id: &caller.account_id,
        scope: caller.scope,
        character_id: caller.character_id.as_deref(),
    };
    match app.tokens.issue_for(good) {
        Some(issued) => Json(Token::from(issued)).into_response(),
        None => Denied::NotReady.answer(&uri),
    }
}
