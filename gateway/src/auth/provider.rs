//! The identity provider's tokens, and the subjects that they vouch for.
//!
//! Always: the algorithm is ES256, with a key of the provider's own set, never the token's choice.
//! A token needs issuer, audience, subject and end. A token that names the provider as its issuer
//! is the provider's, and the gateway tries no other verifier.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, Validation};
use reqwest::Url;
use serde::Deserialize;
use service_runtime::config::{Reader, Secret};
use sha2::{Digest, Sha256};

use super::{
    key_set::{KeySet, NoKey},
    signatures,
    tokens::{ISSUER, LEEWAY_S},
};
use crate::clock;

/// Subjects whose account stays in memory, so that not every request asks the store.
const SUBJECTS_MAX: usize = 50_000;

/// The settings of the provider.
#[derive(Debug, Clone)]
pub(crate) struct ProviderConfig {
    app_id: String,
    secret: Secret,
    issuer: String,
    keys: Url,
}

impl ProviderConfig {
    /// Reads the settings that go with `app_id`; problems gather in the reader.
    pub(crate) fn read(reader: &mut Reader, app_id: &str, production: bool) -> Option<Self> {
        let help = "identity provider's app secret; sent as Basic credentials where it asks";
        let secret = reader.secret("IDP_APP_SECRET", help);
        let issuer: Option<String> = reader.optional("IDP_ISSUER", "identity provider's issuer");
        let keys: Option<String> = reader.optional("IDP_JWKS_URL", "identity provider's key set");
        let missing = [
            ("IDP_APP_SECRET", secret.is_none()),
            ("IDP_ISSUER", issuer.is_none()),
            ("IDP_JWKS_URL", keys.is_none()),
        ];
        for (name, _) in missing.into_iter().filter(|(_, missing)| *missing) {
            reader.problem(format!("{name} is required with PUBLIC_IDP_APP_ID"));
        }
        let (secret, issuer, keys) = (secret?, issuer?, keys?);
        if issuer == ISSUER {
            reader.problem(format!(
                "IDP_ISSUER must not be {ISSUER:?}: that is this server"
            ));
        }
        let keys = match Url::parse(&keys) {
            Ok(url) if url.scheme() == "https" => url,
            // Traffic that never leaves this machine needs no encryption.
            Ok(url) if url.scheme() == "http" && (!production || here(&url)) => url,
            _ => {
                let allowed = if production {
                    "an https"
                } else {
                    "an http or https"
                };
                reader.problem(format!("IDP_JWKS_URL is not {allowed} address"));
                return None;
            }
        };
        Some(Self {
            app_id: app_id.to_owned(),
            secret,
            issuer,
            keys,
        })
    }
}

/// The subject that a token vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vouched {
    /// The provider's name for the person.
    pub(crate) subject: String,
    /// Id of this token. Each token is a login of its own here: after a logout, the next token of
    /// the same login at the provider comes in again.
    pub(crate) token_id: String,
    /// Milliseconds since 1970.
    pub(crate) expires_at_ms: u64,
}

/// Reason why a token vouches for nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenError {
    Invalid,
    /// A token that the gateway cannot check, because it cannot get the provider's keys.
    Away,
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: u64,
    #[serde(default)]
    iat: Option<u64>,
}

/// Checks the provider's tokens.
pub(crate) struct Provider {
    config: ProviderConfig,
    pub(crate) keys: Arc<KeySet>,
    accounts: Mutex<HashMap<String, String>>,
}

impl Provider {
    /// Prepares the checks; fetches no keys yet.
    pub(crate) fn new(config: ProviderConfig) -> anyhow::Result<Self> {
        let (app_id, secret) = (config.app_id.clone(), config.secret.clone());
        let keys = KeySet::new(config.keys.clone(), app_id, secret).context("IDP_JWKS_URL")?;
        Ok(Self {
            keys: Arc::new(keys),
            config,
            accounts: Mutex::default(),
        })
    }

    /// Returns whether a token names the provider as its issuer. This checks no signature.
    pub(crate) fn issued(&self, token: &str) -> bool {
        issuer(token).is_some_and(|issuer| issuer == self.config.issuer)
    }

    /// Returns the subject that the token vouches for, if it is the provider's and still good.
    pub(crate) async fn verify(&self, token: &str) -> Result<Vouched, TokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| TokenError::Invalid)?;
        let kid = header.kid.ok_or(TokenError::Invalid)?;
        if header.alg != Algorithm::ES256 {
            return Err(TokenError::Invalid);
        }
        let key = self.keys.key(&kid).await.map_err(|no| match no {
            NoKey::Unknown => TokenError::Invalid,
            NoKey::Away => TokenError::Away,
        })?;
        let mut rules = Validation::new(Algorithm::ES256);
        rules.leeway = LEEWAY_S;
        rules.validate_nbf = true;
        rules.set_issuer(&[&self.config.issuer]);
        rules.set_audience(&[&self.config.app_id]);
        rules.set_required_spec_claims(&["sub", "iss", "aud", "exp"]);
        let read = signatures::decode::<Claims>(token, &key, &rules);
        let claims = read.map_err(|_| TokenError::Invalid)?.claims;
        let early = |iat| iat > clock::unix_ms() / 1000 + LEEWAY_S;
        if claims.sub.is_empty() || claims.sub.len() > 256 || claims.iat.is_some_and(early) {
            return Err(TokenError::Invalid);
        }
        Ok(Vouched {
            subject: claims.sub,
            token_id: id(token),
            expires_at_ms: claims.exp.saturating_mul(1000),
        })
    }

    /// Returns the remembered account of a subject, if there is one.
    pub(crate) fn account_of(&self, subject: &str) -> Option<String> {
        let known = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(subject).cloned()
    }

    /// Remembers the account of a subject, which never changes.
    pub(crate) fn remember(&self, subject: &str, account_id: &str) {
        let mut known = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= SUBJECTS_MAX {
            known.clear();
        }
        known.insert(subject.to_owned(), account_id.to_owned());
    }
}

/// Returns whether the address is on this machine.
fn here(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Reads the issuer that a token names, without checking the token.
fn issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        iss: String,
    }
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let named: Named = serde_json::from_slice(&payload).ok()?;
    Some(named.iss)
}

/// Returns an id of bounded length, a hash of the text.
fn id(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hex: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
    format!("idp-token:{hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_token_it_is_stands_in_its_issuer_alone() {
        let token = |payload: &str| format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(payload));
        assert_eq!(issuer(&token(r#"{"iss":"a"}"#)).as_deref(), Some("a"));
        for odd in [r#"{"iss":["a"]}"#, r#"{"sub":"a"}"#, "rubbish"] {
            assert_eq!(issuer(&token(odd)), None, "{odd}");
        }
        assert_eq!(issuer("a"), None);
        assert_eq!(issuer("a.!.c"), None);
    }

    #[test]
    fn ids_are_short_and_differ() {
        let long = "x".repeat(8_000);
        assert!(id(&long).len() < 64);
        assert_ne!(id("a"), id("b"));
    }
}
