//! An authority of our own: makes the certificates of development, tests and small installations.

use std::fmt;

use jiff::{Timestamp, ToSpan, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};

use crate::rpc::{Identity, Pem};

/// Days for which an authority is good.
const AUTHORITY_DAYS: i64 = 3650;
/// Days for which a certificate is good, unless the caller says otherwise.
pub const CERTIFICATE_DAYS: i64 = 365;
/// Name of the authority in certificates.
const NAME: &str = "Tilestead";

/// An authority with its key.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
    key: String,
}

impl Authority {
    /// Makes a new one.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn new() -> anyhow::Result<Self> {
        let key = KeyPair::generate()?;
        let mut made = params()?;
        good(&mut made, -1, AUTHORITY_DAYS)?;
        let certificate = made.self_signed(&key)?.pem();
        Self::known(certificate, key)
    }

    /// Restores one that [`Authority::new`] made, from its PEM texts.
    ///
    /// # Errors
    /// If the key is none.
    pub fn restore(certificate: &str, key: &str) -> anyhow::Result<Self> {
        Self::known(certificate.to_owned(), KeyPair::from_pem(key)?)
    }

    fn known(certificate: String, key: KeyPair) -> anyhow::Result<Self> {
        let text = key.serialize_pem();
        Ok(Self {
            issuer: Issuer::new(params()?, key),
            certificate,
            key: text,
        })
    }

    /// Returns its certificate as PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns its private key as PEM.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Makes a certificate for a process, good from yesterday for some days; a negative number
    /// makes one that has expired.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn issue(&self, identity: &Identity, days: i64) -> anyhow::Result<Pem> {
        let key = KeyPair::generate()?;
        let mut made = CertificateParams::default();
        made.distinguished_name = rcgen::DistinguishedName::new();
        made.distinguished_name
            .push(DnType::CommonName, identity.to_string());
        made.subject_alt_names = vec![SanType::URI(identity.uri().try_into()?)];
        made.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        made.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ClientAuth,
            ExtendedKeyUsagePurpose::ServerAuth,
        ];
        made.use_authority_key_identifier_extension = true;
        good(&mut made, days.min(0) - 1, days)?;
        let certificate = made.signed_by(&key, &self.issuer)?;
        Ok(Pem {
            authorities: self.certificate.clone(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

fn params() -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    Ok(params)
}

/// Makes a certificate good between two midnights (UTC), in days from today.
fn good(params: &mut CertificateParams, from: i64, to: i64) -> anyhow::Result<()> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let midnight = |days: i64| {
        let day = today.checked_add(days.days())?;
        let (month, of_month) = (day.month().try_into()?, day.day().try_into()?);
        anyhow::Ok(date_time_ymd(day.year().into(), month, of_month))
    };
    (params.not_before, params.not_after) = (midnight(from)?, midnight(to)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::Trust;

    #[test]
    fn a_restored_authority_issues_as_the_one_before() {
        let made = Authority::new().unwrap();
        let again = Authority::restore(made.certificate(), made.key()).unwrap();
        let identity: Identity = "zone/zone-0".parse().unwrap();
        let pem = again.issue(&identity, 1).unwrap();
        assert_eq!(pem.authorities, made.certificate());
        assert_eq!(Trust::of(&pem).unwrap().identity(), Some(&identity));
    }
}
