//! Passwords: which may be one, their hashes, and recovery codes.
//!
//! Always: the gateway logs no password, hash or code. It hashes beside the runtime's threads, a few
//! at a time, also when clients hang up meanwhile; only so many wait for it. A name that nobody has takes as long as one with a wrong password.

use std::{collections::BTreeSet, sync::LazyLock, time::Duration};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString},
};
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use crate::{
    metrics::Metrics,
    turns::{Line, TooMany, Turns},
};

/// Memory of a hash in KiB, passes over it, and lanes: the least that OWASP's Password Storage Cheat
/// Sheet names for Argon2id.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Hashes at a time: each takes a core for some ten milliseconds.
const HASHES_MAX: usize = 2;
/// Those who wait for a hash; the last of them waits about two seconds.
const LINE: Line = Line {
    most: 128,
    wait: Duration::from_secs(4),
};
/// A hash that no password has, for names that nobody has.
const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$\
                       AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// Fewest and most characters of a password.
pub(crate) const CHARS_MIN: usize = 8;
pub(crate) const CHARS_MAX: usize = 128;
/// Fewest different characters of a password.
const DIFFERENT_MIN: usize = 4;
/// Fewest and most characters of a name.
pub(crate) const NAME_CHARS_MIN: usize = 3;
pub(crate) const NAME_CHARS_MAX: usize = 64;
/// Recovery codes of a password.
const CODES: usize = 10;
/// Bytes of a recovery code, and of its hash.
const CODE_BYTES: usize = 10;
const CODE_HASH_BYTES: usize = 32;
/// Digits of recovery codes: Crockford's Base32, which leaves out letters that look like digits.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Passwords that many people have, one a line.
static COMMON: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// Reason why a text may not be a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Weak {
    #[error("must have {CHARS_MIN} to {CHARS_MAX} characters")]
    Length,
    #[error("is the name, or hardly more")]
    Name,
    #[error("is one that many people have, or hardly more; take another")]
    Common,
}

/// Checks whether a text may be the password of a name.
pub(crate) fn check(password: &str, name: &str) -> Result<(), Weak> {
    if !(CHARS_MIN..=CHARS_MAX).contains(&password.chars().count()) {
        return Err(Weak::Length);
    }
    let lower = password.to_lowercase();
    let core = core(&lower);
    if lower == name || (!core.is_empty() && core == self::core(name)) {
        return Err(Weak::Name);
    }
    let different: BTreeSet<char> = lower.chars().collect();
    let few = different.len() < DIFFERENT_MIN;
    if few || COMMON.contains(&*lower) || COMMON.contains(&*core) {
        return Err(Weak::Common);
    }
    Ok(())
}

/// Returns a password without the digits and signs around it, and without digits and signs that
/// stand for letters.
fn core(lower: &str) -> String {
    let inner = lower.trim_matches(|c: char| !c.is_alphabetic());
    let letter = |c: char| match c {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    inner.chars().map(letter).collect()
}

/// Returns a name in the form by which the store knows it; `None` where it may be no name.
pub(crate) fn name(text: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-_@+".contains(c);
    let long = (NAME_CHARS_MIN..=NAME_CHARS_MAX).contains(&text.len());
    (long && text.chars().all(fits)).then(|| text.to_ascii_lowercase())
}

/// Recovery codes, as the person keeps them, and their hashes, one after the other.
pub(crate) struct RecoveryCodes {
    pub(crate) texts: Vec<String>,
    pub(crate) hashes: Vec<u8>,
}

impl RecoveryCodes {
    /// Makes random codes.
    pub(crate) fn new() -> Self {
        let texts: Vec<String> = (0..CODES).map(|_| code(rand::random())).collect();
        let hashes = texts.iter().filter_map(|text| code_hash(text));
        Self {
            hashes: hashes.flatten().collect(),
            texts,
        }
    }
}

/// Writes 80 bits in four groups of four digits.
fn code(bytes: [u8; CODE_BYTES]) -> String {
    let mut text = String::new();
    for (at, five) in bytes.chunks(5).flat_map(digits).enumerate() {
        if at > 0 && at % 4 == 0 {
            text.push('-');
        }
        text.push(char::from(five));
    }
    text
}

/// Returns the eight digits of five bytes.
fn digits(bytes: &[u8]) -> [u8; 8] {
    let bits = bytes
        .iter()
        .fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
    let digit = |at: u32| DIGITS[usize::try_from((bits >> (35 - 5 * at)) & 31).unwrap_or(0)];
    [0, 1, 2, 3, 4, 5, 6, 7].map(digit)
}

/// Returns the hash of a code as a person writes it; `None` where it cannot be one.
fn code_hash(text: &str) -> Option<[u8; CODE_HASH_BYTES]> {
    let upper = text.to_ascii_uppercase();
    let meant = upper.chars().filter(|c| !matches!(c, '-' | ' '));
    let meant = meant.map(|c| match c {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    });
    let meant: String = meant.collect();
    let all = meant.bytes().all(|byte| DIGITS.contains(&byte));
    (all && meant.len() == 16).then(|| Sha256::digest(meant.as_bytes()).into())
}

/// Takes a code out of the hashes of those that are left; `None` where it is not among them.
pub(crate) fn use_code(hashes: &[u8], text: &str) -> Option<Vec<u8>> {
    let used = code_hash(text)?;
    let (all, _) = hashes.as_chunks::<CODE_HASH_BYTES>();
    let at = all.iter().position(|hash| *hash == used)?;
    let left = all.iter().enumerate().filter(|(other, _)| *other != at);
    Some(left.flat_map(|(_, hash)| *hash).collect())
}

/// Hashes passwords.
pub(crate) struct Hashing(Turns);

impl Hashing {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self(Turns::new("password", HASHES_MAX, LINE, metrics))
    }

    /// Returns the hash of a password, with a new salt, in PHC's string format.
    ///
    /// # Errors
    /// Too many others wait for their turn.
    pub(crate) async fn hash(&self, password: String) -> Result<String, TooMany> {
        let hash = self.work(move || hash(&password)).await?;
        hash.ok_or(TooMany)
    }

    /// Returns whether a password has this hash. Takes as long without one, and then says no.
    ///
    /// # Errors
    /// Too many others wait for their turn.
    pub(crate) async fn verify(
        &self,
        password: String,
        hash: Option<String>,
    ) -> Result<bool, TooMany> {
        self.work(move || verify(&password, hash.as_deref())).await
    }

    /// Does work in turn. The work keeps its turn, also when nobody waits for it any more.
    async fn work<T: Send + 'static>(
        &self,
        what: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, TooMany> {
        let turn = self.0.turn().await?;
        let done = spawn_blocking(move || {
            let done = what();
            drop(turn);
            done
        });
        // It fails only while the process ends.
        done.await.map_err(|_| TooMany)
    }
}

