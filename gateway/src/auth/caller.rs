//! The caller over HTTP: reads and checks the bearer token of a request.
//!
//! Always: a request has at most one token, and that token must be good. The token's scope and its
//! account's roles alone decide what the caller may do. The gateway never logs a token.

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use proto::client::{ErrorCode, Refusal};
use service_runtime::config::Secret;

use super::{
    operators,
    roles::Role,
    tokens::{Claims, Refused, Scope, Tokens},
};
use crate::{clock, http::problem::Problem, limits::subject::Subject};

/// The longest token that the gateway reads, in bytes.
pub(crate) const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// The caller, which the guard of the routes adds to the request as an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) account_id: String,
    pub(crate) scope: Scope,
    /// The only character that an agent's token is good for; `None` for other tokens.
    pub(crate) character_id: Option<String>,
    /// The token's own id.
    pub(crate) token_id: String,
    /// The login that made the token. A logout names it, and ends all its tokens.
    pub(crate) login_id: String,
    /// When the token ends, in milliseconds since 1970.
    pub(crate) expires_at_ms: u64,
    /// The account's highest role, where a route asks for one.
    pub(crate) role: Option<Role>,
}

impl Caller {
    /// Returns the caller's name for the record of operators' actions.
    pub(crate) fn by(&self) -> String {
        operators::account(&self.account_id)
    }

    /// Returns the subject whose limits its requests count against: its account.
    pub(crate) fn subject(&self) -> Subject {
        Subject::Account(self.account_id.clone())
    }

    /// Returns whether the token may speak for this character, provided the account owns it. A
    /// token that names a character is good for no other one.
    pub(crate) fn may_name(&self, character_id: &str) -> bool {
        let named = self.character_id.as_deref();
        named.is_none_or(|named| named == character_id)
    }
}

impl From<Claims> for Caller {
    fn from(claims: Claims) -> Self {
        Self {
            login_id: claims.login_id().to_owned(),
            expires_at_ms: claims.exp.saturating_mul(1000),
            account_id: claims.sub,
            scope: claims.scope,
            character_id: claims.character_id,
            token_id: claims.jti,
            role: None,
        }
    }
}

/// Reason why the gateway does not let a request in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// No token.
    NoToken,
    /// A token that is not good.
    InvalidToken,
    /// A good token whose scope does not allow this.
    WrongScope,
    /// An account without the role that this takes.
    NoRole,
    /// A token that the gateway cannot check yet.
    NotReady,
    /// A token of the identity provider, whose keys the gateway cannot get.
    ProviderAway,
    /// A banned account.
    Banned {
        /// Milliseconds since 1970; `None`: for ever.
        until_ms: Option<u64>,
    },
}

impl Denied {
    /// Returns the error code for a client of the WebSocket.
    pub(crate) const fn code(self) -> ErrorCode {
        match self {
            Self::NoToken | Self::InvalidToken => ErrorCode::InvalidCredentials,
            Self::WrongScope | Self::NoRole => ErrorCode::WrongScope,
            Self::NotReady | Self::ProviderAway => ErrorCode::Refused(Refusal::StorageUnavailable),
            Self::Banned { .. } => ErrorCode::Banned,
        }
    }

    /// Returns the problem document for an HTTP client.
    pub(crate) fn answer(self, uri: &Uri) -> Response {
        let banned = match self {
            Self::Banned {
                until_ms: Some(until),
            } => format!("This account is banned until {}.", clock::iso(until)),
            _ => "This account is banned.".to_owned(),
        };
        let (status, code, detail) = match self {
            Self::NoToken => (
                StatusCode::UNAUTHORIZED,
                "token_required",
                "This needs a token: send `Authorization: Bearer <token>`.",
            ),
            Self::InvalidToken => (
                StatusCode::UNAUTHORIZED,
                "invalid_token",
                "The token is not valid here, or not any more.",
            ),
            Self::WrongScope => (
                StatusCode::FORBIDDEN,
                "wrong_scope",
                "This token is good for other things, but not for this.",
            ),
            Self::NoRole => (
                StatusCode::FORBIDDEN,
                "role_required",
                "This needs a role that your account does not have; operators give roles.",
            ),
            Self::NotReady => (
                StatusCode::SERVICE_UNAVAILABLE,
                "not_ready",
                "Tokens cannot be checked right now; try again in a moment.",
            ),
            Self::ProviderAway => (
                StatusCode::SERVICE_UNAVAILABLE,
                "identity_provider_away",
                "The identity provider does not answer; try again in a moment.",
            ),
            Self::Banned { .. } => (StatusCode::FORBIDDEN, "banned", banned.as_str()),
        };
        let mut response = Problem::new(status, code, detail, uri).into_response();
        let headers = response.headers_mut();
        match self {
            Self::NoToken => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
            }
            Self::InvalidToken => headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer error=\"invalid_token\""),
            ),
            Self::WrongScope | Self::NoRole => headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer error=\"insufficient_scope\""),
            ),
            Self::NotReady | Self::ProviderAway => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"))
            }
            Self::Banned { .. } => None,
        };
        response
    }
}

impl From<Refused> for Denied {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Invalid => Self::InvalidToken,
            Refused::NotReady => Self::NotReady,
        }
    }
}

