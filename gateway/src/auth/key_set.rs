//! The public keys of the identity provider. The gateway fetches and keeps them, and fetches again
//! when a token names an unknown one.
//!
//! Always: the gateway takes only P-256 keys for signatures. The fetched keys serve while the
//! provider is away. Tokens cannot cause frequent fetches, and many tokens at once cause one.

use std::{collections::HashMap, sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use jsonwebtoken::DecodingKey;
use reqwest::{StatusCode, Url, redirect::Policy};
use serde::Deserialize;
use service_runtime::config::Secret;
use tokio::{sync::Mutex, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{clock, limits::window::Window};

/// Time for an answer of the provider.
const DEADLINE: Duration = Duration::from_secs(3);
/// Fetches in a minute, at most, that unknown keys cause.
const FETCHES_MAX: usize = 5;
/// Pause between two regular fetches; each gateway adds up to a fifth.
const REFRESH: Duration = Duration::from_secs(600);
/// Pause between two regular fetches while there is no set.
const RETRY: Duration = Duration::from_secs(5);
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Keys that the gateway takes from a set, at most.
const KEYS_MAX: usize = 32;
const KID_BYTES_MAX: usize = 256;

/// Reason why there is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// A key that is not in the set, or that the gateway may not look for now.
    Unknown,
    /// No set at all: the provider has not given one yet.
    Away,
}

type Keys = HashMap<String, DecodingKey>;

/// The keys that the gateway has, and the way to fetch them.
pub(crate) struct KeySet {
    http: reqwest::Client,
    url: Url,
    /// App id, for a provider that asks who fetches.
    app_id: String,
    /// Secret that goes with the app id.
    app_secret: Secret,
    keys: ArcSwapOption<Keys>,
    fetching: Mutex<Fetching>,
    /// Pause between two regular fetches.
    refresh: Duration,
}

struct Fetching {
    limit: Window,
    last: Option<Instant>,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Key {
    kid: String,
    kty: String,
    crv: String,
    x: String,
    y: String,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default, rename = "use")]
    usage: Option<String>,
}