fn argon2() -> Option<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).ok()?;
    Some(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &str) -> Option<String> {
    let salt = SaltString::encode_b64(&rand::random::<[u8; 16]>()).ok()?;
    let hash = argon2()?.hash_password(password.as_bytes(), &salt).ok()?;
    Some(hash.to_string())
}

fn verify(password: &str, known: Option<&str>) -> bool {
    let Ok(hash) = PasswordHash::new(known.unwrap_or(NOBODYS)) else {
        return false;
    };
    let same = Argon2::default().verify_password(password.as_bytes(), &hash);
    known.is_some() && same.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_enough_and_nobody_elses() {
        let check = |password: &str| check(password, "ann.smith");
        assert_eq!(check("seven77"), Err(Weak::Length));
        assert_eq!(check(&"ab".repeat(65)), Err(Weak::Length));
        for common in [
            "password",
            "Password123!",
            "p@ssw0rd",
            "123456789",
            "aaaaaaaa",
            "dragon1999",
        ] {
            assert_eq!(check(common), Err(Weak::Common), "{common}");
        }
        assert_eq!(check("Ann.Smith2026"), Err(Weak::Name));
        assert_eq!(check("correct horse battery"), Ok(()));
        assert_eq!(check("schlüssel-am-brett"), Ok(()));
    }

    #[test]
    fn the_list_is_in_the_form_in_which_it_is_asked() {
        for common in &*COMMON {
            assert_eq!(common.trim().to_lowercase(), **common);
        }
        assert!(COMMON.len() > 300);
    }

    #[test]
    fn a_name_is_the_same_in_any_case() {
        assert_eq!(name("Ann@Example.org").as_deref(), Some("ann@example.org"));
        for wrong in ["ab", "ann smith", "änne", "", &"a".repeat(65)] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_recovery_code_counts_once_however_it_is_written() {
        let codes = RecoveryCodes::new();
        assert_eq!(
            (codes.texts.len(), codes.hashes.len()),
            (CODES, CODES * CODE_HASH_BYTES)
        );
        let third = codes.texts[2]
            .to_lowercase()
            .replace('-', " ")
            .replace('0', "o");
        let left = use_code(&codes.hashes, &third).unwrap();
        assert_eq!(left.len(), (CODES - 1) * CODE_HASH_BYTES);
        assert_eq!(use_code(&left, &third), None, "it was used");
        assert!(use_code(&left, &codes.texts[3]).is_some());
        assert_eq!(use_code(&left, "0000-0000-0000-000U"), None);
        assert_eq!(code([0xff; CODE_BYTES]), "ZZZZ-ZZZZ-ZZZZ-ZZZZ");
        assert_eq!(code([0, 0, 0, 0, 1, 8, 0, 0, 0, 0]), "0000-0001-1000-0000");
    }

    #[test]
    fn a_hash_knows_its_password_alone() {
        let one = hash("correct horse").unwrap();
        assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one}");
        assert_ne!(one, hash("correct horse").unwrap(), "each has its salt");
        assert!(verify("correct horse", Some(&one)));
        assert!(!verify("correct house", Some(&one)));
        assert!(!verify("correct horse", None));
        assert!(!verify("correct horse", Some("no hash")));
        PasswordHash::new(NOBODYS).unwrap();
    }

    #[tokio::test]
    async fn work_whose_client_hangs_up_keeps_its_turn() {
        let hashing = Hashing::new(Metrics::none());
        let (begun, begins) = std::sync::mpsc::channel();
        let (goes_on, waits) = std::sync::mpsc::channel::<()>();
        let waits = std::sync::Arc::new(std::sync::Mutex::new(waits));
        for _ in 0..HASHES_MAX {
            let (begun, waits) = (begun.clone(), waits.clone());
            let work = hashing.work(move || {
                begun.send(()).unwrap();
                waits.lock().unwrap().recv().unwrap();
            });
            // Polled once, and then dropped.
            assert!(futures::FutureExt::now_or_never(work).is_none());
            begins.recv().unwrap();
        }
        let mut next = Box::pin(hashing.work(|| ()));
        assert!(futures::FutureExt::now_or_never(&mut next).is_none());
        for _ in 0..HASHES_MAX {
            goes_on.send(()).unwrap();
        }
        next.await.unwrap();
    }
}
