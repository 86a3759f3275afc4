//! Passwords in PostgreSQL.
//!
//! Always: whoever ends logins locks the version of the sanctions first, as every decision about
//! accounts does.

use tonic::async_trait;

use super::directory::notify;
use super::identity::{next_version, write};
use super::session::{GenericClient, Transaction};
use super::{Postgres, Values};
use crate::store::Passwords;
use crate::store::error::{Result, StoreError};
use crate::store::identity::Sanction;
use crate::store::passwords::{
    Changed, KNOWN, LOGINS_MAX, MAKE, Made, NO_KEY, OF_ACCOUNT, Of, Password, SET,
};
use crate::store::row::FromRow;

#[async_trait]
impl Passwords for Postgres {
    async fn make_password(&self, ask: Made) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let account = "SELECT 1 FROM users WHERE id = $1 FOR UPDATE";
        let account = transaction.query_opt(account, &[&ask.account]).await?;
        account.ok_or(StoreError::NotFound("account"))?;
        if let Some(has) = find(&transaction, OF_ACCOUNT, &ask.account).await? {
            return match has.hash == ask.hash {
                true => Ok(()),
                false => Err(StoreError::PasswordExists),
            };
        }
        let values: Values<'_> = &[&ask.account, &ask.name, &ask.hash, &ask.codes, &ask.login];
        if transaction.execute(MAKE, values).await? == 0 {
            return Err(StoreError::NameTaken);
        }
        transaction.execute(KNOWN, &[&ask.account]).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn password(&self, of: Of) -> Result<Option<Password>> {
        let client = self.client().await?;
        let (query, key) = of.query();
        find(&client, query, key).await
    }

    async fn note_login(&self, account: &str, login: &str, until_ms: i64) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let known = find(&transaction, OF_ACCOUNT, account).await?;
        let known = known.ok_or(StoreError::NotFound("password"))?;
        let full = known.logins.len() >= LOGINS_MAX;
        if full {
            next_version(&transaction).await?;
        }
        let mut password = locked(&transaction, account).await?;
        let ended = password.note(login, full);
        set(&transaction, &password).await?;
        end(&transaction, account, &ended, until_ms).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(())
    }

    async fn change_password(&self, ask: Changed) -> Result<Vec<String>> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        next_version(&transaction).await?;
        let mut password = locked(&transaction, &ask.account).await?;
        let Some(ended) = password.change(&ask)? else {
            return Ok(Vec::new());
        };
        set(&transaction, &password).await?;
        transaction.execute(NO_KEY, &[&ask.account]).await?;
        end(&transaction, &ask.account, &ended, ask.until_ms).await?;
        transaction.commit().await?;
        self.changed.notify_one();
        Ok(ended)
    }
}

async fn find<C: GenericClient>(client: &C, query: &str, key: &str) -> Result<Option<Password>> {
    let statement = client.prepare_cached(query).await?;
    let row = client.query_opt(&statement, &[&key]).await?;
    Ok(row.as_ref().map(Password::from_row).transpose()?)
}

/// Returns the password of an account, and locks it.
async fn locked(transaction: &Transaction<'_>, account: &str) -> Result<Password> {
    let query = format!("{OF_ACCOUNT} FOR UPDATE");
    let found = find(transaction, &query, account).await?;
    found.ok_or(StoreError::NotFound("password"))
}

/// Forgets logins of a password that ended, if the account has one.
pub(super) async fn forget(
    transaction: &Transaction<'_>,
    account: &str,
    ended: &[String],
) -> Result<()> {
    let query = format!("{OF_ACCOUNT} FOR UPDATE");
    let Some(mut password) = find(transaction, &query, account).await? else {
        return Ok(());
    };
    match password.forget(ended) {
        true => set(transaction, &password).await,
        false => Ok(()),
    }
}

async fn set(transaction: &Transaction<'_>, password: &Password) -> Result<()> {
    let logins = Password::column(&password.logins);
    let values: Values<'_> = &[&password.hash, &password.codes, &logins, &password.account];
    transaction.execute(SET, values).await?;
    Ok(())
}

/// Revokes logins of an account.
async fn end(
    transaction: &Transaction<'_>,
    account: &str,
    logins: &[String],
    until_ms: i64,
) -> Result<()> {
    for login in logins {
        let version = next_version(transaction).await?;
        let revoked = Sanction::revoked(account, login, until_ms, version);
        write(transaction, &revoked).await?;
    }
    notify(transaction).await
}
