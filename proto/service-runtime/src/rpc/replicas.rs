//! The replicas of a service behind its names, as one: calls go to all in turn.
//!
//! Always: a call goes to no replica that gave no answer lately, as long as there is another. A
//! name that cannot be resolved keeps the replicas that it had.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context as TaskContext, Poll},
    time::Duration,
};

use anyhow::Context;
use arc_swap::ArcSwap;
use axum::http;
use futures::future::join_all;
use tokio::time::{Instant, timeout};
use tonic::{
    Code, Response, Status,
    body::Body,
    transport::{self, Channel},
};
use tower::Service;

use super::{
    Role, Trust, bounded,
    names::{self, Names},
    traced,
};

/// Pause between two looks at the names.
const LOOK: Duration = Duration::from_secs(5);
/// Time for the answer of a name server.
const LOOK_LIMIT: Duration = Duration::from_secs(3);
/// First and longest pause of a replica that gave no answer.
const REST: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(8)];
/// A call that ends without an answer after this time counts against its replica.
const SLOW: Duration = Duration::from_secs(1);

/// All replicas of a service; at least one. Clones share them.
#[derive(Debug, Clone)]
pub struct Replicas(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    trust: Trust,
    role: Role,
    named: Names,
    known: ArcSwap<Vec<Arc<Replica>>>,
    turn: AtomicUsize,
}

/// One process of the service.
#[derive(Debug)]
struct Replica {
    /// Name by which it was found.
    name: String,
    /// host:port.
    address: String,
    channel: Channel,
    standing: Mutex<Standing>,
}

#[derive(Debug, Default)]
struct Standing {
    /// Length of the last pause.
    pause: Duration,
    /// End of the pause.
    until: Option<Instant>,
}

impl Replica {
    fn standing(&self) -> std::sync::MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time for which no call should go to it.
    fn rests(&self) -> Duration {
        let until = self.standing().until;
        until.map_or(Duration::ZERO, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }

    fn failed(&self) {
        let mut standing = self.standing();
        if standing.until.is_some_and(|until| until > Instant::now()) {
            return;
        }
        standing.pause = (standing.pause * 2).clamp(REST[0], REST[1]);
        standing.until = Some(Instant::now() + standing.pause);
    }

    fn answered(&self) {
        *self.standing() = Standing::default();
    }
}

/// The answer of a replica.
#[derive(Debug)]
pub struct Answered<T> {
    /// Answer, or the failure of the last replica.
    pub answer: Result<T, Status>,
    /// Whether an earlier replica gave no answer and may have done the same.
    pub again: bool,
}

impl Replicas {
    /// Builds the replicas of a role, and connects to none yet. Call it inside a runtime.
    ///
    /// # Errors
    /// If there is no name, or one is not `host:port`.
    pub fn new(trust: &Trust, role: Role, named: &Names) -> anyhow::Result<Self> {
        let names = &named.names;
        anyhow::ensure!(!names.is_empty(), "no address is given");
        let shared = Shared {
            trust: trust.clone(),
            role,
            named: named.clone(),
            known: ArcSwap::default(),
            turn: AtomicUsize::new(rand::random_range(0..1024)),
        };
        // Until the first look, a name stands for its first address.
        let named = names.iter().map(|name| shared.replica(name, name));
        let named: anyhow::Result<Vec<_>> = named.collect();
        shared.known.store(Arc::new(named?));
        Ok(Self(Arc::new(shared)))
    }

