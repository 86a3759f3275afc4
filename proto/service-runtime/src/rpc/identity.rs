//! The name of a process, as its certificate gives it.
//!
//! Always: a certificate names exactly one identity, as the URI `tilestead://<role>/<name>` among
//! its alternative names. The name `*` stands for any name of the role.

use std::{fmt, str::FromStr};

use rustls::pki_types::CertificateDer;

/// Scheme of the URI.
const SCHEME: &str = "tilestead://";
/// Name that stands for any name.
const ANY: &str = "*";
/// Longest name, in bytes.
const NAME_MAX: usize = 128;

/// Kind of a process, which decides what it may ask of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// `gateway`
    Gateway,
    /// `zone-server`
    Zone,
    /// `persistence-svc`
    Persistence,
    /// A person or a tool that looks after the processes.
    Operator,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Gateway, Self::Zone, Self::Persistence, Self::Operator];

    /// Returns the role's word in certificates.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Zone => "zone",
            Self::Persistence => "persistence",
            Self::Operator => "operator",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Role and name of a process; shown as `zone/zone-0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Role of the process.
    pub role: Role,
    /// Name among the processes of that role; `*`: any.
    pub name: String,
}

/// Error of an identity that is none, in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoIdentity {
    /// The text is not `<role>/<name>`.
    #[error("an identity is <role>/<name>, such as zone/zone-0 or gateway/*")]
    Malformed,
    /// No URI of the certificate is an identity.
    #[error("the certificate names no identity (tilestead://<role>/<name>)")]
    Missing,
    /// Several URIs of the certificate are identities.
    #[error("the certificate names more than one identity")]
    Several,
    /// The certificate cannot be read.
    #[error("the certificate cannot be read")]
    Unreadable,
}

impl Identity {
    /// Reads the identity in a certificate. Call it only with a certificate that was verified, or
    /// the process's own.
    ///
    /// # Errors
    /// If the certificate names none or several.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, NoIdentity> {
        let parsed = webpki::EndEntityCert::try_from(certificate);
        let parsed = parsed.map_err(|_| NoIdentity::Unreadable)?;
        let mut ours = parsed
            .valid_uri_names()
            .filter_map(|uri| uri.strip_prefix(SCHEME));
        let identity = ours.next().ok_or(NoIdentity::Missing)?.parse()?;
        match ours.next() {
            None => Ok(identity),
            Some(_) => Err(NoIdentity::Several),
        }
    }

    /// Returns the URI in the certificate.
    pub fn uri(&self) -> String {
        format!("{SCHEME}{self}")
    }

    /// Returns the one name that the certificate allows; `None`: any.
    pub fn exact_name(&self) -> Option<&str> {
        (self.name != ANY).then_some(&self.name)
    }

    /// Returns whether the process may call itself `name` in this role.
    pub fn allows(&self, role: Role, name: &str) -> bool {
        self.role == role && self.exact_name().is_none_or(|own| own == name)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.role, self.name)
    }
}

impl FromStr for Identity {
    type Err = NoIdentity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (role, name) = text.split_once('/').ok_or(NoIdentity::Malformed)?;
        let role = Role::ALL.into_iter().find(|known| known.word() == role);
        let role = role.ok_or(NoIdentity::Malformed)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        let fits = name == ANY || (!name.is_empty() && name.bytes().all(plain));
        if !fits || name.len() > NAME_MAX {
            return Err(NoIdentity::Malformed);
        }
        let name = name.to_owned();
        Ok(Self { role, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_a_role_and_a_plain_name() {
        let zone: Identity = "zone/zone-0".parse().unwrap();
        assert_eq!(
            (zone.role, zone.uri()),
            (Role::Zone, "tilestead://zone/zone-0".to_owned())
        );
        for wrong in [
            "zone",
            "zone/",
            "king/arthur",
            "zone/a/b",
            "zone/a b",
            "gateway/a*",
        ] {
            assert_eq!(
                wrong.parse::<Identity>(),
                Err(NoIdentity::Malformed),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_certificate_allows_its_own_name_or_any_but_never_another_role() {
        let one: Identity = "gateway/eu-1".parse().unwrap();
        let any: Identity = "gateway/*".parse().unwrap();
        assert!(one.allows(Role::Gateway, "eu-1") && any.allows(Role::Gateway, "eu-2"));
        assert!(!one.allows(Role::Gateway, "eu-2"));
        assert!(!one.allows(Role::Gateway, "*"));
        assert!(!any.allows(Role::Zone, "eu-1"));
        assert_eq!((one.exact_name(), any.exact_name()), (Some("eu-1"), None));
    }
}
