//! Real PostgreSQL, PgBouncer, Redis and Prometheus servers for tests, and a content server and an identity provider that
//! can be ill.
//!
//! Each is private to who started it: its own temporary folder, its own port, an unprivileged
//! account where the test runs as root. It ends with its owner: when dropped, and also when the
//! test process dies. A machine without the server's binary fails the test with a sentence;
//! nothing is ever skipped.

pub mod cdn;
mod certificates;
mod folder;
pub mod idp;
mod pgbouncer;
mod postgres;
mod process;
mod prometheus;
mod redis;
mod redis_cluster;

pub use cdn::Cdn;
pub use certificates::{Authority, Certified};
pub use idp::Idp;
pub use pgbouncer::PgBouncer;
pub use postgres::{BaseBackup, Postgres, Receiver};
pub use process::spawn;
pub use prometheus::Prometheus;
pub use redis::Redis;
pub use redis_cluster::RedisCluster;

use std::net::TcpListener;

/// Returns a TCP port of the loopback interface that was free a moment ago.
fn free_port() -> Result<u16, String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port on 127.0.0.1: {error}"))
}
