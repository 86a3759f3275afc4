//! Secrets that everybody knows: those of examples, of the files published with this software, and
//! of other software around it. Pure.

/// Whole secrets; an attacker tries these first.
const WHOLE: [&str; 26] = [
    "admin",
    "admin123",
    "adminadmin",
    "administrator",
    "api-key",
    "apikey",
    "app-secret",
    "default",
    "development",
    "devkey",
    "example",
    "guest",
    "jwt-secret",
    "key",
    "letmein",
    "pass",
    "passw0rd",
    "password",
    "postgres",
    "root",
    "sample",
    "secret",
    "secretsecret",
    "test",
    "tilestead",
    "voice",
];
/// Beginnings of such secrets.
const BEGINNINGS: [&str; 11] = [
    "<",
    "change-me",
    "change_me",
    "changeme",
    "example-",
    "my-secret",
    "only-for-development",
    "replace-me",
    "replace_me",
    "your-",
    "your_",
];

/// Returns whether a secret stands in examples, or holds a password that does:
/// `scheme://user:password@…`.
pub fn is_sample(secret: &str) -> bool {
    let said = secret.trim().to_lowercase();
    let known = |said: &str| {
        WHOLE.contains(&said) || BEGINNINGS.iter().any(|known| said.starts_with(known))
    };
    known(&said) || password(&said).is_some_and(known)
}

/// Returns the password in an address.
fn password(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::is_sample;

    #[test]
    fn what_stands_in_examples_is_known_however_it_is_written() {
        for sample in [
            "<SIGNING_SECRET>",
            "<VOICE_API_KEY>",
            "Change-Me",
            "changeme123",
            " secret ",
            "devkey",
            "your-256-bit-secret",
            "only-for-development-and-nothing-else",
            "postgres://tilestead:tilestead@postgres/tilestead",
            "postgresql://u:Password@db:5432/game?x=y",
            "redis://:change-me@redis:6379",
        ] {
            assert!(is_sample(sample), "{sample}");
        }
        for secret in [
            "0123456789abcdef0123456789abcdef",
            "a-secret-that-is-mine",
            "postgres://tilestead:hunter2hunter2@postgres/tilestead",
            "postgres://tilestead@postgres/tilestead",
            "redis://redis:6379",
            "host=/run user=tilestead",
        ] {
            assert!(!is_sample(secret), "{secret}");
        }
    }
}
