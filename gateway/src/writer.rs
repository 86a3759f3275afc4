//! The task that writes one socket, from one mailbox.
//!
//! Always: the writer alone gives `seq`, one per message. It writes all waiting messages in one go.
//! It closes the connection of a client that reads nothing for a time. Between bursts it holds no
//! buffer.

use std::{
    borrow::Cow,
    io,
    time::{Duration, Instant, SystemTime},
};

use proto::client::{CloseCode, Format};
use tokio::{
    io::AsyncWriteExt,
    sync::oneshot,
    task::JoinHandle,
    time::{error::Elapsed, timeout},
};

use crate::{
    frames,
    mailbox::{Mailbox, Next, Reliable, Update},
    session::resume::Written,
    socket::{Reports, Signals, WriteSide, linger},
};

/// Time that the end of a connection may take to be written.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of bytes from which on the writer stops gathering and writes.
const BATCH_BYTES: usize = 16 * 1024;

/// A writer that has ended.
pub(crate) struct Finished {
    /// Messages that it wrote.
    pub(crate) written: Written,
    /// The socket, when the mailbox released it and it has not ended.
    pub(crate) half: Option<WriteSide>,
}

/// State of the socket after a burst of messages.
enum After {
    GoOn,
    Closed(CloseCode),
    Released,
}

struct Writer {
    half: WriteSide,
    written: Written,
    mailbox: Mailbox,
    format: Format,
    reports: Reports,
    /// Time after which the gateway closes the connection of a client that reads nothing.
    write_timeout: Duration,
}

/// Starts a writer's task.
pub(crate) fn start(
    half: WriteSide,
    written: Written,
    mailbox: Mailbox,
    format: Format,
    signals: Signals,
    reports: Reports,
) -> JoinHandle<Finished> {
    let tasks = reports.tasks.clone();
    let writer = Writer {
        half,
        written,
        mailbox,
        format,
        reports,
        write_timeout: signals.write_timeout,
    };
    tasks.joined(writer.run(signals))
}

impl Writer {
    async fn run(mut self, signals: Signals) -> Finished {
        let after = tokio::select! {
            () = signals.dead.cancelled() => Ok(After::GoOn),
            after = self.write_all() => after,
        };
        let half = match after {
            Ok(After::Released) => Some(self.half),
            Ok(After::Closed(code)) => {
                self.reports.metrics.close(code as u16);
                if code == CloseCode::TooSlow {
                    self.reports.metrics.mailbox_full();
                }
                let written = self.written;
                let goodbye = say_goodbye(self.half, signals);
                self.reports.tasks.spawn("goodbye of a socket", goodbye);
                return Finished {
                    written,
                    half: None,
                };
            }
            Ok(After::GoOn) => None,
            Err(error) => {
                if error.kind() == io::ErrorKind::TimedOut {
                    self.reports.metrics.close(CloseCode::TooSlow as u16);
                }
                tracing::debug!(%error, "a socket cannot be written");
                signals.dead.cancel();
                None
            }
        };
        Finished {
            written: self.written,
            half,
        }
    }

    /// Writes until there is a reason to stop.
    async fn write_all(&mut self) -> io::Result<After> {
        loop {
            let first = self.mailbox.next().await;
            let mut burst = Burst::begin();
            let mut after = self.gather(&mut burst, first);
            while matches!(after, After::GoOn) && burst.bytes.len() < BATCH_BYTES {
                match self.mailbox.try_next() {
                    Some(next) => after = self.gather(&mut burst, next),
                    None => break,
                }
            }
            self.write(&burst.bytes).await?;
            burst.report(&self.reports);
            if !matches!(after, After::GoOn) {
                return Ok(after);
            }
        }
    }

    fn gather(&mut self, burst: &mut Burst, next: Next) -> After {
        match next {
            Next::Ping => frames::ping(&mut burst.bytes),
            Next::Pong(payload) => frames::pong(&mut burst.bytes, &payload),
            Next::Reliable(message) => self.reliable(burst, message),
            Next::Update(update) => self.update(burst, update),
            Next::Close(code, reason) => {
                frames::close(&mut burst.bytes, code, &reason);
                return After::Closed(code);
            }
            Next::Release => return After::Released,
            #[cfg(test)]
            Next::Whole(text, payload) => frames::whole(&mut burst.bytes, text, &payload),
        }
        After::GoOn
    }

    fn reliable(&mut self, burst: &mut Burst, mut message: Reliable) {
        let seq = self.written.number();
        frames::reliable(&mut burst.bytes, self.format, seq, &message);
        burst.reliable += 1;
        burst.confirm.extend(message.written.take());
        burst.answers.extend(message.asked.take());
        let traceparents = std::mem::take(&mut message.traceparents);
        if !traceparents.is_empty() {
            burst
                .traced
                .push((traceparents, message.event.clone(), None));
        }
        // A message that belongs to one connection only is of no use on the next.
        if !message.event.starts_with("session:") {
            self.written.keep(&message, Instant::now());
        }
    }

    fn update(&mut self, burst: &mut Burst, update: Update) {
        let seq = self.written.number();
        frames::update(&mut burst.bytes, self.format, seq, &update);
        burst.updates.push(update.received);
        if !update.traceparents.is_empty() {
            let event = Cow::Borrowed("world:update");
            burst
                .traced
                .push((update.traceparents, event, Some(update.tick)));
        }
    }

    /// Writes all bytes. The deadline counts anew whenever the client takes something.
    async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let late = |_: Elapsed| io::Error::from(io::ErrorKind::TimedOut);
        while !bytes.is_empty() {
            let count = timeout(self.write_timeout, self.half.write(bytes))
                .await
                .map_err(late)??;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
        }
        timeout(self.write_timeout, self.half.flush())
            .await
            .map_err(late)?
    }
}

async fn say_goodbye(mut half: WriteSide, signals: Signals) {
    linger(&signals).await;
    // The client may be gone already.
    let _ = timeout(SHUTDOWN_TIMEOUT, half.shutdown()).await;
}

/// Messages that the writer writes in one go.
struct Burst {
    began: SystemTime,
    bytes: Vec<u8>,
    reliable: usize,
    /// Times at which the frames of the updates had arrived.
    updates: Vec<Instant>,
    /// Events of the requests that are answered, and when they came.
    answers: Vec<(&'static str, tokio::time::Instant)>,
    confirm: Vec<oneshot::Sender<()>>,
    traced: Vec<(Vec<String>, Cow<'static, str>, Option<u64>)>,
}

impl Burst {
    fn begin() -> Self {
        Self {
            began: SystemTime::now(),
            bytes: Vec::new(),
            reliable: 0,
            updates: Vec::new(),
            answers: Vec::new(),
            confirm: Vec::new(),
            traced: Vec::new(),
        }
    }

    /// Reports the burst, which is at the socket now, to all who wait for that.
    fn report(self, reports: &Reports) {
        reports.metrics.bytes_out(self.bytes.len());
        reports.metrics.frames_out("reliable", self.reliable);
        reports.metrics.frames_out("update", self.updates.len());
        for (event, asked) in self.answers {
            reports.metrics.answered(event, asked.elapsed());
        }
        for received in self.updates {
            reports.metrics.update_share(received.elapsed());
        }
        for confirm in self.confirm {
            // The asking task may have given up.
            let _ = confirm.send(());
        }
        for (traceparents, event, tick) in self.traced {
            reports.spans.sent(&traceparents, &event, tick, self.began);
        }
    }
}
