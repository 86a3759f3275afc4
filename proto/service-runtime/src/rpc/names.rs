//! The addresses behind a name: those of a file, or else those of the system's resolver.

use std::{net::IpAddr, path::PathBuf};

use anyhow::Context;

use crate::config::Reader;

/// Names of the persistence services, as configured.
#[derive(Debug, Clone)]
pub struct Names {
    /// Names with ports, each `host:port`.
    pub names: Vec<String>,
    /// File with addresses of names, in the form of `/etc/hosts`.
    pub hosts: Option<PathBuf>,
}

impl Names {
    /// Returns these names, without a file.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        Self {
            names: names.into_iter().cloned().collect(),
            hosts: None,
        }
    }

    /// Reads `PERSISTENCE_ADDRESSES` and `HOSTS_FILE`.
    pub fn read(reader: &mut Reader) -> Self {
        const NAME: &str = "PERSISTENCE_ADDRESSES";
        let help = "host:port of the persistence services; a name stands for all its addresses";
        let names = reader.list(NAME, "127.0.0.1:5600", help);
        if names.is_empty() {
            reader.problem(format!("{NAME} is empty"));
        }
        for name in &names {
            if !matches!(split(name), Some((_, 1..))) {
                reader.problem(format!("{NAME}: {name:?} is not host:port"));
            }
        }
        let help = "file with addresses of names, in the form of /etc/hosts; read again and again";
        let hosts: Option<String> = reader.optional("HOSTS_FILE", help);
        let hosts = hosts.map(PathBuf::from);
        Self { names, hosts }
    }
}

fn split(name: &str) -> Option<(&str, u16)> {
    let (host, port) = name.rsplit_once(':')?;
    Some((host, port.parse().ok()?))
}

/// Returns all addresses of a name (`host:port`), sorted, with its port. The file, if it names the
/// host, goes before the system.
///
/// # Errors
/// If the name is not `host:port`, or nobody knows the host.
pub(super) async fn resolve(name: &str, hosts: Option<PathBuf>) -> anyhow::Result<Vec<String>> {
    let (host, port) = split(name).context("the name is not host:port")?;
    let mut found = Vec::new();
    if let Some(file) = hosts {
        let read =
            move || std::fs::read_to_string(&file).with_context(|| file.display().to_string());
        let text = tokio::task::spawn_blocking(read).await??;
        found = listed(&text, host);
    }
    if found.is_empty() {
        let looked = tokio::net::lookup_host(name).await?;
        found = looked.map(|address| address.ip()).collect();
    }
    found.sort_unstable();
    found.dedup();
    let addresses = found.into_iter().map(|ip| (ip, port).into());
    let addresses = addresses.map(|address: std::net::SocketAddr| address.to_string());
    Ok(addresses.collect())
}

/// Returns the addresses of a host in a text in the form of `/etc/hosts`.
fn listed(text: &str, host: &str) -> Vec<IpAddr> {
    let of_line = |line: &str| {
        let line = line.split_once('#').map_or(line, |(line, _)| line);
        let mut words = line.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|word| word == host).then_some(address)
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_host_give_its_addresses() {
        let text =
            "# ours\n10.0.0.1 store other\n\n10.0.0.2\tstore # two\nwrong store\n10.0.0.3 other";
        let two = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse::<IpAddr>().expect("an address"));
        assert_eq!(listed(text, "store"), two);
        assert_eq!(listed(text, "stor"), Vec::<IpAddr>::new());
    }

    #[tokio::test]
    async fn an_address_stands_for_itself_and_a_name_without_port_for_nothing() {
        let found = resolve("127.0.0.1:5600", None).await.expect("an address");
        assert_eq!(found, ["127.0.0.1:5600"]);
        assert!(resolve("store", None).await.is_err());
    }
}
