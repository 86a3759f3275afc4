//! A cluster that runs, as an operator reaches it: by HTTP, at one of its gateways.

use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::{Method, StatusCode, Url, redirect::Policy};
use serde_json::Value;
use service_runtime::config::ConfigError;

use super::login;

/// Longest time until an answer is there.
const DEADLINE: Duration = Duration::from_secs(10);
/// Largest answer, in bytes: the list of 4,096 regions takes one.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// An operator's token, instead of a login.
const TOKEN: &str = "TILESTEAD_TOKEN";

/// Parts of a query; those without a value are left out.
pub(super) type Query<'q> = &'q [(&'q str, Option<String>)];

/// A gateway of the cluster, and the token that asks it.
pub(super) struct Cluster {
    pub(super) url: Url,
    http: reqwest::Client,
    token: Option<String>,
}

impl Cluster {
    /// Reaches a cluster with the token of the environment, or of the login that is kept for it.
    ///
    /// # Errors
    /// A [`ConfigError`] for an address that is none and where nobody has logged in.
    pub(super) async fn known(url: &str) -> anyhow::Result<Self> {
        let mut cluster = Self::stranger(url)?;
        cluster.token = Some(match std::env::var(TOKEN) {
            Ok(token) if !token.is_empty() => token,
            _ => login::renew(&cluster).await?,
        });
        Ok(cluster)
    }

    /// Reaches a cluster without a token.
    pub(super) fn stranger(url: &str) -> anyhow::Result<Self> {
        let wrong = |why: String| ConfigError::new(format!("--url {url}: {why}"));
        let url = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(wrong("it must begin with http:// or https://".to_owned()).into());
        }
        let http = reqwest::Client::builder()
            .timeout(DEADLINE)
            .redirect(Policy::none())
            .build()
            .context("make the client of HTTP")?;
        Ok(Self {
            url,
            http,
            token: None,
        })
    }

    /// Asks a route for what it has.
    pub(super) async fn get(&self, path: &str, query: Query<'_>) -> anyhow::Result<Value> {
        let mut url = self.at(path)?;
        for (name, value) in query {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        self.ask(Method::GET, url, None).await
    }

    /// Has a route do something.
    pub(super) async fn act(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> anyhow::Result<Value> {
        self.ask(method, self.at(path)?, body).await
    }

    /// Asks for a file, which comes after at most `wait`, and gives each part of it to `take`.
    pub(super) async fn fetch(
        &self,
        (path, body): (&str, Value),
        wait: Duration,
        mut take: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let request = self.request(Method::POST, self.at(path)?, Some(body));
        let gateway = || format!("ask the gateway at {}", self.url);
        let sent = request.timeout(wait).send().await;
        let mut answer = sent.with_context(gateway)?;
        if !answer.status().is_success() {
            return whole(answer, &self.url).await.map(drop);
        }
        while let Some(part) = answer.chunk().await.with_context(gateway)? {
            take(&part)?;
        }
        Ok(())
    }

    fn at(&self, path: &str) -> anyhow::Result<Url> {
        self.url
            .join(path)
            .with_context(|| format!("{path} at {}", self.url))
    }

    fn request(&self, method: Method, url: Url, body: Option<Value>) -> reqwest::RequestBuilder {
        let mut request = self.http.request(method, url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        request
    }

    async fn ask(&self, method: Method, url: Url, body: Option<Value>) -> anyhow::Result<Value> {
        let gateway = || format!("ask the gateway at {}", self.url);
        let answer = self.request(method, url, body).send().await;
        whole(answer.with_context(gateway)?, &self.url).await
    }
}

/// Reads the whole of an answer in JSON.
async fn whole(mut answer: reqwest::Response, gateway: &Url) -> anyhow::Result<Value> {
    let status = answer.status();
    let mut bytes = Vec::new();
    let reads = || format!("read the answer of {gateway}");
    while let Some(part) = answer.chunk().await.with_context(reads)? {
        if bytes.len() + part.len() > ANSWER_BYTES_MAX {
            bail!("an answer of {gateway} has more than {ANSWER_BYTES_MAX} bytes");
        }
        bytes.extend_from_slice(&part);
    }
    said(status, &bytes)
}

/// Reads an answer: what was asked for, or the reason why not.
fn said(status: StatusCode, bytes: &[u8]) -> anyhow::Result<Value> {
    let value: Value = match bytes {
        [] => Value::Null,
        bytes => serde_json::from_slice(bytes)
            .with_context(|| format!("the answer {status} is no JSON: is this a gateway?"))?,
    };
    if status.is_success() {
        return Ok(value);
    }
    let why = value["detail"].as_str().unwrap_or("it gave no reason");
    let code = value["code"].as_str().unwrap_or("unknown");
    match status {
        StatusCode::UNAUTHORIZED => bail!("{why} ({code}); log in with `tilestead login NAME`"),
        _ => bail!("{why} ({code})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_why_and_what_to_do() {
        let problem = br#"{"code": "forbidden", "detail": "Operators only."}"#;
        let error = said(StatusCode::FORBIDDEN, problem).unwrap_err();
        assert_eq!(error.to_string(), "Operators only. (forbidden)");
        let problem = br#"{"code": "invalid_token", "detail": "It has ended."}"#;
        let error = said(StatusCode::UNAUTHORIZED, problem).unwrap_err();
        assert!(error.to_string().contains("tilestead login"), "{error}");
        let error = said(StatusCode::OK, b"<html>").unwrap_err();
        assert!(error.to_string().contains("is this a gateway?"), "{error}");
        assert_eq!(said(StatusCode::NO_CONTENT, b"").unwrap(), Value::Null);
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        for url in ["", "here", "ftp://here", "localhost:5555"] {
            let error = Cluster::stranger(url).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("--url")), "{url}");
        }
    }
}
