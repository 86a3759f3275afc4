//! One WebSocket: a task that reads it and a task that writes it.
//!
//! fastwebsockets reads frames, and this module does the rest. It joins messages within a limit of
//! bytes and of parts. It refuses unmasked frames, and gives every refusal its close code. It
//! cancels a read only to end the connection, and writes nothing while it reads.
//!
//! Always: memory for a client is bounded on both sides. A client that sends without end is read at
//! a pace that costs the others little. The gateway closes the connection of a
//! client that reads nothing for 10 s. The reader ends soon after the writer, and the writer after
//! the reader.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use fastwebsockets::{Frame, OpCode, Role, WebSocketError};
use proto::client::{
    CloseCode,
    limits::{CLIENT_FRAGMENTS_MAX, CLIENT_MESSAGE_BYTES_MAX},
};
use service_runtime::tasks::TaskGroup;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    sync::mpsc,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    clock, frames,
    mailbox::Mailbox,
    metrics::Metrics,
    one_frame::OneFrame,
    pace::{FRAMES_PER_SECOND, Pace},
    screen::Screen,
    session::resume::Written,
    spans::Spans,
    writer::{self, Finished},
};

/// Maximum number of messages that wait for the session.
const INBOUND_MAX: usize = 16;
/// Bytes that the first read of a frame takes at most: a whole step of a player, in one call of the
/// kernel.
const FIRST_READ_BYTES: usize = 128;
/// Time that a client may take to answer a close frame.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// Bounds of what a client sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Bytes of one message.
    pub(crate) bytes: usize,
    /// Frames of one message.
    pub(crate) parts: usize,
    /// Frames that are read in a second; more wait in the network.
    pub(crate) frames_per_second: u32,
}

impl Bounds {
    /// Bounds of a client in the protocol.
    pub(crate) const CLIENT: Self = Self {
        bytes: CLIENT_MESSAGE_BYTES_MAX,
        parts: CLIENT_FRAGMENTS_MAX,
        frames_per_second: FRAMES_PER_SECOND,
    };
}

/// News from a client's socket.
#[derive(Debug)]
pub(crate) enum Inbound {
    /// A whole message.
    Message { text: bool, bytes: Bytes },
    /// A ping that wants an answer.
    Ping(Bytes),
    /// The client closes.
    Closed(Option<u16>),
    /// The connection cannot go on.
    Broken(CloseCode, &'static str),
    /// No more comes; nobody said why.
    Ended,
}

/// The raw halves of a socket.
pub(crate) type ReadSide = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type WriteSide = Box<dyn AsyncWrite + Send + Unpin>;

/// Receivers of the writer's reports.
#[derive(Clone)]
pub(crate) struct Reports {
    pub(crate) metrics: Metrics,
    pub(crate) spans: Spans,
    /// Group of the sockets' tasks.
    pub(crate) tasks: TaskGroup,
}

/// An open socket.
pub(crate) struct Socket {
    pub(crate) screen: Screen,
    /// Boxed: a channel has room for 32 values from its beginning on.
    pub(crate) inbound: mpsc::Receiver<Box<Inbound>>,
    /// Task that ends when the socket does, and when the mailbox releases it.
    pub(crate) writer: JoinHandle<Finished>,
    signals: Signals,
    reports: Reports,
    /// Whether the writer says goodbye and ends the socket by itself.
    parting: bool,
}

/// Signals between the two tasks of a socket.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    /// Order to end at once.
    pub(crate) dead: CancellationToken,
    /// Sign that the client says nothing more.
    pub(crate) silent: CancellationToken,
    /// Time at which the reader last heard the client, in ms since `began`.
    heard: Arc<AtomicU64>,
    began: Instant,
    /// Time after which the gateway closes the connection of a client that reads nothing.
    pub(crate) write_timeout: Duration,
}

impl Signals {
    fn new(write_timeout: Duration) -> Self {
        Self {
            write_timeout,
            dead: CancellationToken::new(),
            silent: CancellationToken::new(),
            heard: Arc::new(AtomicU64::new(0)),
            began: Instant::now(),
        }
    }

    fn hear(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(now, Ordering::Relaxed);
    }
}

impl Socket {
    /// Starts both tasks; the writer takes from `mailbox`.
    pub(crate) fn open(
        read: ReadSide,
        write: WriteSide,
        screen: Screen,
        mailbox: Mailbox,
        reports: Reports,
        write_timeout: Duration,
    ) -> Self {
        let bounds = Bounds::CLIENT;
        Self::bounded(read, write, screen, mailbox, reports, write_timeout, bounds)
    }

