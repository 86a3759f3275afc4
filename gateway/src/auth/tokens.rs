//! Our own access tokens and resume tokens: HS256, 12 hours; and refresh tokens of passwords: 60
//! days. The gateway requires and checks every claim.
//!
//! Always: the algorithm is ours, never the token's; the gateway never logs a token. A token of
//! one kind never serves as one of the other, because each names its own audience. The first key of
//! the list signs every new token and is named in its header; a key that left the list verifies
//! nothing.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::signatures;
use super::signing_keys::{KeyFile, KeyList, SigningKey, SigningKeys};
use crate::clock;

pub(super) const ISSUER: &str = "tilestead";
const AUDIENCE: &str = "tilestead";
const RESUME_AUDIENCE: &str = "tilestead-resume";
const REFRESH_AUDIENCE: &str = "tilestead-refresh";
/// Lifetime of a token, in seconds.
pub(crate) const LIFETIME_S: u64 = 12 * 60 * 60;
/// Lifetime of a refresh token, in seconds.
const REFRESH_LIFETIME_S: u64 = 60 * 24 * 60 * 60;
pub(super) const LEEWAY_S: u64 = 5;

/// Claims of an access token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// The account.
    pub(crate) sub: String,
    iss: String,
    aud: String,
    iat: u64,
    /// End of the token, in seconds since 1970.
    pub(crate) exp: u64,
    /// Its own id.
    pub(crate) jti: String,
    /// Scope of the token.
    pub(crate) scope: Scope,
    /// The only character that an agent's token is good for; no other scope has one.
    #[serde(
        rename = "characterId",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) character_id: Option<String>,
    /// Login that the token comes from, over any number of renewals; absent: its own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) login: Option<String>,
}

impl Claims {
    /// Returns the login that the token comes from.
    pub(crate) fn login_id(&self) -> &str {
        self.login.as_deref().unwrap_or(&self.jti)
    }
}

/// Claims of a resume token: all that another gateway needs to continue the session.
///
/// The token is good for as long as an access token, not for the linger time only. The zones
/// enforce the linger time, which begins at the loss of the connection. After the linger time no
/// zone has the character, and the token resumes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResumeClaims {
    /// The account.
    pub(crate) sub: String,
    iss: String,
    aud: String,
    iat: u64,
    /// End of the token, in seconds since 1970.
    pub(crate) exp: u64,
    jti: String,
    /// Session that the token resumes.
    #[serde(flatten)]
    pub(crate) session: Resumable,
}

/// Claims of a refresh token: it begins nothing but new access tokens of its login, as long as the
/// store knows of that login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefreshClaims {
    /// The account.
    pub(crate) sub: String,
    iss: String,
    aud: String,
    iat: u64,
    exp: u64,
    jti: String,
    /// The login that goes on.
    pub(crate) login: String,
}

/// A session as a resume token describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Resumable {
    /// The session.
    pub(crate) sid: String,
    /// Count of messages to which the client's last `seq` belongs; it changes when the gateway
    /// sends everything anew.
    pub(crate) line: String,
    /// Character that the session plays, if it is in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plays: Option<Plays>,
    /// The login that the session comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) login: Option<String>,
    /// The only character that the session may speak for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
}

/// A character in the world, as a resume token names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plays {
    /// The character.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// The session epoch of its login.
    pub(crate) epoch: u64,
}

/// The rights of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Everything that a player may do.
    Player,
    /// Everything that one agent's character may do.
    Agent,
    /// Only looking on.
    Spectator,
}

/// Account, scope and bounds of a new token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Good<'a> {
    pub(crate) account_id: &'a str,
    pub(crate) scope: Scope,
    /// The character of a token with [`Scope::Agent`]; `None` for every other scope.
    pub(crate) character_id: Option<&'a str>,
    /// Latest end, in milliseconds since 1970. An agent's or a spectator's token makes no token
    /// that outlives it: the owner gives another, and may have ended it by then.
    pub(crate) ends_by_ms: Option<u64>,
}

impl<'a> Good<'a> {
    /// Returns the full rights of a player.
    pub(crate) const fn player(account_id: &'a str) -> Self {
        Self {
            account_id,
            scope: Scope::Player,
            character_id: None,
            ends_by_ms: None,
        }
    }
}

/// A new token.
pub(crate) struct Issued {
    pub(crate) token: String,
    /// Its own id.
    pub(crate) token_id: String,
    /// Milliseconds since 1970.
    pub(crate) expires_at_ms: u64,
}

