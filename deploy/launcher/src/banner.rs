//! Text that the launcher prints on standard output.

use std::{io::Write, net::SocketAddr, process::ExitCode};

use crate::{arguments::Up, probe::reachable};

/// Prints `text`. Returns an exit code that says whether the output took it.
pub(crate) fn show(text: &str) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns the table of services with their addresses, and the line with the address to open.
/// Gateways come first.
pub(crate) fn ready(up: &Up, addresses: &[(String, SocketAddr)]) -> String {
    let width = addresses.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or(0);
    let mut text = format!("\nTilestead {}\n\n", env!("CARGO_PKG_VERSION"));
    for (name, address) in addresses {
        text.push_str(&format!("  {name:<width$}  {address}\n"));
    }
    let data = folder(up);
    text.push_str(&format!("  {:<width$}  {data}\n", "data"));
    if let Some((_, gateway)) = addresses.first() {
        let url = url(*gateway);
        text.push_str(&format!("\nOpen {url} to play; Ctrl-C stops the world.\n"));
    }
    text
}

/// Returns the last line.
pub(crate) fn stopped(up: &Up) -> String {
    format!("Stopped. Everything is saved in {}.\n", folder(up))
}

fn url(gateway: SocketAddr) -> String {
    let gateway = reachable(gateway);
    if gateway.ip().is_loopback() {
        return format!("http://localhost:{}/", gateway.port());
    }
    format!("http://{gateway}/")
}

fn folder(up: &Up) -> String {
    let folder = std::path::absolute(&up.data);
    let folder = folder.as_deref().unwrap_or(&up.data);
    folder.display().to_string()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_table_says_what_runs_where_and_what_to_open() {
        let up = Up {
            zones: 1,
            gateways: 1,
            data: PathBuf::from("/var/world"),
            port: 80,
            cdn_port: 8080,
            chaos: false,
            print_config: false,
        };
        let addresses = [
            ("gateway 1".to_owned(), "0.0.0.0:80".parse().unwrap()),
            (
                "zone-server 1".to_owned(),
                "127.0.0.1:4001".parse().unwrap(),
            ),
        ];
        let text = ready(&up, &addresses);
        let lines: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "  gateway 1      0.0.0.0:80",
                "  zone-server 1  127.0.0.1:4001",
                "  data           /var/world",
                "",
                "Open http://localhost:80/ to play; Ctrl-C stops the world.",
            ]
        );
    }
}