    /// Starts both tasks with other bounds.
    pub(crate) fn bounded(
        read: ReadSide,
        write: WriteSide,
        screen: Screen,
        mailbox: Mailbox,
        reports: Reports,
        write_timeout: Duration,
        bounds: Bounds,
    ) -> Self {
        let signals = Signals::new(write_timeout);
        let (sender, inbound) = mpsc::channel(INBOUND_MAX);
        let reader = Reader {
            sender,
            signals: signals.clone(),
            metrics: reports.metrics.clone(),
            bounds,
        };
        reports.tasks.spawn("socket reader", reader.run(read));
        let (written, signals_too, reports_too) =
            (Written::new(), signals.clone(), reports.clone());
        Self {
            screen,
            inbound,
            writer: writer::start(
                write,
                written,
                mailbox,
                screen.format,
                signals_too,
                reports_too,
            ),
            signals,
            reports,
            parting: false,
        }
    }

    /// Returns for how long the client has been silent.
    pub(crate) fn silence(&self) -> Duration {
        let heard = Duration::from_millis(self.signals.heard.load(Ordering::Relaxed));
        self.signals.began.elapsed().saturating_sub(heard)
    }

    /// Drops a socket whose mailbox has the order to close: the writer does the rest.
    pub(crate) fn part(mut self) {
        self.parting = true;
    }

    /// Ends the socket without a word. Returns the messages that were written to it.
    pub(crate) async fn cut(mut self) -> Written {
        self.signals.dead.cancel();
        match (&mut self.writer).await {
            Ok(finished) => finished.written,
            Err(_) => Written::new(),
        }
    }

    /// Takes the writing side from its writer, which the mailbox must have released.
    pub(crate) async fn released(&mut self) -> Option<Finished> {
        (&mut self.writer).await.ok()
    }

    /// Starts a new writer, from another mailbox.
    pub(crate) fn write_from(&mut self, half: WriteSide, written: Written, mailbox: Mailbox) {
        let (signals, reports) = (self.signals.clone(), self.reports.clone());
        self.writer = writer::start(half, written, mailbox, self.screen.format, signals, reports);
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if !self.parting {
            self.signals.dead.cancel();
        }
    }
}

/// Lets the client answer our close frame, then ends the socket.
pub(crate) async fn linger(signals: &Signals) {
    let _ = timeout(CLOSE_WAIT, signals.silent.cancelled()).await;
    signals.dead.cancel();
}

struct Reader {
    sender: mpsc::Sender<Box<Inbound>>,
    signals: Signals,
    metrics: Metrics,
    bounds: Bounds,
}

impl Reader {
    async fn run(self, mut read: ReadSide) {
        self.metrics.connection(1);
        let dead = self.signals.dead.clone();
        tokio::select! {
            () = dead.cancelled() => {}
            () = self.read(&mut read) => {}
        }
        self.signals.silent.cancel();
        self.metrics.connection(-1);
    }

    async fn read(&self, raw: &mut ReadSide) {
        let last = self.messages(raw).await;
        let gone = matches!(last, Inbound::Ended | Inbound::Closed(_));
        // Nobody listens when the session has ended.
        let _ = self.sender.send(Box::new(last)).await;
        if !gone {
            // Messages still on their way must be read, or the close frame may be lost with them.
            drain(raw).await;
        }
    }

    /// Passes messages on until there are no more. Returns the reason.
    async fn messages(&self, raw: &mut ReadSide) -> Inbound {
        let mut joined = Joined::new(self.bounds);
        let mut pace = Pace::new(self.bounds.frames_per_second, clock::instant());
        // A client that says nothing costs no buffer but this one: a larger one comes with the frame,
        // and goes with it.
        let mut come = [0; FIRST_READ_BYTES];
        let mut left = 0..0;
        loop {
            if left.is_empty() {
                left = match raw.read(&mut come).await {
                    Ok(count @ 1..) => 0..count,
                    Ok(0) | Err(_) => return Inbound::Ended,
                };
            }
            let mut bytes = &come[left.clone()];
            let frame = read_frame((&mut bytes).chain(&mut *raw), self.bounds.bytes + 1).await;
            left.start = left.end - bytes.len();
            let frame = match frame {
                Ok(frame) => frame,
                Err(error) => return broken(&error),
            };
            self.signals.hear();
            let wait = pace.frame(clock::instant());
            if !wait.is_zero() {
                sleep(wait).await;
            }
            let inbound = match joined.push(frame) {
                Ok(None) => continue,
                Ok(Some(inbound)) => inbound,
                Err((code, why)) => return Inbound::Broken(code, why),
            };
            if let Inbound::Closed(_) = inbound {
                return inbound;
            }
            if let Inbound::Message { bytes, .. } = &inbound {
                self.metrics.bytes_in(bytes.len());
            }
            if self.sender.send(Box::new(inbound)).await.is_err() {
                return Inbound::Broken(CloseCode::Normal, "the session has ended");
            }
        }
    }
}

