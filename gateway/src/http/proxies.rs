//! The client's address behind proxies, by which limits count.
//!
//! Always: `X-Forwarded-For` counts only as far as trusted proxies wrote it.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;
use service_runtime::config::Reader;

/// The networks of proxies: the gateway believes their `X-Forwarded-For` and PROXY headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    pub(crate) fn read(reader: &mut Reader) -> Self {
        let help = "addresses or networks (CIDR) of proxies, which say who their clients are";
        let mut networks = Vec::new();
        for text in reader.list("TRUSTED_PROXIES", "", help) {
            match network(&text) {
                Some(network) if network.prefix_len() == 0 => {
                    reader.problem(format!("TRUSTED_PROXIES: {text:?} would trust everybody"));
                }
                Some(network) => networks.push(network),
                None => reader.problem(format!("TRUSTED_PROXIES: {text:?} is no network")),
            }
        }
        Self(networks)
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether this address is a trusted proxy.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the client's address: the last one in the chain that is not a trusted proxy.
    pub(crate) fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.ip().to_canonical();
        let lines: Vec<&str> = headers
            .get_all("x-forwarded-for")
            .iter()
            .filter_map(|line| line.to_str().ok())
            .collect();
        let hops = lines.iter().flat_map(|line| line.split(',')).map(str::trim);
        for hop in hops.collect::<Vec<_>>().into_iter().rev() {
            if !self.trusts(client) {
                break;
            }
            let Some(address) = parse_hop(hop) else {
                break;
            };
            client = address;
        }
        client
    }
}

/// Reads an address, with or without a port.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let address = text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|a| a.ip());
    address.or_else(with_port).map(|a| a.to_canonical())
}

/// Reads a network, or an address as the network of just that address.
fn network(text: &str) -> Option<IpNet> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse().or_else(|_| address()).ok()
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    fn client(trusted: &str, peer: &str, forwarded: &[&str]) -> String {
        let env = Env::from_pairs([("TRUSTED_PROXIES", trusted)]);
        let mut reader = Reader::new(env);
        let proxies = TrustedProxies::read(&mut reader);
        reader.finish().unwrap();
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        let peer = SocketAddr::new(peer.parse().unwrap(), 9);
        proxies.client(peer, &headers).to_string()
    }

    #[test]
    fn only_what_trusted_proxies_wrote_is_believed() {
        assert_eq!(client("", "8.8.8.8", &["1.1.1.1"]), "8.8.8.8");
        assert_eq!(client("10.0.0.0/8", "8.8.8.8", &["1.1.1.1"]), "8.8.8.8");
        assert_eq!(client("10.0.0.0/8", "10.1.2.3", &["1.1.1.1"]), "1.1.1.1");
        // The client may write anything before the proxy's own entry.
        let chain = client("10.0.0.0/8", "10.1.2.3", &["9.9.9.9, 1.1.1.1", "10.0.0.7"]);
        assert_eq!(chain, "1.1.1.1");
        assert_eq!(client("10.0.0.0/8", "10.1.2.3", &["rubbish"]), "10.1.2.3");
        assert_eq!(client("::1", "::1", &["2001:db8::7"]), "2001:db8::7");
        assert_eq!(
            client("127.0.0.1", "::ffff:127.0.0.1", &["1.1.1.1:80"]),
            "1.1.1.1"
        );
    }

    #[test]
    fn a_wrong_network_is_a_problem() {
        for text in [
            "10.0.0.0/33",
            "proxy",
            "::1/129",
            "1.2.3.4/x",
            "0.0.0.0/0",
            "::/0",
        ] {
            let mut reader = Reader::new(Env::from_pairs([("TRUSTED_PROXIES", text)]));
            TrustedProxies::read(&mut reader);
            assert!(reader.finish().is_err(), "{text}");
        }
    }
}
