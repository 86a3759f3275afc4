//! The key of an anonymous account: 128 random bits that only the client keeps; the store has
//! their hash.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use sha2::{Digest, Sha256};

/// A device key. The gateway never prints it.
pub(crate) struct DeviceKey(String);

impl DeviceKey {
    /// Makes a random key.
    pub(crate) fn new() -> Self {
        Self(URL_SAFE_NO_PAD.encode(rand::random::<[u8; 16]>()))
    }

    /// Reads a key that a client sent; `None` where the text is no key.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == 16).then(|| Self(text.to_owned()))
    }

    /// Returns the hash by which the store knows the key.
    pub(crate) fn hash(&self) -> Bytes {
        Bytes::copy_from_slice(&Sha256::digest(self.0.as_bytes()))
    }

    /// Returns the text that the client keeps.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_can_be_read_again_and_has_the_same_hash() {
        let key = DeviceKey::new();
        let hash = key.hash();
        let text = key.into_text();
        assert_eq!(DeviceKey::parse(&text).unwrap().hash(), hash);
        assert_ne!(DeviceKey::new().into_text(), text);
    }

    #[test]
    fn what_cannot_be_a_key_is_none() {
        for text in [
            "",
            "short",
            "AAAAAAAAAAAAAAAAAAAAAA==",
            "AAAAAAAAAAAAAAAAAAAAA!",
            &"A".repeat(43),
        ] {
            assert!(DeviceKey::parse(text).is_none(), "{text}");
        }
    }
}