impl KeySet {
    /// Fetches nothing yet. Fails when this machine has no certificates to trust, for https.
    pub(crate) fn new(url: Url, app_id: String, app_secret: Secret) -> anyhow::Result<Self> {
        service_runtime::run::install_crypto();
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("tilestead/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(DEADLINE)
            .timeout(DEADLINE)
            .no_proxy();
        if url.scheme() == "http" {
            // Without encryption the client needs no certificates.
            http = http.tls_certs_only([]);
        }
        Ok(Self {
            http: http.build()?,
            url,
            app_id,
            app_secret,
            keys: ArcSwapOption::empty(),
            fetching: Mutex::new(Fetching {
                limit: Window::new(FETCHES_MAX, Duration::from_secs(60)),
                last: None,
            }),
            refresh: REFRESH,
        })
    }

    /// Returns the key of this name. Fetches the set again for an unknown name.
    pub(crate) async fn key(&self, kid: &str) -> Result<DecodingKey, NoKey> {
        if kid.len() > KID_BYTES_MAX {
            return Err(NoKey::Unknown);
        }
        if let Some(key) = self.known(kid) {
            return Ok(key);
        }
        let asked = Instant::now();
        let mut fetching = self.fetching.lock().await;
        // Another call may have fetched the set during the wait for the lock.
        let since = fetching.last.is_some_and(|last| last >= asked);
        if !since && fetching.limit.pass(clock::instant()).is_ok() {
            self.fetch_and_say().await;
            fetching.last = Some(Instant::now());
        }
        drop(fetching);
        self.known(kid).ok_or(match self.keys.load().is_some() {
            true => NoKey::Unknown,
            false => NoKey::Away,
        })
    }

    fn known(&self, kid: &str) -> Option<DecodingKey> {
        self.keys.load().as_ref()?.get(kid).cloned()
    }

    /// Keeps the set fresh until `stop`, so that keys which the provider dropped end here too.
    pub(crate) async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        loop {
            {
                let mut fetching = self.fetching.lock().await;
                self.fetch_and_say().await;
                fetching.last = Some(Instant::now());
            }
            let pause = match self.keys.load().is_some() {
                true => self.refresh.mul_f64(1.0 + rand::random::<f64>() / 5.0),
                false => RETRY,
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn fetch_and_say(&self) {
        match self.fetch().await {
            Ok(keys) => {
                tracing::debug!(
                    keys = keys.len(),
                    "the identity provider's keys were fetched"
                );
                self.keys.store(Some(Arc::new(keys)));
            }
            // The old keys stay in use.
            Err(error) => {
                tracing::warn!(error, "the identity provider's keys cannot be fetched");
            }
        }
    }

    async fn fetch(&self) -> Result<Keys, String> {
        let plain = self.http.get(self.url.clone()).send().await;
        let mut response = plain.map_err(said)?;
        if response.status() == StatusCode::UNAUTHORIZED {
            let secret = Some(self.app_secret.expose());
            let known = self.http.get(self.url.clone());
            let known = known.basic_auth(&self.app_id, secret).send().await;
            response = known.map_err(said)?;
        }
        if response.status() != StatusCode::OK {
            return Err(format!("the answer is {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(said)? {
            if body.len() + part.len() > BODY_BYTES_MAX {
                return Err(format!("the answer is longer than {BODY_BYTES_MAX} bytes"));
            }
            body.extend_from_slice(&part);
        }
        let keys = read(&body)?;
        if keys.is_empty() {
            return Err("there is no key for ES256 in it".to_owned());
        }
        Ok(keys)
    }
}

/// Returns the error's text without the address, which may hold a secret.
fn said(error: reqwest::Error) -> String {
    error.without_url().to_string()
}

/// Reads the usable keys of a set.
fn read(body: &[u8]) -> Result<Keys, String> {
    let document: Document =
        serde_json::from_slice(body).map_err(|_| "it is no key set".to_owned())?;
    let mut keys = Keys::new();
    for key in document.keys {
        let Ok(key) = serde_json::from_value::<Key>(key) else {
            continue;
        };
        let meant = key.alg.as_deref().is_none_or(|alg| alg == "ES256")
            && key.usage.as_deref().is_none_or(|usage| usage == "sig");
        if !meant || key.kty != "EC" || key.crv != "P-256" || key.kid.len() > KID_BYTES_MAX {
            continue;
        }
        if let Ok(made) = DecodingKey::from_ec_components(&key.x, &key.y)
            && keys.len() < KEYS_MAX
        {
            keys.insert(key.kid, made);
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the example of RFC 7517.
    fn key(kid: &str) -> Value {
        json!({
            "kty": "EC", "crv": "P-256", "kid": kid,
            "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        })
    }

    fn kids(document: &Value) -> Vec<String> {
        let mut kids: Vec<String> = read(document.to_string().as_bytes())
            .unwrap()
            .into_keys()
            .collect();
        kids.sort();
        kids
    }

    #[tokio::test]
    async fn what_the_provider_gave_up_ends_with_the_next_refresh_unasked() {
        let idp = test_servers::Idp::start();
        let settings = idp.settings();
        let (_, url) = settings
            .iter()
            .find(|(name, _)| *name == "IDP_JWKS_URL")
            .unwrap();
        let (url, secret) = (Url::parse(url).unwrap(), Secret::new("a secret"));
        let mut keys = KeySet::new(url, "app".to_owned(), secret).unwrap();
        assert_eq!(keys.refresh, REFRESH);
        keys.refresh = Duration::from_millis(50);
        let (keys, old) = (Arc::new(keys), idp.kid());
        assert!(keys.key(&old).await.is_ok());
        idp.rotate();
        assert!(keys.known(&old).is_some(), "nobody was asked yet");
        let stop = CancellationToken::new();
        let fresh = tokio::spawn(Arc::clone(&keys).keep_fresh(stop.clone()));
        let gone = async {
            while keys.known(&old).is_some() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), gone)
            .await
            .expect("it is still good");
        assert!(keys.known(&idp.kid()).is_some());
        // An ill provider takes nothing away.
        idp.serve(test_servers::idp::Serving::Ill);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(keys.known(&idp.kid()).is_some());
        stop.cancel();
        fresh.await.unwrap();
    }

    #[test]
    fn only_keys_for_our_algorithm_are_taken() {
        let with = |name: &str, value: Value| {
            let mut key = key(name);
            key[name] = value;
            key
        };
        let set = json!({"keys": [
            key("plain"), with("alg", json!("ES256")), with("use", json!("sig")),
            with("alg", json!("HS256")), with("use", json!("enc")), with("crv", json!("P-384")),
            with("kty", json!("RSA")), with("x", json!("!")), with("kid", json!(7)),
            {"kty": "oct", "kid": "secret", "k": "AAAA"}, "rubbish",
        ]});
        assert_eq!(kids(&set), ["alg", "plain", "use"]);
        assert!(read(b"[]").is_err() && read(b"<html>").is_err());
    }

    #[test]
    fn a_set_without_end_is_cut() {
        let many: Vec<Value> = (0..10_000).map(|n| key(&n.to_string())).collect();
        assert_eq!(kids(&json!({ "keys": many })).len(), KEYS_MAX);
    }
}
