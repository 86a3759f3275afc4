//! Passwords in SQLite.

use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::identity::{next_version, write};
use super::{Sqlite, Transaction, read};
use crate::store::Passwords;
use crate::store::error::{Result, StoreError};
use crate::store::identity::Sanction;
use crate::store::passwords::{Changed, KNOWN, MAKE, Made, NO_KEY, OF_ACCOUNT, Of, Password, SET};

#[async_trait]
impl Passwords for Sqlite {
    async fn make_password(&self, ask: Made) -> Result<()> {
        self.write(move |transaction| make(transaction, &ask)).await
    }

    async fn password(&self, of: Of) -> Result<Option<Password>> {
        self.read(move |transaction| {
            let (query, key) = of.query();
            find(transaction, query, key)
        })
        .await
    }

    async fn note_login(&self, account: &str, login: &str, until_ms: i64) -> Result<()> {
        let (account, login) = (account.to_owned(), login.to_owned());
        self.write(move |transaction| {
            let mut password = known(transaction, &account)?;
            let ended = password.note(&login, true);
            set(transaction, &password)?;
            end(transaction, &account, &ended, until_ms)
        })
        .await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn change_password(&self, ask: Changed) -> Result<Vec<String>> {
        let ended = self
            .write(move |transaction| change(transaction, &ask))
            .await?;
        self.changed.notify_one();
        Ok(ended)
    }
}

fn make(transaction: &Transaction<'_>, ask: &Made) -> Result<()> {
    if let Some(has) = find(transaction, OF_ACCOUNT, &ask.account)? {
        return match has.hash == ask.hash {
            true => Ok(()),
            false => Err(StoreError::PasswordExists),
        };
    }
    if transaction.execute(KNOWN, params![ask.account])? == 0 {
        return Err(StoreError::NotFound("account"));
    }
    let values = params![ask.account, ask.name, ask.hash, ask.codes, ask.login];
    if transaction.execute(MAKE, values)? == 0 {
        return Err(StoreError::NameTaken);
    }
    Ok(())
}

fn change(transaction: &Transaction<'_>, ask: &Changed) -> Result<Vec<String>> {
    let mut password = known(transaction, &ask.account)?;
    let Some(ended) = password.change(ask)? else {
        return Ok(Vec::new());
    };
    set(transaction, &password)?;
    transaction.execute(NO_KEY, params![ask.account])?;
    end(transaction, &ask.account, &ended, ask.until_ms)?;
    Ok(ended)
}

fn find(transaction: &Transaction<'_>, query: &str, key: &str) -> Result<Option<Password>> {
    let mut statement = transaction.prepare_cached(query)?;
    Ok(statement.query_row(params![key], read).optional()?)
}

fn known(transaction: &Transaction<'_>, account: &str) -> Result<Password> {
    let found = find(transaction, OF_ACCOUNT, account)?;
    found.ok_or(StoreError::NotFound("password"))
}

/// Forgets logins of a password that ended, if the account has one.
pub(super) fn forget(transaction: &Transaction<'_>, account: &str, ended: &[String]) -> Result<()> {
    let Some(mut password) = find(transaction, OF_ACCOUNT, account)? else {
        return Ok(());
    };
    match password.forget(ended) {
        true => set(transaction, &password),
        false => Ok(()),
    }
}

fn set(transaction: &Transaction<'_>, password: &Password) -> Result<()> {
    let logins = Password::column(&password.logins);
    let values = params![password.hash, password.codes, logins, password.account];
    transaction.execute(SET, values)?;
    Ok(())
}

/// Revokes logins of an account.
fn end(
    transaction: &Transaction<'_>,
    account: &str,
    logins: &[String],
    until_ms: i64,
) -> Result<()> {
    for login in logins {
        let version = next_version(transaction)?;
        let revoked = Sanction::revoked(account, login, until_ms, version);
        write(transaction, &revoked)?;
    }
    Ok(())
}
