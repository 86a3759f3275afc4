//! The other side of a server's connection.
//!
//! Always: a caller never waits for another one's handshake, and a silent one holds a place for
//! [`HANDSHAKE_TIMEOUT`] at most.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::{Stream, StreamExt, stream::poll_fn};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsStream;
use tokio_util::either::Either;
use tonic::{Request, Status, transport::server::Connected};

use super::{
    access::Refusals,
    identity::{Identity, Role},
    trust::{self, Connection, HANDSHAKE_TIMEOUT, Trust},
};

/// Most handshakes at the same time; further connections wait in the listener's queue.
const HANDSHAKES_MAX: usize = 256;
/// Pause after the system refused to take a connection: it may be out of files.
const PAUSE: Duration = Duration::from_millis(50);

/// The process behind a connection, as far as it has shown who it is.
#[derive(Debug, Clone)]
pub(super) enum Who {
    /// Anybody: there is no TLS here.
    Anybody,
    /// It has no certificate.
    Nobody,
    /// Its certificate is from our authority and names no role.
    Nameless,
    /// Its certificate names it.
    Known(Arc<Identity>),
}

/// The other side of a connection, with the count of its refused calls. It is an extension of every
/// request.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(super) who: Who,
    pub(super) refusals: Refusals,
}

impl Caller {
    /// Returns the caller of a request; `None`: the request came over no connection of ours, as in
    /// a test that calls a service itself.
    pub fn of<T>(request: &Request<T>) -> Option<Self> {
        request.extensions().get().cloned()
    }

    /// Checks a name that a caller gives itself against its certificate, where it has one.
    ///
    /// # Errors
    /// PERMISSION_DENIED if the certificate says another role or name.
    pub fn check(caller: Option<&Self>, role: Role, name: &str) -> Result<(), Status> {
        let Some(Self {
            who: Who::Known(identity),
            refusals,
        }) = caller
        else {
            // The guard of the server has refused the others, if there is TLS.
            return Ok(());
        };
        if identity.allows(role, name) {
            return Ok(());
        }
        let why = format!("{identity} may not call itself {role} {name}");
        Err(refusals.refuse("name", Some(identity), Status::permission_denied(why)))
    }

    /// Checks that a caller has a role, where it has a certificate.
    ///
    /// # Errors
    /// PERMISSION_DENIED if the certificate says another role.
    pub fn check_role(caller: Option<&Self>, role: Role) -> Result<(), Status> {
        match caller.map(|caller| &caller.who) {
            Some(Who::Known(identity)) => Self::check(caller, role, &identity.name),
            _ => Ok(()),
        }
    }

    /// Checks a name as [`Caller::check`] does, if the caller has this role.
    ///
    /// # Errors
    /// PERMISSION_DENIED if the certificate says this role and another name.
    pub fn check_of(caller: Option<&Self>, role: Role, name: &str) -> Result<(), Status> {
        match caller.map(|caller| &caller.who) {
            Some(Who::Known(identity)) if identity.role == role => Self::check(caller, role, name),
            _ => Ok(()),
        }
    }
}

/// A connection with its caller.
pub(super) struct Accepted {
    stream: Connection,
    caller: Caller,
}

/// Takes connections for ever, each after its handshake.
pub(super) fn accepted(
    listener: Arc<TcpListener>,
    trust: Trust,
    refusals: Refusals,
) -> impl Stream<Item = io::Result<Accepted>> {
    let taken = move |cx: &mut Context<'_>| {
        listener
            .poll_accept(cx)
            .map(|taken| Some(taken.map(|(stream, _)| stream)))
    };
    poll_fn(taken)
        .map(move |stream| accept(stream, trust.clone(), refusals.clone()))
        .buffer_unordered(HANDSHAKES_MAX)
        .filter_map(|accepted| std::future::ready(accepted.map(Ok)))
}

async fn accept(
    stream: io::Result<TcpStream>,
    trust: Trust,
    refusals: Refusals,
) -> Option<Accepted> {
    let stream = match stream {
        Ok(stream) => stream,
        Err(error) => {
            tracing::warn!(%error, "a connection cannot be taken");
            tokio::time::sleep(PAUSE).await;
            return None;
        }
    };
    // Without this option small messages would wait; the connection works either way.
    let _ = stream.set_nodelay(true);
    let Some(acceptor) = trust.acceptor() else {
        let caller = Caller {
            who: Who::Anybody,
            refusals,
        };
        let stream = Either::Left(stream);
        return Some(Accepted { stream, caller });
    };
    let failed = match timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => {
            let stream = TlsStream::Server(stream);
            let who = match trust::certificate(&stream).map(Identity::of) {
                None => Who::Nobody,
                Some(Err(_)) => Who::Nameless,
                Some(Ok(identity)) => Who::Known(Arc::new(identity)),
            };
            let caller = Caller { who, refusals };
            let stream = Either::Right(stream);
            return Some(Accepted { stream, caller });
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no handshake in time".to_owned(),
    };
    refusals.broken(&failed);
    None
}

impl Connected for Accepted {
    type ConnectInfo = Caller;

    fn connect_info(&self) -> Caller {
        self.caller.clone()
    }
}

impl AsyncRead for Accepted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
