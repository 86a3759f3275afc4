//! Asks the gateways whether they are ready for players.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

/// Pause between two questions.
const PAUSE: Duration = Duration::from_millis(50);
/// Time that one answer may take.
const DEADLINE: Duration = Duration::from_secs(2);
/// Pause between two log lines of a long wait, which name the gateway and its reason.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 16 * 1024;

/// Waits until all gateways are ready. Safe to drop midway.
pub(crate) async fn wait_until_ready(gateways: &[SocketAddr]) {
    let mut said = Instant::now();
    for gateway in gateways {
        loop {
            let reason = match timeout(DEADLINE, ask(*gateway)).await {
                Ok(Ok(None)) => break,
                Ok(Ok(Some(reason))) => reason,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "no answer".to_owned(),
            };
            if said.elapsed() > TIMEOUT {
                tracing::warn!(%gateway, reason, "still waiting until the world is ready");
                said = Instant::now();
            }
            sleep(PAUSE).await;
        }
    }
}

/// Asks a gateway whether it is ready. Returns the reason if it is not; `None`: it is ready.
async fn ask(gateway: SocketAddr) -> std::io::Result<Option<String>> {
    let mut socket = TcpStream::connect(reachable(gateway)).await?;
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {gateway}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    socket
        .take(ANSWER_BYTES_MAX)
        .read_to_string(&mut answer)
        .await?;
    Ok(not_ready(&answer))
}

/// Returns the reason in an HTTP answer of a gateway that is not ready; `None`: it is ready.
fn not_ready(answer: &str) -> Option<String> {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split_whitespace().nth(1);
    (status != Some("200")).then(|| body.trim().to_owned())
}

/// Returns an address for a connection: a wildcard stands for this machine.
pub(crate) fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        let localhost = match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        address.set_ip(localhost);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_200_is_ready() {
        assert_eq!(not_ready("HTTP/1.1 200 OK\r\n\r\nok"), None);
        let starting = "HTTP/1.1 503 Service Unavailable\r\na: b\r\n\r\nno directory\n";
        assert_eq!(not_ready(starting).as_deref(), Some("no directory"));
        assert_eq!(not_ready("").as_deref(), Some(""));
    }

    #[test]
    fn a_wildcard_address_is_asked_on_this_machine() {
        let ask = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(ask("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(ask("[::]:80"), "[::1]:80");
        assert_eq!(ask("10.0.0.7:80"), "10.0.0.7:80");
    }
}
