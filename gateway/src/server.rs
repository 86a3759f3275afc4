//! Starts a gateway from a configuration, runs it, and ends it in order.
//!
//! Always: connections are bounded. The gateway drops a client that does not finish its request. At
//! the end it tells every client, and no client can delay the end for long.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use axum::{Router, body::Body, extract::Request};
use futures::future::BoxFuture;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use service_runtime::{drain, rpc::Backoff, telemetry::Telemetry};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    assembly::{Parts, assemble},
    auth::{signing_keys::KeyList, watch},
    config::Config,
    content::{self, Version},
    directory::FRESH,
    http::{address::Peer, frontend::Frontend, router, write_timeout::WriteTimeout},
    places::NoPlace,
    proxy_protocol::{self, NoClient},
    session::ANSWERS,
};

/// The longest head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Longest time for the head of a request at a spare place.
const SPARE_TIME: Duration = Duration::from_secs(2);
/// Connections that wait until the gateway accepts them. The kernel lets those beyond it wait for
/// a second or more, and may have a smaller bound of its own (`net.core.somaxconn`).
const ACCEPTS_WAITING: u32 = 4_096;
/// Time by which the end may exceed its configured time.
const DRAIN_MARGIN: Duration = Duration::from_secs(3);
/// The name under which the store keeps the secret that signs tokens.
const SECRET_NAME: &str = "jwt";
/// Pause between two reads of the file of keys.
const KEYS_PAUSE: Duration = Duration::from_secs(1);
/// Pause between two checks of readiness.
const READINESS: Duration = Duration::from_millis(100);

/// A gateway with bound ports.
pub struct Server {
    config: Config,
    telemetry: Telemetry,
    listener: TcpListener,
    address: SocketAddr,
    metrics_listener: Option<TcpListener>,
    version: Version,
    frontend: Frontend,
}

impl Server {
    /// Gets the content, then binds the ports; needs no other service.
    ///
    /// # Errors
    /// There is no content to show, or a port is taken.
    pub async fn bind(config: Config, telemetry: Telemetry) -> anyhow::Result<Self> {
        // The HTTP clients need the crypto provider, also where no `main` of ours ran before.
        service_runtime::run::install_crypto();
        let version = Version::new(content_loader::deliver(&config.content).await?);
        let frontend = Frontend::load(&config)?;
        let listen = |port| {
            let address = SocketAddr::new(config.host, port);
            listen(address).with_context(|| format!("listen on {address}"))
        };
        let listener = listen(config.port)?;
        let metrics_listener = match config.metrics_port {
            0 => None,
            port => Some(listen(port)?),
        };
        Ok(Self {
            address: listener.local_addr().context("the bound address")?,
            config,
            telemetry,
            listener,
            metrics_listener,
            version,
            frontend,
        })
    }

    /// Returns the address of the main port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`, then sends everybody elsewhere and returns.
    ///
    /// # Errors
    /// An address in the configuration is invalid.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, anyhow::Result<()>> {
        // Boxed: compiled here, once, and not in every program that runs a gateway.
        Box::pin(self.serve_until(stop))
    }

    async fn serve_until(mut self, stop: CancellationToken) -> anyhow::Result<()> {
        self.config
            .public
            .complete(self.config.production, self.address.port());
        let behind = CancellationToken::new();
        let parts = Parts {
            config: self.config,
            telemetry: self.telemetry,
            version: self.version,
            frontend: self.frontend,
        };
        let (app, heard) = assemble(parts, &behind)?;
        let (tasks, hub) = (&app.tasks, Arc::clone(&app.sessions.hub));
        let with = || (Arc::clone(&app), behind.clone());
        tasks.finish("social bus", hub.run(heard, behind.clone()));
        let (of, until) = with();
        tasks.finish("secret", learn_secret(of, until));
        let (of, until) = with();
        tasks.finish("news of accounts", watch::follow(of, until));
        let (of, until) = with();
        tasks.finish("keys", keep_keys(of, until));
        let (of, until) = with();
        tasks.finish("signing keys", reread_keys(of, until));
        let (of, until) = with();
        tasks.finish("readiness", watch_readiness(of, until));
        let (shown, zones) = (Arc::clone(&app.served.shown), app.zones.clone());
        let trust = app.config.trust.clone();
        tasks.spawn("certificates", trust.clone().follow());
        let follow = content::follow(shown, zones, trust, behind.clone());
        tasks.finish("content", follow);
        if let Some(listener) = self.metrics_listener {
            let (health, telemetry) = (app.health.clone(), app.telemetry.clone());
            let probes =
                service_runtime::health::serve(listener, health, telemetry, behind.clone());
            tasks.finish("probes", async move {
                if let Err(error) = probes.await {
                    tracing::error!(%error, "probes are not answered");
                }
            });
        }
        let ended = async {
            stop.cancelled().await;
            say_goodbye(&app).await;
        };
        tokio::select! {
            // The gateway still accepts during the drain, to send clients elsewhere.
            () = accept(&app, self.listener) => {}
            () = ended => {}
        }
        behind.cancel();
        // Tasks that are not done by then end with the process.
        let _ = drain::within(DRAIN_MARGIN, "background tasks", app.tasks.ended()).await;
        Ok(())
    }
}