/// Reason why the gateway refuses a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A token that is not one of ours, or has ended.
    Invalid,
    /// Any token, while no key is known.
    NotReady,
}

/// Shortest time between two reads of the file of keys.
const REREAD: Duration = Duration::from_millis(10);

/// Makes and checks tokens, as soon as it knows a key.
#[derive(Default)]
pub(crate) struct Tokens {
    keys: ArcSwapOption<Vec<Key>>,
    file: Option<KeyFile>,
    last: Mutex<Last>,
}

/// The last read of the file of keys.
#[derive(Default)]
struct Last {
    at: Option<Instant>,
    /// The list, or why there was none.
    said: Option<Result<KeyList, String>>,
}

/// A key of the list, ready for use.
struct Key {
    id: String,
    sign: EncodingKey,
    verify: DecodingKey,
}

impl From<&SigningKey> for Key {
    fn from(key: &SigningKey) -> Self {
        Self {
            id: key.id.clone(),
            sign: EncodingKey::from_secret(&key.secret),
            verify: DecodingKey::from_secret(&key.secret),
        }
    }
}

impl Tokens {
    /// Makes and checks tokens by these settings.
    pub(crate) fn new(settings: &SigningKeys) -> Self {
        let last = Last {
            at: None,
            said: settings.list.clone().map(Ok),
        };
        let tokens = Self {
            file: settings.file.clone(),
            last: Mutex::new(last),
            ..Self::default()
        };
        if let Some(list) = &settings.list {
            tokens.set_keys(list);
        }
        tokens
    }

    /// Sets the keys that sign and check tokens from now on.
    pub(crate) fn set_keys(&self, list: &KeyList) {
        let keys = list.keys().iter().map(Key::from).collect();
        self.keys.store(Some(Arc::new(keys)));
    }

