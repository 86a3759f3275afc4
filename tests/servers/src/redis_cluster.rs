//! A private Redis Cluster of three nodes, none of which has a replica.
//!
//! Always: each node has a third of the slots until a test moves some. A node that dies takes its
//! slots along and leaves those of the others usable.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::certificates::Certified;
use crate::process::wait_until;
use crate::redis::{Redis, Way, secured};

const FORM_LIMIT: Duration = Duration::from_secs(20);
/// First slot of each node, and the end.
const BOUNDS: [u16; 4] = [0, 5461, 10923, 16384];

/// A running cluster that keeps nothing on disk but who its nodes are.
pub struct RedisCluster {
    nodes: Vec<Redis>,
    /// Ports for clients.
    ports: Vec<u16>,
    /// Words before each order of a test, where a server knows its users.
    login: String,
    scheme: &'static str,
}

impl RedisCluster {
    /// Starts three nodes and waits until all of them know it.
    ///
    /// # Panics
    /// With a sentence where that is impossible.
    #[must_use]
    pub fn start() -> RedisCluster {
        RedisCluster::try_start(None).unwrap_or_else(|why| panic!("Redis Cluster: {why}"))
    }

    /// Starts three nodes that are reached by TLS, and only by the user `game` with
    /// [`Redis::PASSWORD`].
    ///
    /// # Panics
    /// With a sentence where that is impossible.
    #[must_use]
    pub fn start_secured(own: &Certified, ca: &Path) -> RedisCluster {
        RedisCluster::try_start(Some(secured(own, ca, false)))
            .unwrap_or_else(|why| panic!("Redis Cluster: {why}"))
    }

    fn try_start(tls: Option<Vec<String>>) -> Result<RedisCluster, String> {
        let (login, scheme) = match tls {
            Some(_) => (format!("AUTH game {}\r\n", Redis::PASSWORD), "rediss"),
            None => (String::new(), "redis"),
        };
        let mut cluster = RedisCluster {
            nodes: Vec::new(),
            ports: Vec::new(),
            login,
            scheme,
        };
        let mut links = Vec::new();
        for _ in 0..3 {
            let link = crate::free_port()?;
            let mut arguments: Vec<String> = [
                "--cluster-enabled",
                "yes",
                "--cluster-config-file",
                "nodes.conf",
                "--cluster-node-timeout",
                "1000",
                "--cluster-require-full-coverage",
                "no",
                "--cluster-port",
            ]
            .map(str::to_owned)
            .to_vec();
            arguments.push(link.to_string());
            let mut port = None;
            if let Some(tls) = &tls {
                let secured = crate::free_port()?;
                let more = ["--tls-cluster", "yes", "--tls-port"].map(str::to_owned);
                arguments.extend(more);
                arguments.push(secured.to_string());
                arguments.extend(tls.iter().cloned());
                port = Some(secured);
            }
            let node = Redis::try_start_by(Way::Node(arguments, port))?;
            cluster.ports.push(port.unwrap_or(node.port()));
            cluster.nodes.push(node);
            links.push(link);
        }
        cluster.form(&links)?;
        Ok(cluster)
    }

    /// Gives each node its slots, and makes all of them meet.
    fn form(&self, links: &[u16]) -> Result<(), String> {
        for (node, bounds) in BOUNDS.windows(2).enumerate() {
            if let [first, end] = bounds {
                let range = format!("CLUSTER ADDSLOTSRANGE {first} {}", end - 1);
                self.order(node, &range);
            }
            self.order(node, &format!("CLUSTER SET-CONFIG-EPOCH {}", node + 1));
        }
        for (port, link) in self.ports.iter().zip(links).skip(1) {
            self.order(0, &format!("CLUSTER MEET 127.0.0.1 {port} {link}"));
        }
        if self.wait_whole() {
            return Ok(());
        }
        Err(format!(
            "it did not form: {}",
            self.order(0, "CLUSTER INFO")
        ))
    }

