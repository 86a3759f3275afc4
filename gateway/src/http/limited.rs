//! Counts requests against the limits, and tells clients how they stand: `RateLimit` and
//! `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11), `Retry-After` with a refusal.
//!
//! Always: probes cost nothing, so that the limits never refuse a monitor. The page's own files
//! cost nothing either, since they are no requests of the interface. All else counts once, also
//! unknown paths. An account's requests count for its address as well, with those of all other
//! accounts there. So a hundred accounts at one address have no more than six.

use std::net::Ipv4Addr;

use axum::{
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode, Uri,
        header::{AUTHORIZATION, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};

use super::{address::Peer, problem::Problem};
use crate::{
    app::App,
    auth::caller,
    limits::{
        subject::Subject,
        window::{AUTH, REST, REST_ADDRESS, Refusal, Rule, Standing},
    },
};

const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Returns the subject of a request: its account, where its token is good, else its address.
pub(crate) fn subject(app: &App, peer: Option<&Peer>, headers: &HeaderMap) -> Subject {
    let known = headers
        .contains_key(AUTHORIZATION)
        .then(|| caller::authenticate(&app.auth.tokens, headers));
    match known {
        Some(Ok(caller)) => caller.subject(),
        _ => address(app, peer, headers),
    }
}

/// Returns whether the request's token is the identity provider's. Only the guard finds out the
/// account.
pub(crate) fn names_somebody_elsewhere(app: &App, headers: &HeaderMap) -> bool {
    let (Some(provider), Ok(Some(token))) = (&app.auth.provider, caller::bearer(headers)) else {
        return false;
    };
    provider.issued(token.expose())
}

/// Returns the subject of the client's address.
pub(crate) fn address(app: &App, peer: Option<&Peer>, headers: &HeaderMap) -> Subject {
    // Every connection has a peer; requests without one would share one budget.
    let peer = peer.map_or((Ipv4Addr::UNSPECIFIED, 0).into(), |peer| peer.address);
    Subject::address(app.config.proxies.client(peer, headers))
}

/// State of each limit that has counted the request.
#[derive(Debug, Default)]
pub(crate) struct Counted(Vec<(Rule, Standing)>);

impl Counted {
    /// Adds the headers that tell the client.
    pub(crate) fn tell(&self, response: &mut Response) {
        let Some(first) = self.0.first() else {
            return;
        };
        let rest = self.0.iter().skip(1);
        let (mut limits, mut policies) = (limit(*first), policy(first.0));
        for counted in rest {
            limits = format!("{limits}, {}", limit(*counted));
            policies = format!("{policies}, {}", policy(counted.0));
        }
        write(response.headers_mut(), &limits, &policies);
    }

    async fn count(mut self, app: &App, rule: Rule, who: &Subject) -> Result<Self, Over> {
        match app.bounds.requests.pass(rule, who).await {
            Ok(standing) => self.0.extend(standing.map(|standing| (rule, standing))),
            Err(refusal) => return Err(Over(rule, refusal)),
        }
        Ok(self)
    }
}

/// A limit that refused a request.
pub(crate) struct Over(Rule, Refusal);

impl Over {
    pub(crate) fn answer(&self, uri: &Uri) -> Response {
        let Self(rule, refusal) = self;
        let seconds = seconds(refusal.wait);
        let what = match rule.name {
            name if name == AUTH.name => "attempts to say who you are",
            _ => "requests",
        };
        let whose = match rule.name {
            name if name == REST_ADDRESS.name => ", of all accounts at your address together",
            _ => "",
        };
        let (most, block) = (rule.most, rule.block.as_secs());
        let detail = match refusal.blocked {
            true => {
                format!("Too many {what}{whose}: blocked for {block} s. Try again in {seconds} s.")
            }
            false => format!("At most {most} {what} a minute{whose}. Try again in {seconds} s."),
        };
        let status = StatusCode::TOO_MANY_REQUESTS;
        let mut response = Problem::new(status, "rate_limited", detail, uri).into_response();
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        let limit = format!("\"{}\";r=0;t={seconds}", rule.name);
        write(headers, &limit, &policy(*rule));
        response
    }
}

/// Counts a request of `who`. An account's request counts for its address as well.
pub(crate) async fn request(
    app: &App,
    who: &Subject,
    peer: Option<&Peer>,
    headers: &HeaderMap,
) -> Result<Counted, Over> {
    let counted = Counted::default().count(app, REST, who).await?;
    match who {
        Subject::Account(_) => {
            let address = address(app, peer, headers);
            counted.count(app, REST_ADDRESS, &address).await
        }
        Subject::Name(_) | Subject::Address(_) | Subject::World => Ok(counted),
    }
}

/// Counts an attempt to authenticate as well, for the address: the account is not known yet.
pub(crate) async fn attempt(
    app: &App,
    counted: Counted,
    peer: Option<&Peer>,
    headers: &HeaderMap,
) -> Result<Counted, Over> {
    let who = address(app, peer, headers);
    counted.count(app, AUTH, &who).await
}

/// Counts a guess at a code, for the account and for its address: neither a new address nor a new
/// account allows more guesses.
pub(crate) async fn guess(
    app: &App,
    account_id: &str,
    peer: &Peer,
    headers: &HeaderMap,
) -> Result<Counted, Over> {
    let who = Subject::Account(account_id.to_owned());
    let counted = Counted::default().count(app, AUTH, &who).await?;
    attempt(app, counted, Some(peer), headers).await
}

/// Counts a guess at the password of a name, wherever it comes from.
pub(crate) async fn guess_of_name(app: &App, name: &str) -> Result<Counted, Over> {
    let who = Subject::Name(name.to_owned());
    Counted::default().count(app, AUTH, &who).await
}

fn limit((rule, standing): (Rule, Standing)) -> String {
    let seconds = seconds(standing.more_in);
    format!("\"{}\";r={};t={seconds}", rule.name, standing.left)
}

fn policy(rule: Rule) -> String {
    let (name, most, seconds) = (rule.name, rule.most, rule.length.as_secs());
    format!("\"{name}\";q={most};w={seconds}")
}

/// Rounds up to whole seconds, so that a client that waits for them has waited long enough.
fn seconds(time: std::time::Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn write(headers: &mut HeaderMap, limits: &str, policies: &str) {
    for (name, text) in [(LIMIT, limits), (POLICY, policies)] {
        // The text consists of our own names and numbers, so it is always a valid header.
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn header(response: &Response, name: &str) -> String {
        let value = response.headers().get(name);
        value.map_or("", |value| value.to_str().unwrap()).to_owned()
    }

    #[test]
    fn a_client_is_told_how_it_stands_with_each_limit() {
        let standing = |left, ms| Standing {
            left,
            more_in: Duration::from_millis(ms),
        };
        let mut response = ().into_response();
        Counted::default().tell(&mut response);
        assert!(response.headers().get(LIMIT).is_none(), "limits are off");
        let counted = Counted(vec![(REST, standing(99, 60_000)), (AUTH, standing(0, 1))]);
        counted.tell(&mut response);
        let limits = header(&response, "ratelimit");
        assert_eq!(limits, "\"rest\";r=99;t=60, \"auth\";r=0;t=1");
        let policies = header(&response, "ratelimit-policy");
        assert_eq!(policies, "\"rest\";q=100;w=60, \"auth\";q=10;w=60");
    }

    #[test]
    fn a_refusal_says_what_is_allowed_and_when() {
        let wait = Duration::from_millis(59_001);
        for (rule, blocked, words) in [
            (REST, false, "At most 100 requests a minute. "),
            (REST_ADDRESS, false, "At most 600 requests a minute, of all"),
            (AUTH, false, "At most 10 attempts"),
            (REST, true, "blocked for 60 s"),
        ] {
            let over = Over(rule, Refusal { wait, blocked });
            let response = over.answer(&Uri::from_static("/api/v1/world"));
            assert_eq!(response.status(), 429);
            assert_eq!(header(&response, "retry-after"), "60");
            let limit = header(&response, "ratelimit");
            assert_eq!(limit, format!("\"{}\";r=0;t=60", rule.name));
            let body =
                futures::executor::block_on(axum::body::to_bytes(response.into_body(), 10_000));
            let body = String::from_utf8(body.unwrap().to_vec()).unwrap();
            assert!(
                body.contains(words) && body.contains("\"rate_limited\""),
                "{body}"
            );
        }
    }
}
