//! Addresses of gateways, and the few plain HTTP requests that tests need: one connection a
//! request, with a deadline.

use std::{fmt, str::FromStr, time::Duration};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{HeaderMap, Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

/// Time for a whole request.
const DEADLINE: Duration = Duration::from_secs(20);
/// The longest body that is read, in bytes.
const BODY_BYTES_MAX: usize = 32 << 20;

/// Address of a gateway, and the path of its WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Name or number of the host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The path; `/ws` if the text has none.
    pub path: String,
}

impl Address {
    /// Returns host:port.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ws://{}{}", self.authority(), self.path)
    }
}

impl FromStr for Address {
    type Err = anyhow::Error;

    /// Reads `ws://host:port/path`; the scheme (also `http`) and the path may be missing.
    fn from_str(text: &str) -> Result<Self> {
        let rest = match text.split_once("://") {
            Some(("ws" | "http", rest)) => rest,
            Some((scheme, _)) => bail!("{text}: {scheme} is not ws"),
            None => text,
        };
        let (authority, path) = match rest.find('/') {
            Some(at) if rest.len() > at + 1 => rest.split_at(at),
            Some(at) => (&rest[..at], "/ws"),
            None => (rest, "/ws"),
        };
        let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "5555"));
        if host.is_empty() {
            bail!("{text}: no host");
        }
        Ok(Self {
            host: host.to_owned(),
            port: port.parse().with_context(|| format!("{text}: port"))?,
            path: path.to_owned(),
        })
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Answer {
    /// Returns the body as JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("{}: body", self.status))
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends a GET; any status is an answer.
pub async fn get(authority: &str, path: &str) -> Result<Answer> {
    send(authority, Method::GET, path, &[], Bytes::new()).await
}

/// Sends any request.
pub fn send<'a>(
    authority: &'a str,
    method: Method,
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: Bytes,
) -> BoxFuture<'a, Result<Answer>> {
    Box::pin(async move {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, authority);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body))?;
        timeout(DEADLINE, exchange(authority, request))
            .await
            .with_context(|| format!("http://{authority}{path}: no answer in {DEADLINE:?}"))?
            .with_context(|| format!("http://{authority}{path}"))
    })
}

async fn exchange(authority: &str, request: Request<Full<Bytes>>) -> Result<Answer> {
    let stream = TcpStream::connect(authority).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driver = tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX)
        .collect()
        .await
        .map_err(|e| anyhow::anyhow!("body: {e}"))?
        .to_bytes();
    driver.abort();
    Ok(Answer {
        status: parts.status,
        headers: parts.headers,
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_be_short() {
        let long: Address = "ws://10.0.0.1:7000/ws".parse().unwrap();
        assert_eq!("10.0.0.1:7000".parse::<Address>().unwrap(), long);
        assert_eq!("http://10.0.0.1:7000/".parse::<Address>().unwrap(), long);
        assert_eq!(long.to_string(), "ws://10.0.0.1:7000/ws");
        assert_eq!("ws://localhost".parse::<Address>().unwrap().port, 5555);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["wss://x:1", "ws://:1", "ws://x:port"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
