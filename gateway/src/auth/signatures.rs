//! The signatures of tokens, computed by ring: HS256 for our own tokens and the voice server's,
//! ES256 for the identity provider's.
//!
//! Always: no other algorithm signs or verifies a token. Everything reaches the token library's
//! `encode` and `decode` through this file, because the library needs its provider before its
//! first use.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, TokenData, Validation,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result, new_error},
    signature::{Error, Signer, Verifier},
};
use ring::{
    hmac,
    signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey},
};
use serde::{Serialize, de::DeserializeOwned};

/// The library asks for `key_utils` only where it makes documents of keys, which we never do.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Returns a signed token. Fails for every algorithm but HS256.
pub(crate) fn encode<T: Serialize>(
    header: &Header,
    claims: &T,
    key: &EncodingKey,
) -> Result<String> {
    install();
    #[allow(clippy::disallowed_methods, reason = "the provider is installed")]
    jsonwebtoken::encode(header, claims, key)
}

/// Returns a token's content, if `rules` and the signature hold.
pub(crate) fn decode<T: DeserializeOwned>(
    token: &str,
    key: &DecodingKey,
    rules: &Validation,
) -> Result<TokenData<T>> {
    install();
    #[allow(clippy::disallowed_methods, reason = "the provider is installed")]
    jsonwebtoken::decode(token, key, rules)
}

fn install() {
    // This fails only if the provider is installed already.
    let _ = PROVIDER.install_default();
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    if *algorithm != Algorithm::HS256 {
        return Err(new_error(ErrorKind::UnsupportedAlgorithm));
    }
    require(key.family(), AlgorithmFamily::Hmac)?;
    Ok(Box::new(Hs256::new(key.as_bytes())))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    match algorithm {
        Algorithm::HS256 => {
            require(key.family(), AlgorithmFamily::Hmac)?;
            Ok(Box::new(Hs256::new(key.try_get_as_bytes()?)))
        }
        Algorithm::ES256 => {
            require(key.family(), AlgorithmFamily::Ec)?;
            let point = key.try_get_as_bytes()?.to_vec();
            Ok(Box::new(Es256(UnparsedPublicKey::new(
                &ECDSA_P256_SHA256_FIXED,
                point,
            ))))
        }
        _ => Err(new_error(ErrorKind::UnsupportedAlgorithm)),
    }
}

/// Fails unless the key is of the algorithm's family: a public key must not serve as a secret.
fn require(given: AlgorithmFamily, wanted: AlgorithmFamily) -> Result<()> {
    if given == wanted {
        return Ok(());
    }
    Err(new_error(ErrorKind::InvalidKeyFormat))
}

/// HMAC with SHA-256.
struct Hs256(hmac::Key);

impl Hs256 {
    fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(hmac::sign(&self.0, message).as_ref().to_vec())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        hmac::verify(&self.0, message, signature).map_err(|_| Error::new())
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

/// ECDSA over P-256 with SHA-256; the key is the uncompressed point.
struct Es256(UnparsedPublicKey<Vec<u8>>);

impl Verifier<Vec<u8>> for Es256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        self.0.verify(message, signature).map_err(|_| Error::new())
    }
}

impl JwtVerifier for Es256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn lax(algorithm: Algorithm) -> Validation {
        let mut rules = Validation::new(algorithm);
        rules.validate_exp = false;
        rules.required_spec_claims.clear();
        rules
    }

    /// Signature of RFC 7515, appendix A.1.
    #[test]
    fn hs256_is_that_of_the_standard() {
        let key = DecodingKey::from_base64_secret(
            "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ+EstJQLr/T+1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow==",
        )
        .unwrap();
        let head = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9";
        let body = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let good = format!("{head}.{body}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        let bad = format!("{head}.{body}.eBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        let rules = lax(Algorithm::HS256);
        let read = decode::<Value>(&good, &key, &rules).unwrap();
        assert_eq!(read.claims["iss"], "joe");
        assert!(decode::<Value>(&bad, &key, &rules).is_err());
    }

    /// Signature of RFC 7515, appendix A.3.
    #[test]
    fn es256_is_that_of_the_standard() {
        let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
        let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
        let key = DecodingKey::from_ec_components(x, y).unwrap();
        let head = "eyJhbGciOiJFUzI1NiJ9";
        let body = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let good = format!(
            "{head}.{body}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        );
        let bad = good.replace(".DtEh", ".EtEh");
        let rules = lax(Algorithm::ES256);
        let read = decode::<Value>(&good, &key, &rules).unwrap();
        assert_eq!(read.claims["iss"], "joe");
        assert!(decode::<Value>(&bad, &key, &rules).is_err());
        // A point that is not on the curve, or is none, verifies nothing.
        for (x, y) in [(x, x), ("", ""), (x, "AAAA")] {
            let key = DecodingKey::from_ec_components(x, y).unwrap();
            assert!(decode::<Value>(&good, &key, &rules).is_err());
        }
    }

    #[test]
    fn every_other_algorithm_is_refused_without_a_panic() {
        let secret = EncodingKey::from_secret(b"secret");
        for algorithm in [
            Algorithm::HS384,
            Algorithm::HS512,
            Algorithm::ES256,
            Algorithm::RS256,
            Algorithm::EdDSA,
        ] {
            assert!(encode(&Header::new(algorithm), &json!({}), &secret).is_err());
            assert!(verifier(&algorithm, &DecodingKey::from_secret(b"secret")).is_err());
        }
        let public = DecodingKey::from_rsa_components("AQAB", "AQAB").unwrap();
        assert!(verifier(&Algorithm::RS256, &public).is_err());
        let point = DecodingKey::from_ec_components("AQAB", "AQAB").unwrap();
        assert!(verifier(&Algorithm::HS256, &point).is_err());
    }
}
