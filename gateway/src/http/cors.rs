//! The origins that may use this server: one allowlist for HTTP and for the WebSocket upgrade.
//!
//! Always: an answer names an allowed origin back, or none; there is no wildcard. A subdomain
//! matches by whole labels and, away from localhost, only by https.

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS,
            ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
        },
        uri::Uri,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use service_runtime::config::Reader;

const METHODS: HeaderValue = HeaderValue::from_static("GET, PUT, POST, DELETE, OPTIONS, PATCH");
/// Headers that a page may read beside the body.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate");
const HEADERS: HeaderValue =
    HeaderValue::from_static("Content-Type, Authorization, X-Requested-With");

/// The allowed origins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowlist {
    /// `scheme://host[:port]`, lower case.
    origins: Vec<String>,
    /// Hosts whose subdomains are allowed, by https.
    parents: Vec<String>,
    /// Hosts among `parents` whose subdomains may frame the game.
    frames: Vec<String>,
    /// Hosts among `parents` that are the identity provider's.
    identity: Vec<String>,
    /// Whether a page from the requested host itself may upgrade too. Not in production, where
    /// anybody can point a name at this server.
    any_own_host: bool,
}

impl Allowlist {
    /// Reads the settings; `known` are origins that other settings name, each with its setting.
    pub(crate) fn read(
        reader: &mut Reader,
        known: &[(&'static str, &str)],
        production: bool,
    ) -> Self {
        let mut list = Self {
            any_own_host: !production,
            ..Self::default()
        };
        for (name, origin) in known {
            list.add_origin(reader, name, origin);
        }
        for origin in reader.list("CORS_ORIGINS", "", "origins that may use this server") {
            list.add_origin(reader, "CORS_ORIGINS", &origin);
        }
        for (name, help) in [
            ("CLIENT_URL", "a further origin: the game client"),
            ("AGENT_URL", "a further origin: the agents' pages"),
        ] {
            let origin: Option<String> = reader.optional(name, help);
            if let Some(origin) = origin {
                list.add_origin(reader, name, &origin);
            }
        }
        for (name, help) in [
            (
                "CORS_PREVIEW_HOSTS",
                "hosts whose subdomains are preview deployments",
            ),
            (
                "SOCIAL_FRAME_HOSTS",
                "hosts whose subdomains may frame the game",
            ),
            ("IDP_HOST", "the identity provider's host"),
        ] {
            let hosts = reader.list(name, "", help);
            let hosts: Vec<String> = hosts.iter().map(|host| host.to_lowercase()).collect();
            for host in hosts.iter().filter(|host| !is_host(host)) {
                reader.problem(format!("{name}: {host:?} is no host, as play.example is"));
            }
            match name {
                "SOCIAL_FRAME_HOSTS" => list.frames.clone_from(&hosts),
                "IDP_HOST" => list.identity.clone_from(&hosts),
                _ => {}
            }
            list.parents.extend(hosts);
        }
        list
    }

    /// Returns the hosts whose subdomains may frame the game.
    pub(crate) fn frame_hosts(&self) -> &[String] {
        &self.frames
    }

    /// Returns the hosts whose subdomains are the identity provider's.
    pub(crate) fn identity_hosts(&self) -> &[String] {
        &self.identity
    }

    fn add_origin(&mut self, reader: &mut Reader, name: &str, text: &str) {
        match Origin::parse(text) {
            Some(origin) => self.origins.push(origin.text()),
            None => reader.problem(format!("{name}: {text:?} is no http or https address")),
        }
    }

    /// Returns whether this `Origin` header is allowed.
    pub(crate) fn allows(&self, origin: &str) -> bool {
        let Some(origin) = Origin::parse(origin) else {
            return false;
        };
        if origin.host == "localhost" || self.origins.contains(&origin.text()) {
            return true;
        }
        let https = origin.scheme == "https" && origin.port.is_none();
        https
            && self
                .parents
                .iter()
                .any(|parent| below(&origin.host, parent))
    }

    /// Returns whether a request with these headers may upgrade. It may without an origin (no
    /// browser), with one of the list, or, except in production, from a page of the requested host.
    pub(crate) fn allows_upgrade(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else {
            return true;
        };
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        self.allows(origin) || (self.any_own_host && same_host(origin, headers))
    }
}

/// Returns whether the origin is the host that the request names.
fn same_host(origin: &str, headers: &HeaderMap) -> bool {
    let host = headers.get("host").and_then(|host| host.to_str().ok());
    let Some((Some(origin), host)) = host.map(|host| (Origin::parse(origin), host)) else {
        return false;
    };
    origin.authority() == host.to_lowercase()
}

/// Returns whether the text is labels and dots: no scheme, no port, no wildcard. A port would
/// change the meaning of the rule of whole labels.
fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
        !label.is_empty() && label.chars().all(fits)
    };
    text.contains('.') && text.split('.').all(label)
}

fn below(host: &str, parent: &str) -> bool {
    let labels = host.strip_suffix(parent);
    labels.is_some_and(|rest| rest.ends_with('.') && rest.len() > 1)
}

struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_lowercase();
        if scheme != "http" && scheme != "https" {
            return None;
        }
        let standard = if scheme == "https" { 443 } else { 80 };
        Some(Self {
            scheme,
            host: uri.host()?.to_lowercase(),
            port: uri.port_u16().filter(|port| *port != standard),
        })
    }

    fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    fn text(&self) -> String {
        format!("{}://{}", self.scheme, self.authority())
    }
}

/// Answers preflights and names allowed origins back, on every route.
pub(crate) async fn layer(State(list): State<Allowlist>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let allowed = origin.filter(|o| o.to_str().is_ok_and(|o| list.allows(o)));
    let preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key("access-control-request-method");
    let mut response = if preflight {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let yes = HeaderValue::from_static("true");
        headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        if preflight {
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> Allowlist {
        Allowlist {
            origins: vec!["https://play.example".to_owned()],
            parents: vec!["preview.example".to_owned()],
            ..Allowlist::default()
        }
    }

    #[test]
    fn the_allowlist_means_whole_origins_and_whole_labels() {
        for good in [
            "https://play.example",
            "HTTPS://PLAY.EXAMPLE:443",
            "http://localhost:3333",
            "https://localhost",
            "https://pr-7.preview.example",
            "https://a.b.preview.example",
        ] {
            assert!(list().allows(good), "{good}");
        }
        for bad in [
            "http://play.example",
            "https://play.example:8443",
            "https://play.example.evil.test",
            "https://preview.example",
            "https://evilpreview.example",
            "http://pr-7.preview.example",
            "https://localhost.evil.test",
            "ftp://localhost",
            "null",
            "",
        ] {
            assert!(!list().allows(bad), "{bad}");
        }
    }

    #[test]
    fn in_production_only_the_list_may_upgrade() {
        let production = list();
        let at_home = Allowlist {
            any_own_host: true,
            ..list()
        };
        let mut headers = HeaderMap::new();
        assert!(production.allows_upgrade(&headers), "not a browser");
        headers.insert("host", "192.168.1.7:5555".parse().unwrap());
        headers.insert(ORIGIN, "http://192.168.1.7:5555".parse().unwrap());
        assert!(!production.allows_upgrade(&headers));
        assert!(at_home.allows_upgrade(&headers), "a phone beside it");
        headers.insert(ORIGIN, "http://192.168.1.8:5555".parse().unwrap());
        assert!(!at_home.allows_upgrade(&headers));
        headers.insert(ORIGIN, "https://play.example".parse().unwrap());
        assert!(production.allows_upgrade(&headers));
    }
}