    /// Waits until all nodes know all nodes, and that each slot is served.
    fn wait_whole(&self) -> bool {
        let whole = |node| {
            let (told, nodes) = (
                self.order(node, "CLUSTER INFO"),
                self.order(node, "CLUSTER NODES"),
            );
            let well = [
                "cluster_state:ok",
                "cluster_known_nodes:3",
                "cluster_slots_ok:16384",
            ];
            well.iter().all(|line| told.contains(line)) && !nodes.contains("fail")
        };
        wait_until(FORM_LIMIT, || (0..3).all(whole))
    }

    /// Returns the addresses of all nodes for clients, comma separated.
    #[must_use]
    pub fn urls(&self) -> String {
        let user = match self.scheme {
            "rediss" => format!("game:{}@", Redis::PASSWORD),
            _ => String::new(),
        };
        let urls =
            (0..3).map(|node| format!("{}://{user}127.0.0.1:{}", self.scheme, self.port(node)));
        urls.collect::<Vec<_>>().join(",")
    }

    /// Returns the port of a node for clients.
    #[must_use]
    pub fn port(&self, node: usize) -> u16 {
        self.ports[node]
    }

    /// Kills a node at once.
    pub fn kill9(&mut self, node: usize) {
        self.nodes[node].kill9();
    }

    /// Freezes (`STOP`) or wakes (`CONT`) a node.
    pub fn signal(&self, node: usize, name: &str) {
        self.nodes[node].signal(name);
    }

    /// Starts a node again, empty, and waits until all nodes know it.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn restart(&mut self, node: usize) {
        self.nodes[node].restart();
        assert!(
            self.wait_whole(),
            "the node does not come back to the others"
        );
    }

    /// Returns the node that has the slot of this key now.
    ///
    /// # Panics
    /// If the cluster does not say it.
    #[must_use]
    pub fn owner(&self, key: &str) -> usize {
        let slot = self.slot(key);
        let owns = |node: &usize| {
            let nodes = self.order(*node, "CLUSTER NODES");
            let own = nodes.lines().find(|line| line.contains("myself"));
            let ranges = own.into_iter().flat_map(|line| line.split(' ').skip(8));
            let mut ends = ranges.filter_map(|range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                Some((first.parse::<u16>().ok()?, last.parse::<u16>().ok()?))
            });
            ends.any(|(first, last)| (first..=last).contains(&slot))
        };
        (0..3).find(owns).expect("no node has the slot")
    }

    /// Moves the slot of this key, which must hold nothing, to another node.
    pub fn move_slot(&self, key: &str, to: usize) {
        let (slot, from) = (self.slot(key), self.owner(key));
        let id = |node| {
            self.order(node, "CLUSTER MYID")
                .lines()
                .nth(1)
                .map(str::to_owned)
        };
        let (source, target) = (id(from).unwrap_or_default(), id(to).unwrap_or_default());
        self.order(to, &format!("CLUSTER SETSLOT {slot} IMPORTING {source}"));
        self.order(from, &format!("CLUSTER SETSLOT {slot} MIGRATING {target}"));
        for node in [to, from, 3 - to - from] {
            self.order(node, &format!("CLUSTER SETSLOT {slot} NODE {target}"));
        }
    }

    fn slot(&self, key: &str) -> u16 {
        let told = self.order(0, &format!("CLUSTER KEYSLOT {key}"));
        let number = told.trim().trim_start_matches(':').parse();
        number.expect("a slot is a number")
    }

    /// Says something to one node itself, in its inline form, and returns its answer.
    ///
    /// # Panics
    /// If the node is away or refuses it.
    pub fn order(&self, node: usize, command: &str) -> String {
        let port = self.nodes[node].port();
        let told = TcpStream::connect(("127.0.0.1", port)).and_then(|mut stream| {
            stream.write_all(format!("{}{command}\r\nQUIT\r\n", self.login).as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        });
        let told = told.unwrap_or_else(|error| panic!("{command}: {error}"));
        let told = match self.login.as_str() {
            "" => told,
            _ => told.strip_prefix("+OK\r\n").unwrap_or(&told).to_owned(),
        };
        assert!(!told.starts_with('-'), "{command}: {told}");
        told.strip_suffix("+OK\r\n").unwrap_or(&told).to_owned()
    }
}