/// Binds a port.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A restart must not wait for connections of the process before.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(ACCEPTS_WAITING)
}

/// Keeps the identity provider's keys fresh, if there is a provider.
async fn keep_keys(app: Arc<App>, stop: CancellationToken) {
    if let Some(provider) = &app.auth.provider {
        Arc::clone(&provider.keys).keep_fresh(stop).await;
    }
}

/// Reads the file of the keys that sign tokens again and again.
async fn reread_keys(app: Arc<App>, stop: CancellationToken) {
    if app.config.signing_keys.file.is_none() {
        return;
    }
    let pause = || tokio::time::sleep(KEYS_PAUSE);
    while stop.run_until_cancelled(pause()).await.is_some() {
        let of = Arc::clone(&app);
        // The disk may be slow, and must not hold up the connections of this thread.
        let read = tokio::task::spawn_blocking(move || of.auth.tokens.reread());
        if let Err(error) = read.await {
            tracing::error!(%error, "the keys of tokens were not read");
        }
    }
}

/// Asks the store for the secret that signs tokens, until it has one.
async fn learn_secret(app: Arc<App>, stop: CancellationToken) {
    let mut backoff = Backoff::new();
    let mut told = false;
    while !app.auth.tokens.ready() {
        let asked = tokio::select! {
            asked = app.auth.accounts.secret(SECRET_NAME) => asked,
            () = stop.cancelled() => return,
        };
        match asked {
            Ok(secret) if secret.len() >= 32 => app.auth.tokens.set_keys(&KeyList::single(&secret)),
            Ok(_) => tracing::error!("the store gave a secret that is too short"),
            Err(status) if !told => {
                told = true;
                tracing::warn!(code = ?status.code(), "waiting for the store");
            }
            Err(_) => {}
        }
        if !app.auth.tokens.ready() {
            tokio::select! {
                () = backoff.wait() => {}
                () = stop.cancelled() => return,
            }
        }
    }
}

