//! Operators: the accounts with the role of admins. The code makes the first one, and operators
//! make all others.
//!
//! Always: the store decides who is first, so that of two gateways one wins. The record names the
//! account.

use proto::rpc::identity::v1::{AuditAction, ModerateRequest};
use tonic::{Code, Status};

use super::roles::{self, Role};
use crate::app::App;

/// Reason why an account did not become an operator.
#[derive(Debug)]
pub(crate) enum NotMade {
    /// There is no code.
    NoCode,
    /// The code is another.
    WrongCode,
    /// An account is an operator already.
    Exists,
    /// The store does not answer, or not so.
    Away(Status),
}

impl NotMade {
    /// Words for somebody who came too late.
    pub(crate) const EXISTS: &'static str =
        "There are operators already; one of them can give your account the role.";
}

/// Makes an account the first operator, if `code` is the code. An operator may say it again.
pub(crate) async fn make_first(app: &App, account_id: &str, code: &str) -> Result<(), NotMade> {
    if !app.config.admin_code.is_set() {
        return Err(NotMade::NoCode);
    }
    if !app.config.admin_code.is(code) {
        tracing::warn!(account = account_id, "a wrong operators' code");
        app.metrics.auth_attempt("wrong_admin_code");
        return Err(NotMade::WrongCode);
    }
    let has = roles::of(&app.auth.identity, account_id).await;
    let has = has.map_err(|_| NotMade::Away(Status::unavailable("the store is away")))?;
    if has == Some(Role::Admin) {
        return Ok(());
    }
    let request = ModerateRequest {
        action: AuditAction::FirstOperator.into(),
        by: account(account_id),
        account_id: account_id.to_owned(),
        ..ModerateRequest::default()
    };
    let made = app.auth.identity.moderate(request).await;
    made.map_err(|status| match status.code() {
        Code::FailedPrecondition => {
            tracing::warn!(account = account_id, "the operators' code came too late");
            app.metrics.auth_attempt("late_admin_code");
            NotMade::Exists
        }
        _ => NotMade::Away(status),
    })?;
    tracing::info!(account = account_id, "an account became the first operator");
    app.metrics.auth_attempt("first_operator");
    Ok(())
}

/// Returns an account's name for the record of operators' actions.
pub(crate) fn account(id: &str) -> String {
    format!("account:{id}")
}
