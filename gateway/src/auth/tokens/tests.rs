//! Tests of our own tokens.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;
use serde_json::{Value, json};
use service_runtime::config::{Env, Reader};

use super::*;

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

fn tokens() -> Tokens {
    let tokens = Tokens::default();
    tokens.set_keys(&KeyList::single(SECRET));
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
    sealed(&json!({"alg": algorithm, "typ": "JWT"}), claims, secret)
}

/// Returns a token that is made without the code under test.
fn sealed(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let hash = match header["alg"].as_str() {
        Some("HS512") => hmac::HMAC_SHA512,
        _ => hmac::HMAC_SHA256,
    };
    let said = [part(header), part(claims)].join(".");
    let signature = hmac::sign(&hmac::Key::new(hash, secret), said.as_bytes());
    format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
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
        ("scope", json!("operator")),
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
fn a_refresh_token_lasts_sixty_days_and_serves_as_no_other() {
    let tokens = tokens();
    let refresh = tokens.issue_refresh("a", "login").unwrap();
    let claims = tokens.verify_refresh(&refresh).unwrap();
    assert_eq!((&*claims.sub, &*claims.login), ("a", "login"));
    assert_eq!(tokens.verify(&refresh), Err(Refused::Invalid));
    assert_eq!(tokens.verify_resume(&refresh), Err(Refused::Invalid));
    let access = tokens.issue("a").unwrap().token;
    assert_eq!(tokens.verify_refresh(&access), Err(Refused::Invalid));
    let days_60 = now_s() - 60 * 24 * 60 * 60;
    let at = |s| tokens.issue_refresh_at("a", "login", s).unwrap();
    assert!(tokens.verify_refresh(&at(days_60 + 3)).is_ok());
    let old = at(days_60 - LEEWAY_S - 1);
    assert_eq!(tokens.verify_refresh(&old), Err(Refused::Invalid));
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
    for scope in [Scope::Player, Scope::Spectator] {
        assert_eq!(issue(scope, Some("c")), Err(Refused::Invalid));
        assert_eq!(issue(scope, None).unwrap().scope, scope);
    }
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

fn keys(list: &[(&str, &str)]) -> Tokens {
    let text: String = list
        .iter()
        .map(|(id, secret)| format!("{id} {secret}\n"))
        .collect();
    let mut reader = Reader::new(Env::from_pairs([("JWT_KEYS", text)]));
    Tokens::new(&SigningKeys::read(&mut reader, false))
}

fn kid(token: &str) -> Option<String> {
    jsonwebtoken::decode_header(token).unwrap().kid
}

#[test]
fn a_new_token_names_the_first_key_and_every_key_of_the_list_verifies() {
    let before = keys(&[("a", "first")]);
    let old = before.issue("ann").unwrap().token;
    let resume = before.issue_resume("ann", resumable(), None).unwrap();
    assert_eq!(kid(&old).as_deref(), Some("a"));
    assert_eq!(kid(&resume).as_deref(), Some("a"));
    let rotated = keys(&[("b", "second"), ("a", "first")]);
    let new = rotated.issue("ann").unwrap().token;
    assert_eq!(kid(&new).as_deref(), Some("b"));
    for token in [&old, &new] {
        assert!(rotated.verify(token).is_ok());
    }
    assert!(rotated.verify_resume(&resume).is_ok());
    let removed = keys(&[("b", "second")]);
    assert!(removed.verify(&new).is_ok());
    assert_eq!(removed.verify(&old), Err(Refused::Invalid));
    assert_eq!(removed.verify_resume(&resume), Err(Refused::Invalid));
}

#[test]
fn a_token_counts_only_by_the_key_that_it_names_or_without_a_name_by_any() {
    let rotated = keys(&[("b", "second"), ("a", "first")]);
    let bare = signed(&claims(), Algorithm::HS256, b"first");
    assert_eq!(kid(&bare), None);
    assert!(rotated.verify(&bare).is_ok());
    let under =
        |id: &str, secret: &[u8]| sealed(&json!({"alg": "HS256", "kid": id}), &claims(), secret);
    assert!(rotated.verify(&under("a", b"first")).is_ok());
    for wrong in [under("b", b"first"), under("c", b"first")] {
        assert_eq!(rotated.verify(&wrong), Err(Refused::Invalid));
    }
}
