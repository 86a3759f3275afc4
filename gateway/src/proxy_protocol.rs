//! The PROXY protocol, version 2: a balancer that passes on bytes names each connection's client
//! before them.
//!
//! Always: the gateway reads the header before anything else, in a bounded time, up to a bounded
//! length, and no byte beyond it. Version 1 is refused. The caller asks only for trusted peers.

use std::{net::SocketAddr, time::Duration};

use ppp::v2::{Addresses, Command, Header, PROTOCOL_PREFIX, Protocol};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::timeout,
};

/// Length of the fixed part: the signature, version, family and the length of the rest.
const FIXED_BYTES: usize = 16;
/// The longest rest of a header: addresses, and what a balancer adds to them.
const REST_BYTES_MAX: usize = 2048;

/// Reason why a connection names no client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoClient {
    /// The peer is no trusted proxy.
    Untrusted,
    /// The header is missing, of another version, too long or malformed.
    Malformed,
    /// The header names no TCP client: another family or protocol.
    NoAddress,
    /// The header was not whole in time.
    TooSlow,
    /// The connection ended within the header.
    Ended,
}

impl NoClient {
    /// Returns the reason for metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Malformed => "malformed",
            Self::NoAddress => "no_address",
            Self::TooSlow => "too_slow",
            Self::Ended => "ended",
        }
    }
}

/// Reads the header, and returns the address of the client that it names. A proxy that speaks for
/// itself, as for a health check, is the client: `peer`.
pub(crate) async fn client<R>(
    stream: &mut R,
    peer: SocketAddr,
    within: Duration,
) -> Result<SocketAddr, NoClient>
where
    R: AsyncRead + Unpin,
{
    let read = timeout(within, read(stream)).await;
    let header = read.map_err(|_| NoClient::TooSlow)??;
    named(&header, peer)
}

/// Reads the bytes of a header.
async fn read<R: AsyncRead + Unpin>(stream: &mut R) -> Result<Vec<u8>, NoClient> {
    let mut header = vec![0; FIXED_BYTES];
    let ended = |_| NoClient::Ended;
    stream.read_exact(&mut header).await.map_err(ended)?;
    if !header.starts_with(PROTOCOL_PREFIX) {
        return Err(NoClient::Malformed);
    }
    let rest = usize::from(u16::from_be_bytes([header[14], header[15]]));
    if rest > REST_BYTES_MAX {
        return Err(NoClient::Malformed);
    }
    header.resize(FIXED_BYTES + rest, 0);
    let rest = &mut header[FIXED_BYTES..];
    stream.read_exact(rest).await.map_err(ended)?;
    Ok(header)
}

/// Returns the client that a header names.
fn named(header: &[u8], peer: SocketAddr) -> Result<SocketAddr, NoClient> {
    let header = Header::try_from(header).map_err(|_| NoClient::Malformed)?;
    match (header.command, header.protocol, header.addresses) {
        (Command::Local, _, _) => Ok(peer),
        (Command::Proxy, Protocol::Stream, Addresses::IPv4(of)) => {
            Ok((of.source_address, of.source_port).into())
        }
        (Command::Proxy, Protocol::Stream, Addresses::IPv6(of)) => {
            let address = SocketAddr::from((of.source_address, of.source_port));
            Ok(SocketAddr::new(address.ip().to_canonical(), address.port()))
        }
        (Command::Proxy, _, _) => Err(NoClient::NoAddress),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: &str = "192.0.2.1:7";
    const V4: [u8; 12] = [203, 0, 113, 9, 10, 0, 0, 1, 0, 80, 1, 187];

    fn header(version: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let mut bytes = PROTOCOL_PREFIX.to_vec();
        bytes.extend([version, family]);
        bytes.extend(u16::try_from(rest.len()).unwrap().to_be_bytes());
        bytes.extend(rest);
        bytes
    }

    async fn told(bytes: &[u8]) -> Result<String, NoClient> {
        let mut stream = bytes;
        let told = client(&mut stream, PEER.parse().unwrap(), Duration::from_secs(1)).await;
        told.map(|address| address.to_string())
    }

    #[tokio::test]
    async fn a_header_names_the_client_and_what_follows_stays_unread() {
        let mut bytes = header(0x21, 0x11, &V4);
        bytes.extend(b"GET /");
        let mut stream = bytes.as_slice();
        let within = Duration::from_secs(1);
        let named = client(&mut stream, PEER.parse().unwrap(), within).await;
        assert_eq!(named, Ok("203.0.113.9:80".parse().unwrap()));
        assert_eq!(stream, b"GET /");
        let mut six = [0; 36];
        six[..16].copy_from_slice(
            &"2001:db8::7"
                .parse::<std::net::Ipv6Addr>()
                .unwrap()
                .octets(),
        );
        let six = told(&header(0x21, 0x21, &six)).await;
        assert_eq!(six.as_deref(), Ok("[2001:db8::7]:0"));
        // Whatever a balancer adds changes nothing.
        let with = [&V4[..], &[0x04, 0, 2, 7, 7]].concat();
        let with = told(&header(0x21, 0x11, &with)).await;
        assert_eq!(with.as_deref(), Ok("203.0.113.9:80"));
    }

    #[tokio::test]
    async fn a_balancer_that_speaks_for_itself_is_the_client() {
        assert_eq!(told(&header(0x20, 0, &[])).await.as_deref(), Ok(PEER));
        let with = told(&header(0x20, 0x11, &V4)).await;
        assert_eq!(with.as_deref(), Ok(PEER), "its addresses mean nothing");
    }

    #[tokio::test]
    async fn everything_else_is_refused() {
        let long = vec![0; REST_BYTES_MAX + 1];
        let unix = [0; 216 + 5];
        for (bytes, why) in [
            (
                b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n".to_vec(),
                NoClient::Malformed,
            ),
            (b"GET / HTTP/1.1\r\n\r\n".to_vec(), NoClient::Malformed),
            (header(0x31, 0x11, &V4), NoClient::Malformed),
            (header(0x22, 0x11, &V4), NoClient::Malformed),
            (header(0x21, 0x11, &V4[..11]), NoClient::Malformed),
            (header(0x21, 0x11, &long), NoClient::Malformed),
            (header(0x21, 0x00, &[]), NoClient::NoAddress),
            (header(0x21, 0x12, &V4), NoClient::NoAddress),
            (header(0x21, 0x31, &unix), NoClient::NoAddress),
            (header(0x21, 0x11, &V4)[..20].to_vec(), NoClient::Ended),
            (Vec::new(), NoClient::Ended),
        ] {
            assert_eq!(told(&bytes).await, Err(why), "{bytes:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_header_that_does_not_come_is_not_waited_for() {
        let (mut near, mut far) = tokio::io::duplex(64);
        tokio::io::AsyncWriteExt::write_all(&mut near, &header(0x21, 0x11, &V4)[..20])
            .await
            .unwrap();
        let within = Duration::from_secs(1);
        let told = client(&mut far, PEER.parse().unwrap(), within).await;
        assert_eq!(told, Err(NoClient::TooSlow));
    }
}
