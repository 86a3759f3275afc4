//! Watches whether the other runs live: holds a stream to each and judges its end. [`judge`] is
//! pure; [`Presence`] acts.
//!
//! Always: a run is called dead only when its stream was reset and its address refuses a new
//! connection; silence, slowness and an end in order say nothing.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use proto::rpc::{
    persistence::v1::{DirectoryUpdate, RunState, SuspectRequest},
    zone::v1::{PresenceRequest, handover_client::HandoverClient},
};
use service_runtime::{rpc::Role, tasks::TaskGroup};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status};

use crate::store::Store;

/// Runs that one run watches at most.
const WATCHED_MAX: usize = 256;
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);
/// Pauses before each new connection, in milliseconds.
const PROBE_PAUSES_MS: [u64; 4] = [0, 20, 80, 200];
const ANSWER_DEADLINE: Duration = Duration::from_secs(2);

/// The way in which a stream to another run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It never began, or the other side ended it in order.
    Ordered,
    /// The connection broke.
    Reset,
}

/// The outcome of a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeResult {
    /// Somebody listens.
    Open,
    /// The host says that nothing listens there.
    Refused,
    /// No answer came, or none that proves anything.
    Silent,
}

/// The step that follows the end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The run opens the stream again in a moment.
    Again,
    /// The run tells the store.
    Suspect,
}

/// Returns the verdict on the end of a stream and a new connection together. `open` tells that the
/// stream was open, so that there was a run to lose.
pub(crate) fn judge(open: bool, ended: Ended, probe: ProbeResult) -> Verdict {
    match (ended, probe) {
        (Ended::Reset, ProbeResult::Refused) if open => Verdict::Suspect,
        _ => Verdict::Again,
    }
}

/// The watch of one run over all others.
#[derive(Debug, Clone)]
pub(crate) struct Presence {
    run_id: u64,
    store: Store,
    tasks: TaskGroup,
    watched: Arc<Mutex<BTreeMap<u64, CancellationToken>>>,
}

impl Presence {
    /// Returns a watch that watches no run yet.
    pub(crate) fn new(run_id: u64, store: Store, tasks: TaskGroup) -> Self {
        Self {
            run_id,
            store,
            tasks,
            watched: Arc::default(),
        }
    }

    /// Watches just those runs that the directory shows alive. Call it inside a runtime.
    pub(crate) fn follow(&self, update: &DirectoryUpdate) {
        if update.unchanged {
            return;
        }
        let alive = update.runs.iter().filter(|run| {
            run.state() != RunState::Fenced && run.run_id != self.run_id && !run.address.is_empty()
        });
        let alive: BTreeMap<u64, &str> = alive.map(|r| (r.run_id, r.address.as_str())).collect();
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|run, stop| {
            let stays = alive.contains_key(run);
            if !stays {
                stop.cancel();
            }
            stays
        });
        for (run, address) in alive {
            if watched.len() >= WATCHED_MAX {
                break;
            }
            if watched.contains_key(&run) {
                continue;
            }
            let stop = self.tasks.stop().child_token();
            watched.insert(run, stop.clone());
            let (presence, address) = (self.clone(), address.to_owned());
            self.tasks.spawn("presence", async move {
                stop.run_until_cancelled(presence.watch(run, &address))
                    .await;
            });
        }
    }

    async fn watch(&self, run_id: u64, address: &str) {
        let mut backoff = service_runtime::rpc::Backoff::new();
        loop {
            let (open, ended) = self.listen(run_id, address).await;
            if open {
                backoff.reset();
            }
            let probe = match ended {
                Ended::Reset if open => probe(address).await,
                Ended::Reset | Ended::Ordered => ProbeResult::Silent,
            };
            if judge(open, ended, probe) == Verdict::Suspect {
                tracing::warn!(run = self.run_id, other = run_id, "a run seems to be dead");
                self.suspect(run_id).await;
            }
            backoff.wait().await;
        }
    }

    /// Holds one stream until it ends. Returns whether it was open, and how it ended.
    async fn listen(&self, run_id: u64, address: &str) -> (bool, Ended) {
        let Ok(channel) = self.store.trust().channel(Role::Zone, address) else {
            return (false, Ended::Ordered);
        };
        let request = PresenceRequest {
            to_run_id: run_id,
            from_run_id: self.run_id,
        };
        let mut client = HandoverClient::new(channel);
        let call = tokio::time::timeout(ANSWER_DEADLINE, client.presence(request));
        let mut beats = match call.await {
            Ok(Ok(beats)) => beats.into_inner(),
            Ok(Err(_)) | Err(_) => return (false, Ended::Ordered),
        };
        loop {
            match beats.message().await {
                Ok(Some(_)) => {}
                Ok(None) => return (true, Ended::Ordered),
                Err(status) => return (true, ending(&status)),
            }
        }
    }

    /// Reports a suspect to the store, a few times at most. This run is not the only witness, and
    /// the suspect's lease ends anyway.
    async fn suspect(&self, run_id: u64) {
        let mut backoff = service_runtime::rpc::Backoff::new();
        for _ in 0..4 {
            let request = SuspectRequest {
                run_id,
                witness: format!("run:{}", self.run_id),
            };
            let mut client = self.store.directory();
            if service_runtime::rpc::bounded(client.suspect(request))
                .await
                .is_ok()
            {
                return;
            }
            backoff.wait().await;
        }
    }
}

/// Judges the end of a stream by its status. A process that ends a stream itself says so with a
/// code of its own.
fn ending(status: &Status) -> Ended {
    match status.code() {
        Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled => Ended::Reset,
        _ => Ended::Ordered,
    }
}

/// Tries new connections until one is refused or the tries are over. A killed process loses its
/// connections and its port one after the other.
async fn probe(address: &str) -> ProbeResult {
    let mut last = ProbeResult::Silent;
    for pause_ms in PROBE_PAUSES_MS {
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        last = match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(_)) => ProbeResult::Open,
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                return ProbeResult::Refused;
            }
            Ok(Err(_)) => ProbeResult::Silent,
            // Silence would be no proof the next time either.
            Err(_) => return ProbeResult::Silent,
        };
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reset_and_a_refusal_together_are_a_death() {
        let table = [
            (true, Ended::Reset, ProbeResult::Refused, Verdict::Suspect),
            (true, Ended::Reset, ProbeResult::Open, Verdict::Again),
            (true, Ended::Reset, ProbeResult::Silent, Verdict::Again),
            (true, Ended::Ordered, ProbeResult::Refused, Verdict::Again),
            (false, Ended::Reset, ProbeResult::Refused, Verdict::Again),
        ];
        for (open, ended, probe, verdict) in table {
            assert_eq!(
                judge(open, ended, probe),
                verdict,
                "{open} {ended:?} {probe:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_port_that_nobody_listens_on_refuses() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        assert_eq!(probe(&address).await, ProbeResult::Open);
        drop(listener);
        assert_eq!(probe(&address).await, ProbeResult::Refused);
    }
}
