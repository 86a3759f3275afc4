//! The subjects of limits: accounts, names and networks.

use std::{fmt, net::IpAddr};

/// Account, name or network that a limit counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// An account, by its id.
    Account(String),
    /// A name by which somebody logs in.
    Name(String),
    /// A client's network.
    Address(IpAddr),
    /// Everybody together.
    World,
}

impl Subject {
    /// Returns the subject of a client's address. One person has a whole /64 of IPv6.
    pub(crate) fn address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            v4 @ IpAddr::V4(_) => v4,
            IpAddr::V6(a) => IpAddr::V6((a.to_bits() >> 64 << 64).into()),
        })
    }
}

/// Writes the subject as a key.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(id) => write!(f, "account:{id}"),
            Self::Name(name) => write!(f, "name:{name}"),
            Self::Address(address) => write!(f, "address:{address}"),
            Self::World => f.write_str("world"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_counts_as_one_and_a_mapped_address_as_ipv4() {
        let key = |text: &str| Subject::address(text.parse().unwrap()).to_string();
        assert_eq!(key("10.0.0.1"), "address:10.0.0.1");
        assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:0:0:2"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        let account = Subject::Account("10.0.0.1".to_owned()).to_string();
        assert_ne!(account, key("10.0.0.1"));
    }
}
