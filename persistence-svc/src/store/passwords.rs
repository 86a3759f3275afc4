//! Passwords of accounts, each by a name.
//!
//! Always: an account has at most one password, and a name leads to one account. A change names the
//! hash that it replaces, so of two changes at once one wins. It ends all other logins that the
//! password began.

use super::error::{Result, StoreError};
use super::row::{FromRow, Read, Row};

/// Most logins of one password at a time; one more ends the oldest.
pub(crate) const LOGINS_MAX: usize = 16;

/// A password, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Password {
    pub(crate) account: String,
    /// Name in lower case.
    pub(crate) name: String,
    /// Hash in PHC's string format.
    pub(crate) hash: String,
    /// SHA-256 of each recovery code that is left, one after the other.
    pub(crate) codes: Vec<u8>,
    /// Logins that the password began, oldest first.
    pub(crate) logins: Vec<String>,
}

impl FromRow for Password {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        let logins: String = row.column(4)?;
        let logins = logins.split(',').filter(|login| !login.is_empty());
        Ok(Password {
            account: row.column(0)?,
            name: row.column(1)?,
            hash: row.column(2)?,
            codes: row.column(3)?,
            logins: logins.map(str::to_owned).collect(),
        })
    }
}

impl Password {
    /// Returns the column of some logins.
    pub(crate) fn column(logins: &[String]) -> String {
        logins.join(",")
    }

    /// Notes a login. Returns those that end for it: none without `may_end`, and then the next login
    /// ends more.
    pub(crate) fn note(&mut self, login: &str, may_end: bool) -> Vec<String> {
        if self.logins.iter().any(|known| known == login) {
            return Vec::new();
        }
        self.logins.push(login.to_owned());
        let over = self.logins.len().saturating_sub(LOGINS_MAX);
        self.logins
            .drain(..if may_end { over } else { 0 })
            .collect()
    }

    /// Forgets logins that ended. Returns whether it knew any of them.
    pub(crate) fn forget(&mut self, ended: &[String]) -> bool {
        let before = self.logins.len();
        self.logins.retain(|login| !ended.contains(login));
        self.logins.len() < before
    }

    /// Changes the password. Returns the logins that end for it; `None`: it was changed before, by
    /// the same request.
    ///
    /// # Errors
    /// Another request changed it meanwhile.
    pub(crate) fn change(&mut self, ask: &Changed) -> Result<Option<Vec<String>>> {
        if self.hash == ask.hash {
            return Ok(None);
        }
        if self.hash != ask.before {
            return Err(StoreError::PasswordChanged);
        }
        self.hash.clone_from(&ask.hash);
        self.codes.clone_from(&ask.codes);
        let before = std::mem::replace(&mut self.logins, vec![ask.login.clone()]);
        let ended = before.into_iter().filter(|login| *login != ask.login);
        Ok(Some(ended.collect()))
    }
}

/// A new password.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) account: String,
    pub(crate) name: String,
    pub(crate) hash: String,
    pub(crate) codes: Vec<u8>,
    /// The login that makes it.
    pub(crate) login: String,
}

/// A change of a password.
#[derive(Debug, Clone)]
pub(crate) struct Changed {
    pub(crate) account: String,
    /// Hash that it replaces.
    pub(crate) before: String,
    pub(crate) hash: String,
    pub(crate) codes: Vec<u8>,
    /// The login that goes on.
    pub(crate) login: String,
    /// Time by which all tokens of the other logins have ended.
    pub(crate) until_ms: i64,
}

/// Key by which a password is read.
#[derive(Debug, Clone)]
pub(crate) enum Of {
    Account(String),
    /// Name in lower case.
    Name(String),
}

impl Of {
    /// Returns the query for the password, and its parameter.
    pub(crate) fn query(&self) -> (&'static str, &String) {
        match self {
            Self::Account(account) => (OF_ACCOUNT, account),
            Self::Name(name) => (OF_NAME, name),
        }
    }
}

// Each statement numbers its parameters by their first place in the text.

/// The [`Password`] of an account: $1.
pub(crate) const OF_ACCOUNT: &str = r#"SELECT "accountId", name, hash, codes, logins
 FROM passwords WHERE "accountId" = $1"#;
/// The [`Password`] of a name: $1.
const OF_NAME: &str = r#"SELECT "accountId", name, hash, codes, logins
 FROM passwords WHERE name = $1"#;
/// Adds a password, unless somebody has the name: $1 account, $2 name, $3 hash, $4 codes, $5 logins.
pub(crate) const MAKE: &str = r#"INSERT INTO passwords ("accountId", name, hash, codes, logins)
 VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING"#;
/// Notes that more than a device key leads to an account, so that it never expires: $1.
pub(crate) const KNOWN: &str = "UPDATE users SET anonymous = false WHERE id = $1";
/// Sets what changes of a password: $1 hash, $2 codes, $3 logins, $4 account.
pub(crate) const SET: &str = r#"UPDATE passwords SET hash = $1, codes = $2, logins = $3
 WHERE "accountId" = $4"#;
/// Takes the device key from an account, so that a lost device signs in no more: $1.
pub(crate) const NO_KEY: &str = r#"UPDATE users SET "deviceKeyHash" = NULL WHERE id = $1"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn password(logins: &[&str]) -> Password {
        Password {
            account: "a".to_owned(),
            name: "ann".to_owned(),
            hash: "first".to_owned(),
            codes: vec![1; 64],
            logins: logins.iter().map(|login| (*login).to_owned()).collect(),
        }
    }

    fn changed(before: &str, hash: &str) -> Changed {
        Changed {
            account: "a".to_owned(),
            before: before.to_owned(),
            hash: hash.to_owned(),
            codes: vec![1; 32],
            login: "here".to_owned(),
            until_ms: 5,
        }
    }

    #[test]
    fn a_change_ends_all_other_logins_and_counts_once() {
        let mut password = password(&["there", "here", "elsewhere"]);
        let ended = password.change(&changed("first", "second")).unwrap();
        assert_eq!(ended.unwrap(), ["there", "elsewhere"]);
        assert_eq!((&*password.hash, password.codes.len()), ("second", 32));
        // The same request again, and one that comes too late.
        assert_eq!(password.change(&changed("first", "second")).unwrap(), None);
        let late = password.change(&changed("first", "third"));
        assert!(matches!(late, Err(StoreError::PasswordChanged)));
        assert_eq!(
            (&*password.hash, &*password.logins),
            ("second", &["here".to_owned()][..])
        );
    }

    #[test]
    fn one_login_too_many_ends_the_oldest() {
        let mut password = password(&[]);
        for login in 0..LOGINS_MAX {
            assert_eq!(password.note(&login.to_string(), false), [""; 0]);
            assert_eq!(
                password.note(&login.to_string(), true),
                [""; 0],
                "it is noted once"
            );
        }
        assert_eq!(password.note("16", false), [""; 0], "nobody may end here");
        assert_eq!(password.note("17", true), ["0", "1"]);
        assert_eq!(password.logins.len(), LOGINS_MAX);
    }

    #[test]
    fn a_login_that_ended_is_forgotten() {
        let mut password = password(&["there", "here"]);
        assert!(!password.forget(&["elsewhere".to_owned()]));
        assert!(password.forget(&["there".to_owned()]));
        assert_eq!(password.logins, ["here"]);
    }
}
