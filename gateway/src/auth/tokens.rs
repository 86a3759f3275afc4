//! Our own access tokens and resume tokens: HS256, 12 hours. The gateway requires and checks every
//! claim.
//!
//! Always: the algorithm is ours, never the token's; the gateway never logs a token. A token of
//! one kind never serves as one of the other, because each names its own audience.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::clock;

pub(super) const ISSUER: &str = "tilestead";
const AUDIENCE: &str = "tilestead";
const RESUME_AUDIENCE: &str = "tilestead-resume";
/// Lifetime of a token, in seconds.
pub(crate) const LIFETIME_S: u64 = 12 * 60 * 60;
/// Lifetime of an operator's token, in seconds.
const OPERATOR_LIFETIME_S: u64 = 60 * 60;
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
    /// Everything that an operator may do.
    Operator,
}

impl Scope {
    /// Returns how long a token of this scope is good, in seconds.
    const fn lifetime_s(self) -> u64 {
        match self {
            Self::Operator => OPERATOR_LIFETIME_S,
            Self::Player | Self::Agent | Self::Spectator => LIFETIME_S,
        }
    }
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
    /// Any token, while the secret is not known.
    NotReady,
}

/// Makes and checks tokens, as soon as it knows the secret.
#[derive(Default)]
pub(crate) struct Tokens(ArcSwapOption<Keys>);

struct Keys {
    sign: EncodingKey,
    verify: DecodingKey,
}

impl Tokens {
    /// Sets the secret that signs and checks tokens from now on.
    pub(crate) fn set_secret(&self, secret: &[u8]) {
        self.0.store(Some(Arc::new(Keys {
            sign: EncodingKey::from_secret(secret),
            verify: DecodingKey::from_secret(secret),
        })));
    }

    /// Returns whether the secret is known.
    pub(crate) fn ready(&self) -> bool {
        self.0.load().is_some()
    }

    /// Makes a player's token for an account; `None` while the secret is not known.
    pub(crate) fn issue(&self, account_id: &str) -> Option<Issued> {
        self.issue_at(Good::player(account_id), clock::unix_ms() / 1000)
    }

    /// Makes a token that is good for just `good`, of a login of its own; `None` while the secret
    /// is not known.
    pub(crate) fn issue_for(&self, good: Good<'_>) -> Option<Issued> {
        self.issue_at(good, clock::unix_ms() / 1000)
    }

    /// Makes a token that is good for just `good`, of the existing login `login`; `None` while the
    /// secret is not known.
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
            exp: end_s(now_s + good.scope.lifetime_s(), good.ends_by_ms),
            jti: uuid::Uuid::new_v4().simple().to_string(),
            scope: good.scope,
            character_id: good.character_id.map(str::to_owned),
            login: login.map(str::to_owned),
        };
        let keys = self.0.load_full()?;
        let token = jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &keys.sign);
        Some(Issued {
            token: token.ok()?,
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
        timely(claims.iat, claims.exp).map(|()| claims)
    }

    /// Makes a resume token, which ends at `ends_by_ms` at the latest; `None` while the secret is
    /// not known.
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
        let keys = self.0.load_full()?;
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &keys.sign).ok()
    }

    /// Returns the claims of a resume token, if it is ours and still good.
    pub(crate) fn verify_resume(&self, token: &str) -> Result<ResumeClaims, Refused> {
        let claims: ResumeClaims = self.read(token, RESUME_AUDIENCE)?;
        timely(claims.iat, claims.exp).map(|()| claims)
    }

    fn read<T: DeserializeOwned>(&self, token: &str, audience: &str) -> Result<T, Refused> {
        let keys = self.0.load_full().ok_or(Refused::NotReady)?;
        let mut rules = Validation::new(Algorithm::HS256);
        rules.leeway = LEEWAY_S;
        rules.validate_nbf = true;
        rules.set_issuer(&[ISSUER]);
        rules.set_audience(&[audience]);
        rules.set_required_spec_claims(&["sub", "iss", "aud", "exp"]);
        let read = jsonwebtoken::decode::<T>(token, &keys.verify, &rules);
        Ok(read.map_err(|_| Refused::Invalid)?.claims)
    }
}

/// Returns the earlier end, in seconds since 1970.
fn end_s(usual_s: u64, ends_by_ms: Option<u64>) -> u64 {
    ends_by_ms.map_or(usual_s, |by| usual_s.min(by / 1000))
}

