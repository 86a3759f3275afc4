//! A client's WebSocket. One reader, one writer that may be shared; fragments are joined with a
//! bound; a ping is answered by whoever reads. Reading must not be cancelled and continued.

use std::{net::IpAddr, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use fastwebsockets::{
    Frame, OpCode, Payload, WebSocketError, WebSocketRead, WebSocketWrite, handshake,
};
use http_body_util::Empty;
use hyper::{Request, header, upgrade::Upgraded};
use hyper_util::rt::{TokioExecutor, TokioIo};
use proto::client::Format;
use tokio::{
    io::{ReadHalf, WriteHalf},
    net::TcpStream,
    sync::Mutex,
    time::timeout,
};

use crate::http::Address;

/// The longest message that a client takes, in bytes.
const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// Time for the TCP connection and the upgrade.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time until the kernel takes one frame.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

type Stream = TokioIo<Upgraded>;

/// Request for a connection.
#[derive(Debug, Clone, Default)]
pub struct Upgrade {
    /// The subprotocol that it requests; none: the server's default.
    pub format: Option<Format>,
    /// Most players that it wants to see at once; only with [`Format::Compact`].
    pub players: Option<u16>,
    /// Sent as `Origin`.
    pub origin: Option<String>,
    /// Sent as a bearer token.
    pub token: Option<String>,
    /// Sent as `X-Forwarded-For`, as a load balancer names its client.
    pub forwarded_for: Option<IpAddr>,
}

/// Content of a frame that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A whole message; `text` says of which type its frames were.
    Message {
        /// Text frames, else binary.
        text: bool,
        /// The payload.
        bytes: Vec<u8>,
    },
    /// The server closed, with this code and these words.
    Closed(Closed),
}

/// End of a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closed {
    /// The close code; none: the connection just ended.
    pub code: Option<u16>,
    /// The reason in words.
    pub reason: String,
}

/// The half that sends. Cheap to clone.
#[derive(Clone)]
pub struct Writer(Arc<Mutex<WebSocketWrite<WriteHalf<Stream>>>>);

/// The half that receives.
pub struct Reader {
    inner: WebSocketRead<ReadHalf<Stream>>,
    answers: Writer,
    joined: Option<(bool, Vec<u8>)>,
}

/// Connects to `/ws` of a gateway.
pub async fn connect(to: &Address, upgrade: &Upgrade) -> Result<(Reader, Writer)> {
    timeout(CONNECT_TIMEOUT, open(to, upgrade))
        .await
        .with_context(|| format!("{to}: no connection in {CONNECT_TIMEOUT:?}"))?
}

async fn open(to: &Address, upgrade: &Upgrade) -> Result<(Reader, Writer)> {
    let stream = TcpStream::connect(to.authority())
        .await
        .with_context(|| format!("connect to {to}"))?;
    stream.set_nodelay(true)?;
    let wishes = upgrade.players.map(|players| format!("?players={players}"));
    let path = format!("{}{}", to.path, wishes.unwrap_or_default());
    let mut request = Request::get(path)
        .header(header::HOST, to.authority())
        .header(header::UPGRADE, "websocket")
        .header(header::CONNECTION, "upgrade")
        .header("Sec-WebSocket-Key", handshake::generate_key())
        .header("Sec-WebSocket-Version", "13");
    if let Some(format) = upgrade.format {
        request = request.header("Sec-WebSocket-Protocol", format.subprotocol());
    }
    if let Some(origin) = &upgrade.origin {
        request = request.header(header::ORIGIN, origin);
    }
    if let Some(token) = &upgrade.token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(address) = upgrade.forwarded_for {
        request = request.header("X-Forwarded-For", address.to_string());
    }
    let request = request.body(Empty::<Bytes>::new())?;
    let (socket, _) = handshake::client(&TokioExecutor::new(), request, stream)
        .await
        .with_context(|| format!("upgrade at {to}"))?;
    let (mut read, mut write) = socket.split(tokio::io::split);
    read.set_max_message_size(MESSAGE_BYTES_MAX);
    write.set_writev(false);
    let writer = Writer(Arc::new(Mutex::new(write)));
    let reader = Reader {
        inner: read,
        answers: writer.clone(),
        joined: None,
    };
    Ok((reader, writer))
}

impl Reader {
    /// Returns the next message, or the end. After an error or the end, do not read again.
    pub async fn next(&mut self) -> Result<Received> {
        loop {
            let answers = self.answers.clone();
            let mut answer = move |frame: Frame<'static>| {
                let answers = answers.clone();
                async move { answers.frame(frame).await }
            };
            let frame = match self.inner.read_frame(&mut answer).await {
                Ok(frame) => frame,
                Err(e) => return ended(e),
            };
            let text = frame.opcode == OpCode::Text;
            match frame.opcode {
                OpCode::Close => return Ok(Received::Closed(closed(&frame.payload))),
                OpCode::Ping | OpCode::Pong => {}
                OpCode::Text | OpCode::Binary if frame.fin => {
                    let bytes = frame.payload.to_vec();
                    return Ok(Received::Message { text, bytes });
                }
                OpCode::Text | OpCode::Binary => {
                    self.joined = Some((text, frame.payload.to_vec()));
                }
                OpCode::Continuation => {
                    let (text, mut bytes) = self.joined.take().context("stray continuation")?;
                    bytes.extend_from_slice(&frame.payload);
                    if bytes.len() > MESSAGE_BYTES_MAX {
                        bail!("a message above {MESSAGE_BYTES_MAX} bytes");
                    }
                    if frame.fin {
                        return Ok(Received::Message { text, bytes });
                    }
                    self.joined = Some((text, bytes));
                }
            }
        }
    }
}

fn closed(payload: &[u8]) -> Closed {
    let (code, reason) = match payload {
        [high, low, reason @ ..] => (Some(u16::from_be_bytes([*high, *low])), reason),
        _ => (None, &[][..]),
    };
    Closed {
        code,
        reason: String::from_utf8_lossy(reason).into_owned(),
    }
}

fn ended(error: WebSocketError) -> Result<Received> {
    match error {
        WebSocketError::UnexpectedEOF
        | WebSocketError::ConnectionClosed
        | WebSocketError::IoError(_)
        | WebSocketError::SendError(_) => Ok(Received::Closed(Closed {
            code: None,
            reason: error.to_string(),
        })),
        other => Err(other.into()),
    }
}

impl Writer {
    /// Sends a whole message as one frame.
    pub async fn message(&self, text: bool, bytes: Vec<u8>) -> Result<()> {
        let opcode = if text { OpCode::Text } else { OpCode::Binary };
        self.raw(true, opcode, bytes).await
    }

    /// Sends a message in the type of frame that its encoding wants.
    pub async fn send(&self, format: Format, bytes: Vec<u8>) -> Result<()> {
        self.message(format.is_text(), bytes).await
    }

    /// Sends any frame at all.
    pub async fn raw(&self, fin: bool, opcode: OpCode, bytes: Vec<u8>) -> Result<()> {
        let frame = Frame::new(fin, opcode, None, Payload::Owned(bytes));
        Ok(self.frame(frame).await?)
    }

    /// Says goodbye.
    pub async fn close(&self) -> Result<()> {
        Ok(self.frame(Frame::close(1000, b"")).await?)
    }

    async fn frame(&self, frame: Frame<'static>) -> Result<(), WebSocketError> {
        let write = async { self.0.lock().await.write_frame(frame).await };
        match timeout(WRITE_TIMEOUT, write).await {
            Ok(done) => done,
            Err(_) => Err(WebSocketError::ConnectionClosed),
        }
    }
}