    /// Reads the file of keys again, if there is one and the last read is not too fresh. A file
    /// that cannot be read leaves the keys as they are.
    pub(crate) fn reread(&self) {
        let Some(file) = &self.file else {
            return;
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::instant();
        if last.at.is_some_and(|at| now.duration_since(at) < REREAD) {
            return;
        }
        last.at = Some(now);
        let said = file.read();
        if last.said.as_ref() == Some(&said) {
            return;
        }
        match &said {
            Ok(list) => {
                tracing::info!(keys = ?list.keys(), "the keys of tokens changed");
                self.set_keys(list);
            }
            Err(why) => {
                tracing::error!(why, "JWT_KEYS_FILE is broken: the keys stay as they were");
            }
        }
        last.said = Some(said);
    }

    /// Returns whether a key is known.
    pub(crate) fn ready(&self) -> bool {
        self.keys.load().is_some()
    }

    /// Makes a player's token for an account; `None` while no key is known.
    pub(crate) fn issue(&self, account_id: &str) -> Option<Issued> {
        self.issue_at(Good::player(account_id), clock::unix_ms() / 1000)
    }

    /// Makes a token that is good for just `good`, of a login of its own; `None` while no key
    /// is known.
    pub(crate) fn issue_for(&self, good: Good<'_>) -> Option<Issued> {
        self.issue_at(good, clock::unix_ms() / 1000)
    }

    /// Makes a token that is good for just `good`, of the existing login `login`; `None` while no
    /// key is known.
    pub(crate) fn issue_within(&self, good: Good<'_>, login: &str) -> Option<Issued> {
        self.issue_of(good, Some(login), clock::unix_ms() / 1000)
    }

    fn issue_at(&self, good: Good<'_>, now_s: u64) -> Option<Issued> {
        self.issue_of(good, None, now_s)
    }

    fn issue_of(&self, good: Good<'_>, login: Option<&str>, now_s: u64) -> Option<Issued> {
        let claims = Claims {
            sub: good.account_id.to_owned(),
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            iat: now_s,
            exp: end_s(now_s + LIFETIME_S, good.ends_by_ms),
            jti: uuid::Uuid::new_v4().simple().to_string(),
            scope: good.scope,
            character_id: good.character_id.map(str::to_owned),
            login: login.map(str::to_owned),
        };
        Some(Issued {
            token: self.sign(&claims)?,
            token_id: claims.jti,
            expires_at_ms: claims.exp * 1000,
        })
    }

    /// Returns the claims of an access token, if it is ours and still good.
    pub(crate) fn verify(&self, token: &str) -> Result<Claims, Refused> {
        let claims: Claims = self.read(token, AUDIENCE)?;
        // An agent's token without its character would be good for all of the account.
        let agent = claims.scope == Scope::Agent;
        if agent != claims.character_id.is_some() {
            return Err(Refused::Invalid);
        }
        timely(claims.iat, claims.exp, LIFETIME_S).map(|()| claims)
    }

    /// Makes a refresh token of a login; `None` while no key is known.
    pub(crate) fn issue_refresh(&self, account_id: &str, login: &str) -> Option<String> {
        self.issue_refresh_at(account_id, login, clock::unix_ms() / 1000)
    }

    fn issue_refresh_at(&self, account_id: &str, login: &str, now_s: u64) -> Option<String> {
        let claims = RefreshClaims {
            sub: account_id.to_owned(),
            iss: ISSUER.to_owned(),
            aud: REFRESH_AUDIENCE.to_owned(),
            iat: now_s,
            exp: now_s + REFRESH_LIFETIME_S,
            jti: uuid::Uuid::new_v4().simple().to_string(),
            login: login.to_owned(),
        };
        self.sign(&claims)
    }

    /// Returns the claims of a refresh token, if it is ours and still good.
    pub(crate) fn verify_refresh(&self, token: &str) -> Result<RefreshClaims, Refused> {
        let claims: RefreshClaims = self.read(token, REFRESH_AUDIENCE)?;
        timely(claims.iat, claims.exp, REFRESH_LIFETIME_S).map(|()| claims)
    }

    /// Makes a resume token, which ends at `ends_by_ms` at the latest; `None` while no key is
    /// known.
    pub(crate) fn issue_resume(
        &self,
        account_id: &str,
        session: Resumable,
        ends_by_ms: Option<u64>,
    ) -> Option<String> {
        let now_s = clock::unix_ms() / 1000;
        let claims = ResumeClaims {
            sub: account_id.to_owned(),
            iss: ISSUER.to_owned(),
            aud: RESUME_AUDIENCE.to_owned(),
            iat: now_s,
            exp: end_s(now_s + LIFETIME_S, ends_by_ms),
            jti: uuid::Uuid::new_v4().simple().to_string(),
            session,
        };
        self.sign(&claims)
    }

    /// Returns the claims of a resume token, if it is ours and still good.
    pub(crate) fn verify_resume(&self, token: &str) -> Result<ResumeClaims, Refused> {
        let claims: ResumeClaims = self.read(token, RESUME_AUDIENCE)?;
        timely(claims.iat, claims.exp, LIFETIME_S).map(|()| claims)
    }

    /// Signs claims with the first key; `None` while no key is known.
    fn sign<T: Serialize>(&self, claims: &T) -> Option<String> {
        let keys = self.keys.load_full()?;
        let key = keys.first()?;
        let header = Header {
            kid: Some(key.id.clone()),
            ..Header::new(Algorithm::HS256)
        };
        signatures::encode(&header, claims, &key.sign).ok()
    }

    /// Returns the claims of a token that a key of the list has signed. A token of an earlier
    /// version names no key, so that any of them may have signed it.
    fn read<T: DeserializeOwned>(&self, token: &str, audience: &str) -> Result<T, Refused> {
        let mut keys = self.keys.load_full().ok_or(Refused::NotReady)?;
        let mut rules = Validation::new(Algorithm::HS256);
        rules.leeway = LEEWAY_S;
        rules.validate_nbf = true;
        rules.set_issuer(&[ISSUER]);
        rules.set_audience(&[audience]);
        rules.set_required_spec_claims(&["sub", "iss", "aud", "exp"]);
        let header = jsonwebtoken::decode_header(token).map_err(|_| Refused::Invalid)?;
        let by = |key: &&Key| header.kid.as_ref().is_none_or(|id| *id == key.id);
        if !keys.iter().any(|key| by(&key)) {
            // Another gateway may have read a newer list.
            self.reread();
            keys = self.keys.load_full().ok_or(Refused::NotReady)?;
        }
        let mut read = keys
            .iter()
            .filter(by)
            .filter_map(|key| signatures::decode::<T>(token, &key.verify, &rules).ok());
        Ok(read.next().ok_or(Refused::Invalid)?.claims)
    }
}

/// Returns the earlier end, in seconds since 1970.
fn end_s(usual_s: u64, ends_by_ms: Option<u64>) -> u64 {
    ends_by_ms.map_or(usual_s, |by| usual_s.min(by / 1000))
}

/// Checks the times that the library does not check: the issue time and the lifetime.
fn timely(iat: u64, exp: u64, lifetime_s: u64) -> Result<(), Refused> {
    let now = clock::unix_ms() / 1000;
    if iat > now + LEEWAY_S || exp > iat.saturating_add(lifetime_s) {
        return Err(Refused::Invalid);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