    /// Looks at the names again and again, for ever.
    pub async fn follow(self) {
        loop {
            self.0.look().await;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Returns a way to the service. Each call on it goes to the next replica.
    pub fn route(&self) -> Route {
        Route {
            replicas: self.clone(),
            only: None,
        }
    }

    /// Asks one replica after the other until one answers, each within [`super::DEADLINE`]. More
    /// than one replica may carry out the request.
    ///
    /// # Errors
    /// The answer of a replica, or that of the last one if none answered.
    pub async fn call<Q: Clone, T>(
        &self,
        request: Q,
        call: impl AsyncFn(Route, Q) -> Result<Response<T>, Status>,
    ) -> Result<T, Status> {
        self.call_once(request, call).await.answer
    }

    /// Calls as [`Replicas::call`] does, and says whether a replica without an answer may have done
    /// it.
    pub async fn call_once<Q: Clone, T>(
        &self,
        request: Q,
        call: impl AsyncFn(Route, Q) -> Result<Response<T>, Status>,
    ) -> Answered<T> {
        let known = self.0.known.load_full();
        let mut tried = Vec::new();
        // A call that met the end of its connection was not sent: it may go to the same one again.
        let mut unsent = false;
        loop {
            let replica = self.0.next(&known, &tried);
            let route = self.to(&replica);
            let answer = bounded(call(route, request.clone())).await;
            let silent = answer.as_ref().is_err_and(away);
            let again = !tried.is_empty();
            let closed = |status: &Status| status.code() == Code::Cancelled;
            if !unsent && answer.as_ref().is_err_and(closed) {
                unsent = true;
                continue;
            }
            tried.push(replica);
            if !silent || tried.len() >= known.len() {
                return Answered { answer, again };
            }
        }
    }

    /// Calls each replica once, all at the same time, each within [`super::DEADLINE`]. `call` hears the
    /// address of its replica. Returns the addresses with the answers.
    pub async fn each<T, Answering>(
        &self,
        call: impl Fn(String, Route) -> Answering,
    ) -> Vec<(String, Result<T, Status>)>
    where
        Answering: Future<Output = Result<Response<T>, Status>>,
    {
        let known = self.0.known.load_full();
        let asked = known.iter().map(|replica| {
            let address = replica.address.clone();
            let answer = bounded(call(address.clone(), self.to(replica)));
            async move { (address, answer.await) }
        });
        join_all(asked).await
    }

    /// Returns a way to the replica at this address alone; `None`: there is no such replica.
    pub fn at(&self, address: &str) -> Option<Route> {
        let known = self.0.known.load();
        let found = known.iter().find(|replica| replica.address == address);
        found.map(|replica| self.to(replica))
    }

    fn to(&self, replica: &Arc<Replica>) -> Route {
        Route {
            replicas: self.clone(),
            only: Some(Arc::clone(replica)),
        }
    }
}

impl Shared {
    fn replica(&self, name: &str, address: &str) -> anyhow::Result<Arc<Replica>> {
        Ok(Arc::new(Replica {
            name: name.to_owned(),
            address: address.to_owned(),
            channel: self.trust.channel(self.role, address)?,
            standing: Mutex::default(),
        }))
    }

    /// Returns the replica whose turn it is, of those that were not tried: one that does not rest,
    /// or the one that rests for the shortest time.
    fn next(&self, known: &[Arc<Replica>], tried: &[Arc<Replica>]) -> Arc<Replica> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % known.len();
        let in_turn = known[turn..].iter().chain(&known[..turn]);
        let fresh = |replica: &&Arc<Replica>| !tried.iter().any(|one| Arc::ptr_eq(one, replica));
        let best = in_turn.filter(fresh).min_by_key(|replica| replica.rests());
        Arc::clone(best.unwrap_or(&known[turn]))
    }

    /// Resolves all names.
    async fn look(&self) {
        let before = self.known.load_full();
        let mut now: Vec<Arc<Replica>> = Vec::new();
        for name in &self.named.names {
            let found = timeout(LOOK_LIMIT, names::resolve(name, self.named.hosts.clone())).await;
            let found = found.context("no answer in time").and_then(|found| found);
            let addresses = match found {
                Ok(addresses) => addresses,
                Err(error) => {
                    tracing::debug!(name, error = format!("{error:#}"), "a name is not resolved");
                    now.extend(before.iter().filter(|one| one.name == *name).cloned());
                    continue;
                }
            };
            for address in addresses {
                if now.iter().any(|one| one.address == address) {
                    continue;
                }
                let known = before.iter().find(|one| one.address == address).cloned();
                match known.map_or_else(|| self.replica(name, &address), Ok) {
                    Ok(replica) => now.push(replica),
                    Err(error) => tracing::warn!(address, %error, "no such replica"),
                }
            }
        }
        let addresses = |all: &[Arc<Replica>]| -> Vec<String> {
            all.iter().map(|one| one.address.clone()).collect()
        };
        if now.is_empty() || addresses(&now) == addresses(&before) {
            return;
        }
        tracing::info!(role = %self.role, replicas = ?addresses(&now), "new replicas");
        self.known.store(Arc::new(now));
    }
}

/// Returns whether a replica did not answer, so that another one may.
fn away(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::DeadlineExceeded | Code::Unknown | Code::Cancelled
    )
}

/// A way to a service for the generated clients.
#[derive(Debug, Clone)]
pub struct Route {
    replicas: Replicas,
    /// The replica of all calls; `None`: the next one at each call.
    only: Option<Arc<Replica>>,
}

type Answer = Result<http::Response<Body>, transport::Error>;

impl Service<http::Request<Body>> for Route {
    type Response = http::Response<Body>;
    type Error = transport::Error;
    type Future = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        traced::name_span(request.headers_mut());
        let shared = &self.replicas.0;
        let next = || shared.next(&shared.known.load(), &[]);
        let replica = self.only.clone().unwrap_or_else(next);
        let asked = Asked {
            since: Some(Instant::now()),
            replica,
        };
        Box::pin(async move {
            let mut channel = asked.replica.channel.clone();
            let ready = std::future::poll_fn(|cx| channel.poll_ready(cx)).await;
            let answer = match ready {
                Ok(()) => channel.call(request).await,
                Err(error) => Err(error),
            };
            asked.answered(&answer);
            answer
        })
    }
}

/// A call on its way.
struct Asked {
    /// Its beginning; `None`: it has an answer.
    since: Option<Instant>,
    replica: Arc<Replica>,
}

impl Asked {
    fn answered(mut self, answer: &Answer) {
        self.since = None;
        let unavailable = |answer: &http::Response<Body>| {
            Status::from_header_map(answer.headers())
                .is_some_and(|status| status.code() == Code::Unavailable)
        };
        match answer {
            Ok(answer) if !unavailable(answer) => self.replica.answered(),
            Ok(_) | Err(_) => self.replica.failed(),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.since.is_some_and(|since| since.elapsed() >= SLOW) {
            self.replica.failed();
        }
    }
}

#[cfg(test)]
#[path = "replicas_tests.rs"]
mod tests;