/// A frame as it came.
struct Part {
    fin: bool,
    opcode: OpCode,
    masked: bool,
    payload: Bytes,
}

/// Reads the frame with which `raw` begins, of at most `most` bytes, and nothing behind it.
async fn read_frame(raw: impl AsyncRead + Unpin, most: usize) -> Result<Part, WebSocketError> {
    let raw = OneFrame::new(raw);
    let (mut socket, _) =
        fastwebsockets::after_handshake_split(raw, tokio::io::sink(), Role::Server);
    socket.set_auto_close(false);
    socket.set_auto_pong(false);
    socket.set_max_message_size(most);
    // With both automatisms off there is never anything to send.
    let mut frame = socket
        .read_frame(&mut |_| async { Ok::<(), io::Error>(()) })
        .await?;
    Ok(Part {
        masked: masked(&mut frame),
        fin: frame.fin,
        opcode: frame.opcode,
        // A copy, so that a message that waits does not hold the buffer.
        payload: Bytes::copy_from_slice(&frame.payload),
    })
}

/// Returns whether the frame came with a mask. A frame shows that only in the head that it would
/// get when written.
fn masked(frame: &mut Frame<'_>) -> bool {
    let mut head = [0; 14];
    frame.fmt_head(&mut head);
    head[1] & 0x80 != 0
}

/// Returns the meaning of a failed read.
fn broken(error: &WebSocketError) -> Inbound {
    match error {
        WebSocketError::FrameTooLarge => {
            Inbound::Broken(CloseCode::TooBig, "a message has at most 16 KiB")
        }
        WebSocketError::InvalidUTF8 => {
            Inbound::Broken(CloseCode::NotUtf8, "a text frame must be UTF-8")
        }
        WebSocketError::UnexpectedEOF
        | WebSocketError::IoError(_)
        | WebSocketError::ConnectionClosed => Inbound::Ended,
        _ => Inbound::Broken(CloseCode::ProtocolError, "the frame breaks RFC 6455"),
    }
}

/// A message that comes in parts.
struct Joined {
    bounds: Bounds,
    text: bool,
    parts: usize,
    bytes: BytesMut,
}

impl Joined {
    fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            text: false,
            parts: 0,
            bytes: BytesMut::new(),
        }
    }

    fn push(&mut self, part: Part) -> Result<Option<Inbound>, (CloseCode, &'static str)> {
        if !part.masked {
            return Err((CloseCode::ProtocolError, "a client must mask its frames"));
        }
        match part.opcode {
            OpCode::Ping => Ok(Some(Inbound::Ping(part.payload))),
            OpCode::Pong if part.payload.len() > frames::CONTROL_BYTES_MAX => {
                Err((CloseCode::ProtocolError, "a pong has at most 125 bytes"))
            }
            OpCode::Pong => Ok(None),
            OpCode::Close => closed(&part.payload).map(Some),
            OpCode::Continuation if self.parts == 0 => {
                Err((CloseCode::ProtocolError, "there is nothing to continue"))
            }
            OpCode::Text | OpCode::Binary if self.parts > 0 => {
                Err((CloseCode::ProtocolError, "the last message has not ended"))
            }
            OpCode::Text | OpCode::Binary | OpCode::Continuation => self.join(part),
        }
    }

    fn join(&mut self, part: Part) -> Result<Option<Inbound>, (CloseCode, &'static str)> {
        if part.opcode != OpCode::Continuation {
            self.text = part.opcode == OpCode::Text;
            if part.fin {
                return Ok(Some(Inbound::Message {
                    text: self.text,
                    bytes: part.payload,
                }));
            }
        }
        self.parts += 1;
        let long = self.bytes.len() + part.payload.len() > self.bounds.bytes;
        if long || self.parts > self.bounds.parts {
            return Err((
                CloseCode::TooBig,
                "a message has at most 16 KiB in 64 parts",
            ));
        }
        self.bytes.extend_from_slice(&part.payload);
        if !part.fin {
            return Ok(None);
        }
        self.parts = 0;
        let (text, bytes) = (self.text, self.bytes.split().freeze());
        if text && std::str::from_utf8(&bytes).is_err() {
            return Err((CloseCode::NotUtf8, "a text message must be UTF-8"));
        }
        Ok(Some(Inbound::Message { text, bytes }))
    }
}

