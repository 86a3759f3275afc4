//! The host that a request names: exactly one (RFC 9112, section 3.2).
//!
//! Always: a request that names none, several or an impossible one gets a 400, and its connection
//! ends. A proxy in front could have read it as another request than this server.

use axum::{
    extract::Request,
    http::{
        HeaderMap, HeaderValue, StatusCode, Version,
        header::{CONNECTION, HOST},
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::problem::Problem;

/// Lets through requests that name exactly one valid host.
pub(crate) async fn layer(request: Request, next: Next) -> Response {
    let Err(why) = check(request.version(), request.headers()) else {
        return next.run(request).await;
    };
    let status = StatusCode::BAD_REQUEST;
    let problem = Problem::new(status, "bad_request", why, request.uri());
    let mut response = problem.into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

fn check(version: Version, headers: &HeaderMap) -> Result<(), &'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host,
        (Some(_), Some(_)) => return Err("A request has one Host; this one has several."),
        (None, _) if version < Version::HTTP_11 => return Ok(()),
        (None, _) => return Err("A request must name its Host."),
    };
    let authority = host.to_str().ok().map(str::parse::<Authority>);
    match authority {
        Some(Ok(authority)) if is_host(&authority) => Ok(()),
        _ => Err("The Host must be a name or an address, with or without a port."),
    }
}

/// Returns whether it is a host with or without a port, and without a user's name.
fn is_host(authority: &Authority) -> bool {
    let text = authority.as_str();
    let alone = text.strip_suffix(':').unwrap_or(text) == authority.host();
    !text.contains('@') && (alone || authority.port_u16().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(version: Version, hosts: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, host.parse().unwrap());
        }
        check(version, &headers).is_ok()
    }

    #[test]
    fn a_request_names_one_host() {
        for host in ["here", "here:5555", "127.0.0.1:1", "[::1]:80", "a.example."] {
            assert!(passes(Version::HTTP_11, &[host]), "{host}");
        }
        for hosts in [
            &[][..],
            &["here", "here"],
            &["here", "there"],
            &[""],
            &["a b"],
            &["here/x"],
            &["ann@here"],
            &["here:port"],
        ] {
            assert!(!passes(Version::HTTP_11, hosts), "{hosts:?}");
        }
        assert!(passes(Version::HTTP_10, &[]), "it knows no Host");
        assert!(!passes(Version::HTTP_10, &["here", "there"]));
    }
}