/// Reads the bearer token of a request; `Ok(None)` where there is no `Authorization` header.
/// Another scheme, a second header or a token that is too long counts as a bad token.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<Option<Secret>, Denied> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let Some(line) = lines.next() else {
        return Ok(None);
    };
    if lines.next().is_some() || line.len() > TOKEN_BYTES_MAX {
        return Err(Denied::InvalidToken);
    }
    let line = line.to_str().map_err(|_| Denied::InvalidToken)?;
    let (scheme, token) = line.split_once(' ').ok_or(Denied::InvalidToken)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() || token.contains(' ') {
        return Err(Denied::InvalidToken);
    }
    Ok(Some(Secret::new(token)))
}

/// Returns the caller that the request's token names, if the token is one of ours. Only
/// [`super::admission`] checks the sanctions.
pub(crate) fn authenticate(tokens: &Tokens, headers: &HeaderMap) -> Result<Caller, Denied> {
    let token = bearer(headers)?.ok_or(Denied::NoToken)?;
    Ok(tokens.verify(token.expose())?.into())
}

/// Checks that the caller's token may use a route that is open to `scopes`.
pub(crate) fn authorise(caller: &Caller, scopes: &[Scope]) -> Result<(), Denied> {
    if scopes.contains(&caller.scope) {
        Ok(())
    } else {
        Err(Denied::WrongScope)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::signing_keys::KeyList, *};

    fn headers(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::AUTHORIZATION, line.parse().unwrap());
        }
        headers
    }

    fn tokens() -> Tokens {
        let tokens = Tokens::default();
        tokens.set_keys(&KeyList::single(b"0123456789abcdef0123456789abcdef"));
        tokens
    }

    #[test]
    fn one_bearer_token_is_read_and_nothing_else() {
        let read = |lines: &[&str]| {
            bearer(&headers(lines)).map(|token| token.map(|token| token.expose().to_owned()))
        };
        assert_eq!(read(&[]), Ok(None));
        for good in ["Bearer abc", "bearer abc", "BEARER  abc "] {
            assert_eq!(read(&[good]), Ok(Some("abc".to_owned())), "{good}");
        }
        let long = format!("Bearer {}", "a".repeat(TOKEN_BYTES_MAX));
        for bad in ["Basic abc", "abc", "Bearer ", "Bearer", "Bearer a b", &long] {
            assert_eq!(read(&[bad]), Err(Denied::InvalidToken), "{bad}");
        }
        assert_eq!(
            read(&["Bearer abc", "Bearer abc"]),
            Err(Denied::InvalidToken)
        );
    }

    #[test]
    fn a_good_token_names_its_account_and_what_it_is_good_for() {
        let tokens = tokens();
        let issued = tokens.issue("account-7").unwrap();
        let asked = headers(&[&format!("Bearer {}", issued.token)]);
        let caller = authenticate(&tokens, &asked).unwrap();
        assert_eq!(caller.account_id, "account-7");
        assert_eq!(caller.scope, Scope::Player);
        assert!(!caller.token_id.is_empty() && caller.may_name("any"));
        assert_eq!(authorise(&caller, &[Scope::Agent, Scope::Player]), Ok(()));
        let agents = authorise(&caller, &[Scope::Agent]);
        assert_eq!(agents, Err(Denied::WrongScope));
    }

    #[test]
    fn an_account_counts_as_one_over_all_its_tokens() {
        let caller = |scope, login: &str| Caller {
            account_id: "a".to_owned(),
            scope,
            character_id: None,
            token_id: "t".to_owned(),
            login_id: login.to_owned(),
            expires_at_ms: 0,
            role: None,
        };
        let subject = |scope, login: &str| caller(scope, login).subject();
        let player = subject(Scope::Player, "1");
        assert_eq!(player, subject(Scope::Agent, "2"));
    }

    #[test]
    fn without_a_good_token_nobody_is_let_in() {
        let ask = |lines: &[&str]| authenticate(&tokens(), &headers(lines));
        assert_eq!(ask(&[]), Err(Denied::NoToken));
        assert_eq!(ask(&["Bearer rubbish"]), Err(Denied::InvalidToken));
        let fresh = authenticate(&Tokens::default(), &headers(&["Bearer abc"]));
        assert_eq!(fresh, Err(Denied::NotReady));
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        let uri = Uri::from_static("/api/v1/player");
        let table = [
            (Denied::NoToken, 401, "www-authenticate", "Bearer"),
            (
                Denied::InvalidToken,
                401,
                "www-authenticate",
                "Bearer error=\"invalid_token\"",
            ),
            (
                Denied::WrongScope,
                403,
                "www-authenticate",
                "Bearer error=\"insufficient_scope\"",
            ),
            (
                Denied::NoRole,
                403,
                "www-authenticate",
                "Bearer error=\"insufficient_scope\"",
            ),
            (Denied::NotReady, 503, "retry-after", "1"),
        ];
        for (denied, status, name, value) in table {
            let answer = denied.answer(&uri);
            assert_eq!(answer.status(), status);
            assert_eq!(answer.headers()[name], value);
            let kind = &answer.headers()[header::CONTENT_TYPE];
            assert_eq!(kind, "application/problem+json");
        }
    }
}
