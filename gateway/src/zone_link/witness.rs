//! Reports a run's death to the store, once, when this gateway has seen it.
//!
//! Always: this gateway reports only hard evidence: streams that were reset, and an address that
//! then refuses a new connection. Silence is no such evidence, and neither is a timeout. A silent
//! run may be cut off from this gateway alone, and its lease decides.

use std::{error::Error, io::ErrorKind, time::Duration};

use proto::rpc::persistence::v1::{SuspectRequest, directory_client::DirectoryClient};
use service_runtime::rpc::Replicas;
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};

use super::measures::Measures;

/// Time that a new connection may take. No answer within it counts as silence.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// Pause before each new connection, in milliseconds.
const PROBE_PAUSES_MS: [u64; 4] = [0, 20, 80, 200];

/// Error of a link that carried nothing for too long.
#[derive(Debug, thiserror::Error)]
#[error("no frame for {} s", .0.as_secs())]
pub(super) struct Silent(pub(super) Duration);

/// See the module.
#[derive(Debug)]
pub(super) struct Witness {
    /// `gateway:<id>`
    name: String,
    store: Replicas,
    measures: Measures,
}

/// Returns whether a link ended because the other side's connection did. A timeout on either side
/// does not count.
pub(super) fn is_reset(error: &anyhow::Error) -> bool {
    let late = |cause: &(dyn Error + 'static)| {
        let too_long = |error: &hyper::Error| error.is_timeout();
        cause.is::<Silent>() || cause.downcast_ref::<hyper::Error>().is_some_and(too_long)
    };
    !error.chain().any(late)
}

/// Returns whether an address refuses connections, now or in a moment. A process that is killed
/// loses its connections and its port one after the other.
async fn refuses(address: &str) -> bool {
    for pause_ms in PROBE_PAUSES_MS {
        sleep(Duration::from_millis(pause_ms)).await;
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => return true,
            // Silence would be no proof the next time either.
            Err(_) => return false,
            Ok(_) => {}
        }
    }
    false
}

impl Witness {
    pub(super) fn new(gateway_id: &str, store: Replicas, measures: Measures) -> Self {
        Self {
            name: format!("gateway:{gateway_id}"),
            store,
            measures,
        }
    }

    /// Tells the store that a run is gone if its address refuses connections. Call it after the
    /// run's streams were reset.
    pub(super) async fn look(&self, run_id: u64, address: &str) {
        if !refuses(address).await {
            return;
        }
        tracing::warn!(run = run_id, address, "a run is gone");
        self.measures.suspected();
        let ask = SuspectRequest {
            run_id,
            witness: self.name.clone(),
        };
        let call = async |channel, ask| DirectoryClient::new(channel).suspect(ask).await;
        // If the store does not hear of it, the run's lease still ends, only later.
        if let Err(status) = self.store.call(ask, call).await {
            tracing::warn!(run = run_id, %status, "the store does not hear of it");
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use service_runtime::rpc::{Names, Role, Trust};

    use super::*;

    #[test]
    fn silence_is_no_proof_of_death_and_a_broken_connection_is() {
        let silent = Err::<(), _>(Silent(Duration::from_secs(5))).context("watch");
        assert!(!is_reset(&silent.expect_err("silence")));
        let broken = tonic::Status::from_error(std::io::Error::from(ErrorKind::BrokenPipe).into());
        assert!(is_reset(&broken.into()));
    }

    /// The address listens and says nothing, like a stopped process.
    #[tokio::test]
    async fn an_address_that_takes_connections_is_not_reported() {
        use opentelemetry::metrics::MeterProvider;
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let silent = silent.expect("a port");
        let store = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let store = store.expect("a port");
        let address = |listener: &tokio::net::TcpListener| {
            listener.local_addr().expect("an address").to_string()
        };
        let told = Replicas::new(
            &Trust::none(),
            Role::Persistence,
            &Names::of([&address(&store)]),
        )
        .expect("an address");
        let meter = opentelemetry::metrics::noop::NoopMeterProvider::new().meter("test");
        let witness = Witness::new("g", told, Measures::new(&meter));
        witness.look(1, &address(&silent)).await;
        let asked = timeout(Duration::from_millis(1), store.accept()).await;
        assert!(asked.is_err(), "the store was told");
        let gone = address(&silent);
        drop(silent);
        let (_, asked) = tokio::join!(
            timeout(Duration::from_secs(5), witness.look(1, &gone)),
            timeout(Duration::from_secs(5), store.accept())
        );
        assert!(asked.is_ok(), "the store was not told of one that refuses");
    }

    #[tokio::test]
    async fn a_port_that_goes_a_moment_after_its_connections_is_found_gone() {
        let dying = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let dying = dying.expect("a port");
        let address = dying.local_addr().expect("an address").to_string();
        let looking = tokio::spawn(async move { refuses(&address).await });
        dying.accept().await.expect("the first probe");
        drop(dying);
        assert!(looking.await.expect("looked"), "it was not tried again");
    }
}
