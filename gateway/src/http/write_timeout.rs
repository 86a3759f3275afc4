//! A connection that ends when its client does not read.
//!
//! Always: a write that makes no progress for a time ends the connection. Reads have deadlines of
//! their own (the head, the body, the WebSocket's heartbeat).

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use crate::places::Place;

/// A stream that waits only so long for its client to read.
pub(crate) struct WriteTimeout<S> {
    inner: S,
    write_timeout: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Its place among the connections, which is free as soon as the stream is gone.
    place: Option<Arc<Place>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(inner: S, write_timeout: Duration) -> Self {
        Self {
            inner,
            write_timeout,
            waiting: None,
            place: None,
        }
    }

    /// Keeps this place for as long as the stream lives.
    pub(crate) fn at(mut self, place: Arc<Place>) -> Self {
        self.place = Some(place);
        self
    }

    /// Returns the result of a write; fails one that has waited too long.
    fn timed<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let write_timeout = self.write_timeout;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(sleep(write_timeout)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.timed(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.timed(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.timed(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.timed(ended, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_is_let_go_and_who_reads_slowly_is_not() {
        let write_timeout = Duration::from_secs(10);
        let (mut client, server) = duplex(8);
        let mut server = WriteTimeout::new(server, write_timeout);
        let writing = tokio::spawn(async move {
            let slowly = server.write_all(&[7; 24]).await;
            (slowly, server.write_all(&[7; 24]).await.unwrap_err().kind())
        });
        let mut buffer = [0; 8];
        for _ in 0..2 {
            tokio::time::sleep(write_timeout - Duration::from_secs(1)).await;
            client.read_exact(&mut buffer).await.unwrap();
        }
        let (slowly, never) = writing.await.unwrap();
        assert!(slowly.is_ok());
        assert_eq!(never, io::ErrorKind::TimedOut);
    }
}