/// Checks the times that the library does not check: the issue time and the lifetime.
fn timely(iat: u64, exp: u64) -> Result<(), Refused> {
    let now = clock::unix_ms() / 1000;
    if iat > now + LEEWAY_S || exp > iat.saturating_add(LIFETIME_S) {
        return Err(Refused::Invalid);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

    fn tokens() -> Tokens {
        let tokens = Tokens::default();
        tokens.set_secret(SECRET);
        tokens
    }

    fn now_s() -> u64 {
        clock::unix_ms() / 1000
    }

    fn claims() -> Value {
        json!({
            "sub": "a", "iss": ISSUER, "aud": AUDIENCE, "iat": now_s(),
            "exp": now_s() + 60, "jti": "j", "scope": "player",
        })
    }

    fn signed(claims: &Value, algorithm: Algorithm, secret: &[u8]) -> String {
        let key = EncodingKey::from_secret(secret);
        jsonwebtoken::encode(&Header::new(algorithm), claims, &key).unwrap()
    }

    #[test]
    fn a_token_of_ours_names_its_account_for_twelve_hours() {
        let tokens = tokens();
        let issued = tokens.issue("account-7").unwrap();
        let claims = tokens.verify(&issued.token).unwrap();
        assert_eq!(
            (claims.sub.as_str(), claims.scope),
            ("account-7", Scope::Player)
        );
        assert_eq!(claims.exp - claims.iat, 12 * 60 * 60);
        assert_eq!(issued.expires_at_ms, claims.exp * 1000);
        let old = tokens
            .issue_at(Good::player("a"), now_s() - LIFETIME_S - LEEWAY_S - 1)
            .unwrap();
        assert_eq!(tokens.verify(&old.token), Err(Refused::Invalid));
        let just = tokens
            .issue_at(Good::player("a"), now_s() - LIFETIME_S - LEEWAY_S + 3)
            .unwrap();
        assert!(tokens.verify(&just.token).is_ok(), "within the leeway");
    }

    #[test]
    fn each_claim_is_required() {
        let good = signed(&claims(), Algorithm::HS256, SECRET);
        assert!(tokens().verify(&good).is_ok());
        for name in ["sub", "iss", "aud", "iat", "exp", "jti", "scope"] {
            let mut claims = claims();
            claims.as_object_mut().unwrap().remove(name);
            let token = signed(&claims, Algorithm::HS256, SECRET);
            assert_eq!(
                tokens().verify(&token),
                Err(Refused::Invalid),
                "without {name}"
            );
        }
    }

    #[test]
    fn each_claim_is_checked() {
        for (name, value) in [
            ("iss", json!("other")),
            ("aud", json!("other")),
            ("exp", json!(now_s() - 6)),
            ("exp", json!(now_s() + LIFETIME_S + 60)),
            ("iat", json!(now_s() + 60)),
            ("scope", json!("god")),
        ] {
            let mut claims = claims();
            claims[name] = value;
            let token = signed(&claims, Algorithm::HS256, SECRET);
            assert_eq!(tokens().verify(&token), Err(Refused::Invalid), "{name}");
        }
    }

    fn resumable() -> Resumable {
        Resumable {
            sid: "s".to_owned(),
            line: "l".to_owned(),
            plays: Some(Plays {
                id: "c".to_owned(),
                name: "Ann".to_owned(),
                epoch: 7,
            }),
            login: Some("login".to_owned()),
            agent: None,
        }
    }

    #[test]
    fn renewed_tokens_come_from_the_same_login() {
        let tokens = tokens();
        let read = |issued: Option<Issued>| tokens.verify(&issued.unwrap().token).unwrap();
        let first = read(tokens.issue("a"));
        assert_eq!(first.login_id(), first.jti);
        let login = first.login_id();
        let second = read(tokens.issue_within(Good::player("a"), login));
        assert_eq!(second.login_id(), login);
        assert_ne!(second.jti, first.jti);
    }

    #[test]
    fn a_token_that_is_not_good_yet_is_refused() {
        let mut claims = claims();
        claims["nbf"] = json!(now_s() + 60);
        let token = signed(&claims, Algorithm::HS256, SECRET);
        assert_eq!(tokens().verify(&token), Err(Refused::Invalid));
        claims["nbf"] = json!(now_s());
        let token = signed(&claims, Algorithm::HS256, SECRET);
        assert!(tokens().verify(&token).is_ok());
    }

    #[test]
    fn a_resume_token_tells_another_gateway_all_it_needs() {
        let here = tokens()
            .issue_resume("account-7", resumable(), None)
            .unwrap();
        let claims = tokens().verify_resume(&here).unwrap();
        assert_eq!(
            (claims.sub.as_str(), &claims.session),
            ("account-7", &resumable())
        );
        let again = tokens()
            .issue_resume("account-7", resumable(), None)
            .unwrap();
        assert_ne!(here, again, "each has its own id");
        let over = now_s() - LIFETIME_S - LEEWAY_S - 1;
        let old = tokens()
            .issue_resume("a", resumable(), Some(over * 1000))
            .unwrap();
        assert_eq!(tokens().verify_resume(&old), Err(Refused::Invalid));
    }

    #[test]
    fn neither_kind_of_token_serves_as_the_other() {
        let resume = tokens().issue_resume("a", resumable(), None).unwrap();
        assert_eq!(tokens().verify(&resume), Err(Refused::Invalid));
        let access = tokens().issue("a").unwrap().token;
        assert_eq!(tokens().verify_resume(&access), Err(Refused::Invalid));
        // Not even one that has every field of both: the audience alone decides.
        let mut both = claims();
        both["sid"] = json!("s");
        both["line"] = json!("l");
        let access = signed(&both, Algorithm::HS256, SECRET);
        assert!(tokens().verify(&access).is_ok());
        assert_eq!(tokens().verify_resume(&access), Err(Refused::Invalid));
        both["aud"] = json!(RESUME_AUDIENCE);
        let resume = signed(&both, Algorithm::HS256, SECRET);
        assert!(tokens().verify_resume(&resume).is_ok());
        assert_eq!(tokens().verify(&resume), Err(Refused::Invalid));
    }

    #[test]
    fn an_agents_token_names_its_character_and_no_other_token_does() {
        let tokens = tokens();
        let issue = |scope, character_id| {
            let good = Good {
                account_id: "a",
                scope,
                character_id,
                ends_by_ms: None,
            };
            tokens.verify(&tokens.issue_for(good).unwrap().token)
        };
        let agent = issue(Scope::Agent, Some("c")).unwrap();
        assert_eq!(agent.character_id.as_deref(), Some("c"));
        assert_eq!(issue(Scope::Agent, None), Err(Refused::Invalid));
        for scope in [Scope::Player, Scope::Spectator, Scope::Operator] {
            assert_eq!(issue(scope, Some("c")), Err(Refused::Invalid));
            assert_eq!(issue(scope, None).unwrap().scope, scope);
        }
        let operator = issue(Scope::Operator, None).unwrap();
        assert_eq!(operator.exp - operator.iat, 60 * 60);
    }

    #[test]
    fn what_an_agents_token_makes_ends_with_it() {
        let tokens = tokens();
        let soon = now_s() + 60;
        let good = Good {
            account_id: "a",
            scope: Scope::Agent,
            character_id: Some("c"),
            ends_by_ms: Some(soon * 1000 + 999),
        };
        let issued = tokens.issue_within(good, "login").unwrap();
        assert_eq!(issued.expires_at_ms, soon * 1000);
        assert_eq!(tokens.verify(&issued.token).unwrap().exp, soon);
        let resume = tokens.issue_resume("a", resumable(), good.ends_by_ms);
        assert_eq!(tokens.verify_resume(&resume.unwrap()).unwrap().exp, soon);
        // No token ends later than usual.
        let good = Good {
            ends_by_ms: Some(u64::MAX),
            ..good
        };
        let claims = tokens.verify(&tokens.issue_for(good).unwrap().token);
        let claims = claims.unwrap();
        assert_eq!(claims.exp - claims.iat, LIFETIME_S);
    }

    #[test]
    fn only_our_algorithm_and_our_secret_count() {
        let other = signed(
            &claims(),
            Algorithm::HS256,
            b"another secret of thirty-two b..",
        );
        assert_eq!(tokens().verify(&other), Err(Refused::Invalid));
        let longer = signed(&claims(), Algorithm::HS512, SECRET);
        assert_eq!(tokens().verify(&longer), Err(Refused::Invalid));
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = part(&json!({"alg": "none", "typ": "JWT"}));
        let bare = format!("{head}.{}.", part(&claims()));
        assert_eq!(tokens().verify(&bare), Err(Refused::Invalid));
        for rubbish in ["", "a.b.c", "....", "\u{0}"] {
            assert_eq!(tokens().verify(rubbish), Err(Refused::Invalid));
        }
        let unset = Tokens::default();
        assert_eq!(unset.verify(&other), Err(Refused::NotReady));
    }
}