/// Keeps readiness up to date: the gateway is ready with the tokens' secret, a fresh directory
/// and no drain.
async fn watch_readiness(app: Arc<App>, stop: CancellationToken) {
    let mut said = String::from("starting");
    loop {
        let unready = unready(&app);
        if said != unready {
            tracing::info!(ready = unready.is_empty(), reason = unready, "readiness");
            unready.clone_into(&mut said);
            match unready {
                "" => app.health.set_ready(true),
                reason => app.health.set_unready(reason),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(READINESS) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Returns why the gateway is not ready; empty when it is.
fn unready(app: &App) -> &'static str {
    if app.sessions.draining.is_cancelled() {
        return "draining";
    }
    if !app.auth.tokens.ready() {
        return "no secret from the store yet";
    }
    if app.zones.directory().age() > FRESH {
        return "no news from the directory";
    }
    ""
}

/// Takes connections, for ever.
async fn accept(app: &Arc<App>, listener: TcpListener) {
    let (router, probes) = (router::router(app), router::crowded(app));
    let times = (app.config.times.handshake, app.config.times.write);
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // The process may be out of files, and have some a moment later.
                tracing::warn!(%error, "a connection cannot be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let proxies = &app.config.proxies;
        if app.config.proxy_protocol && !proxies.trusts(address.ip().to_canonical()) {
            unnamed(app, NoClient::Untrusted);
            continue;
        }
        let place = match app.bounds.places.take(address.ip(), proxies) {
            Ok(place) => place,
            Err(no) => {
                refuse(app, &stream, no);
                continue;
            }
        };
        // Without this option small messages would wait; the connection works either way.
        let _ = stream.set_nodelay(true);
        let served = match place.spare {
            true => Served {
                router: probes.clone(),
                once: true,
                head: times.0.min(SPARE_TIME),
                write_timeout: times.1.min(SPARE_TIME),
            },
            false => Served {
                router: router.clone(),
                once: false,
                head: times.0,
                write_timeout: times.1,
            },
        };
        let peer = Peer {
            address,
            place: Arc::new(place),
        };
        let serving = answer(Arc::clone(app), stream, peer, served);
        if app.sessions.draining.is_cancelled() {
            // The drain does not wait for late connections.
            app.tasks.spawn("late connection", serving);
        } else {
            app.sessions.clients.finish("connection", serving);
        }
    }
}

/// Tells a connection that there is no place for it, if the write does not wait.
fn refuse(app: &App, stream: &TcpStream, no: NoPlace) {
    const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n";
    const TOO_MANY: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 5\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n";
    let answer = match no {
        NoPlace::Total => FULL,
        NoPlace::Address => {
            app.metrics.limited("connections", false);
            TOO_MANY
        }
    };
    let written: io::Result<usize> = stream.try_write(answer);
    tracing::debug!(?written, ?no, "no place for a connection");
}

/// Counts a connection that is refused because nobody says who its client is.
fn unnamed(app: &App, why: NoClient) {
    app.metrics.proxy_refused(why.name());
    tracing::debug!(reason = why.name(), "a connection names no client");
}

/// Serves one connection, for the client that its PROXY header names if there must be one.
async fn answer(app: Arc<App>, mut stream: TcpStream, peer: Peer, served: Served) {
    if !app.config.proxy_protocol {
        return serve(app, stream, peer, served).await;
    }
    let named = proxy_protocol::client(&mut stream, peer.address, served.head).await;
    let address = match named {
        Ok(address) => address,
        Err(why) => return unnamed(&app, why),
    };
    // The place is the proxy's, which has no bound of its own.
    if !app.config.proxies.trusts(address.ip()) {
        match app.bounds.places.of_client(address.ip()) {
            Some(share) => peer.place.hold_for_client(share),
            None => return refuse(&app, &stream, NoPlace::Address),
        }
    }
    serve(app, stream, Peer { address, ..peer }, served).await;
}

/// Router and bounds of a connection.
struct Served {
    router: Router,
    /// Whether the connection ends behind its first answer.
    once: bool,
    /// Longest time for the head of a request, and for the pause before it.
    head: Duration,
    /// Longest time for which the client may read nothing.
    write_timeout: Duration,
}

/// Serves one connection up to its end or its upgrade.
async fn serve(app: Arc<App>, stream: TcpStream, peer: Peer, served: Served) {
    let service = TowerToHyperService::new(served.router);
    let stream = WriteTimeout::new(stream, served.write_timeout).at(Arc::clone(&peer.place));
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(peer.clone());
        hyper::service::Service::call(&service, request)
    });
    let late = app.sessions.draining.is_cancelled();
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(!late && !served.once)
        .header_read_timeout(served.head)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = app.sessions.draining.cancelled(), if !late => {
            connection.as_mut().graceful_shutdown();
            match tokio::time::timeout(DRAIN_MARGIN, connection).await {
                Ok(ended) => ended,
                Err(_) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// Sends every client elsewhere.
async fn say_goodbye(app: &App) {
    app.health.set_unready("draining");
    app.sessions.draining.cancel();
    let time = app.config.times.drain + ANSWERS + DRAIN_MARGIN;
    // A client that is not done by then loses its connection, and may still resume elsewhere.
    let _ = drain::within(
        time,
        "saying goodbye to clients",
        app.sessions.clients.ended(),
    )
    .await;
    let _ = drain::within(DRAIN_MARGIN, "leaving the bus", app.sessions.hub.settled()).await;
}
