//! Passwords on the wire.

use proto::rpc::identity::v1 as wire;

use super::malformed;
use super::model::{Checked, number, text};
use crate::store::passwords::{Changed, Made, Of, Password};

/// Bytes of a recovery code's hash.
const CODE_BYTES: usize = 32;
/// Most recovery codes of a password.
const CODES_MAX: usize = 16;

/// Checks a new password.
pub(super) fn made(ask: wire::MakePasswordRequest) -> Checked<Made> {
    Ok(Made {
        account: text("account_id", ask.account_id)?,
        name: text("name", ask.name)?,
        hash: text("hash", ask.hash)?,
        codes: codes(&ask.recovery_code_hashes)?,
        login: login(ask.login_id)?,
    })
}

/// Checks the key of a password.
pub(super) fn of(ask: wire::GetPasswordRequest) -> Checked<Of> {
    match (ask.name, ask.account_id) {
        (name, account) if name.is_empty() => Ok(Of::Account(text("account_id", account)?)),
        (name, account) if account.is_empty() => Ok(Of::Name(text("name", name)?)),
        _ => Err(malformed("only one of name and account_id may be there")),
    }
}

/// Checks a change of a password.
pub(super) fn changed(ask: wire::ChangePasswordRequest) -> Checked<Changed> {
    Ok(Changed {
        account: text("account_id", ask.account_id)?,
        before: text("before", ask.before)?,
        hash: text("hash", ask.hash)?,
        codes: codes(&ask.recovery_code_hashes)?,
        login: login(ask.login_id)?,
        until_ms: number("until_ms", ask.until_ms)?,
    })
}

/// Checks the id of a login. It has no comma, because commas separate logins in the store.
pub(super) fn login(id: String) -> Checked<String> {
    let id = text("login_id", id)?;
    match id.contains(',') {
        true => Err(malformed("login_id has a comma")),
        false => Ok(id),
    }
}

fn codes(hashes: &[u8]) -> Checked<Vec<u8>> {
    let most = CODES_MAX * CODE_BYTES;
    if hashes.len() > most || !hashes.len().is_multiple_of(CODE_BYTES) {
        let why = format!("recovery_code_hashes must be at most {CODES_MAX} of {CODE_BYTES} bytes");
        return Err(malformed(why));
    }
    Ok(hashes.to_vec())
}

/// Converts a password.
pub(super) fn password(password: Password) -> wire::Password {
    wire::Password {
        account_id: password.account,
        name: password.name,
        hash: password.hash,
        recovery_code_hashes: password.codes.into(),
        login_ids: password.logins,
    }
}