/// Checks a close frame and returns its code.
fn closed(payload: &[u8]) -> Result<Inbound, (CloseCode, &'static str)> {
    let wrong = Err((CloseCode::ProtocolError, "the close frame breaks RFC 6455"));
    let code = match payload {
        [] => return Ok(Inbound::Closed(None)),
        [high, low, reason @ ..] if payload.len() <= frames::CONTROL_BYTES_MAX => {
            if std::str::from_utf8(reason).is_err() {
                return wrong;
            }
            u16::from_be_bytes([*high, *low])
        }
        _ => return wrong,
    };
    match code {
        1000..=1003 | 1007..=1014 | 3000..=4999 => Ok(Inbound::Closed(Some(code))),
        _ => wrong,
    }
}

async fn drain(raw: &mut ReadSide) {
    let mut scratch = vec![0; 4096];
    while let Ok(1..) = raw.read(&mut scratch).await {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(opcode: OpCode, fin: bool, payload: &[u8]) -> Part {
        Part {
            fin,
            opcode,
            masked: true,
            payload: Bytes::copy_from_slice(payload),
        }
    }

    fn code(result: Result<Option<Inbound>, (CloseCode, &'static str)>) -> CloseCode {
        result.expect_err("accepted").0
    }

    #[test]
    fn fragments_join_with_pings_between_them() {
        let mut joined = Joined::new(Bounds::CLIENT);
        let first = joined.push(part(OpCode::Text, false, b"he")).unwrap();
        assert!(first.is_none());
        let ping = joined.push(part(OpCode::Ping, true, b"x")).unwrap();
        assert!(matches!(ping, Some(Inbound::Ping(_))));
        let last = joined.push(part(OpCode::Continuation, true, b"y")).unwrap();
        let Some(Inbound::Message { text: true, bytes }) = last else {
            panic!("no message");
        };
        assert_eq!(&bytes[..], b"hey");
    }

    #[test]
    fn the_whole_of_a_fragmented_message_is_bounded_in_bytes_and_parts() {
        let mut joined = Joined::new(Bounds::CLIENT);
        let big = vec![b'a'; CLIENT_MESSAGE_BYTES_MAX];
        joined.push(part(OpCode::Text, false, &big)).unwrap();
        let over = joined.push(part(OpCode::Continuation, true, b"a"));
        assert_eq!(code(over), CloseCode::TooBig);

        let mut joined = Joined::new(Bounds::CLIENT);
        joined.push(part(OpCode::Binary, false, b"")).unwrap();
        for _ in 1..CLIENT_FRAGMENTS_MAX {
            joined.push(part(OpCode::Continuation, false, b"")).unwrap();
        }
        let over = joined.push(part(OpCode::Continuation, true, b""));
        assert_eq!(code(over), CloseCode::TooBig);
    }

    #[test]
    fn what_breaks_the_protocol_has_its_close_code() {
        let push = |parts: Vec<Part>| {
            let mut joined = Joined::new(Bounds::CLIENT);
            let mut last = Ok(None);
            for part in parts {
                last = joined.push(part);
            }
            code(last)
        };
        let mut bare = part(OpCode::Text, true, b"{}");
        bare.masked = false;
        assert_eq!(push(vec![bare]), CloseCode::ProtocolError);
        let orphan = part(OpCode::Continuation, true, b"");
        assert_eq!(push(vec![orphan]), CloseCode::ProtocolError);
        let nested = vec![
            part(OpCode::Text, false, b""),
            part(OpCode::Text, true, b""),
        ];
        assert_eq!(push(nested), CloseCode::ProtocolError);
        let long = part(OpCode::Pong, true, &[0; 126]);
        assert_eq!(push(vec![long]), CloseCode::ProtocolError);
        let bad_text = vec![
            part(OpCode::Text, false, &[0xff]),
            part(OpCode::Continuation, true, b""),
        ];
        assert_eq!(push(bad_text), CloseCode::NotUtf8);
        for payload in [&b"\x03"[..], b"\x03\xed", b"\x03\xe8\xff"] {
            let close = part(OpCode::Close, true, payload);
            assert_eq!(push(vec![close]), CloseCode::ProtocolError);
        }
    }
}
