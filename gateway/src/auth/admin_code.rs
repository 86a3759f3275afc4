//! The code that makes the first operator.
//!
//! Always: the gateway compares hashes in constant time, so that not even the length of the code
//! shows; it never logs the code.

use std::fmt;

use service_runtime::config::Reader;
use sha2::{Digest, Sha256};

/// The shortest code in production, in bytes.
const PRODUCTION_BYTES_MIN: usize = 12;

/// The code; without one nobody becomes the first operator.
#[derive(Clone, Default)]
pub(crate) struct AdminCode(Option<[u8; 32]>);

/// Prints no part of the code, and not its hash.
impl fmt::Debug for AdminCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl AdminCode {
    /// Reads the code; problems gather in the reader.
    pub(crate) fn read(reader: &mut Reader, production: bool) -> Self {
        let help =
            "makes the first operator of an account that names it; operators make all others";
        let code = reader.secret("ADMIN_CODE", help);
        let code = code.filter(|code| !code.expose().is_empty());
        match &code {
            None if production => {
                reader.problem("ADMIN_CODE is required in production".to_owned());
            }
            Some(code) if production && code.expose().len() < PRODUCTION_BYTES_MIN => {
                reader.problem(format!(
                    "ADMIN_CODE needs at least {PRODUCTION_BYTES_MIN} bytes in production"
                ));
            }
            _ => {}
        }
        Self(code.map(|code| hash(code.expose())))
    }

    /// Returns whether there is a code.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether `said` is the code; false where there is none.
    pub(crate) fn is(&self, said: &str) -> bool {
        let Some(code) = &self.0 else {
            return false;
        };
        let said = hash(said);
        let differing = code.iter().zip(said).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(differing) == 0
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    fn read(code: Option<&str>, production: bool) -> Result<AdminCode, String> {
        let pairs = code.map(|code| ("ADMIN_CODE", code));
        let mut reader = Reader::new(Env::from_pairs(pairs));
        let code = AdminCode::read(&mut reader, production);
        reader.finish().map_err(|error| error.to_string())?;
        Ok(code)
    }

    #[test]
    fn only_the_code_is_the_code() {
        let code = read(Some("open sesame"), false).unwrap();
        assert!(code.is_set() && code.is("open sesame"));
        for wrong in ["", "open sesam", "open sesame ", "Open Sesame"] {
            assert!(!code.is(wrong), "{wrong:?}");
        }
        for none in [None, Some("")] {
            let code = read(none, false).unwrap();
            assert!(!code.is_set() && !code.is(""), "nobody knows what is not");
        }
    }

    #[test]
    fn production_needs_a_code_that_nobody_guesses() {
        for bad in [
            None,
            Some(""),
            Some("change-me"),
            Some("ADMIN123"),
            Some("short"),
        ] {
            let why = read(bad, true).unwrap_err();
            assert!(why.contains("ADMIN_CODE"), "{why}");
            assert!(!why.contains("short"), "{why}");
        }
        assert!(read(Some("a-long-code-of-mine"), true).is_ok());
    }
}
